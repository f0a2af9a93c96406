"""Who should judge an item next: the judges whose judgment would tell most about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.errors import BadSetting
from adjudge.evaluation.stopping import entropy_of
from adjudge.models.dependence import count_further

_BLOCK = 4_000_000  # numbers worked on at a time: 32 MB
_Floats = NDArray[np.float64]


def suggest_judges(
    consensus: Consensus,
    items: NDArray[np.integer[Any]],  # codes of the items
    *,
    among: NDArray[np.bool_] | None = None,  # (judge,)
    count: int = 3,
) -> tuple[NDArray[np.int64], _Floats]:  # (item, place), (item, place)
    """Who should judge each of the items next: judges by the bits their judgment would tell.

    Best first; only ``among`` those, and nobody who has judged the item already, in person or by
    another of their family: -1, and NaN bits, where there are not so many. Bits are scaled by what
    one more judgment counts for. An item whose truth is known has nothing to gain from anyone.
    """
    if count < 1:
        raise BadSetting("count", count, "at least 1")
    judgments = consensus.judgments
    confusion = np.broadcast_to(
        consensus.confusion, (judgments.judge_count, *consensus.confusion.shape[1:])
    )
    judges = np.arange(len(confusion)) if among is None else np.flatnonzero(among)
    inner = entropy_of(confusion[judges])  # (judge, truth)
    further = count_further(judgments.counts_per_item, consensus.correlation or 0.0)
    found = np.full((len(items), count), -1, dtype=np.int64)
    bits = np.full((len(items), count), np.nan)
    step = max(1, _BLOCK // max(1, len(judges) * confusion.shape[2]))
    for start in range(0, len(items), step):
        part = np.asarray(items[start : start + step])
        posterior = consensus.posterior[part]
        mixed = np.einsum("ik,jkl->ijl", posterior, confusion[judges])
        gain = entropy_of(mixed) - posterior @ inner.T  # (item, judge)
        gain *= further[part][:, None]
        row, judge = _judged(judgments, part)
        gain[_same_voice(row, judge, consensus, len(part))[:, judges]] = -np.inf
        order = np.argsort(-gain, axis=1, kind="stable")[:, :count]
        best = np.take_along_axis(gain, order, axis=1)
        free = best > -np.inf
        rows = slice(start, start + len(part))
        wide = order.shape[1]
        found[rows, :wide] = np.where(free, judges[order], -1)
        bits[rows, :wide] = np.where(free, np.maximum(best, 0.0), np.nan)
    return found, bits


def _judged(
    judgments: Judgments, items: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (judgment,), (judgment,)
    """Who judged which of the items: places among the items, and judges."""
    begin, size = judgments.offsets[items], judgments.counts_per_item[items]
    row = np.repeat(np.arange(len(items)), size)
    within = np.arange(int(size.sum())) - np.repeat(np.cumsum(size) - size, size)
    return row, judgments.judge[np.repeat(begin, size) + within].astype(np.int64)


def _same_voice(
    row: NDArray[np.int64], judge: NDArray[np.int64], consensus: Consensus, items: int
) -> NDArray[np.bool_]:  # (item, judge)
    """Which judges have judged which items, in person or by another of their family."""
    every = np.arange(consensus.judgments.judge_count)
    family = every if consensus.families is None else consensus.families.family
    spoken = np.zeros((items, len(every)), dtype=np.bool_)
    spoken[row, family[judge]] = True
    return np.asarray(spoken[:, family])
