"""What a little gold adds: 25 and 100 labels drawn at random, scored on the other items.

Each draw is also scored without gold, on the same items, so that only the gold differs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from accuracy import QUICK
from entries import entries, is_factored
from meter import Meter
from numpy.typing import NDArray
from scoring import score
from sets import Set, list_sets, read_set

from adjudge import Gold
from adjudge.data.names import look_up
from adjudge.errors import AdjudgeError
from adjudge.evaluation.comparison import Entrant

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "gold"
LABELS = (25, 100)
DRAWS = 20
ROOM = 2  # times as many gold labels a set must have as are drawn
Floats = NDArray[np.float64]


def gold(run: Run) -> None:
    """Measure every set with enough gold."""
    done = {line["set"] for line in run.done if line["case"] == CASE}
    for name, entry in list_sets(run.data).items():
        if name in done or not run.wants(name) or (run.quick and name != QUICK):
            continue
        print(f"gold: {name}", file=sys.stderr)
        draws = 2 if run.quick else DRAWS
        models = sorted(run.models)
        found = run.ours("gold", name=name, data=str(run.data), draws=draws, models=models)
        for part in found["parts"]:
            run.note_rows(
                {"case": CASE, "set": name, "kind": entry.kind, **part["what"]}, part["rows"]
            )


def measure_gold(name: str, data: str, draws: int, models: list[str]) -> dict[str, Any]:
    """Measure models that do not sample with and without so many gold labels."""
    held = read_set(list_sets(Path(data))[name])
    known = int((held.truth >= 0).sum())
    parts = []
    for labels in LABELS:
        if known < ROOM * labels:
            continue
        drawn = [draw(held, labels, number) for number in range(draws)]
        rows = [
            _with_entry(held, entry, drawn)
            for entry in _entries()
            if not models or entry[0].name in models
        ]
        what = {"judgments": len(held.judgments), "gold_labels": labels, "draws": draws}
        parts.append({"what": what, "rows": rows})
    return {"parts": parts}


def _entries() -> list[tuple[Entrant, Entrant]]:
    """Each model as it is without gold and with it."""
    pairs = zip(entries(gold=False), entries(gold=True), strict=True)
    return [(without, given) for without, given in pairs if not is_factored(given)]


def draw(held: Set, labels: int, number: int) -> NDArray[np.intp]:
    """Draw the items whose gold is used, the same for every side."""
    known = np.flatnonzero(held.truth >= 0)
    random = np.random.default_rng([labels, number])
    return np.sort(random.choice(known, labels, replace=False))


def choose(held: Set, items: NDArray[np.intp]) -> Gold:
    """The gold of these items."""
    chosen = np.zeros(held.judgments.item_count + 1, dtype=np.bool_)
    chosen[items] = True
    return held.gold.select(chosen[look_up(held.gold.items, held.judgments.items)])


def _hidden(held: Set, items: NDArray[np.intp]) -> NDArray[np.int16]:
    """The truth of the items that were not drawn."""
    truth = held.truth.copy()
    truth[items] = -1
    return truth


def _summary(
    side: str, held: Set, drawn: list[NDArray[np.intp]], before: Floats, after: list[Floats]
) -> dict[str, Any]:
    """Means over draws, without and with gold, and how often the log loss fell."""
    pairs = [
        (score(_hidden(held, items), before), score(_hidden(held, items), found))
        for items, found in zip(drawn, after, strict=True)
    ]
    row: dict[str, Any] = {"side": side}
    for name in ("accuracy", "log_loss", "ece"):
        row[f"{name}_alone"] = round(float(np.mean([alone[name] for alone, _ in pairs])), 6)
        row[name] = round(float(np.mean([found[name] for _, found in pairs])), 6)
    gains = [alone["log_loss"] - found["log_loss"] for alone, found in pairs]
    row["log_loss_gain_sd"] = round(float(np.std(gains)), 6)
    row["worse"] = int(sum(gain < 0 for gain in gains))
    return row


def _with_entry(
    held: Set, pair: tuple[Entrant, Entrant], drawn: list[NDArray[np.intp]]
) -> dict[str, Any]:
    without, given = pair
    try:
        before = without.model.fit(held.judgments).posterior
        with Meter() as meter:
            after = [
                given.model.fit(held.judgments, choose(held, items)).posterior for items in drawn
            ]
    except AdjudgeError as error:
        return {"side": given.name, "left_out": str(error)}
    cpu = float(meter.reading["cpu"] or 0.0) / len(drawn)
    return {**_summary(given.name, held, drawn, before, after), "cpu": cpu}


TASKS = {"gold": measure_gold}
