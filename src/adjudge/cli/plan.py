"""adjudge plan: what a wanted accuracy takes, from a pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from adjudge.cli import Command, option
from adjudge.cli import _options as o
from adjudge.cli._console import progress, say
from adjudge.cli._files import Input, check_places, read_judgments
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._results import Columns, deliver, show_rows
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.simulation.planning import JudgmentPlan


def _run(
    judgments: o.JudgmentsFiles,
    *,
    gold: o.GoldFile = None,
    accuracy: Annotated[
        float, option("--accuracy", "X", "Share of labels that have to be right.")
    ] = 0.9,
    items: Annotated[
        int | None, option("--items", "N", "Items to label; as many as the pilot if not given.")
    ] = None,
    price: Annotated[float, option("--price", "X", "Of one judgment, in your currency.")] = 0.0,
    most: Annotated[int, option("--most", "N", "Most judgments an item to try.", min=1)] = 15,
    crowd: Annotated[
        int | None, option("--crowd", "N", "Judges to expect; as the pilot's if not given.")
    ] = None,
    runs: Annotated[int, option("--runs", "N", "Made crowds for each number.", min=1)] = 10,
    error: Annotated[
        float, option("--error", "X", "Chance that gold tells a judge wrongly.")
    ] = 0.05,
    output: o.Output = None,
    fitting: o.Fitting,
    labelling: o.TruthLabelling,
    reading: o.Reading,
    printing: o.Printing,
) -> None:
    """Say how many judgments, golds and how much money a wanted accuracy takes.

    A model is fitted to the judgments of a pilot; crowds of judges like those are made, and judge
    made items one, two, three times, until the labels are as accurate as is wanted.
    """
    from adjudge.simulation.planning import plan

    check_places({"--output": output}, inputs=(*judgments, gold), printing=printing)
    model = build_model(fitting)
    read = read_judgments(judgments, gold, reading, labelling)
    pilot = fit_model(model, read.judgments, read.given, fitting)
    with progress("making crowds") as on_step:
        made = plan(
            pilot, model=model, accuracy=accuracy, price=price, most=most, judges=crowd, runs=runs,
            items=items or pilot.judgments.item_count, error=error, seed=fitting.seed,
            progress=on_step,
        )  # fmt: skip
    known = read.every
    notes = [*made.notes, *([] if known is None else _beside_gold(made, model, read, known))]
    deliver(
        made.table,
        "plan",
        output,
        printing,
        about={
            "wanted": made.wanted,
            "per_item": made.per_item,
            "golds_a_judge": made.golds_a_judge,
            "pass_mark": made.pass_mark,
            "notes": notes,
        },
        show=lambda: _show(made),
    )
    _tell(made, price, notes)


COMMAND = Command(
    _run,
    examples=(
        "adjudge plan pilot.csv --accuracy 0.9 --items 5000 --price 0.02",
        "adjudge plan pilot.csv --gold gold.csv --accuracy 0.95 --most 25 -o plan.csv",
    ),
)


def _beside_gold(made: JudgmentPlan, model: Any, read: Input, gold: Gold) -> list[str]:
    """A word where the pilot's own labels, against gold, are not as right as the plan has it."""
    from adjudge.evaluation.against_gold import evaluate

    counts = read.judgments.counts_per_item
    each = max(round(float(counts[counts > 0].mean())), 1)
    row = next((row for row in made.table.to_pylist() if row["per_item"] == each), None)
    found = evaluate(model.fit(read.judgments), gold)["accuracy"]
    if row is None or found.low is None or found.high is None:
        return []
    if found.low <= row["high"] and row["low"] <= found.high:
        return []
    way = "too low" if row["accuracy"] < found.value else "too high"
    return [
        f"With the pilot's {count_of(each, 'judgment')} an item this plan has "
        f"{row['accuracy']:.1%}, but of "
        f"its labels on gold {found.value:.1%} are right ({found.low:.1%} to {found.high:.1%}): "
        f"the plan is {way}. Trust how it rises from row to row, not where it stands."
    ]


def _tell(made: JudgmentPlan, price: float, notes: list[str]) -> None:
    """The plan in words."""
    if made.per_item is not None:
        last = made.table.slice(made.table.num_rows - 1).to_pylist()[0]
        money = f", at a cost of {last['cost']:,.2f}" if price else ""
        say(
            (f"{count_of(made.per_item, 'judgment')} an item", "bold"),
            f" {'reaches' if made.per_item == 1 else 'reach'} {made.wanted:.1%}: "
            f"{last['judgments']:,} in all{money}",
        )
    if made.golds_a_judge is not None and made.pass_mark is not None:
        say(
            (f"{count_of(made.golds_a_judge, 'gold')} a judge", "bold"),
            f" {'tells' if made.golds_a_judge == 1 else 'tell'} a typical judge "
            f"({made.typical:.0%} right) from one who always gives the "
            f"commonest label ({made.guessing:.0%}): pass at {made.pass_mark:.0%}",
        )
    for note in notes:
        say(("  ", ""), (note, "yellow"))


def _show(made: JudgmentPlan) -> Any:
    """The table for people."""
    columns: Columns = {
        ">judgments an item": lambda row: str(row["per_item"]),
        ">n_eff": lambda row: f"{row['n_eff']:.1f}",
        ">accuracy": lambda row: f"{row['accuracy']:.3f}",
        ">90% interval": lambda row: f"{row['low']:.3f} to {row['high']:.3f}",
        ">judgments": lambda row: f"{row['judgments']:,}",
        ">cost": lambda row: f"{row['cost']:,.2f}",
    }
    return show_rows("Plan", made.table.to_pylist(), columns)
