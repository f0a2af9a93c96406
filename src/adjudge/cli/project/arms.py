"""adjudge project arms: the arms of an experiment, and the report by arm."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, flag, option
from adjudge.cli._console import progress, say
from adjudge.cli._results import (
    Column,
    check_places,
    page,
    print_json,
    shorten,
    show_rows,
    write_tables,
)
from adjudge.cli.project._shared import open_services, read_json, warn
from adjudge.errors import BadData, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.arms import ArmReport
    from adjudge.collect.values.project import Arm


@command(
    "adjudge project arms shop-search --preset five-mixes",
    "adjudge project arms shop-search --set arms.json",
    "adjudge project arms shop-search --report --test expert.csv",
)
def run(
    project: str = o.PROJECT,
    *,
    arms: Path | None = option("--set FILE", "The arms, as a JSON list."),
    preset: str | None = option(
        "--preset NAME", "Ready-made arms: five-mixes, uniform-or-population, feedback-or-none."
    ),
    report: bool = flag("--report", "How judges and their labels are, arm by arm."),
    test: Path | None = option("--test FILE", "Known truth of judged items; else the gold."),
    model: list[str] | None = option(
        "--model -m NAME", "Aggregate by this model too (again for more)."
    ),
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    database: str = o.DATABASE,
    out: o.Delivery,
) -> None:
    """Show or set the arms of a project, or report on them.

    Arms may differ in the label mix of training and screening, feedback, guidelines and pay. They
    are set before the first judge comes; later they can only be added to. The report has the
    funnel, judges and aggregates with intervals, and tests of difference; -o writes its measures.
    """
    if arms is not None and preset is not None:
        raise BadSetting("--preset", preset, "either --set or --preset")
    check_places({"--output": out.output}, inputs=(arms, test), printing=out)
    services = open_services(database)
    if arms is not None or preset is not None:
        _set(services, project, arms, preset)
    if report or test is not None or model or out.output is not None:
        _report(services, project, test, model or [], (resamples, seed), out)
        return
    known = services.arms.get_all(project)
    if out.json:
        print_json([arm.to_dict() for arm in known])
        return
    page().print(_show_arms(project, known))
    warn(services.arms.get_warnings(project))


def _set(
    services: RequesterServices, project: str, file: Path | None, preset_name: str | None
) -> None:
    """Store arms from a file or a preset."""
    from adjudge.collect.services.arms import preset_arms, read_arms

    labels = services.projects.get(project).labels
    gold = services.exports.get_gold(project)
    known = gold.texts() if gold is not None else []
    if file is None:
        services.arms.set_all(project, preset_arms(str(preset_name), labels=labels, gold=known))
        return
    given = read_json(file)
    try:
        services.arms.set_all(project, read_arms(given, labels=labels, gold=known))
    except BadData as fault:
        raise BadData(fault.problem, source=file.name, record=fault.record) from None


def _show_arms(project: str, arms: tuple[Arm, ...]) -> Any:
    """The arms for people."""
    columns: list[Column] = [
        ("arm", lambda arm: shorten(arm.name)),
        ("training mix", lambda arm: _describe_mix(arm.training_mix)),
        ("screening mix", lambda arm: _describe_mix(arm.screening_mix)),
        ("feedback", lambda arm: {None: "", True: "yes", False: "no"}[arm.feedback]),
        ("pay per page", lambda arm: arm.pay_per_page or ""),
        ("guidelines", lambda arm: "own" if arm.guidelines is not None else ""),
    ]
    return show_rows(f"Arms of {project}", arms, *columns)


def _describe_mix(mix: Any) -> str:
    """A label mix in a few words; as the project's where there is none."""
    if mix is None or isinstance(mix, str):
        return mix or ""
    total = sum(mix.values())
    return ", ".join(f"{label} {share / total:.0%}" for label, share in mix.items() if share)


def _report(
    services: RequesterServices,
    project: str,
    test: Path | None,
    models: list[str],
    chance: tuple[int, int],  # resamples, seed
    out: o.Delivery,
) -> None:
    """Fit, measure, and print."""
    from adjudge.data.gold import Gold
    from adjudge.models.registry import model

    truth = None if test is None else Gold.read(test)
    fitted = [model(one) for one in models]
    with progress("measuring arms"):
        made = services.arms.report(
            project, test=truth, models=fitted, resamples=chance[0], seed=chance[1]
        )
    write_tables({"measures": (made.tables()["measures"], out.output)})
    if out.json:
        print_json(asdict(made))
    elif out.output is None:
        _show(made)


def _show(made: ArmReport) -> None:
    """The report for people: the funnel, the measures, and what the tests say."""
    steps = ("came", "trained", "passed", "failed", "passed_share:.0%", "worked", "blocked")
    page().print(show_rows("Funnel", made.funnel, "arm", *steps, "finished"))
    if any(one.units for one in made.measures):
        columns = (
            "what",
            "measure",
            "arm",
            "value",
            "low to high as interval",
            "units",
            "judgments",
        )
        page().print(show_rows(f"Measures, against {made.against}", made.measures, *columns))
    if made.refreshers:
        shares = ("arm", "judges", "refreshers", "before:.1%", "after:.1%")
        title = "Gold accuracy of judges who had a refresher, before the first and after it"
        page().print(show_rows(title, made.refreshers, *shares))
    for line in _describe_tests(made):
        page().print(f"  {line}", markup=False)
    for note in made.notes:
        say(f"  {note}")


def _describe_tests(made: ArmReport) -> list[str]:
    """What the tests of accuracy say, in sentences."""
    said = []
    for what in ("judges", *made.models):
        p = made.overall(what)
        of = "of judges" if what == "judges" else f"by {what}"
        if p is not None:
            said.append(f"Accuracy {of} between all arms: p = {p:.3f} (permutation of judges).")
        for one in made.differences:
            clear = one.second and one.adjusted is not None and one.adjusted <= 0.05
            if (one.what, one.measure) == (what, "accuracy") and clear:
                said.append(
                    f"Accuracy {of}: {one.first} less {one.second} is {one.gap:+.3f}, adjusted "
                    f"p = {one.adjusted:.3f} ({one.test})."
                )
    return said
