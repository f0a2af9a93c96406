"""adjudge may-replace: whether models may stand in for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import check_places, check_printing, omissions_of, read_judgments
from adjudge.cli._places import read_runs
from adjudge.cli._results import Columns, deliver_all, number, shorten, show_rows
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.model_judges.replacement import PowerTable, Replacement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Testing:
    """How a person wants models held against people."""

    score: Annotated[
        str, option("--score", "NAME", "accuracy, or neg-rmse for labels in grades.")
    ] = "accuracy"
    epsilon: Annotated[
        float,
        option(
            "--epsilon",
            "E",
            "What a model is allowed for being cheaper: 0.2 beside experts, 0.15 beside "
            "trained people, 0.1 beside a crowd.",
        ),
    ] = 0.2
    q: Annotated[float, option("--q", "Q", "False discovery rate over people.")] = 0.05
    least_items: Annotated[
        int, option("--least-items", "N", "Items that a person needs to be compared.")
    ] = 30
    by: Annotated[
        str | None,
        option(
            "--by",
            "GROUP",
            "A verdict by topic, or by what a regular expression finds in the items' names.",
        ),
    ] = None
    margin: Annotated[
        float | None,
        option(
            "--margin",
            "X",
            "How much worse a model's score may be and still be called no worse than a "
            "person's; 0.05, or a twentieth of the range of grades.",
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Systems:
    """Systems that models are to rank as people do."""

    run_files: Annotated[
        list[str] | None, option("--runs", "FILE...", "TREC runs: would models rank them alike?")
    ] = None
    measure: Annotated[str, option("--measure", "NAME", "By which runs are ranked.")] = "nDCG@10"


@dataclass(frozen=True, slots=True, kw_only=True)
class _MoreFiles:
    """What is written beside the verdicts."""

    per_person: Annotated[
        Path | None, option("--per-person", "FILE", "Write each model against each person too.")
    ] = None
    power: Annotated[
        Path | None,
        option(
            "--power",
            "FILE",
            "Write how often each model would pass with other numbers of people and items.",
        ),
    ] = None


def _run(
    people: Annotated[
        str,
        typer.Argument(
            metavar="PEOPLE",
            help="Judgments of people, in any known format: a file, a folder, a pattern in quotes "
            "or an address.",
        ),
    ],
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODELS]...",
            help="Judgments of models, likewise, or several files; none where PEOPLE has both, "
            "with a column kind or family.",
        ),
    ] = None,
    *,
    testing: _Testing,
    systems: _Systems,
    output: o.Output = None,
    beside: _MoreFiles,
    resamples: o.Resamples = 1000,
    seed: o.Seed = 0,
    labelling: o.Labelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Say of each model whether it may stand in for people: the alternative annotator test.

    Each person is left out in turn; the model has to be as near to the other people as they are, up
    to epsilon. A model that does so for half of the people or more has passed. Beside the verdict
    stands whether its labels are no worse than a person's on average, and with --runs whether it
    ranks systems no worse than a person does.
    """
    from adjudge.evaluation.model_judges.replacement import may_replace

    files = systems.run_files or []
    places = {"--output": output, "--per-person": beside.per_person, "--power": beside.power}
    check_places(places, inputs=(people, *(models or ()), *files))
    check_printing(printing, output)
    known, asked, omissions = _read(people, models, reading, labelling)
    ways: Any = {name: getattr(testing, name) for name in _Testing.__dataclass_fields__}
    ways |= {"measure": systems.measure, "resamples": resamples, "seed": seed}
    runs = read_runs(files, reading)
    with progress("comparing models with people"):
        found = may_replace(known, asked, runs=runs, **ways)
    simulated = _simulated(found, seed) if beside.power is not None else None
    _say(found, simulated)
    deliver_all(
        {
            "verdicts": (found.to_table(), output),
            "people": (found.people_table(), beside.per_person),
            "power": (None if simulated is None else simulated.to_table(), beside.power),
        },
        printing,
        about=lambda whole: _as_data(found, simulated, whole) | omissions,
        show=lambda: [_show(found)],
    )


