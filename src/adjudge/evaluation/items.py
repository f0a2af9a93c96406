"""Which items are in doubt, and what one more judgment of each would tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus, places
from adjudge.data.judgments import Judgments
from adjudge.errors import BadSetting
from adjudge.evaluation.confusions import pooled_rates, texts
from adjudge.evaluation.gain import entropy_of, gain_of
from adjudge.models.dependence import count_further, working_correlation

_BLOCK = 4_000_000  # numbers worked on at a time: 32 MB

_Floats = NDArray[np.float64]


def votes_of(judgments: Judgments) -> NDArray[np.int64]:  # (item, label)
    """How many judgments gave each item each label."""
    labels = len(judgments.scale.labels)
    cell = judgments.item.astype(np.int64) * labels + judgments.label
    return np.bincount(cell, minlength=judgments.item_count * labels).reshape(-1, labels)


def items_of(consensus: Consensus, votes: NDArray[np.int64]) -> Any:
    """A row an item, in the order of ``consensus.labels``.

    ``item``, ``topic``, ``document`` where known, ``label``, ``probability``, ``entropy`` in bits,
    ``judgments``, and ``n_eff``, what they count for as independent ones, where the model knows.
    ``disagreement``: the chance that two of its judgments differ, null of fewer than
    two. ``vote``: the truth with most votes, null without any; of several with as many the label of
    the consensus if it is one of them, else the first. ``vote_share``: its share of the votes.
    ``differs``: whether the consensus has another label than the vote. ``gain``: the bits that one
    more judgment, by an average judge, is expected to tell about the truth, scaled by what it
    counts for beside those there are (``count_further``); ``gain_rank``: 1 for the item that would
    gain most.
    """
    judgments, scale = consensus.judgments, consensus.scale
    columns: dict[str, Any] = {"item": judgments.items}
    if judgments.topics is not None and judgments.topic is not None:
        columns["topic"] = judgments.topics.take(pa.array(judgments.topic))
    if judgments.documents is not None:
        columns["document"] = judgments.documents
    columns["label"] = texts(scale.truths, consensus.choice)
    columns["probability"] = pa.array(consensus.probability)
    columns["entropy"] = pa.array(consensus.entropy)
    columns["judgments"] = pa.array(judgments.counts_per_item)
    if consensus.effective is not None:
        columns["n_eff"] = pa.array(consensus.effective)
    columns["disagreement"] = _disagreement(votes)
    vote, share = _vote(consensus, votes)
    columns["vote"] = texts(scale.truths, vote)
    columns["vote_share"] = pa.array(share, mask=vote < 0)
    columns["differs"] = pa.array((vote >= 0) & (vote != consensus.choice))
    gain = gain_of(consensus.posterior, pooled_rates(consensus)) * further_of(consensus)
    columns["gain"] = pa.array(gain)
    columns["gain_rank"] = pa.array(places(gain, np.zeros(len(gain), dtype=np.int32)))
    return pa.table(columns)


def further_of(consensus: Consensus) -> _Floats:  # (item,)
    """What one more judgment of each item counts for, beside those there are."""
    return count_further(consensus.judgments.counts_per_item, working_correlation(consensus))


def _disagreement(votes: NDArray[np.int64]) -> Any:  # (item,)
    """The chance that two judgments of an item, drawn without putting back, differ."""
    total = votes.sum(axis=1)
    pairs = total * (total - 1)
    alike = (votes * (votes - 1)).sum(axis=1)
    return pa.array(1.0 - alike / np.where(pairs > 0, pairs, 1), mask=pairs == 0)


def _vote(
    consensus: Consensus, votes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], _Floats]:  # (item,), (item,)
    """The truth with most votes, -1 where there are none, and its share of them."""
    truths = len(consensus.scale.truths)
    cast = np.zeros((len(votes), truths), dtype=np.int64)
    for label, truth in enumerate(consensus.scale.truth_of):
        if truth >= 0:
            cast[:, truth] += votes[:, label]
    most = cast.max(axis=1, initial=0)
    chosen = consensus.choice.astype(np.int64)
    here = np.arange(len(cast))
    vote = np.where(cast[here, chosen] == most, chosen, cast.argmax(axis=1))
    vote[most == 0] = -1
    return vote, np.asarray(most / np.maximum(cast.sum(axis=1), 1), dtype=np.float64)


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
    further = further_of(consensus)
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
