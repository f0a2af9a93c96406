"""Draws of the truth of the documents in a pool, from the posterior of a consensus.

A sampled model gives joint draws: each takes one draw of prevalence and confusion that a chain
kept, and the truths given it, so that doubt about a judge shows in all their items at once. A point
model has no doubt about its judges: each item's truth is drawn from its own posterior.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.judgments import Judgments
from adjudge.evaluation._pool import Pool
from adjudge.kernels.fixed import SMALLEST
from adjudge.kernels.gibbs import key_of
from adjudge.kernels.truths import draw_given, draw_judged

_Truths = NDArray[np.int16]
_PARTS = 8  # into which judged documents are sorted by place
_SHRUNK = 5.0  # documents that all parts count as in one part
_STRENGTH = 2.0  # documents that the overall prevalence counts as in a topic


class TruthDraws:
    """Draws of the truth of a pool's entries, one block at a time so that memory stays small.

    A draw does not depend on its block, nor the truth of an item on the runs. With ``labels``,
    every draw gives judged documents these, and only unjudged ones vary.
    """

    def __init__(
        self,
        consensus: Consensus,
        pool: Pool,
        *,
        draws: int,
        seed: int = 0,
        labels: _Truths | None = None,  # (item,)
    ) -> None:
        self.consensus, self.pool, self.seed, self.count = consensus, pool, seed, draws
        self.entries = np.flatnonzero(pool.item >= 0)
        self.extras = np.flatnonzero(pool.item < 0)
        self.number = pool.item[self.entries]
        self.of_topic = pool.topic
        self.lift = None
        if pool.unjudged == "filled" and self.extras.size:
            self.lift = lift_by_place(pool, consensus.posterior)
        self.fixed = None if labels is None else labels[self.number]
        self.joint = None
        if consensus.draws is not None:
            self.joint = _Joint(consensus, consensus.draws, pool, self.number, draws, seed)

    def block(self, first: int, last: int) -> _Truths:  # (draw, entry)
        """Return the draws from the first up to the last."""
        out = np.empty((last - first, len(self.pool.item)), dtype=np.int16)
        judged = np.empty(self.entries.size, dtype=np.int16)
        for row, draw in enumerate(range(first, last)):
            key = np.uint64(key_of(self.seed, 1, draw))
            if self.fixed is not None:
                judged[:] = self.fixed
            elif self.joint is not None:
                self.joint.draw(draw, key, judged)
            else:
                draw_given(self.consensus.posterior, self.number, key, self.number, judged)
            out[row, self.entries] = judged
            if self.extras.size:
                out[row, self.extras] = self._unjudged(draw, judged)
        return out

    def _unjudged(self, draw: int, judged: _Truths) -> _Truths:  # (extra,)
        """Draw truths of unjudged entries, from a draw of their topic's prevalence.

        If the model has no prevalence of topics, it is drawn given the truths of the topic's judged
        documents in the same draw.
        """
        rng = np.random.default_rng([self.seed, draw])
        if self.joint is not None and self.joint.by_topic:
            prevalence = self.joint.prevalence(draw)
        else:
            topics, truths = len(self.pool.topics), len(self.consensus.scale.truths)
            cell = self.of_topic[self.entries].astype(np.int64) * truths + judged
            counts = np.bincount(cell, minlength=topics * truths).reshape(topics, truths)
            prior = _STRENGTH * np.maximum(self.consensus.overall_prevalence, SMALLEST)
            weight = rng.standard_gamma(counts + prior)
            prevalence = weight / weight.sum(axis=1, keepdims=True)
        chance = prevalence[self.of_topic[self.extras]]
        if self.lift is not None:
            chance = chance * self.lift
            chance /= chance.sum(axis=1, keepdims=True)
        shares = np.cumsum(chance, axis=1)
        drawn = (rng.random(self.extras.size)[:, None] >= shares[:, :-1]).sum(axis=1)
        return np.asarray(drawn, dtype=np.int16)


def lift_by_place(
    pool: Pool,
    posterior: NDArray[np.float64],  # (item, truth)
) -> NDArray[np.float64]:  # (extra, truth)
    """Return how many times as common each truth is at the height where runs rank a document.

    Judged documents that some run returns are sorted by how high all runs rank them together, into
    parts of equal size; the shares of truths in a part, over those of all parts, are its lift.
    """
    height, extra = pool.fused(), np.flatnonzero(pool.item < 0)
    judged = np.flatnonzero((pool.item >= 0) & (height > 0))
    truths = posterior.shape[1]
    if judged.size < 2 * _PARTS:
        return np.ones((extra.size, truths))
    edges = np.quantile(height[judged], np.arange(1, _PARTS) / _PARTS)
    part = np.searchsorted(edges, height[judged], side="right")
    believed = posterior[pool.item[judged]]
    common = (believed.sum(axis=0) + 1 / truths) / (judged.size + 1)
    lift = np.ones((_PARTS, truths))
    for number in range(_PARTS):
        own = believed[part == number]
        share = (own.sum(axis=0) + _SHRUNK * common) / (len(own) + _SHRUNK)
        lift[number] = share / common
    return np.asarray(lift[np.searchsorted(edges, height[extra], side="right")])


class _Joint:
    """The judgments of a pool, and the rates that chains kept."""

    def __init__(
        self,
        consensus: Consensus,
        kept: Draws,
        pool: Pool,
        items: NDArray[np.int64],
        draws: int,
        seed: int,
    ) -> None:
        self.kept, self.pool, self.items = kept, pool, items
        self.topic = pool.topic[pool.item >= 0]
        self.which = _spread(draws, kept.prevalence[..., 0, 0].size, seed)
        judgments = consensus.judgments
        counts = judgments.counts_per_item[items]
        self.offsets = np.append(0, np.cumsum(counts)).astype(np.int64)
        rows, _ = judgments.rows_of(items)
        self.judges, self.judge = np.unique(judgments.judge[rows], return_inverse=True)
        self.label = judgments.label[rows]
        self.known = np.full(items.size, -1, dtype=np.int16)
        if consensus.known is not None:
            self.known = consensus.known[items]

    @property
    def by_topic(self) -> bool:
        """Whether topics differ in prevalence."""
        return self.kept.topics is not None

    def _place(self, draw: int) -> tuple[int, int]:
        chain, at = divmod(int(self.which[draw]), int(self.kept.prevalence.shape[1]))
        return chain, at

    def prevalence(self, draw: int) -> NDArray[np.float64]:  # (topic in play, truth)
        """Return the prevalence in one draw."""
        row = self.pool.topic_code if self.by_topic else np.zeros(len(self.pool.topics), np.int64)
        return np.asarray(self.kept.prevalence[self._place(draw)][row], dtype=np.float64)

    def draw(self, draw: int, key: np.uint64, out: _Truths) -> None:
        """Draw the truths of judged entries given one draw of the rates."""
        confusion = self.kept.confusion[self._place(draw)][self.judges].astype(np.float64)
        draw_judged(
            self.offsets,
            self.judge,
            self.label,
            self.topic,
            self.known,
            np.log(np.maximum(self.prevalence(draw), SMALLEST)),
            np.log(np.maximum(confusion, SMALLEST)),
            key,
            self.items,
            out,
        )


def _spread(draws: int, kept: int, seed: int) -> NDArray[np.int64]:  # (draw,)
    """Return which kept draw each draw uses: all equally often, in random order."""
    order = np.random.default_rng([seed, 2]).permutation(kept)
    return np.asarray(order[np.arange(draws) % kept])


def is_judged(judgments: Judgments, known: NDArray[np.int16] | None) -> NDArray[np.bool_]:
    """Return which items were judged or have gold."""
    judged = np.asarray(judgments.counts_per_item > 0)
    return judged if known is None else judged | (known >= 0)


def has_one_source(consensus: Consensus) -> bool:
    """Return whether no item has two judgments, or a judgment and gold, to show noise."""
    counts = consensus.judgments.counts_per_item
    return bool((counts <= 1).all()) and not _is_checked(consensus)


def choose_labels(consensus: Consensus, lowest: int) -> _Truths:  # (item,)
    """Return the labels of a consensus; the judgments themselves if none contradicts another.

    Gold wins over both. A judgment that means no truth, such as "cannot judge", counts as the
    lowest truth.
    """
    judgments = consensus.judgments
    truth = np.array(consensus.scale.truth_of, dtype=np.int16)[judgments.label]
    if _is_checked(consensus) or (truth != truth[judgments.offsets[judgments.item]]).any():
        return consensus.choice
    given = consensus.choice.copy()
    given[judgments.item] = np.where(truth < 0, lowest, truth)
    return given


def _is_checked(consensus: Consensus) -> bool:
    """Return whether some judged item has gold."""
    known = consensus.known
    return known is not None and bool(
        ((known >= 0) & (consensus.judgments.counts_per_item > 0)).any()
    )
