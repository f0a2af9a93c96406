"""Uses of preferences: the next pair to compare, how many more, and how well they fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from adjudge.data.preferences import Preferences
from adjudge.errors import BadData, BadSetting
from adjudge.models.pairs.cells import PairCells, count_cells

_Floats = NDArray[np.float64]
_ALL_PAIRS = 1_500  # items up to which every pair is considered
_NEAR = 30  # neighbours in the ranking that are considered above that
_MOST_TIMES = 1000.0  # times as many comparisons
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)


def _need_strengths(preferences: Preferences) -> None:
    """Refuse scores that are not log strengths."""
    if preferences.unit != "log strength":
        raise BadData(
            f"{preferences.model} has no log strengths; expected a model of Bradley-Terry"
        )


def _pair_gains(preferences: Preferences, first: Any, second: Any) -> _Floats:
    """Return the expected information of one more comparison of each pair, in bits.

    It is the mutual information of outcome and difference: large where both are close and their
    difference is uncertain.
    """
    mean, spread = preferences.difference(first, second)
    weights = _WEIGHTS / _WEIGHTS.sum()
    d = mean[..., None] + spread[..., None] * _NODES
    tied = preferences.tied
    total = 2.0 * np.cosh(0.5 * np.clip(d, -60, 60)) + tied
    win = np.exp(0.5 * np.clip(d, -60, 60)) / total
    chances = np.stack([win, 1.0 - win - tied / total, tied / total])  # (outcome, ..., node)
    chances = np.maximum(chances, 1e-300)
    before = chances @ weights
    inside = (chances * np.log2(chances)).sum(axis=0) @ weights
    return np.asarray(inside - (before * np.log2(before)).sum(axis=0))


def pair_worths(preferences: Preferences, first: Any, second: Any) -> _Floats:
    """Return the worth of one more comparison of each pair: its information times the likely error.

    The likely error is how much better the lower one is expected to be, if it is better. By
    information alone, pairs that are far apart but little known would be compared again and again.
    """
    _need_strengths(preferences)
    mean, spread = preferences.difference(first, second)
    z = np.abs(mean) / np.maximum(spread, 1e-300)
    wrong = spread * (np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) - z * ndtr(-z))
    return np.asarray(_pair_gains(preferences, first, second) * np.maximum(wrong, 0.0))


def next_pairs(preferences: Preferences, count: int) -> Any:
    """Return the pairs most worth another comparison, one row per pair."""
    first, second = _candidates(preferences)
    worth = pair_worths(preferences, first, second)
    gain = _pair_gains(preferences, first, second)
    chosen = np.argsort(-worth, kind="stable")[: count or len(gain)]
    a, b = first[chosen], second[chosen]
    items = preferences.comparisons.items
    size = preferences.comparisons.item_count
    cells = count_cells(preferences.comparisons)
    seen = dict(zip((cells.a * size + cells.b).tolist(), cells.many.tolist(), strict=True))
    keys = np.minimum(a, b) * size + np.maximum(a, b)
    return pa.table(
        {
            "left": items.take(pa.array(a)),
            "right": items.take(pa.array(b)),
            "difference": preferences.score[a] - preferences.score[b],
            "p_above": preferences.above(a, b),
            "comparisons": [int(seen.get(int(key), 0)) for key in keys],
            "gain": gain[chosen],
            "gain_rank": np.arange(1, len(chosen) + 1),
        }
    )


def _candidates(preferences: Preferences) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs to consider, the better item first: all, or neighbours of many items."""
    order = preferences.order.astype(np.int64)
    size = len(order)
    if size <= _ALL_PAIRS:
        first, second = np.triu_indices(size, 1)
        return order[first], order[second]
    parts = [(order[:-step], order[step:]) for step in range(1, _NEAR + 1)]
    return np.concatenate([a for a, _ in parts]), np.concatenate([b for _, b in parts])


def _sureness(preferences: Preferences, more: float = 0.0) -> float:
    """Return the mean probability of an order, with so many times more comparisons."""
    first, second = _candidates(preferences)
    mean, spread = preferences.difference(first, second)
    return float(ndtr(np.abs(mean) / np.maximum(spread, 1e-300) * np.sqrt(1.0 + more)).mean())


