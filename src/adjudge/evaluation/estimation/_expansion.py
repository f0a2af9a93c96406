"""Expansions: a target as a sum over items, as far as it is one.

Around what is believed of the items, a target is a value plus what each item's truth adds to it. A
mean or a share is such a sum exactly; of a ratio, or a measure of a ranking, the sum is the first
part (its Hajek projection), and what single items cannot explain is kept as a variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
RANGE = 0.4  # of an item's range that counts beside its spread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Expansion:
    """A target around beliefs: its value, what each truth of an item adds, what is left over."""

    value: float
    adds: _Floats  # (item, truth)
    rest: float = 0.0  # variance
    around: _Floats | None = None  # (item, truth) where it is not what it was asked for around
    of_topic: _Floats | None = None  # (topic,) the parts of the value
    share: _Floats | None = None  # (topic,) what part of the target each topic is

    def expected(self, belief: _Floats) -> _Floats:  # (item,)
        """What each item is believed to add."""
        return np.asarray(np.einsum("ik,ik->i", belief, self.adds))

    def doubt(self, belief: _Floats, part: float = RANGE) -> _Floats:  # (item,)
        """The variance of what each item adds, as believed; beliefs may be wrong within its range.

        A part of the range counts beside what is believed, so that no item is beyond doubt whose
        truth matters.
        """
        reach = self.adds.max(axis=1) - self.adds.min(axis=1)
        return np.asarray(self.spread(belief) + (part * reach) ** 2)

    def spread(self, belief: _Floats) -> _Floats:  # (item,)
        """The variance of what each item adds, if beliefs are right."""
        second = np.einsum("ik,ik->i", belief, self.adds**2)
        return np.asarray(np.maximum(second - self.expected(belief) ** 2, 0.0))

    def known(self, item: NDArray[np.int64], truth: NDArray[np.int16]) -> _Floats:  # (gold,)
        """What items of known truth add."""
        return np.asarray(self.adds[item, truth])
