"""Judges who arrive together and answer alike: what would change if a group were left out.

One person with many accounts arrives in a burst, gives the same answers everywhere and is fast. A
burst alone proves nothing: an invitation by mail makes one too. So each burst comes with the
agreement of its judges with each other and with others, their accuracy on gold and their pace.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.flagging import JudgeFacts, WorkAnswers
from adjudge.collect.values.judging import accuracy_of

_GAP = 600.0  # seconds between two arrivals that end a burst
_LEAST = 3  # judges of a burst


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """Judges who arrived one soon after the other, by their numbers."""

    judges: NDArray[np.int64]
    gold_seen: int
    gold_right: int
    pace: float | None  # median seconds per item
    alike: float | None  # share of pairs of their judgments of an item that agree
    like_others: float | None  # share of pairs of theirs and others' that agree
    judgments: int
    changed: int  # items whose majority label would be another without them
    lost: int  # items that nobody else judged
    reopened: int  # closed items that would lack judgments without them

    @property
    def gold_accuracy(self) -> float | None:
        """Accuracy on gold of all of them together."""
        return accuracy_of(self.gold_right, self.gold_seen)

    @property
    def suspicion(self) -> float:
        """How much more they agree with each other than with others."""
        return (self.alike or 0.0) - (self.like_others or 0.0)


def find_bursts(
    came: NDArray[np.float64],
    work: WorkAnswers,
    facts: JudgeFacts,
    spare: NDArray[np.int64],
    labels: int,
) -> list[Burst]:
    """The bursts of arrivals, those first whose judges agree with each other more than with others.

    ``came`` are times of arrival, ``spare`` says of each item how many judgments it can lose and
    stay closed, -1 for an open one.
    """
    shape = (len(spare), labels)
    every = _count(work, np.ones(len(came), dtype=bool), shape)
    found = []
    for judges in _split(came):
        inside = np.zeros(len(came), dtype=bool)
        inside[judges] = True
        own = _count(work, inside, shape)
        others, given, left = every - own, own.sum(axis=1), (every - own).sum(axis=1)
        both = (given > 0) & (left > 0)
        paces = facts.pace[judges]
        found.append(
            Burst(
                judges=judges,
                gold_seen=int(facts.gold_seen[judges].sum()),
                gold_right=int(facts.gold_right[judges].sum()),
                pace=None if np.isnan(paces).all() else float(np.nanmedian(paces)),
                alike=_share((own * (own - 1)).sum(), (given * (given - 1)).sum()),
                like_others=_share((own * others).sum(), (given * left).sum()),
                judgments=int(given.sum()),
                changed=int((every.argmax(axis=1) != others.argmax(axis=1))[both].sum()),
                lost=int(((given > 0) & (left == 0)).sum()),
                reopened=int(((spare >= 0) & (given > spare)).sum()),
            )
        )
    return sorted(found, key=lambda burst: -burst.suspicion)


def _split(came: NDArray[np.float64]) -> Iterator[NDArray[np.int64]]:
    """Judges in bursts of arrivals, where there are enough in one."""
    order = np.argsort(came, kind="stable")
    ends = np.flatnonzero(np.diff(came[order]) > _GAP) + 1
    return (part for part in np.split(order, ends) if len(part) >= _LEAST)


def _count(
    work: WorkAnswers, judges: NDArray[np.bool_], shape: tuple[int, int]
) -> NDArray[np.int64]:
    """The answers of some judges by item and label."""
    chosen = judges[work.judge]
    counts = np.zeros(shape, dtype=np.int64)
    np.add.at(counts, (work.item[chosen], work.label[chosen]), 1)
    return counts


def _share(some: np.int64, all_: np.int64) -> float | None:
    return float(some / all_) if all_ else None
