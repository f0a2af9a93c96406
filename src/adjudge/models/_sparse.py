"""The sparse matrix of items and judges: a number where a judge judged an item, nothing elsewhere.

Rows and columns stand in the order of their names, so that neither the order of judgments nor that
of items or judges changes the result of what is computed from them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData

_BLOCK = 4096  # values in a block of rows, whatever the number of threads
_SMALL = 20_000  # values below which a second thread costs more than it brings


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Observed values grouped by row."""

    offsets: NDArray[np.int64]  # (row + 1,)
    column: NDArray[np.int32]  # (value,)
    value: NDArray[np.float64]  # (value,)
    blocks: list[tuple[int, int]]  # rows from, to

    @classmethod
    def of(
        cls,
        row: NDArray[np.int64],
        column: NDArray[np.int64],
        value: NDArray[np.float64],
        rows: int,
    ) -> SparseRows:
        """Values sorted by row, then column."""
        order = np.lexsort((column, row))
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows))])
        return cls(
            offsets.astype(np.int64), column[order].astype(np.int32), value[order], _cuts(offsets)
        )

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """What kernels take."""
        return self.offsets, self.column, self.value


@dataclass(frozen=True, slots=True, eq=False)
class Sparse:
    """Observed numbers, less their mean, by item and by judge; repeats of a pair are averaged."""

    by_item: SparseRows
    by_judge: SparseRows
    mean: float
    item_order: NDArray[np.int64]  # (row,) the item in each row
    judge_order: NDArray[np.int64]  # (column,) the judge in each column

    @property
    def shape(self) -> tuple[int, int]:
        """Items and judges."""
        return len(self.item_order), len(self.judge_order)

    def __len__(self) -> int:
        return len(self.by_item.value)

    @property
    def row(self) -> NDArray[np.int64]:  # (value,)
        """The row of each value."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.by_item.offsets))

    def part(self, mask: NDArray[np.bool_]) -> Sparse:  # (value,)
        """The values under the mask, less the mean of their own."""
        value = self.by_item.value[mask] + self.mean
        mean = float(value.mean()) if value.size else self.mean
        row, column = self.row[mask], self.by_item.column[mask].astype(np.int64)
        return replace(
            self,
            by_item=SparseRows.of(row, column, value - mean, self.shape[0]),
            by_judge=SparseRows.of(column, row, value - mean, self.shape[1]),
            mean=mean,
        )


def _check_scale(scale: Scale) -> None:
    """Refuse labels that are neither numbers nor in order; two labels need no order."""
    numbers = all(as_number(label) is not None for label in scale.labels)
    if not (scale.ordinal or numbers or len(scale.labels) <= 2):
        raise BadData(
            f"pmf needs labels that are numbers or have an order, and {scale} is nominal; "
            f"if they have one, name it, such as --labels '{'<'.join(scale.labels)}'",
            expected="numbers or an order",
        )


def sparse_of(judgments: Judgments) -> Sparse:
    """The matrix of judgments; a label that means no truth has no number and is left out."""
    _check_scale(judgments.scale)
    graded = np.array(judgments.scale.truth_of) >= 0
    kept = graded[judgments.label]
    item_order, item_place = _by_name(judgments.items)
    judge_order, judge_place = _by_name(judgments.judges)
    row = item_place[judgments.item[kept]]
    column = judge_place[judgments.judge[kept]]
    value = judgments.scale.values[judgments.label[kept]]
    order = np.lexsort((value, column, row))  # sums of repeats, too, in one order
    row, column, value = row[order], column[order], value[order]
    fresh = np.ones(len(row), dtype=np.bool_)
    fresh[1:] = (row[1:] != row[:-1]) | (column[1:] != column[:-1])
    pair = np.cumsum(fresh) - 1
    value = np.bincount(pair, weights=value) / np.maximum(np.bincount(pair), 1)
    row, column = row[fresh], column[fresh]
    mean = float(value.mean()) if value.size else 0.0
    items, judges = judgments.item_count, judgments.judge_count
    return Sparse(
        SparseRows.of(row, column, value - mean, items),
        SparseRows.of(column, row, value - mean, judges),
        mean,
        item_order,
        judge_order,
    )


def _by_name(names: Names) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of names, and the place of each in it."""
    order = np.asarray(pc.sort_indices(names)).astype(np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return order, place


def _cuts(offsets: NDArray[Any]) -> list[tuple[int, int]]:
    """Blocks of rows with about as many values each; a row counts as one value more."""
    rows = len(offsets) - 1
    load = offsets[1:] + np.arange(1, rows + 1)
    if not rows:
        return []
    ends = np.searchsorted(load, np.arange(_BLOCK, load[-1] + _BLOCK, _BLOCK)) + 1
    edges = [0, *np.unique(np.clip(ends, 1, rows)).tolist()]
    return list(itertools.pairwise(edges))


_Work = Callable[[int, int], Any]


@contextmanager
def open_threads(
    threads: int, values: int
) -> Iterator[Callable[[list[tuple[int, int]], _Work], list[Any]]]:
    """Give a function that calls ``work(start, stop)`` for each block of rows, by a few threads.

    Results are in the order of the blocks.
    """
    if threads < 2 or values < _SMALL:
        yield lambda blocks, work: [work(*block) for block in blocks]
        return
    with ThreadPoolExecutor(threads) as pool:
        yield lambda blocks, work: list(pool.map(lambda block: work(*block), blocks))
