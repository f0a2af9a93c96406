"""The table of judges of comparisons: skill, lean to a side, agreement, and a verdict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from adjudge.data.comparisons import Comparisons
from adjudge.data.judges import LEVEL
from adjudge.data.pair_draws import PairDraws
from adjudge.kernels import pairs as kernels

_Floats = NDArray[np.float64]
_TAIL = (1.0 - LEVEL) / 2
_FEW = 10  # comparisons below which nothing is said of a judge


def pair_judge_table(
    comparisons: Comparisons,
    score: _Floats,  # (item,)
    *,
    right: _Floats | None = None,  # (judge,)
    right_total: _Floats
    | None = None,  # (judge,) sure answers that would tell as much, and the prior
    lean: _Floats | None = None,  # (judge,)
    lean_sd: _Floats | None = None,  # (judge,)
    samples: PairDraws | None = None,
) -> Any:
    """One row a judge: comparisons, agreement with the ranking, skill, position, ties, verdict.

    ``skill`` is how often a judge answers with the order of the items rather than against it: .5
    tells nothing, 0 is the reverse. ``position`` is in log odds for what is shown first.
    """
    count, judge = comparisons.judge_count, comparisons.judge
    sums = np.zeros((count, 6), dtype=np.int64)
    answers = (comparisons.left, comparisons.right, comparisons.outcome, comparisons.shown_first)
    kernels.count_answers(*answers, judge, score, sums)
    total, decided, with_it, ties, known, chosen = sums.T
    with np.errstate(invalid="ignore"):
        agreed, even, share = with_it / decided, ties / total, chosen / known
    columns: dict[str, Any] = {
        "judge": comparisons.judges,
        "comparisons": total,
        "agreement": _nullable(agreed),
    }
    bounds = _bounds(right, right_total, samples, "right")
    if right is not None and bounds is not None:
        columns |= {"skill": right, "skill_low": bounds[0], "skill_high": bounds[1]}
    if lean is not None:
        low, high = lean, lean
        if samples is not None and "lean" in samples.judge:
            flat = samples.judge["lean"].reshape(-1, count)
            low, high = np.quantile(flat, [_TAIL, 1.0 - _TAIL], axis=0)
        elif lean_sd is not None:
            low, high = lean + ndtri(_TAIL) * lean_sd, lean - ndtri(_TAIL) * lean_sd
        columns |= {"position": lean, "position_low": low, "position_high": high}
    columns |= {"first_chosen": _nullable(share), "tie_share": _nullable(even)}
    if bounds is not None:
        columns["verdict"] = pa.array(_verdicts(total, *bounds), pa.large_string())
    return pa.table(columns)


def _bounds(
    value: _Floats | None, total: _Floats | None, samples: PairDraws | None, name: str
) -> tuple[_Floats, _Floats] | None:
    """The interval of each judge's share, from draws or as that of a Beta."""
    if value is None:
        return None
    if samples is not None and name in samples.judge:
        flat = samples.judge[name].reshape(-1, len(value)).astype(np.float64)
        low, high = np.quantile(flat, [_TAIL, 1.0 - _TAIL], axis=0)
        return low, high
    if total is None:
        return value, value
    good, bad = value * total, (1.0 - value) * total
    return betaincinv(good, bad, _TAIL), betaincinv(good, bad, 1.0 - _TAIL)


def _verdicts(total: NDArray[np.int64], low: _Floats, high: _Floats) -> list[str]:
    """What each judge seems to be, as far as their interval can tell."""
    words = []
    for many, lower, upper in zip(total, low, high, strict=True):
        if many < _FEW:
            words.append("too few")
        elif upper < 0.5:
            words.append("reversed")
        elif lower <= 0.5:
            words.append("random")
        else:
            words.append("informative")
    return words


def _nullable(values: _Floats) -> Any:
    return pa.array(values, mask=np.isnan(values))