def comparisons_needed(preferences: Preferences, sure: float) -> int | None:
    """Return how many more comparisons, distributed like these, make the average order so sure.

    Differences are taken as they are, and errors fall with the root of the number. None if a
    thousand times as many are not enough.
    """
    if not 0.5 < sure < 1.0:
        raise BadSetting("sure", sure, "more than 0.5 and less than 1")
    _need_strengths(preferences)
    if _sureness(preferences) >= sure:
        return 0
    if _sureness(preferences, _MOST_TIMES) < sure:
        return None
    times = brentq(lambda more: _sureness(preferences, more) - sure, 0.0, _MOST_TIMES)
    return int(np.ceil(times * len(preferences.comparisons)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PairFit:
    """How well preferences explain the comparisons behind them."""

    pairs: Any  # table: first, second, comparisons, observed, expected, z
    sureness: float  # mean probability of the order of two items
    log_loss: float  # per comparison, in bits
    without: float  # the same for the shares of outcomes only
    agreement: float  # of decided comparisons with the ranking


def measure_fit(preferences: Preferences) -> _PairFit:
    """Measure observed and expected wins of every pair, and log loss."""
    _need_strengths(preferences)
    compared = preferences.comparisons
    many = preferences.right is not None and len(preferences.right) == compared.judge_count
    lean = np.zeros(1) if preferences.lean is None else preferences.lean
    right = np.ones(1) if preferences.right is None else preferences.right
    cells = count_cells(compared, judges=many and len(right) > 1, sides=bool(lean.any()))
    chance = _chances(cells, preferences.score, lean, preferences.tied, right)
    if preferences.tied == 0.0:  # ties are half a win each
        wins = cells.wins[:, :2] + 0.5 * cells.wins[:, 2:]
        logs = -(wins * np.log2(np.maximum(chance[:, :2], 1e-300))).sum()
        share = wins.sum(axis=0) / wins.sum()
    else:
        logs = -(cells.wins * np.log2(np.maximum(chance, 1e-300))).sum()
        share = cells.wins.sum(axis=0) / cells.wins.sum()
    total = cells.many.sum()
    plain = -(share[share > 0] * np.log2(share[share > 0])).sum()
    observed = cells.wins[:, 0] + 0.5 * cells.wins[:, 2]
    mean = chance[:, 0] + 0.5 * chance[:, 2]
    spread = chance[:, 0] + 0.25 * chance[:, 2] - mean**2
    pairs = _by_pair(preferences, cells, observed, cells.many * mean, cells.many * spread)
    agreed = preferences.judges.to_pydict() if preferences.judges is not None else {}
    weights = np.array(agreed.get("comparisons", [0]), dtype=np.float64)
    values = np.array([0.0 if v is None else v for v in agreed.get("agreement", [0.0])])
    return _PairFit(
        pairs=pairs,
        sureness=_sureness(preferences),
        log_loss=float(logs / total),
        without=float(plain),
        agreement=float((values * weights).sum() / max(weights.sum(), 1.0)),
    )


def _chances(
    cells: PairCells, score: _Floats, lean: _Floats, tied: float, right: _Floats
) -> _Floats:  # (cell, 3)
    """Return the probabilities that a wins, that b wins, and of a tie, in every cell."""
    ahead, shown = score[cells.a] - score[cells.b], cells.side * lean[cells.judge]
    found = np.zeros((len(ahead), 3))
    for part, up in ((right[cells.judge], ahead), (1.0 - right[cells.judge], -ahead)):
        half = np.exp(0.5 * (up + shown))
        outcomes = np.stack([half, 1.0 / half, np.full(len(up), tied)], axis=1)
        found += part[:, None] * outcomes / outcomes.sum(axis=1, keepdims=True)
    return found


def _by_pair(
    preferences: Preferences, cells: Any, observed: _Floats, expected: _Floats, spread: _Floats
) -> Any:
    """Return one row per pair, the higher item first: comparisons, wins, expected wins, z."""
    size = cells.items
    pair, place = np.unique(cells.a * size + cells.b, return_inverse=True)
    many, won, due, wide = (
        np.bincount(place, part) for part in (cells.many, observed, expected, spread)
    )
    a, b = np.divmod(pair, size)
    swapped = preferences.score[a] < preferences.score[b]
    first, second = np.where(swapped, b, a), np.where(swapped, a, b)
    won, due = np.where(swapped, many - won, won), np.where(swapped, many - due, due)
    items = preferences.comparisons.items
    return pa.table(
        {
            "first": items.take(pa.array(first)),
            "second": items.take(pa.array(second)),
            "comparisons": many,
            "observed": won,
            "expected": due,
            "z": (won - due) / np.sqrt(np.maximum(wide, 1e-12)),
        }
    )
