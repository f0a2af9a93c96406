"""Expansions: a target as a sum over items, as far as it is one.

Around what is believed of the items, a target is a value plus what each item's truth adds to it. A
mean or a share is such a sum exactly; of a ratio, or a measure of a ranking, the sum is the first
part (its Hajek projection), and what single items cannot explain is kept as a variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.estimation._levels import Levels

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


class Target(Protocol):
    """What is to be estimated, about the items of a population."""

    @property
    def name(self) -> str:
        """As it is told."""

    @property
    def bounds(self) -> tuple[float, float]:
        """What the target cannot leave."""

    @property
    def item(self) -> NDArray[np.int64]:  # (member,)
        """The items it is about."""

    @property
    def topics(self) -> NDArray[np.int64] | None:  # (member,)
        """The topic of each, where there are any."""

    @property
    def by_topic(self) -> bool:
        """Whether every topic counts alike, however many items it has."""

    @property
    def is_sum(self) -> bool:
        """Whether the expansion is exact, whatever it is made around."""

    @property
    def is_normalised(self) -> bool:
        """Whether it is a value divided by what items add up to, which is believed, not seen."""

    def expand(
        self,
        belief: _Floats,  # (member, truth)
        at: float | None,
        levels: Levels | None = None,
    ) -> Expansion:
        """The expansion around beliefs, and around a value of the target where it asks for one.

        ``levels`` are how far whole topics may lie from the beliefs, for targets that mind it.
        """

    def strata(self) -> NDArray[np.int64] | None:  # (member,)
        """Kinds of members that count very differently, where there are any."""
