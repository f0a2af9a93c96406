"""What a model of numbers asks of every part of the judgments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.engines._part import Part
from adjudge.kernels import numbers as kernels

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]
_NONE = np.full(1, -1, dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class CountLabels:
    """A count of the judgments of each label."""

    def run(self, part: Part) -> tuple[Any, ...]:
        """Judgments of each label."""
        return (part.cells(True),)


@dataclass(frozen=True, slots=True, eq=False)
class MeasureNumbers:
    """What stays the same from sweep to sweep: how many numbers each judge gave, and which."""

    first: _Whole  # (label,) numbers in units
    second: _Whole  # (label,) squares in units
    unit: _Floats  # (2,)

    def run(self, part: Part) -> tuple[Any, ...]:
        """Sums of judges (judge, 3), and of items (4,)."""
        cells = 3 * part.judgments.judge_count

        def add(start: int, stop: int, sums: _Whole) -> None:
            given = (*part.given, start, stop, self.first, self.second, self.unit)
            kernels.measure(*given, sums[:cells].reshape(-1, 3), sums[cells:])

        sums = part.add_up(cells + 4, add)
        return sums[:cells].reshape(-1, 3).copy(), sums[cells:].copy()


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

    def given(self, part: Part) -> kernels.Swept:
        """What kernels take."""
        known, step = (part.known, part.known_step) if self.gold.size else (_NONE, 0)
        judges = (self.shift, self.scale, self.noise, self.pull, self.weight)
        fixed = (self.number, known, step, self.gold, self.prior)
        return kernels.Swept(*part.given, *fixed, *judges, self.unit)


@dataclass(frozen=True, slots=True, eq=False)
class ExpectValues:
    """What is expected of the values of items, added up by judge."""

    biases: Biases

    def run(self, part: Part) -> tuple[Any, ...]:
        """Sums of judges (judge, 3), and of items (2,)."""
        cells, swept = 3 * part.judgments.judge_count, self.biases.given(part)

        def add(start: int, stop: int, sums: _Whole) -> None:
            kernels.expect(swept, start, stop, sums[:cells].reshape(-1, 3), sums[cells:])

        sums = part.add_up(cells + 2, add)
        return sums[:cells].reshape(-1, 3).copy(), sums[cells:].copy()


@dataclass(frozen=True, slots=True, eq=False)
class WriteValues:
    """The value of every item, its variance, and how far its judges err together."""

    biases: Biases

    def fill(self, part: Part, out: _Floats) -> None:  # (item, 3)
        """Write the values of the part's items."""
        swept = self.biases.given(part)

        def write(start: int, stop: int) -> None:
            kernels.write_values(swept, start, stop, out)

        part.each_block(write)
