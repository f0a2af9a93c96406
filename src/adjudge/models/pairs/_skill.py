"""The skill of judges, each measured against the order that the other judges give.

A judge's own comparisons are left out of that order: a judge always agrees with an order that their
own comparisons have made. The reference is uncertain, so it is averaged over its normal
approximation: comparisons of items that the others do not order say nothing about the judge.

Prior: a share of all judges flips a coin (skill .5) and the others follow a Beta distribution. The
share and the Beta are learnt from all judges, as weights of a grid of such priors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from adjudge.data.judges import LEVEL
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_FOLDS = 10  # groups of judges that are left out together, where judges are more
_LEAST = 1.0  # comparisons of a certain order that a judge's must be worth, or nothing is known
_BINS = 50  # of the evidence in a comparison, on either side of 0
_SKILL = np.linspace(0.005, 0.995, 199)  # .5 is among them
_COIN_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MEANS = np.linspace(0.5, 0.95, 10)
_STRENGTHS = (2.0, 4.0, 8.0)  # judgments that the Beta distribution is worth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reference:
    """The order that some of the judges give."""

    score: _Floats  # (item,) log strength
    variance: _Floats  # (item,)
    tied: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOutSkill:
    """The skill of every judge and its interval; NaN where nothing is known."""

    value: _Floats  # (judge,)
    low: _Floats  # (judge,)
    high: _Floats  # (judge,)


def measure_skill(
    cells: PairCells,
    lean: _Floats,  # (judge,)
    family: NDArray[np.int64],  # (judge,) judges of one family are left out together
    fit_without: Callable[[NDArray[np.bool_]], Reference],  # of a mask (judge,)
) -> HeldOutSkill:
    """Measure each judge against the order given by those who are not left out with them."""
    evidence = np.empty((len(cells.a), 3))
    fold = _assign_folds(cells, family)
    for number in range(fold.max(initial=-1) + 1):
        left_out = fold == number
        rows = left_out[cells.judge]
        if rows.any():
            evidence[rows] = _evidence(cells.select(rows), lean, fit_without(left_out))
    weight = _posterior(cells, evidence)
    worth = np.bincount(cells.judge, (cells.wins * evidence**2).sum(axis=1), cells.judges)
    known = worth >= _LEAST
    below = np.cumsum(weight, axis=1)
    tail = (1.0 - LEVEL) / 2
    found = (weight @ _SKILL, *(_SKILL[(below >= p).argmax(axis=1)] for p in (tail, 1.0 - tail)))
    value, low, high = (np.where(known, part, np.nan) for part in found)
    return HeldOutSkill(value=value, low=low, high=high)


def _assign_folds(cells: PairCells, family: NDArray[np.int64]) -> NDArray[np.int64]:  # (judge,)
    """The fold of every judge: families dealt out by size, so that folds are about as large."""
    names, group = np.unique(family, return_inverse=True)
    size = np.bincount(group[cells.judge], cells.many, len(names))
    fold = np.empty(len(names), dtype=np.int64)
    fold[np.argsort(-size, kind="stable")] = np.arange(len(names)) % _FOLDS
    return fold[group]


def _evidence(cells: PairCells, lean: _Floats, others: Reference) -> _Floats:  # (cell, 3)
    """How much each outcome says of skill: its likelihood is 1 + (2 skill - 1) times this."""
    variance = others.variance[cells.a] + others.variance[cells.b]
    apart = others.score[cells.a] - others.score[cells.b]
    apart = apart / np.sqrt(1.0 + np.pi / 8.0 * variance)  # the average of logistic curves
    shown = cells.side * lean[cells.judge]
    with_it, against = (
        np.log(2.0 * np.cosh(0.5 * (sign * apart + shown)) + others.tied) for sign in (1.0, -1.0)
    )
    base = with_it - against
    return np.asarray(np.tanh(0.5 * np.column_stack([apart - base, -apart - base, -base])))


def _posterior(cells: PairCells, evidence: _Floats) -> _Floats:  # (judge, grid)
    """The posterior of every judge's skill, with the prior learnt from all of them."""
    bins = 2 * _BINS + 1
    place = np.rint(evidence * _BINS).astype(np.int64) + _BINS + cells.judge[:, None] * bins
    count = np.bincount(place.ravel(), cells.wins.ravel(), cells.judges * bins)
    level = np.arange(-_BINS, _BINS + 1) / _BINS
    log = count.reshape(-1, bins) @ np.log1p(np.outer(level, 2.0 * _SKILL - 1.0))
    likelihood = np.exp(log - log.max(axis=1, keepdims=True))
    priors = _grid_of_priors()
    marginal = likelihood @ priors.T  # (judge, prior)
    total = np.log(marginal).sum(axis=0)
    chance = np.exp(total - total.max())
    weight = likelihood * ((chance / marginal) @ priors)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _grid_of_priors() -> _Floats:  # (prior, grid)
    rows = []
    for mean, strength in product(_MEANS, _STRENGTHS):
        skilled = beta.pdf(_SKILL, mean * strength, (1.0 - mean) * strength)
        for share in _COIN_SHARES:
            row = (1.0 - share) * skilled / skilled.sum()
            row[len(row) // 2] += share
            rows.append(row)
    return np.array(rows)
