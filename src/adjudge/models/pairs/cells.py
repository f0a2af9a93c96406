"""Comparisons counted once into cells, so that a sweep costs pairs and not comparisons."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.errors import BadData
from adjudge.kernels import pairs as kernels

_Floats = NDArray[np.float64]
_LONGEST = 2**62  # of a key


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairCells:
    """Counted comparisons: the arrays of ``adjudge.kernels.pairs``."""

    a: NDArray[np.int64]  # (cell,)
    b: NDArray[np.int64]
    judge: NDArray[np.int64]
    side: NDArray[np.int64]
    topic: NDArray[np.int64]
    wins: _Floats  # (cell, 3) a won, b won, ties
    items: int
    judges: int

    @property
    def arrays(self) -> tuple[Any, ...]:
        """The cells as sweeps take them: wins by columns."""
        return (self.a, self.b, self.judge, self.side, *self.wins.T)

    def select(self, rows: NDArray[np.bool_] | slice) -> PairCells:
        """Some of the cells, as a copy."""
        kept = {name: getattr(self, name)[rows] for name in ("a", "b", "judge", "side", "topic")}
        return replace(self, **kept, wins=self.wins.T[:, rows].copy().T)

    def every(self, step: int) -> PairCells:
        """One of so many cells."""
        return self.select(slice(None, None, step))

    @property
    def many(self) -> _Floats:  # (cell,)
        """What the comparisons of each cell weigh together."""
        return np.asarray(self.wins[:, 0] + self.wins[:, 1] + self.wins[:, 2])

    @property
    def has_order(self) -> bool:
        """Whether it is known of any cell which item was shown first."""
        return bool((self.side != 0).any())


def count_cells(
    comparisons: Comparisons,
    *,
    judges: bool = False,
    sides: bool = False,
    topics: bool = False,
    weight: _Floats | None = None,
) -> PairCells:
    """The cells of comparisons, told apart by judge, by who was shown first and by topic or not."""
    items, none = comparisons.item_count, np.empty(0, dtype=np.int32)
    first = comparisons.shown_first if sides else none
    judge = comparisons.judge if judges else none
    topic = comparisons.topic if topics and comparisons.topic is not None else none
    by_judge = comparisons.judge_count if judges else 1
    by_topic = comparisons.topic_count if len(topic) else 0
    others = (3 if sides else 1) * by_judge * max(by_topic, 1)
    if items * items * others * 3 > _LONGEST:
        raise BadData(
            f"{items:,} items by {comparisons.judge_count:,} judges are too many to be counted; "
            "wanted fewer items, or a model without judges"
        )
    given = np.empty(0) if weight is None else weight
    key, heavy = np.empty(len(comparisons), dtype=np.int64), np.empty(len(given))
    told = kernels.key_comparisons(
        comparisons.left,
        comparisons.right,
        comparisons.outcome,
        first,
        judge,
        topic,
        items,
        by_judge,
        by_topic,
        CANNOT_SAY,
        given,
        key,
        heavy,
    )
    key, heavy = key[:told], heavy[:told]
    if weight is not None:
        order = np.argsort(key, kind="stable")
        key, heavy = key[order], heavy[order]
    else:
        key.sort()
    room = len(key)
    a, b, by, side, of_topic = (np.empty(room, dtype=np.int64) for _ in range(5))
    counts = np.zeros((3, room)).T  # so that sweeps have each outcome in one piece
    size = kernels.count_cells(
        *(key, heavy, items, 3 if sides else 1, by_judge, by_topic),
        *(a, b, by, side, of_topic, counts),
    )
    a, b, by, side, of_topic, counts = (
        _cut(each, size) for each in (a, b, by, side, of_topic, counts)
    )
    return PairCells(
        a=a,
        b=b,
        judge=by,
        side=side,
        topic=of_topic,
        wins=counts,
        items=items,
        judges=by_judge,
    )


def _cut(values: NDArray[Any], size: int) -> NDArray[Any]:
    """The first so many; a copy only where that gives much memory back."""
    return values[:size].copy("K") if 2 * size < len(values) else values[:size]
