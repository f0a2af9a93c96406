"""Who should judge an item next, and which items suit a judge: from a completed matrix.

    agreement_ij = 1 - sum_k p_i(k) |completed_ij - value of k| / range of the scale

where p_i is the item's posterior under any model: 1 is a judge who would say the truth, 0 one who
would say the opposite end of the scale. The value of a truth is the mean of the labels' numbers
that stand for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.names import look_up
from adjudge.errors import BadData, BadSetting, shown
from adjudge.models.completion import Factors

_BLOCK = 65_536  # items looked at together


def recommend_judges(factors: Factors, consensus: Consensus, item: str, *, count: int = 10) -> Any:
    """The judges who have not judged an item and would agree most with its truth, best first.

    A table: judge, label they would give, agreement expected, judgments so far.
    """
    _check(factors, consensus, count)
    judgments = factors.judgments
    at = _code(item, judgments.items, "item")
    value = factors.complete(np.array([at]))[0]
    agreement = _agreement(factors, consensus.posterior[[at]], value[None])[0]
    free = factors.judging.copy()
    free[judgments.judge[judgments.offsets[at] : judgments.offsets[at + 1]]] = False
    best = _best(agreement, free, count)
    return pa.table(
        {
            "judge": judgments.judges.take(pa.array(best)),
            "label": _labels(factors, value[best]),
            "agreement": pa.array(agreement[best]),
            "judgments": pa.array(judgments.counts_per_judge[best]),
        }
    )


def recommend_items(factors: Factors, consensus: Consensus, judge: str, *, count: int = 10) -> Any:
    """The items that a judge has not judged and on which they would agree most with the truth.

    A table: item, label they would give, agreement expected, judgments so far.
    """
    _check(factors, consensus, count)
    judgments = factors.judgments
    at = _code(judge, judgments.judges, "judge")
    if not factors.judging[at]:
        raise BadData(f"judge {shown(judge)} has no judgments yet: nothing suits them better")
    value = factors.items @ factors.judges[at] + factors.mean  # (item,)
    agreement = np.empty(len(value))
    for start in range(0, len(value), _BLOCK):
        part = slice(start, start + _BLOCK)
        agreement[part] = _agreement(factors, consensus.posterior[part], value[part, None])[:, 0]
    free = factors.judged.copy()
    free[judgments.item[judgments.judge == at]] = False
    best = _best(agreement, free, count)
    return pa.table(
        {
            "item": judgments.items.take(pa.array(best)),
            "label": _labels(factors, value[best]),
            "agreement": pa.array(agreement[best]),
            "judgments": pa.array(judgments.counts_per_item[best]),
        }
    )


def _check(factors: Factors, consensus: Consensus, count: int) -> None:
    if count < 1:
        raise BadSetting("count", count, "at least 1")
    if not consensus.judgments.items.equals(factors.judgments.items):
        raise BadData("the consensus is of other items than the factors")


def _code(name: str, names: Any, kind: str) -> int:
    code = int(look_up(pa.array([name], pa.large_string()), names)[0])
    if code < 0:
        raise BadData(f"there is no {kind} {shown(name)} in these judgments")
    return code


def _agreement(
    factors: Factors, posterior: NDArray[np.float64], value: NDArray[np.float64]
) -> NDArray[np.float64]:  # (item, judge)
    """Expected agreement of completed numbers (item, judge) with posteriors (item, truth)."""
    scale = factors.judgments.scale
    stands, numbers = np.array(scale.truth_of), scale.values
    width = max(float(np.ptp(numbers[stands >= 0])), 1e-300) if (stands >= 0).any() else 1.0
    away = np.zeros_like(value)
    for truth in range(len(scale.truths)):
        mine = numbers[stands == truth]
        number = float(mine.mean()) if mine.size else factors.mean
        away += posterior[:, [truth]] * np.abs(value - number)
    return np.asarray(np.clip(1.0 - away / width, 0.0, 1.0))


def _best(agreement: NDArray[np.float64], free: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    """The free ones of most agreement, best first."""
    chosen = np.flatnonzero(free)
    order = np.argsort(-agreement[chosen], kind="stable")[:count]
    return np.asarray(chosen[order])


def _labels(factors: Factors, value: NDArray[np.float64]) -> Any:
    names = pa.array(factors.judgments.scale.labels, pa.large_string())
    return names.take(pa.array(factors.cuts.label(value)))
