"""adjudge estimate: a number with an honest interval, from any judges and a little gold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import detail, progress, warn
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._reading import Input, place_of, read_judgments, read_runs
from adjudge.cli._results import check_places, deliver, print_json, show_rows
from adjudge.data.source import count_of
from adjudge.errors import BadData

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.data.runs import Run
    from adjudge.evaluation.estimation.estimate import Estimate, Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planning:
    """How a person wants their target estimated."""

    estimator: str = option(
        "--estimator NAME", "prediction-powered, or classical (gold alone).", "prediction-powered"
    )
    over: str = option(
        "--over WHAT",
        "What the interval is about: these items, or topics (others too, by cluster).",
        "items",
    )
    strata: str | None = option(
        "--strata WHAT",
        "Strata of the gold: topic (drawn per topic), or consensus (sort by label).",
    )
    sampled: str | None = option(
        "--sampled HOW", "'random': gold was drawn at random, even if it does not look like it."
    )
    population: int | None = option(
        "--population N",
        "Size of the population of which the items are a random draw; 0: infinite.",
        min=0,
    )
    unjudged: str = option(
        "--unjudged WAY",
        "Unjudged documents: not-relevant, or condensed (taken out).",
        "not-relevant",
    )
    level: float = option("--level P", "Probability that the interval holds.", 0.95)
    folds: int = option("--folds N", "Folds of gold for calibration.", 5, min=2)


@command(
    "adjudge estimate judgments.csv --gold gold.csv --target share:2,3",
    "adjudge estimate j.csv --gold g.csv --target nDCG@10 --runs a.run b.run",
    "adjudge estimate j.csv --gold g.csv --target mean-grade --over topics --json",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    use_gold: bool = flag("--use-gold", "Use the gold of the judgments file."),
    leave_out_honeypots: bool = flag(
        "--leave-out-honeypots", "Leave out the items that gold marks as honeypots."
    ),
    target: list[str] = option(
        "--target NAME...",
        "mean-grade, share:LABEL,..., agreement:JUDGE, error:JUDGE:TRUTH, or a measure "
        "of runs: P@10, nDCG@10, AP, Bpref.",
        required=True,
    ),
    system: list[str] | None = option(
        "--runs --run FILE...", "A run; of two, A minus B is estimated."
    ),
    planning: _Planning,
    fitting: o.Fitting,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """Estimate a number, with an interval, from all judgments and gold for some items.

    The interval is valid for good and bad judges, if gold was drawn at random or with known
    chances. Good judges make it narrower than gold alone: the output shows the interval of gold
    alone, and how many gold labels the judges save. Gold is weighted by the column
    sampling_probability, as 'adjudge next' with --gold or --for writes it.
    """
    from adjudge.evaluation.estimation.estimate import Plan

    runs = system or []
    check_places({"--output": out.output}, inputs=(*judgments, gold, *runs), printing=out)
    ways: Any = {name: getattr(planning, name) for name in _Planning.__dataclass_fields__}
    plan = Plan(**ways, seed=fitting.seed)
    systems = read_runs(runs, reading)
    read = read_judgments(judgments, gold, reading)
    known = read.choose_gold(use_gold)
    if known is None:
        own = ", or --use-gold for that of the file" if read.file_gold is not None else ""
        raise BadData(f"there is no gold; expected --gold FILE{own}", source=place_of(judgments))
    if leave_out_honeypots:
        judged, known = known.without_honeypots(read.judgments)
        read = replace(read, judgments=judged)
    found = _estimate(read, known, target, systems, plan, fitting)
    _deliver(found, read, out)


def _deliver(found: list[Estimate], read: Input, out: o.Delivery) -> None:
    """Print the estimates, or write them to a file."""
    about = {"estimates": [one.to_json() for one in found], **read.omissions}
    if out.json and out.output is None:
        print_json({**found[0].to_json(), **read.omissions} if len(found) == 1 else about)
        return
    import pyarrow as pa

    deliver(
        pa.Table.from_pylist([_row(one) for one in found]),
        "estimates",
        out,
        about=about,
        show=lambda: _show(found),
    )


def _estimate(
    read: Input,
    gold: Gold,
    targets: list[str],
    runs: list[Run],
    plan: Plan,
    fitting: o.Fitting,
) -> list[Estimate]:
    """Estimate some targets from one fit."""
    from adjudge.evaluation.estimation.estimate import check_gold, estimate_from
    from adjudge.models.cross_calibration import CrossFit

    table = read.judgments
    model = build_model(fitting)
    check_gold(gold, table)
    consensus = fit_model(model, table, None, fitting)
    fit = CrossFit.of(consensus)
    for name in targets:  # what would fail later fails now
        plan.target(name, consensus, runs)
    with progress("estimating"):
        beliefs = plan.beliefs(fit, gold)
        found = [estimate_from(fit, gold, name, runs, plan, beliefs) for name in targets]
    for note in dict.fromkeys(note for one in found for note in one.notes):
        detail(f"  {note}")
    for warning in dict.fromkeys(warning for one in found for warning in one.warnings):
        warn(warning.replace("set leave_out_honeypots", "use --leave-out-honeypots"))
    return found


def _row(one: Estimate) -> dict[str, Any]:
    """An estimate as a row of a table."""
    plain = {key: value for key, value in one.to_json().items() if key not in ("judged", "notes")}
    judged = ", ".join(f"{name} {share:.3f}" for name, share in one.judged.items())
    return {**plain, "warnings": "; ".join(one.warnings), "judged": judged}


def _show(found: list[Estimate]) -> Any:
    """Estimates for people, and what each saved."""
    from rich.console import Group
    from rich.text import Text

    columns = [
        "target",
        "estimate",
        f"low to high:.3f as {found[0].level:.0%} interval",
        "classical as gold alone",
        "classical_low to classical_high:.3f as its interval",
        "saved",
    ]
    first = found[0]
    title = (
        f"Estimates by {first.method}, {count_of(first.gold, 'gold label')} of "
        f"{count_of(first.items, 'item')}"
    )
    judged = [
        f"judged@k of {name}: {share:.1%}" for name, share in (found[-1].judged or {}).items()
    ]
    return Group(show_rows(title, found, *columns), *(Text(line) for line in judged))
