"""adjudge may-replace: whether models may stand in for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import argument, command, option
from adjudge.cli._console import progress, say
from adjudge.cli._reading import omissions_of, read_judgments, read_runs
from adjudge.cli._results import Column, check_places, deliver_all, number, shorten, show_rows
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.judgments import Judgments
    from adjudge.evaluation.model_judges.replacement import PowerTable, Replacement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Testing:
    """How a person wants models held against people."""

    score: str = option("--score NAME", "accuracy, or neg-rmse for labels in grades.", "accuracy")
    epsilon: float = option(
        "--epsilon E",
        "What a model is allowed for being cheaper: 0.2 beside experts, 0.15 beside "
        "trained people, 0.1 beside a crowd.",
        0.2,
    )
    q: float = option("--q Q", "False discovery rate over people.", 0.05)
    least_items: int = option("--least-items N", "Items that a person needs to be compared.", 30)
    by: str | None = option(
        "--by GROUP",
        "A verdict by topic, or by what a regular expression finds in the items' names.",
    )
    margin: float | None = option(
        "--margin X",
        "How much worse a model's score may be and still be called no worse than a "
        "person's; 0.05, or a twentieth of the range of grades.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Systems:
    """Systems that models are to rank as people do."""

    run_files: list[str] | None = option(
        "--runs FILE...", "TREC runs: would models rank them alike?"
    )
    measure: str = option("--measure NAME", "By which runs are ranked.", "nDCG@10")


@dataclass(frozen=True, slots=True, kw_only=True)
class _MoreFiles:
    """What is written beside the verdicts."""

    per_person: Path | None = option(
        "--per-person FILE", "Write each model against each person too."
    )
    power: Path | None = option(
        "--power FILE",
        "Write how often each model would pass with other numbers of people and items.",
    )


@command(
    "adjudge may-replace people.json models.json --score accuracy --epsilon 0.2",
    "adjudge may-replace judgments.csv --score neg-rmse --by topic -o verdicts.csv",
    "adjudge may-replace people.csv gpt.csv llama.csv --power power.csv",
)
def run(
    people: str = argument(
        "PEOPLE",
        "Judgments of people, in any known format: a file, a folder, a pattern in quotes "
        "or an address.",
        required=True,
    ),
    models: list[str] | None = argument(
        "[MODELS]...",
        "Judgments of models, likewise, or several files; none where PEOPLE has both, "
        "with a column kind or family.",
    ),
    *,
    testing: _Testing,
    systems: _Systems,
    beside: _MoreFiles,
    resamples: int = o.RESAMPLES,
    seed: int = o.SEED,
    reading: o.LabelReading,
    out: o.Delivery,
) -> None:
    """Test whether LLM judges may replace people (alternative annotator test).

    Each person is left out in turn; the model has to be as near to the other people as they are, up
    to epsilon. A model that does so for half of the people or more has passed. Beside the verdict
    stands whether its labels are no worse than a person's on average, and with --runs whether it
    ranks systems no worse than a person does.
    """
    from adjudge.evaluation.model_judges.replacement import may_replace

    files = systems.run_files or []
    places = {"--output": out.output, "--per-person": beside.per_person, "--power": beside.power}
    check_places(places, inputs=(people, *(models or ()), *files), printing=out)
    known, asked, omissions = _read(people, models, reading)
    ways: Any = {name: getattr(testing, name) for name in _Testing.__dataclass_fields__}
    ways |= {"measure": systems.measure, "resamples": resamples, "seed": seed}
    runs = read_runs(files, reading)
    with progress("comparing models with people"):
        found = may_replace(known, asked, runs=runs, **ways)
    simulated = _simulated(found, seed) if beside.power is not None else None
    _say(found, simulated)
    deliver_all(
        {
            "verdicts": (found.to_table(), out.output),
            "people": (found.people_table(), beside.per_person),
            "power": (None if simulated is None else simulated.to_table(), beside.power),
        },
        out,
        about=lambda whole: _as_data(found, simulated, whole) | omissions,
        show=lambda: [_show(found)],
    )


def _read(
    people: str, models: list[str] | None, reading: o.LabelReading
) -> tuple[Judgments, Judgments | None, dict[str, Any]]:
    """The judgments of both files, or of the one that holds both; and what was left out."""
    from dataclasses import replace

    first = read_judgments([people], None, reading)
    if not models:
        return first.judgments, None, first.omissions
    second = read_judgments(models, None, replace(reading, format=None))
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
    columns: list[Column] = ["model"]
    if any(one.group is not None for one in found.verdicts):
        columns.append(("group", lambda one: shorten(one.group or "(all)")))
    columns += [
        "verdict",
        "winning_rate:.2f",
        "advantage_probability:.2f as advantage",
        (">people", lambda one: f"{len(one.people):,}"),
        (">difference", lambda one: number(one.labels and one.labels.difference)),
        (">at least", lambda one: number(one.labels and one.labels.low)),
    ]
    return show_rows("May a model replace people?", found.verdicts, *columns)