COMMAND = Command(
    _run,
    examples=(
        "adjudge may-replace people.json models.json --score accuracy --epsilon 0.2",
        "adjudge may-replace judgments.csv --score neg-rmse --by topic -o verdicts.csv",
        "adjudge may-replace people.csv gpt.csv llama.csv --power power.csv",
    ),
    lists=("--runs",),
)


def _read(
    people: str, models: list[str] | None, reading: o.Reading, labelling: o.Labelling
) -> tuple[Judgments, Judgments | None, dict[str, Any]]:
    """The judgments of both files, or of the one that holds both; and what was left out."""
    from dataclasses import replace

    first = read_judgments([people], None, reading, labelling)
    if not models:
        return first.judgments, None, first.omissions
    second = read_judgments(models, None, replace(reading, format=None), labelling)
    return first.judgments, second.judgments, omissions_of(*first.contents, *second.contents)


def _simulated(found: Replacement, seed: int) -> PowerTable:
    from adjudge.evaluation.model_judges.replacement import simulate_power

    with progress("simulating studies"):
        return simulate_power(found, seed=seed)


def _say(found: Replacement, simulated: PowerTable | None) -> None:
    """What a person should know beside the table."""
    people = found.panel.people
    say(
        f"{count_of(len(found.panel.models), 'model')} against "
        f"{count_of(people.judge_count, 'person')} on "
        f"{count_of(people.item_count, 'item')}; {found.score}, epsilon "
        f"{found.rule.epsilon:g}, false "
        f"discovery rate {found.rule.q:g}"
    )
    if found.left_out:
        shown = ", ".join(shorten(person) for person in found.left_out[:5])
        more = len(found.left_out) - 5
        say(
            f"  left out, with fewer than {found.rule.least_items} items: {shown}"
            + (f" and {more:,} more" if more > 0 else "")
        )
    for sentence in found.warnings:
        say((f"  {sentence}", "yellow"))
    for one in found.overall:
        for compared in (one.labels, one.ranking):
            if compared is not None:
                say(f"  {compared.sentence(one.model)}")
        enough = None if simulated is None else simulated.smallest(one.model)
        if enough is not None:
            say(
                f"  {one.model} would pass 4 times of 5 with {enough.people} people of "
                f"{enough.items} items each"
            )
        elif simulated is not None and one.people:
            say(f"  {one.model} would pass 4 times of 5 in no study that was simulated")


def _as_data(found: Replacement, simulated: PowerTable | None, whole: bool) -> dict[str, Any]:
    """The result for programs."""
    about: dict[str, Any] = {
        "score": found.score,
        "epsilon": found.rule.epsilon,
        "q": found.rule.q,
        "least_items": found.rule.least_items,
        "people_left_out": list(found.left_out),
        "warnings": list(found.warnings),
    }
    if simulated is not None:
        about["power"] = simulated.to_table().to_pylist()
    if whole:
        about["verdicts"] = found.to_table().to_pylist()
    return about


def _show(found: Replacement) -> Any:
    """The verdicts for people."""
    columns: Columns = {"model": lambda one: shorten(one.model)}
    if any(one.group is not None for one in found.verdicts):
        columns["group"] = lambda one: shorten(one.group or "(all)")
    columns |= {
        "verdict": lambda one: one.verdict,
        ">winning rate": lambda one: number(one.winning_rate, 2),
        ">advantage": lambda one: number(one.advantage_probability, 2),
        ">people": lambda one: f"{len(one.people):,}",
        ">difference": lambda one: number(one.labels and one.labels.difference),
        ">at least": lambda one: number(one.labels and one.labels.low),
    }
    return show_rows("May a model replace people?", found.verdicts, columns)
