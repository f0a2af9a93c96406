"""adjudge plan: how many judgments an accuracy takes, from a pilot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjudge.cli import _options as o
from adjudge.cli import command, option
from adjudge.cli._console import progress, say
from adjudge.cli._fitting import build_model, fit_model
from adjudge.cli._reading import Input, read_judgments
from adjudge.cli._results import check_places, deliver, show_rows
from adjudge.data.source import count_of

if TYPE_CHECKING:
    from adjudge.data.gold import Gold
    from adjudge.simulation.planning import JudgmentPlan


@command(
    "adjudge plan pilot.csv --accuracy 0.9 --items 5000 --price 0.02",
    "adjudge plan pilot.csv --gold gold.csv --accuracy 0.95 --most 25 -o plan.csv",
)
def run(
    judgments: list[str] = o.JUDGMENTS,
    *,
    gold: str | None = o.GOLD,
    accuracy: float = option("--accuracy X", "Share of labels that have to be right.", 0.9),
    items: int | None = option("--items N", "Items to label; as many as the pilot if not given."),
    price: float = option("--price X", "Of one judgment, in your currency.", 0.0),
    most: int = option("--most N", "Most judgments per item to try.", 15, min=1),
    crowd: int | None = option("--crowd N", "Judges to expect; those of the pilot if not given."),
    runs: int = option("--runs N", "Simulated crowds per number.", 10, min=1),
    error: float = option("--error X", "Chance of a wrong decision on a judge by gold.", 0.05),
    fitting: o.Fitting,
    reading: o.TruthReading,
    out: o.Delivery,
) -> None:
    """Plan how many judgments, gold labels and how much money an accuracy takes.

    A model is fitted to the judgments of a pilot; simulated crowds of such judges label
    simulated items one, two, three times, until the labels reach the accuracy.
    """
    from adjudge.simulation.planning import plan

    check_places({"--output": out.output}, inputs=(*judgments, gold), printing=out)
    model = build_model(fitting)
    read = read_judgments(judgments, gold, reading)
    pilot = fit_model(model, read.judgments, read.given, fitting)
    with progress("simulating crowds") as on_step:
        planned = plan(
            pilot, model=model, accuracy=accuracy, price=price, most=most, judges=crowd, runs=runs,
            items=items or pilot.judgments.item_count, error=error, seed=fitting.seed,
            progress=on_step,
        )  # fmt: skip
    known = read.every
    notes = [
        *planned.notes,
        *([] if known is None else _compare_with_gold(planned, model, read, known)),
    ]
    deliver(
        planned.table,
        "plan",
        out,
        about={
            "wanted": planned.accuracy,
            "per_item": planned.per_item,
            "golds_a_judge": planned.golds_a_judge,
            "pass_mark": planned.pass_mark,
            "notes": notes,
        },
        show=lambda: _show(planned),
    )
    _tell(planned, price, notes)


def _compare_with_gold(planned: JudgmentPlan, model: Any, read: Input, gold: Gold) -> list[str]:
    """Return a note where gold shows that the plan is too high or too low for the pilot."""
    from adjudge.evaluation.against_gold import evaluate

    counts = read.judgments.counts_per_item
    each = max(round(float(counts[counts > 0].mean())), 1)
    row = next((row for row in planned.table.to_pylist() if row["per_item"] == each), None)
    found = evaluate(model.fit(read.judgments), gold)["accuracy"]
    if row is None or found.low is None or found.high is None:
        return []
    if found.low <= row["high"] and row["low"] <= found.high:
        return []
    way = "too low" if row["accuracy"] < found.value else "too high"
    return [
        f"With the pilot's {count_of(each, 'judgment')} per item this plan has "
        f"{row['accuracy']:.1%}, but of "
        f"its labels on gold {found.value:.1%} are right ({found.low:.1%} to {found.high:.1%}): "
        f"the plan is {way}. Trust the differences between rows, not the values."
    ]


def _tell(planned: JudgmentPlan, price: float, notes: list[str]) -> None:
    """The plan in words."""
    if planned.per_item is not None:
        last = planned.table.slice(planned.table.num_rows - 1).to_pylist()[0]
        money = f", at a cost of {last['cost']:,.2f}" if price else ""
        say(
            (f"{count_of(planned.per_item, 'judgment')} per item", "bold"),
            f" {'reaches' if planned.per_item == 1 else 'reach'} {planned.accuracy:.1%}: "
            f"{last['judgments']:,} in all{money}",
        )
    if planned.golds_a_judge is not None and planned.pass_mark is not None:
        say(
            (f"{count_of(planned.golds_a_judge, 'gold item')} per judge", "bold"),
            f" {'separates' if planned.golds_a_judge == 1 else 'separate'} a typical judge "
            f"({planned.typical:.0%} right) from one who always gives the "
            f"most common label ({planned.guessing:.0%}): pass at {planned.pass_mark:.0%}",
        )
    for note in notes:
        say(("  ", ""), (note, "yellow"))


def _show(planned: JudgmentPlan) -> Any:
    """The table for people."""
    columns = (
        "per_item as judgments per item",
        "n_eff:.1f as n_eff",
        "accuracy",
        "low to high:.3f as 90% interval",
        "judgments",
        "cost:,.2f",
    )
    return show_rows("Plan", planned.table.to_pylist(), *columns)
