"""What is left of the answer where there is less of a set: fewer judges, judgments or items.

Users have smaller sets than those of the other tables. Items that keep no judgment are not scored.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import prototype
from accuracy import QUICK
from accuracy_tables import PROTOTYPE, VOTE
from entries import entries, is_factored
from numpy.typing import NDArray
from scoring import score
from sets import Set, real_set, real_sets

from adjudge import Judgments
from adjudge.errors import AdjudgeError
from adjudge.evaluation.against_gold import _smoothed_vote_share

if TYPE_CHECKING:
    from side_by_side import Run

CASE = "thinned"
DRAWS = 2
Mask = NDArray[np.bool_]
FIGURES = ("accuracy", "log_loss", "ece")


def _half_the_judges(judgments: Judgments, random: np.random.Generator) -> Mask:
    kept = random.permutation(judgments.judge_count) < (judgments.judge_count + 1) // 2
    return kept[judgments.judge]


def _three_an_item(judgments: Judgments, random: np.random.Generator) -> Mask:
    return _so_many_an_item(judgments, np.full(judgments.item_count, 3), random)


def _two_an_item(judgments: Judgments, random: np.random.Generator) -> Mask:
    return _so_many_an_item(judgments, np.full(judgments.item_count, 2), random)


def _mostly_one_an_item(judgments: Judgments, random: np.random.Generator) -> Mask:
    most = np.where(random.random(judgments.item_count) < 0.1, 2, 1)
    return _so_many_an_item(judgments, most, random)


def _so_many_an_item(
    judgments: Judgments, most: NDArray[np.int64], random: np.random.Generator
) -> Mask:
    order = np.lexsort((random.random(len(judgments)), judgments.item))
    item = judgments.item[order]
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[order] = np.arange(len(judgments)) - judgments.offsets[item] < most[item]
    return kept


def _a_fifth_of_the_items(judgments: Judgments, random: np.random.Generator) -> Mask:
    kept = random.permutation(judgments.item_count) < max(judgments.item_count // 5, 1)
    return kept[judgments.item]


LEFT: dict[str, Callable[[Judgments, np.random.Generator], Mask]] = {
    "half the judges": _half_the_judges,
    "three judgments an item": _three_an_item,
    "a fifth of the items": _a_fifth_of_the_items,
    "two judgments an item": _two_an_item,
    "one judgment an item, two on a tenth": _mostly_one_an_item,
}


def thinned(run: Run) -> None:
    """The case: every real set, less of it left in three ways."""
    done = {line["set"] for line in run.done if line["case"] == CASE}
    for name, kind in real_sets(run.data).items():
        if name in done or not run.wants(name) or (run.quick and name != QUICK):
            continue
        print(f"thinned: {name}", file=sys.stderr)
        draws = 1 if run.quick else DRAWS
        given = {"data": str(run.data), "draws": draws, "models": sorted(run.models)}
        found = run.ours("thinned", name=name, **given)
        for part in found["parts"]:
            run.note_rows({"case": CASE, "set": name, "kind": kind, **part["what"]}, part["rows"])


def measure_thinned(name: str, data: str, draws: int, models: list[str]) -> dict[str, Any]:
    """Every model that is no sampler on what is left of a set, means over draws."""
    held = real_set(name, Path(data))
    parts = []
    for number, left in enumerate(LEFT):
        drawn = []
        for draw in range(draws):
            random = np.random.default_rng([number, draw])
            drawn.append(_scores(held, thin(held.judgments, left, random), Path(data), models))
        what = {"left": left, "judgments": len(held.judgments), "draws": draws}
        parts.append({"what": what, "rows": [_mean(side, drawn) for side in drawn[0]]})
    return {"parts": parts}


def thin(judgments: Judgments, left: str, random: np.random.Generator) -> Judgments:
    """What is left of judgments, drawn at random."""
    return judgments.select(judgments=LEFT[left](judgments, random))


def _scores(
    held: Set, judgments: Judgments, data: Path, models: list[str]
) -> dict[str, dict[str, Any]]:
    """What every side makes of judgments, by side."""
    truth = held.gold.align(judgments)
    found = {VOTE: score(truth, _smoothed_vote_share(judgments))}
    for entry in entries():
        if is_factored(entry) or (models and entry.name not in models):
            continue
        try:
            found[entry.name] = score(truth, entry.model.fit(judgments).posterior)
        except AdjudgeError as error:
            found[entry.name] = {"left_out": str(error)}
    module = prototype.load(data) if not models or PROTOTYPE in models else None
    if module is not None:
        answer = module.consensus(prototype.arrays_of(judgments))
        found[PROTOTYPE] = score(truth, answer["P"])
    return found


def _mean(side: str, drawn: list[dict[str, dict[str, Any]]]) -> dict[str, Any]:
    rows = [scores[side] for scores in drawn]
    told = next((row["left_out"] for row in rows if "left_out" in row), None)
    if told is not None:
        return {"side": side, "left_out": told}
    means = {name: round(float(np.mean([row[name] for row in rows])), 6) for name in FIGURES}
    return {"side": side, **means}


TASKS = {"thinned": measure_thinned}
