"""Tasks of the item-types model and of the search for near-duplicate judges, part by part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._part import Part
from adjudge.engines.engine import Tables
from adjudge.kernels import item_types as kernels
from adjudge.kernels import keys

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CountTops:
    """A count of items by the share of their most voted label, in bins."""

    weight: _Whole  # (judge,)
    bins: int

    def run(self, part: Part) -> tuple[Any, ...]:
        """Items in each bin."""

        def count(start: int, stop: int, bins: _Whole) -> None:
            kernels.count_tops(part.given, start, stop, self.weight, part.labels, bins)

        return (part.add_up(self.bins, count),)


@dataclass(frozen=True, slots=True, eq=False)
class BeginTypes:
    """The counts that a fit starts from: types by votes."""

    weight: _Whole  # (judge,)
    kinds: int
    median: int
    bins: int

    def run(self, part: Part) -> tuple[Any, ...]:
        """Counts (judge * label * (type - 1)) and items (topic * (type - 1)), in shares."""
        types = part.labels * self.kinds
        cells = part.judgments.judge_count * part.labels * (types - 1)

        def begin(start: int, stop: int, counts: _Whole) -> None:
            given = (part.given, start, stop, part.where[:2], self.weight, part.labels)
            sums = (counts[:cells], counts[cells:])
            kernels.begin_types(*given, self.kinds, self.median, self.bins, *sums)

        sums = part.add_up(cells + part.topics * (types - 1), begin)
        return sums[:cells].copy(), sums[cells:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class Prints:
    """A print of each judge: equal where two said the same of the same items."""

    key: NDArray[np.uint64]  # (judge,)

    def run(self, part: Part) -> tuple[Any, ...]:
        """Prints of the part's judgments, to be added up."""

        def add(start: int, stop: int, prints: _Whole) -> None:
            keys.add_prints(*part.given, start, stop, self.key, part.labels, prints)

        return (part.add_up(part.judgments.judge_count, add),)


@dataclass(frozen=True, slots=True, eq=False)
class CountPairs:
    """What pairs of judges have in common: items, agreements, and what their habits expect."""

    key: NDArray[np.uint64]  # (judge,)
    row: NDArray[np.int32]  # (judge,), -1 for those left out
    habit: _Whole  # (row, label)
    items: float
    most: float

    def run(self, part: Part) -> tuple[Any, ...]:
        """Tables (row, row) of items, of agreements, of the other's habits and of their own."""
        shape = (4, len(self.habit), len(self.habit))
        judges = (self.key, self.row, self.habit, self.items, self.most)

        def count(start: int, stop: int, sums: _Whole) -> None:
            kernels.count_pairs(part.given, start, stop, *judges, sums.reshape(shape))

        return (part.add_up(int(np.prod(shape)), count).reshape(shape),)


@dataclass(frozen=True, slots=True, eq=False)
class ChooseItems:
    """A sample of the items that neither names nor order decide."""

    key: NDArray[np.uint64]  # (judge,)
    share: float

    def fill(self, part: Part, out: _Floats) -> None:  # (item, 1)
        """Mark the chosen items of the part."""

        def choose(start: int, stop: int) -> None:
            keys.choose_items(*part.given, start, stop, self.key, part.labels, self.share, out)

        part.each_block(choose)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTypes:
    """The probabilities of every item's true label, given its types and what they mean."""

    tables: Tables
    reading: _Floats  # (type, truth)

    def fill(self, part: Part, out: _Floats) -> None:  # (item, truth)
        """Write the rows of the part's items."""

        def read(start: int, stop: int) -> None:
            types = ((self.tables.prior, self.tables.ratio), part.labels, self.reading)
            kernels.read_types(part.given, start, stop, part.where[:2], *types, out)

        part.each_block(read)
