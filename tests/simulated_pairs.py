"""Simulated comparisons: items of known strength, judges of known skill and lean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.comparisons import LEFT, RIGHT, TIE, Comparisons
from adjudge.data.names import as_names

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedComparisons:
    """Comparisons and what they were made from."""

    comparisons: Comparisons
    score: _Floats  # (item,)
    right: _Floats  # (judge,)
    lean: _Floats  # (judge,)


def make_comparisons(
    score: _Floats,  # (item,)
    count: int,
    *,
    right: _Floats | None = None,  # (judge,) one who is always right, if not given
    lean: _Floats | None = None,  # (judge,)
    tied: float = 0.0,
    pairs: tuple[NDArray[np.integer], NDArray[np.integer]] | None = None,
    seed: int = 0,
) -> SimulatedComparisons:
    """So many comparisons of pairs drawn at random, or of the pairs given, by judges in turn.

    The left item is the one that is shown first; a fair coin says which of a pair that is.
    """
    rng = np.random.default_rng(seed)
    right = np.ones(1) if right is None else np.asarray(right, dtype=np.float64)
    lean = np.zeros(len(right)) if lean is None else np.asarray(lean, dtype=np.float64)
    items = len(score)
    if pairs is None:
        a = rng.integers(items, size=count)
        b = (a + rng.integers(1, items, size=count)) % items
    else:
        a, b = (np.asarray(side) for side in pairs)
        count = len(a)
    coin = rng.random(count) < 0.5
    left, other = np.where(coin, a, b), np.where(coin, b, a)
    judge = rng.integers(len(right), size=count)
    against = rng.random(count) >= right[judge]
    d = score[left] - score[other]
    x = np.where(against, -d, d) + lean[judge]
    total = 2.0 * np.cosh(0.5 * x) + tied
    u = rng.random(count) * total
    win = np.exp(0.5 * x)
    outcome = np.where(u < win, LEFT, np.where(u < win + tied, TIE, RIGHT))
    made = Comparisons(
        items=_names("item", items),
        judges=_names("judge", len(right)),
        left=left.astype(np.int32),
        right=other.astype(np.int32),
        judge=judge.astype(np.int32),
        outcome=outcome.astype(np.int8),
    )
    return SimulatedComparisons(comparisons=made, score=np.asarray(score), right=right, lean=lean)


def _names(what: str, count: int) -> object:
    return as_names(pa.array([f"{what}{n}" for n in range(count)], pa.large_string()))
