"""What a little gold brings: 25 and 100 labels drawn at random, scored on the items not drawn.

Every draw has its own score without gold, on the same items, so that only the gold differs. The
prototype calibrates one fit; a model of ours is fitted again, with the gold.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import prototype
from accuracy import QUICK
from accuracy_tables import PROTOTYPE
from entries import entries, is_factored
from meter import Meter
from numpy.typing import NDArray
from scoring import score
from sets import Set, real_set, real_sets

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
    """The case: every real set with gold enough."""
    real = real_sets(run.data)
    done = {line["set"] for line in run.done if line["case"] == CASE}
    for name, kind in real.items():
        if name in done or not run.wants(name) or (run.quick and name != QUICK):
            continue
        print(f"gold: {name}", file=sys.stderr)
        draws = 2 if run.quick else DRAWS
        models = sorted(run.models)
        found = run.ours("gold", name=name, data=str(run.data), draws=draws, models=models)
        for part in found["parts"]:
            run.note_rows({"case": CASE, "set": name, "kind": kind, **part["what"]}, part["rows"])


def measure_gold(name: str, data: str, draws: int, models: list[str]) -> dict[str, Any]:
    """Every model that is no sampler, or just these, with and without so many gold labels."""
    held = real_set(name, Path(data))
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
        if not models or PROTOTYPE in models:
            rows.append(_with_prototype(held, Path(data), drawn))
        what = {"judgments": len(held.judgments), "gold_labels": labels, "draws": draws}
        parts.append({"what": what, "rows": rows})
    return {"parts": parts}


def _entries() -> list[tuple[Entrant, Entrant]]:
    """Each model as it is without gold and with it."""
    pairs = zip(entries(gold=False), entries(gold=True), strict=True)
    return [(without, given) for without, given in pairs if not is_factored(given)]


def draw(held: Set, labels: int, number: int) -> NDArray[np.intp]:
    """The items whose gold is told: the same for every side."""
    known = np.flatnonzero(held.truth >= 0)
    random = np.random.default_rng([labels, number])
    return np.sort(random.choice(known, labels, replace=False))


def told(held: Set, items: NDArray[np.intp]) -> Gold:
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
                given.model.fit(held.judgments, told(held, items)).posterior for items in drawn
            ]
    except AdjudgeError as error:
        return {"side": given.name, "left_out": str(error)}
    cpu = float(meter.reading["cpu"] or 0.0) / len(drawn)
    return {**_summary(given.name, held, drawn, before, after), "cpu": cpu}


def _with_prototype(held: Set, data: Path, drawn: list[NDArray[np.intp]]) -> dict[str, Any]:
    module = prototype.load(data)
    if module is None:
        return {"side": PROTOTYPE, "left_out": prototype.MISSING}
    given = prototype.arrays_of(held.judgments)
    found = module.consensus(given)
    after = [module.calibrate(given, found, items, held.truth[items]) for items in drawn]
    return _summary(PROTOTYPE, held, drawn, found["P"], after)


TASKS = {"gold": measure_gold}
