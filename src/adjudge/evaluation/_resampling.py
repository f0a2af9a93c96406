"""The bootstrap over items, as weights: how often each item is drawn in each resample.

A score that can be computed from weighted items is computed for a block of resamples at
once, so that a thousand resamples cost a few matrix products and not a thousand evaluations.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.special import ndtri

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names
from adjudge.errors import BadSetting

_Weights = NDArray[np.float64]  # (resample, item)
_CELLS = 4_000_000  # of one block of weights: 32 MB


def check_resampling(resamples: int, level: float) -> None:
    """Refuse a number of resamples or a level that cannot be used."""
    if resamples < 0:
        raise BadSetting("resamples", resamples, "0 (no intervals) or more, such as 1000")
    if not 0 < level < 1:
        raise BadSetting("level", level, "a number between 0 and 1, such as 0.95")


def item_weights(count: int, resamples: int, seed: int) -> Iterator[_Weights]:
    """Yield blocks of resamples of ``count`` items; each row adds up to ``count``."""
    if not count:
        return
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // count)
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        weights = np.empty((rows, count))
        for row in weights:
            row[:] = np.bincount(random.integers(0, count, size=count), minlength=count)
        yield weights


def pattern_weights(times: NDArray[np.int64], resamples: int, seed: int) -> Iterator[_Weights]:
    """Yield the same for items of a few patterns, each with its number of items in ``times``.

    Items of one pattern are equal, so drawing patterns by their share is drawing items, at the
    cost of the number of patterns.
    """
    total = int(times.sum())
    if not total:
        return
    random = np.random.default_rng(seed)
    block = max(1, _CELLS // len(times))
    for start in range(0, resamples, block):
        rows = min(block, resamples - start)
        yield random.multinomial(total, times / total, size=rows).astype(np.float64)


def percentile_interval(
    values: NDArray[np.float64],  # (resample,)
    level: float,
) -> tuple[float, float] | tuple[None, None]:
    """Return the middle ``level`` of the values; resamples without a value are left out."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None, None
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail])
    return float(low), float(high)


def centred_interval(
    value: float,
    values: NDArray[np.float64],  # (resample,)
    level: float,
    *,
    least: float,
    most: float = 1.0,
) -> tuple[float, float] | tuple[None, None]:
    """Return the value plus and minus the spread of its resamples, within ``least`` and ``most``.

    For scores that are biased on a resample, which repeats items: the middle of the resamples is
    then off, but their spread is still that of the score.
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return None, None
    reach = float(ndtri(0.5 + level / 2)) * float(known.std())
    return max(least, value - reach), min(most, value + reach)


def shuffled_places(
    judgments: Judgments, rng: np.random.Generator
) -> NDArray[np.int64]:  # (judgment,)
    """Return the place of each judgment, from 0, in a random order of its item's judgments."""
    item = judgments.item
    place = np.empty(len(item), dtype=np.int64)
    order = np.lexsort((rng.random(len(item)), item))
    place[order] = np.arange(len(item)) - judgments.offsets[item]
    return place


def split_folds(
    items: Names, truth: NDArray[np.int16], folds: int, seed: int
) -> NDArray[np.int32]:  # (gold,)
    """Return the fold of each gold item, by its name, its truth and the seed, not by row order.

    Items are shuffled, sorted by truth, and dealt out in turn: folds differ by at most one item,
    and by at most one item of each truth.
    """
    by_name = np.asarray(pc.sort_indices(items), dtype=np.int64)
    shuffled = by_name[np.random.default_rng(seed).permutation(len(by_name))]
    order = shuffled[np.argsort(truth[shuffled], kind="stable")]
    fold = np.empty(len(order), dtype=np.int32)
    fold[order] = np.arange(len(order)) % folds
    return fold
