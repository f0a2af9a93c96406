"""The table of judges of comparisons: skill, position bias, agreement with the ranking, verdict.

The skill of judges, each measured against the order that the other judges give.

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
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import beta

from adjudge.data.comparisons import Comparisons
from adjudge.data.draws import PairDraws
from adjudge.data.judges import LEVEL
from adjudge.kernels import pairs as kernels
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


_TAIL = (1.0 - LEVEL) / 2
_FEW = 10  # comparisons below which nothing is said of a judge


def pair_judge_table(
    comparisons: Comparisons,
    score: _Floats,  # (item,)
    *,
    skill: HeldOutSkill | None = None,
    lean: _Floats | None = None,  # (judge,)
    lean_sd: _Floats | None = None,  # (judge,)
    samples: PairDraws | None = None,
) -> Any:
    """One row per judge: comparisons, agreement with the ranking, skill, position, ties, verdict.

    ``skill`` is how often a judge answers with the order that the other judges give rather than
    against it: .5 is a coin flip, 0 is the reverse order. It is null, and the verdict "unknown",
    where the other judges do not order the items that the judge compared. ``agreement`` is with the
    final ranking, to which the judge contributed. ``position`` is in log odds for what is shown
    first.
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
    if skill is not None:
        named = {"skill": skill.value, "skill_low": skill.low, "skill_high": skill.high}
        columns |= {name: _nullable(values) for name, values in named.items()}
    if lean is not None:
        low, high = lean, lean
        if samples is not None and "lean" in samples.judge:
            flat = samples.judge["lean"].reshape(-1, count)
            low, high = np.quantile(flat, [_TAIL, 1.0 - _TAIL], axis=0)
        elif lean_sd is not None:
            low, high = lean + ndtri(_TAIL) * lean_sd, lean - ndtri(_TAIL) * lean_sd
        columns |= {"position": lean, "position_low": low, "position_high": high}
    columns |= {"first_chosen": _nullable(share), "tie_share": _nullable(even)}
    if skill is not None:
        columns["verdict"] = pa.array(_verdicts(total, skill), pa.large_string())
    return pa.table(columns)


def _verdicts(total: NDArray[np.int64], skill: HeldOutSkill) -> Any:
    """What the interval of each judge's skill says about them."""
    cases = {
        "too few": total < _FEW,
        "unknown": np.isnan(skill.value),
        "informative": skill.low > 0.5,
        "reversed": skill.high < 0.5,
    }
    return np.select(list(cases.values()), list(cases), "uninformative")


def _nullable(values: _Floats) -> Any:
    return pa.array(values, mask=np.isnan(values))
