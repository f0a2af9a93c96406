"""adjudge project gold: how much gold a project needs, its mix, and where more may come from."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import say
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._results import grid, page, print_json, shorten, show_rows
from adjudge.cli.project._shared import open_services, warn
from adjudge.data.source import count_of
from adjudge.errors import BadSetting

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.gold import GoldForecast, Suggestion


@command(
    "adjudge project gold shop-search --forecast --judges 40",
    "adjudge project gold shop-search --suggest 20",
    "adjudge project gold shop-search --approve q7/d3 --label Matching",
)
def run(
    project: str = o.PROJECT,
    *,
    forecast: bool = flag("--forecast", "How much gold is needed (the default)."),
    judges: int | None = option("--judges N", "Judges to expect; else from those so far.", min=1),
    suggest: int | None = option("--suggest N", "Items the consensus is surest of.", min=1),
    approve: str | None = option("--approve ITEM", "Make gold of this item."),
    label: list[str] | None = option("--label LABEL", "Of --approve: accepted (again for more)."),
    reason: str = option("--reason TEXT", "With --approve: shown to judges who miss it.", ""),
    role: str = option("--role ROLE", "Of --approve: screening, training or both.", "screening"),
    split: str | None = option(
        "--split MIX",
        "Split gold into training of this mix (uniform, any, 'A=2,B=1') and screening.",
    ),
    database: str = o.DATABASE,
    fitting: o.Fitting,
    printing: o.Printing,
) -> None:
    """Say how much gold a project needs and what is wrong with its mix, or find and make more.

    Suggestions come from the model that the options name, on trusted judgments. A person looks at
    each: gold that the crowd is sure of is easy gold, and the crowd can be sure and wrong.
    """
    services = open_services(database)
    if approve is not None:
        _approve(services, project, approve, label or [], reason, role)
    if split is not None:
        _split(services, project, split, fitting.seed)
    if suggest is not None:
        _suggest(services, project, suggest, fitting, printing)
    if forecast or (approve is None and split is None and suggest is None):
        _forecast(services, project, judges, printing)


def _approve(
    services: RequesterServices, project: str, item: str, labels: list[str], reason: str, role: str
) -> None:
    from adjudge.collect.values.project import ROLES

    if not labels:
        raise BadSetting("--label", None, "the label that is right, as you judge it yourself")
    for known in ROLES:
        if known == role:
            services.gold.approve(project, item, accepted=labels, reason=reason, role=known)
            say((item, "bold"), f" is {role} gold: {' or '.join(labels)}")
            return
    raise BadSetting("--role", role, " or ".join(ROLES))


def _split(services: RequesterServices, project: str, text: str, seed: int) -> None:
    """Give every gold one role."""
    mix: Any = text
    if "=" in text:
        try:
            mix = {
                label.strip(): float(share)
                for label, share in (part.rsplit("=", 1) for part in text.split(","))
            }
        except ValueError:
            raise BadSetting("--split", text, "a mix such as 'Good=2,Bad=1'") from None
        strange = [label for label in mix if label not in services.projects.get(project).labels]
        if strange:
            raise BadSetting("--split", strange[0], "labels of the project's scale")
    elif text not in ("uniform", "any"):
        raise BadSetting("--split", text, "uniform, any, or a mix such as 'Good=2,Bad=1'")
    made = services.gold.design(project, training_mix=mix, seed=seed)
    say(
        f"{count_of(len(made.training), 'gold')} for training, "
        f"{count_of(len(made.screening), 'gold')} for screening"
    )
    warn(made.warnings)


def _suggest(
    services: RequesterServices, project: str, many: int, fitting: o.Fitting, printing: o.Printing
) -> None:
    judgments = services.exports.get_judgments(project, golds=True)
    if judgments is None:
        raise BadSetting("PROJECT", project, "a project that has judgments")
    consensus = fit_model(
        build_model(fitting), judgments, services.exports.get_gold(project), fitting
    )
    found = services.gold.suggest(project, consensus, many)
    if printing.json:
        print_json([asdict(one) for one in found])
        return
    page().print(_show_suggestions(found))
    say("  look at each, then 'adjudge project gold PROJECT --approve ITEM --label LABEL'")


def _show_suggestions(found: list[Suggestion]) -> Any:
    columns = ("item", "topic", "label", "probability", "judgments", "agreement:.0% as agree")
    return show_rows("Suggested gold", found, *columns)


def _forecast(
    services: RequesterServices, project: str, judges: int | None, printing: o.Printing
) -> None:
    made = services.gold.forecast(project, judges=judges)
    if printing.json:
        print_json(asdict(made))
        return
    page().print(grid(f"Gold of {project}", ["", ">"], _rows(made)))
    labels = [[shorten(one), str(needed), str(had)] for one, (needed, had) in made.by_label.items()]
    page().print(grid("", ["label", ">needed", ">there"], labels))
    for warning in made.warnings:
        page().print(f"  {warning}", style="yellow", markup=False)


def _rows(made: GoldForecast) -> list[list[str]]:
    """The forecast, a line each."""
    return [
        ["items to judge", f"{made.items:,}"],
        ["judgments", f"{made.judgments:,}"],
        ["pages", f"{made.pages:,}"],
        ["judges", f"{made.judges:,}"],
        ["pages per judge", f"{made.pages_a_judge:.1f} (at most {made.pages_at_most:,})"],
        ["golds of the training", f"{made.training:,}"],
        ["golds a typical judge is screened with", f"{made.screening:,}"],
        ["golds needed for a typical judge", f"{made.typical:,}"],
        ["golds needed for the busiest possible", f"{made.busiest:,}"],
        ["golds there are", f"{made.have:,}"],
        ["judges that see each gold", f"{made.shown_each:.1f}"],
    ]
