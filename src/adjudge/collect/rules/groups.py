"""Judges who arrive together and answer alike: what would change if a group were left out.

One person with many accounts arrives in a burst, gives the same answers everywhere and is fast. A
burst alone proves nothing: an invitation by mail makes one too. So each burst comes with the
agreement of its judges with each other and with others, their accuracy on gold and their pace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.flagging import JudgeFacts, WorkAnswers
from adjudge.collect.values.judging import accuracy_of

_GAP = 600.0  # seconds between two arrivals that end a burst
_LEAST = 3  # judges of a burst


def find_bursts(
    came: NDArray[np.float64],
    work: WorkAnswers,
    facts: JudgeFacts,
    spare: NDArray[np.int64],
    labels: int,
) -> list[tuple[NDArray[np.int64], dict[str, Any]]]:
    """Bursts of arrivals: the judges by number, and what a ``JudgeGroup`` says of them.

    Those come first whose judges agree with each other more than with others.

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
        seen = int(facts.gold_seen[judges].sum())
        figures = {
            "gold_seen": seen,
            "gold_accuracy": accuracy_of(int(facts.gold_right[judges].sum()), seen),
            "seconds": None if np.isnan(paces).all() else float(np.nanmedian(paces)),
            "alike": _share((own * (own - 1)).sum(), (given * (given - 1)).sum()),
            "like_others": _share((own * others).sum(), (given * left).sum()),
            "judgments": int(given.sum()),
            "changed": int((every.argmax(axis=1) != others.argmax(axis=1))[both].sum()),
            "lost": int(((given > 0) & (left == 0)).sum()),
            "reopened": int(((spare >= 0) & (given > spare)).sum()),
        }
        found.append((judges, figures))
    return sorted(found, key=lambda one: (one[1]["like_others"] or 0) - (one[1]["alike"] or 0))


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
