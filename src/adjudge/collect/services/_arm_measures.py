"""What is measured of arms: confusion into accuracy, precision and recall, intervals, tests.

Pure functions of arrays. A row of measures is the accuracy, then the precision of each truth, then
the recall of each; NaN where there is nothing to measure by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.measures import ratio

_LEVEL = 0.95
_CELLS = 20_000_000  # judgments counted over all permutations of a vote

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def measure_names(truths: Sequence[str]) -> tuple[str, ...]:
    """The names of the measures, in their order."""
    kinds = ("precision", "recall")
    return ("accuracy", *(f"{kind} {truth}" for kind in kinds for truth in truths))


def measures(confusion: _Floats) -> _Floats:  # (..., truth, label) -> (..., measure)
    """Accuracy, precision and recall from counts of truths against labels."""
    hits = np.diagonal(confusion, axis1=-2, axis2=-1)  # (..., truth)
    given, there = confusion.sum(axis=-2), confusion.sum(axis=-1)
    above = np.concatenate([hits.sum(axis=-1)[..., None], hits, hits], axis=-1)
    below = np.concatenate([there.sum(axis=-1)[..., None], given, there], axis=-1)
    return np.asarray(ratio(above, below))


def confusions(
    group: _Ints,  # (answer,)
    truth: _Ints,  # (answer,)
    label: _Ints,  # (answer,)
    groups: int,
    truths: int,
) -> _Floats:  # (group, truth, label)
    """Answers counted by group, truth and label."""
    counts = np.zeros((groups, truths, truths))
    np.add.at(counts, (group, truth, label), 1.0)
    return counts


def estimate_means(
    rows: _Floats,  # (row, measure)
    *,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats, _Floats]:  # (measure,) each
    """Means over the rows that have each measure, with bootstrap intervals over rows."""
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    return _bootstrap(
        lambda weight: np.asarray(ratio(weight @ filled, weight @ known)),
        np.ones(len(rows)),
        resamples,
        rng,
    )


def estimate_pooled(
    truth: _Ints,  # (item,)
    label: _Ints,  # (item,)
    truths: int,
    *,
    resamples: int,
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats, _Floats]:  # (measure,) each
    """Measures of one set of items, with bootstrap intervals over items.

    Items of one cell of the confusion are alike, so cells are drawn by their shares.
    """
    cells = confusions(np.zeros(len(truth), dtype=np.int64), truth, label, 1, truths).ravel()
    return _bootstrap(
        lambda drawn: measures(drawn.reshape(*drawn.shape[:-1], truths, truths)),
        cells,
        resamples,
        rng,
    )


def _bootstrap(
    statistic: Callable[[_Floats], _Floats],  # (..., unit) -> (..., measure)
    counts: _Floats,  # (unit,)
    resamples: int,
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats, _Floats]:  # (measure,) each
    """A statistic of how often each unit was drawn: its value, and its percentile interval.

    Resamples in which a measure is NaN are left out of its interval.
    """
    value, many = statistic(counts), int(counts.sum())
    low, high = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
    if many > 1 and resamples:
        drawn = statistic(rng.multinomial(many, counts / many, size=resamples).astype(np.float64))
        tail = (1 - _LEVEL) / 2
        for place, column in enumerate(drawn.T):
            known = column[~np.isnan(column)]
            if known.size:
                low[place], high[place] = np.quantile(known, [tail, 1 - tail])
    return value, low, high


def permutation_test(
    rows: _Floats,  # (row, measure)
    arm: _Ints,  # (row,)
    *,
    permutations: int,
    rng: np.random.Generator,
) -> _Floats:  # (measure,)
    """P of means that lie so far apart between arms if arms made no difference.

    The statistic is the spread of the arms' means, each weighted by its rows. NaN where fewer than
    two arms have the measure.
    """
    codes = np.unique(arm)[:, None]
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)

    def spread(dealt: _Ints) -> _Floats:  # between the arms, but for a constant
        weight = (dealt == codes).astype(np.float64)
        total, count = weight @ filled, weight @ known
        between = (total**2 / np.maximum(count, 1.0)).sum(axis=0)
        return np.where((count > 0).sum(axis=0) > 1, between, np.nan)

    return _permute(spread, arm, permutations, rng)


def vote_test(
    judge: _Ints,  # (judgment,)
    item: _Ints,  # (judgment,)
    label: _Ints,  # (judgment,)
    arm: _Ints,  # (judge,)
    accepted: NDArray[np.bool_],  # (item, truth)
    *,
    permutations: int,
    rng: np.random.Generator,
) -> float:
    """P of votes whose accuracies lie so far apart if arms made no difference to their judges.

    Every arm votes again: mistakes that a judge makes on many items stay together.
    """
    arms = int(arm.max()) + 1
    shape = (arms, *accepted.shape)
    permutations = min(permutations, max(99, _CELLS // (len(judge) + arms * accepted.size)))

    def spread(dealt: _Ints) -> _Floats:
        choice = votes(dealt[judge], item, label, shape, rng)
        right = accepted[np.arange(len(accepted)), choice] & (choice >= 0)
        share = np.asarray(ratio(right.sum(axis=1), (choice >= 0).sum(axis=1)))
        known = share[~np.isnan(share)]
        return np.array(known.var() if known.size > 1 else np.nan)

    return float(_permute(spread, arm, permutations, rng))


def _permute(
    statistic: Callable[[_Ints], _Floats],
    arm: _Ints,  # (judge,)
    permutations: int,
    rng: np.random.Generator,
) -> _Floats:
    """P of a statistic at least as large, if judges are dealt out to the arms again.

    As the chance that put judges into arms could have done. ``scipy.stats.permutation_test`` takes
    no arm of one judge.
    """
    seen = statistic(arm)
    extreme = sum(statistic(rng.permutation(arm)) >= seen - 1e-9 for _ in range(permutations))
    return np.where(np.isnan(seen), np.nan, (1.0 + extreme) / (permutations + 1.0))


def votes(
    group: _Ints,  # (judgment,)
    item: _Ints,  # (judgment,)
    label: _Ints,  # (judgment,)
    shape: tuple[int, int, int],  # groups, items, truths
    rng: np.random.Generator,
) -> _Ints:  # (group, item)
    """The label most given to each item within each group, -1 where none is; ties at random."""
    cell = np.ravel_multi_index((group, item, label), shape)
    counts = np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)
    choice = np.argmax(counts + 0.5 * rng.random(shape), axis=-1)
    return np.where(counts.any(axis=-1), choice, -1)
