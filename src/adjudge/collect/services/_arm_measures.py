"""What is measured of arms: confusion into accuracy, precision and recall, intervals, tests.

Pure functions of arrays. A row of measures is the accuracy, then the precision of each truth, then
the recall of each; NaN where there is nothing to measure by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

_CELLS = 20_000_000  # judgments counted over all permutations of a vote


def measure_names(truths: Sequence[str]) -> tuple[str, ...]:
    """The names of the measures, in their order."""
    return (
        "accuracy",
        *(f"precision {truth}" for truth in truths),
        *(f"recall {truth}" for truth in truths),
    )


def measures(confusion: _Floats) -> _Floats:  # (..., truth, label) -> (..., measure)
    """Accuracy, precision and recall from counts of truths against labels."""
    hits = np.diagonal(confusion, axis1=-2, axis2=-1)  # (..., truth)
    given, there = confusion.sum(axis=-2), confusion.sum(axis=-1)
    above = np.concatenate([hits.sum(axis=-1)[..., None], hits, hits], axis=-1)
    below = np.concatenate([there.sum(axis=-1)[..., None], given, there], axis=-1)
    return _ratio(above, below)


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> _Floats:
    """One over the other; NaN where there is nothing below."""
    found = np.full(above.shape, np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def confusions(
    group: _Ints,  # (answer,)
    truth: _Ints,  # (answer,)
    label: _Ints,  # (answer,)
    groups: int,
    truths: int,
) -> _Floats:  # (group, truth, label)
    """Answers counted by group, truth and label."""
    cell = (group * truths + truth) * truths + label
    counts = np.bincount(cell, minlength=groups * truths * truths)
    return counts.reshape(groups, truths, truths).astype(np.float64)


def means(
    rows: _Floats, weight: _Floats
) -> _Floats:  # (row, measure), (..., row) -> (..., measure)
    """Weighted means of the rows, each measure over the rows that have it."""
    known = ~np.isnan(rows)
    total = weight @ np.where(known, rows, 0.0)
    return _ratio(total, weight @ known.astype(np.float64))


def mean_intervals(
    rows: _Floats,  # (row, measure)
    *,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats]:  # (measure,) each
    """Bootstrap intervals of the means, over rows."""
    many = len(rows)
    if many < 2 or not resamples:
        return np.full(rows.shape[1], np.nan), np.full(rows.shape[1], np.nan)
    weight = rng.multinomial(many, np.full(many, 1 / many), size=resamples).astype(np.float64)
    return _middle(means(rows, weight), level)


def pooled_intervals(
    truth: _Ints,  # (item,)
    label: _Ints,  # (item,)
    truths: int,
    *,
    resamples: int,
    level: float,
    rng: np.random.Generator,
) -> tuple[_Floats, _Floats]:  # (measure,) each
    """Bootstrap intervals of the measures of one set of items, over items.

    Items of one cell of the confusion cannot be told apart, so cells are drawn by their shares.
    """
    many = len(truth)
    cells = confusions(np.zeros(many, dtype=np.int64), truth, label, 1, truths).ravel()
    if many < 2 or not resamples:
        return np.full(1 + 2 * truths, np.nan), np.full(1 + 2 * truths, np.nan)
    drawn = rng.multinomial(many, cells / many, size=resamples).astype(np.float64)
    return _middle(measures(drawn.reshape(resamples, truths, truths)), level)


def _middle(drawn: _Floats, level: float) -> tuple[_Floats, _Floats]:  # (resample, measure)
    """The middle of the resamples, measure by measure."""
    tail = (1 - level) / 2
    low, high = np.full(drawn.shape[1], np.nan), np.full(drawn.shape[1], np.nan)
    for place, column in enumerate(drawn.T):
        known = column[~np.isnan(column)]
        if known.size:
            low[place], high[place] = np.quantile(known, [tail, 1 - tail])
    return low, high


def permutation_test(
    rows: _Floats,  # (row, measure)
    arm: _Ints,  # (row,)
    *,
    permutations: int,
    rng: np.random.Generator,
) -> _Floats:  # (measure,)
    """P of means that lie so far apart between arms if arms made no difference.

    Rows are dealt out to the arms again, as the chance that put judges into arms could have done.
    The statistic is the spread of the arms' means, each weighted by its rows. NaN where fewer than
    two arms have the measure.
    """
    codes = np.unique(arm)
    seen = _spread(rows, arm[None, :], codes)[0]
    dealt = rng.permuted(np.tile(arm, (permutations, 1)), axis=1)
    found = _spread(rows, dealt, codes)  # (permutation, measure)
    extreme = (found >= seen - 1e-12).sum(axis=0)
    p = (1.0 + extreme) / (permutations + 1.0)
    return np.where(np.isnan(seen), np.nan, p)


def _spread(rows: _Floats, dealt: _Ints, codes: _Ints) -> _Floats:  # (deal, measure)
    """Squared distance of the arms' means from the mean of all, weighted by rows."""
    known = ~np.isnan(rows)
    filled = np.where(known, rows, 0.0)
    everywhere = _ratio(filled.sum(axis=0), known.sum(axis=0))
    spread = np.zeros((len(dealt), rows.shape[1]))
    arms = np.zeros((len(dealt), rows.shape[1]))
    for code in codes:
        weight = (dealt == code).astype(np.float64)
        count = weight @ known.astype(np.float64)
        mean = _ratio(weight @ filled, count)
        spread += np.where(count > 0, count * (mean - everywhere) ** 2, 0.0)
        arms += count > 0
    return np.where(arms >= 2, spread, np.nan)


def votes(
    group: _Ints,  # (judgment,)
    item: _Ints,  # (judgment,)
    label: _Ints,  # (judgment,)
    shape: tuple[int, int, int],  # groups, items, truths
    rng: np.random.Generator,
) -> _Ints:  # (group, item)
    """The label most given to each item within each group, -1 where none is; ties at random."""
    groups, items, truths = shape
    cell = (group * items + item) * truths + label
    counts = np.bincount(cell, minlength=groups * items * truths).reshape(shape)
    choice = np.argmax(counts + 0.5 * rng.random(shape), axis=-1)
    return np.where(counts.any(axis=-1), choice, -1)


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

    Whole judges are dealt out to the arms again, and every arm votes again: mistakes that a judge
    makes on many items stay together.
    """
    arms = int(arm.max()) + 1 if len(arm) else 0
    if arms < 2 or not len(judge):
        return float("nan")
    shape = (arms, *accepted.shape)
    permutations = min(permutations, max(99, _CELLS // (len(judge) + arms * accepted.size)))

    def spread(deal: _Ints) -> float:
        choice = votes(deal[judge], item, label, shape, rng)
        right = accepted[np.arange(accepted.shape[0]), choice]
        voted = choice >= 0
        count = voted.sum(axis=1)
        share = _ratio((right & voted).sum(axis=1), count)
        return float(np.nanvar(share)) if (count > 0).sum() > 1 else 0.0

    seen = spread(arm)
    extreme = sum(spread(rng.permutation(arm)) >= seen - 1e-12 for _ in range(permutations))
    return (1 + extreme) / (permutations + 1)
