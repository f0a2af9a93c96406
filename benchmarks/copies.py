"""What exact copies of a judge do to the answer: they add nothing, so it should not move.

A judge is copied once and four times over (x2 and x5): the worst and the median one of five real
sets, by gold, and the language model of the demo.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import prototype
from accuracy_tables import PROTOTYPE, VOTE
from entries import entries
from meter import Meter
from numpy.typing import NDArray
from scoring import score
from sets import MADE_CROWD, Set, real_set, real_sets, with_copies

from adjudge import Judgments
from adjudge.errors import AdjudgeError
from adjudge.evaluation.against_gold import _smoothed_vote_share
from adjudge.simulation import MODEL_NAME, demo

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "copies"
DEMO = "demo"
SETS = ("rte", "web-relevance", "duck", "zencrowd_us", "llmjudge")
COPIES = (1, 4)
LEAST = 20  # judgments of a judge who is copied, and
SHARE = 0.05  # of the items


def copies(run: Run) -> None:
    """The case: the demo, then the real sets that are there."""
    real = [name for name in SETS if name in real_sets(run.data)]
    done = {line["set"] for line in run.done if line["case"] == CASE}
    for name in [DEMO] if run.quick else [DEMO, *real]:
        if name in done:
            continue
        print(f"copies: {name}", file=sys.stderr)
        found = run.ours("copies", name=name, data=str(run.data), full=run.full)
        for part in found["parts"]:
            run.note_rows({"case": CASE, "set": name, **part["what"]}, part["rows"])


def measure_copies(name: str, data: str, full: bool) -> dict[str, Any]:
    """Every model on a set with and without copies."""
    held = demo_set() if name == DEMO else real_set(name, Path(data))
    before = _scores(held, held.judgments, Path(data), full)
    parts = []
    for which, judge in _judges(held).items():
        for number in COPIES:
            after = _scores(held, with_copies(held.judgments, judge, number), Path(data), full)
            rows = [{**row, **_alone(before[row["side"]])} for row in after.values()]
            what = {"judgments": len(held.judgments), "copied": which, "copies": number}
            parts.append({"what": what, "rows": rows})
    return {"parts": parts}


def _alone(row: dict[str, Any]) -> dict[str, Any]:
    names = ("accuracy", "log_loss")
    return {f"{name}_alone": row[name] for name in names if name in row}


def demo_set() -> Set:
    """The demo crowd with one language model, whatever others it has."""
    made = demo()
    names = np.array(made.judgments.judges.to_pylist())
    others = np.char.startswith(names, "llm") & (names != MODEL_NAME)
    judgments = made.judgments.select(judgments=~others[made.judgments.judge])
    return Set(DEMO, MADE_CROWD, judgments, made.truth)


def _judges(held: Set) -> dict[str, int]:
    """Who is copied: the demo's model, or the worst and the median of those who judged enough."""
    names = held.judgments.judges.to_pylist()
    if held.name == DEMO:
        return {MODEL_NAME: names.index(MODEL_NAME)}
    order = judges_by_accuracy(held)
    return {"worst": int(order[0]), "median": int(order[len(order) // 2])}


def judges_by_accuracy(held: Set) -> NDArray[np.intp]:
    """The judges with enough judgments, the least accurate by gold first."""
    judgments, truth = held.judgments, held.truth[held.judgments.item]
    known = truth >= 0
    size = judgments.judge_count
    seen = np.bincount(judgments.judge[known], minlength=size)
    right = np.bincount(judgments.judge[known & (truth == judgments.label)], minlength=size)
    enough = np.flatnonzero(
        (judgments.counts_per_judge >= max(LEAST, SHARE * judgments.item_count)) & (seen >= LEAST)
    )
    return enough[np.argsort(right[enough] / seen[enough], kind="stable")]


def _scores(held: Set, judgments: Judgments, data: Path, full: bool) -> dict[str, dict[str, Any]]:
    """What every side makes of judgments, by side."""
    rows: list[dict[str, Any]] = [
        {"side": VOTE, **score(held.truth, _smoothed_vote_share(judgments))}
    ]
    for entry in entries(full=full):
        try:
            with Meter() as meter:
                consensus = entry.model.fit(judgments)
            cpu = meter.reading["cpu"]
            figures = score(held.truth, consensus.posterior)
            rows.append({"side": entry.name, "cpu": cpu, **figures})
        except AdjudgeError as error:
            rows.append({"side": entry.name, "left_out": str(error)})
    module = prototype.load(data)
    if module is None:
        rows.append({"side": PROTOTYPE, "left_out": prototype.MISSING})
    else:
        found = module.consensus(prototype.arrays_of(judgments))
        rows.append({"side": PROTOTYPE, **score(held.truth, found["P"])})
    return {row["side"]: row for row in rows}


TASKS = {"copies": measure_copies}
