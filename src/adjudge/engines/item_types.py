"""What a model of item types asks of every part of the judgments, beside expectations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.mapped import releaser
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
    """Counts where a fit starts: types by votes, or by mean grade where types lie on a line."""

    weight: _Whole  # (judge,)
    kinds: int
    place: _Floats  # (type,), or empty
    width: float
    median: int
    bins: int

    def run(self, part: Part) -> tuple[Any, ...]:
        """Counts (judge * label * (type - 1)), items (topic * (type - 1)), both in shares."""
        types = len(self.place) or part.labels * self.kinds
        cells = part.judgments.judge_count * part.labels * (types - 1)

        def begin(start: int, stop: int, counts: _Whole) -> None:
            types = (self.kinds, self.place, self.width, self.median, self.bins)
            given = (part.given, start, stop, part.where[:2], self.weight, part.labels, *types)
            kernels.begin_types(*given, counts[:cells], counts[cells:])

        sums = part.add_up(cells + part.topics * (types - 1), begin)
        return sums[:cells].copy(), sums[cells:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class CountLeftOut:
    """What judges say of types, every judgment under the types that the other judges give.

    It counts as far as they tell of the type: where nobody else judged an item, not at all.
    """

    tables: Tables
    types: int
    source: NDArray[np.int32]  # (judge,)
    grouped: NDArray[np.bool_]  # (judge,)
    key: NDArray[np.uint64]  # (judge,)
    items: float = 1.0  # the share of items to count

    def run(self, part: Part) -> tuple[Any, ...]:
        """Counts (judge * label * type) in shares, on all items and on those with gold."""
        size = part.judgments.judge_count * part.labels * self.types
        gold = size if part.known_step else 0
        tables = (self.tables.prior, self.tables.ratio)

        def count(start: int, stop: int, counts: _Whole) -> None:
            judges = (self.source, self.grouped, self.key, self.items, self.types)
            given = (part.given, start, stop, part.where, tables, part.labels, *judges)
            kernels.count_left_out(*given, counts[:size], counts[size:])

        counts = part.add_up(size + gold, count)
        return counts[:size].copy(), counts[size:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class AgreementBeyond:
    """How far judges agree beyond what the types explain, over pairs of judgments of an item."""

    tables: Tables
    weight: _Whole  # (judge,)
    key: NDArray[np.uint64]  # (judge,)
    person: NDArray[np.int32]  # (judge,)
    source: NDArray[np.int32]  # (judge,)
    rates: _Floats  # (person, type, label)
    items: float  # the share of items to look at
    most: float  # pairs of an item, about

    def run(self, part: Part) -> tuple[Any, ...]:
        """AgreementBeyond observed, expected, and all that there could be."""
        tables = (self.tables.prior, self.tables.ratio)
        judges = (self.weight, self.key, self.person, self.source, self.rates)

        def count(start: int, stop: int, sums: _Whole) -> None:
            given = (part.given, start, stop, part.where[:2], tables, *judges)
            kernels.agree_beyond(*given, self.items, self.most, sums)

        return (part.add_up(3, count),)


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
    """The truths of every item, as fitted structures of types have them, each with its say."""

    tables: tuple[Tables, ...]  # of each structure
    readings: tuple[_Floats, ...]  # (type, truth) what its types mean
    say: _Floats  # (structure,)

    def fill(self, part: Part, out: _Floats) -> None:  # (item, truth)
        """Write the truths of the part's items."""
        give_back = releaser(out)

        def read(start: int, stop: int) -> None:
            out[start:stop] = 0.0
            for each, reading, say in zip(self.tables, self.readings, self.say, strict=True):
                types = ((each.prior, each.ratio), part.labels, reading, float(say))
                kernels.read_types(part.given, start, stop, part.where[:2], *types, out)
            if give_back is not None:
                give_back((start, stop))

        part.each_block(read)
