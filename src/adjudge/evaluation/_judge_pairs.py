"""Cohen's kappa: of two judges, and its mean over all pairs of judges who share items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adjudge.data.judgments import Judgments
from adjudge.evaluation._resampling import (
    centred_interval,
    item_weights,
)
from adjudge.evaluation.measures import Floats, ratio
from adjudge.evaluation.scores import Score

LEAST_COMMON = 5  # items that two judges must share; of one item kappa is 0 or undefined
_MOST_PAIRS = 20_000_000  # of judgments that are compared: about 1 GB


def without_repeats(judgments: Judgments) -> Judgments:
    """The judgments with only the first of each judge on each item; items and judges stay."""
    key = judgments.item.astype(np.int64) * judgments.judge_count + judgments.judge
    first = np.unique(key, return_index=True)[1]
    if len(first) == len(judgments):
        return judgments
    kept = np.zeros(len(judgments), dtype=np.bool_)
    kept[first] = True
    return judgments.select(judgments=kept, keep_empty=True)


def kappa_of_cells(
    cell: NDArray[np.int64], labels: int, weight: Floats
) -> Floats:  # (cell,), (resample, cell) -> (resample,)
    """Kappa from the used cells of a table, under weights."""
    row, column = cell // labels, cell % labels
    used = np.unique(np.concatenate([row, column]))
    by_row = weight @ (row[:, None] == used).astype(np.float64)  # (resample, label)
    by_column = weight @ (column[:, None] == used).astype(np.float64)
    return _kappa(
        weight.sum(axis=1),
        weight @ (row == column).astype(np.float64),
        np.einsum("rl,rl->r", by_row, by_column),
    )


def _kappa(common: Floats, alike: Floats, chance: Floats) -> Floats:
    """Kappa from items in common, items alike, and the sum over labels of products of margins."""
    return np.asarray(ratio(common * alike - chance, common * common - chance))


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairsOfJudges:
    """The mean of Cohen's kappa over pairs of judges, and how many pairs that is."""

    score: Score
    pairs: int
    left_out: int  # pairs of judges with too few items in common, or one label only


@dataclass(frozen=True, slots=True, eq=False)
class _PairTables:
    """Sums over items that kappa needs of each pair of judges, as sparse matrices."""

    first: Any  # sparse (pair x label, item)
    second: Any  # sparse (pair x label, item)
    alike: Any  # sparse (pair, item)
    labels: int

    def kappa(self, weight: Floats) -> tuple[Floats, Floats]:  # (item, resample)
        """Kappa and items in common, of each pair of judges: (pair, resample) each."""
        shape = (-1, self.labels, weight.shape[1])
        first = np.asarray(self.first @ weight).reshape(shape)  # (pair, label, resample)
        second = np.asarray(self.second @ weight).reshape(shape)
        common = first.sum(axis=1)
        chance = np.einsum("plr,plr->pr", first, second)
        return _kappa(common, np.asarray(self.alike @ weight), chance), common


def mean_cohen_kappa(
    judgments: Judgments,
    *,
    least_common: int = LEAST_COMMON,
    resamples: int = 0,
    level: float = 0.95,
    seed: int = 0,
) -> _PairsOfJudges:
    """The mean of Cohen's kappa over pairs of judges, weighted by the items they have in common.

    Only pairs with ``least_common`` items or more count. A pair that gave one label, the same,
    throughout has no kappa and is left out. Kappa on few items is biased, more so on a resample
    of them, so the interval is centred on the value.
    """
    name = "cohen_kappa"
    size = judgments.counts_per_item
    many = int((size * (size - 1) // 2).sum())
    if many > _MOST_PAIRS:
        reason = f"{many:,} pairs of judgments are more than the {_MOST_PAIRS:,} that are compared"
        return _PairsOfJudges(score=Score.undefined(name, reason), pairs=0, left_out=0)
    tables, items, few = _tables(without_repeats(judgments), least_common)
    if tables is None:
        reason = f"no two judges have {least_common:,} items in common"
        return _PairsOfJudges(score=Score.undefined(name, reason), pairs=0, left_out=few)
    kappa, common = tables.kappa(np.ones((items, 1)))
    defined = int((~np.isnan(kappa)).sum())
    left_out = few + len(kappa) - defined
    if not defined:
        reason = "no two judges used more than one label on the items they have in common"
        return _PairsOfJudges(score=Score.undefined(name, reason), pairs=0, left_out=left_out)
    value = float(_mean(kappa, common)[0])
    score = Score(name=name, value=value)
    block = max(1, 4_000_000 // (kappa.size * tables.labels))
    drawn = [
        _mean(*tables.kappa(np.ascontiguousarray(part.T)))
        for weight in item_weights(items, resamples, seed)
        for part in np.array_split(weight, range(block, len(weight), block))
    ]
    if drawn:
        low, high = centred_interval(value, np.concatenate(drawn), level, least=-1.0)
        score = replace(score, low=low, high=high)
    return _PairsOfJudges(score=score, pairs=defined, left_out=left_out)


def _mean(kappa: Floats, common: Floats) -> Floats:  # (resample,)
    known = ~np.isnan(kappa)
    total = np.where(known, kappa, 0.0) * common
    return np.asarray(ratio(total.sum(axis=0), (common * known).sum(axis=0)))


def _tables(judgments: Judgments, least_common: int) -> tuple[_PairTables | None, int, int]:
    """The tables of pairs of judges that count, the items behind them, and the pairs left out."""
    left, right = pairs_of_judgments(judgments.counts_per_item, judgments.offsets)
    judge = judgments.judge.astype(np.int64)
    swap = judge[left] > judge[right]
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    key = judge[left] * judgments.judge_count + judge[right]
    _, pair, common = np.unique(key, return_inverse=True, return_counts=True)
    enough = common >= least_common
    few = int((~enough).sum())
    if not enough.any():
        return None, 0, few
    kept = enough[pair]
    pair = (np.cumsum(enough) - 1)[pair[kept]]
    left, right = left[kept], right[kept]
    _, item = np.unique(judgments.item[left], return_inverse=True)
    labels, pairs, items = len(judgments.scale.labels), int(enough.sum()), int(item.max()) + 1
    a, b = judgments.label[left].astype(np.int64), judgments.label[right].astype(np.int64)

    def sums(row: NDArray[np.int64], of: NDArray[np.int64], rows: int) -> Any:
        return csr_array((np.ones(len(row)), (row, of)), shape=(rows, items))

    same = a == b
    tables = _PairTables(
        sums(pair * labels + a, item, pairs * labels),
        sums(pair * labels + b, item, pairs * labels),
        sums(pair[same], item[same], pairs),
        labels,
    )
    return tables, items, few


def pairs_of_judgments(
    size: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (item,), (item + 1,) -> (pair,), (pair,)
    """Every two judgments of one item, as their places: earlier and later."""
    last = np.repeat(offsets[1:], size)  # (judgment,)
    here = np.arange(len(last), dtype=np.int64)
    after = last - here - 1  # judgments of the item that follow
    left = np.repeat(here, after)
    begin = np.repeat(np.cumsum(after) - after, after)
    return left, left + 1 + np.arange(len(left)) - begin
