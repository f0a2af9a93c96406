"""What models and the search for near-duplicate judges ask of every part of the judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._part import Part
from adjudge.engines.engine import Tables
from adjudge.kernels import item_types, keys, numbers

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
            item_types.count_tops(part.given, start, stop, self.weight, part.labels, bins)

        return part.add_up(count, self.bins)


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

        def begin(start: int, stop: int, *sums: _Whole) -> None:
            given = (part.given, start, stop, part.where[:2], self.weight, part.labels)
            item_types.begin_types(*given, self.kinds, self.median, self.bins, *sums)

        return part.add_up(begin, cells, part.topics * (types - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Prints:
    """A print of each judge: equal where two said the same of the same items."""

    key: NDArray[np.uint64]  # (judge,)

    def run(self, part: Part) -> tuple[Any, ...]:
        """Prints of the part's judgments, to be added up."""

        def add(start: int, stop: int, prints: _Whole) -> None:
            keys.add_prints(*part.given, start, stop, self.key, part.labels, prints)

        return part.add_up(add, part.judgments.judge_count)


@dataclass(frozen=True, slots=True, eq=False)
class CountPairs:
    """What pairs of judges have in common: items, agreements, and what is expected."""

    key: NDArray[np.uint64]  # (judge,)
    row: NDArray[np.int32]  # (judge,), -1 for those left out
    label_share: _Whole  # (row, label)
    items: float
    most: float

    def run(self, part: Part) -> tuple[Any, ...]:
        """Tables (row, row) of items, of agreements, of the other's shares and of their own."""
        judges = (self.key, self.row, self.label_share, self.items, self.most)

        def count(start: int, stop: int, sums: _Whole) -> None:
            item_types.count_pairs(part.given, start, stop, *judges, sums)

        return part.add_up(count, (4, len(self.label_share), len(self.label_share)))


@dataclass(frozen=True, slots=True, eq=False)
class ChooseItems:
    """A sample of the items that neither names nor order decide."""

    key: NDArray[np.uint64]  # (judge,)
    share: float

    def run(self, part: Part, out: _Floats) -> tuple[Any, ...]:  # (item, 1)
        """Mark the chosen items of the part."""

        def choose(start: int, stop: int) -> None:
            keys.choose_items(*part.given, start, stop, self.key, part.labels, self.share, out)

        part.each_block(choose)
        return ()


@dataclass(frozen=True, slots=True, eq=False)
class ReadTypes:
    """The probabilities of every item's true label, given its types and what they mean."""

    tables: Tables
    reading: _Floats  # (type, truth)

    def run(self, part: Part, out: _Floats) -> tuple[Any, ...]:  # (item, truth)
        """Write the rows of the part's items."""

        def read(start: int, stop: int) -> None:
            types = ((self.tables.prior, self.tables.ratio), part.labels, self.reading)
            item_types.read_types(part.given, start, stop, part.where[:2], *types, out)

        part.each_block(read)
        return ()


_NONE = np.full(1, -1, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class MeasureNumbers:
    """What stays the same from sweep to sweep: how many numbers each judge gave, and which."""

    first: _Whole  # (label,) numbers in units
    second: _Whole  # (label,) squares in units
    unit: _Floats  # (2,)

    def run(self, part: Part) -> tuple[Any, ...]:
        """Sums of judges (judge, 3), and of items (4,)."""

        def add(start: int, stop: int, *sums: _Whole) -> None:
            numbers.measure(*part.given, start, stop, self.first, self.second, self.unit, *sums)

        return part.add_up(add, (part.judgments.judge_count, 3), 4)


@dataclass(frozen=True, slots=True, eq=False)
class Biases:
    """Judges as a sweep reads them, and how much a sum may hold."""

    number: _Floats  # (label,)
    gold: _Floats  # (code of gold,), empty where gold is not to be looked at
    prior: _Floats  # (3,) pull and weight before any judgment, the largest value
    shift: _Floats  # (judge,)
    scale: _Floats  # (judge,)
    noise: _Floats  # (judge,) variance
    pull: _Floats  # (judge,)
    weight: _Whole  # (judge,) in units
    unit: _Floats  # (5,) of pulls, weights, values, squares, and of what judges have in common

    def given(self, part: Part) -> numbers.Swept:
        """What kernels take."""
        known, step = (part.known, part.known_step) if self.gold.size else (_NONE, 0)
        judges = (self.shift, self.scale, self.noise, self.pull, self.weight)
        fixed = (self.number, known, step, self.gold, self.prior)
        return numbers.Swept(*part.given, *fixed, *judges, self.unit)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectValues:
    """What is expected of the values of items, added up by judge."""

    biases: Biases

    def run(self, part: Part) -> tuple[Any, ...]:
        """Sums of judges (judge, 3), and of items (2,)."""
        swept = self.biases.given(part)

        def add(start: int, stop: int, *sums: _Whole) -> None:
            numbers.expect(swept, start, stop, *sums)

        return part.add_up(add, (part.judgments.judge_count, 3), 2)


@dataclass(frozen=True, slots=True, eq=False)
class WriteValues:
    """The value of every item, its variance, and how far its judges err together."""

    biases: Biases

    def run(self, part: Part, out: _Floats) -> tuple[Any, ...]:  # (item, 3)
        """Write the values of the part's items."""
        swept = self.biases.given(part)

        def write(start: int, stop: int) -> None:
            numbers.write_values(swept, start, stop, out)

        part.each_block(write)
        return ()
