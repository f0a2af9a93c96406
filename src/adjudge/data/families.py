"""Families: judges who are one voice, such as five samples of one model."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pair:
    """Two judges who agree more than what all judges have in common explains."""

    judges: tuple[int, int]
    excess: float  # 0: as strangers do; 1: always
    common: int  # items that both judged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Families:
    """Which judges are one voice, and how far.

    A judgment weighs 1 / (1 + (c - 1) share), c being the judgments of its family on the item:
    where the share is 1, a family has one vote between its members.
    """

    family: NDArray[np.int32]  # (judge,) the family's first judge; oneself, if one has none
    share: NDArray[np.float64]  # (judge,)
    declared: NDArray[np.bool_]  # (judge,) of a family that the user declared
    merged: tuple[Pair, ...] = ()  # near copies that were found
    suspected: tuple[Pair, ...] = ()  # alike, but not so far that it is certain

    @classmethod
    def none(cls, judges: int) -> Families:
        """No families: every judge is a voice of their own."""
        return cls(
            family=np.arange(judges, dtype=np.int32),
            share=np.ones(judges),
            declared=np.zeros(judges, dtype=np.bool_),
        )

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The judges of each family that has more than one."""
        order = np.argsort(self.family, kind="stable")
        ends = np.flatnonzero(np.diff(self.family[order], prepend=-1, append=-1))
        groups = [tuple(order[a:b].tolist()) for a, b in pairwise(ends)]
        return tuple(group for group in groups if len(group) > 1)

    @property
    def any(self) -> bool:
        """Whether there is a family of more than one judge."""
        return bool((self.family != np.arange(len(self.family))).any())

    def voices(self) -> float:
        """How many voices the judges are, were each family to judge an item together."""
        sizes = np.bincount(self.family, minlength=len(self.family))[self.family]
        return float((1.0 / (1.0 + (sizes - 1) * self.share)).sum())
