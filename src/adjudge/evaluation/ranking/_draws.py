"""Draws of the truth of the documents in a pool, from the posterior of a consensus.

A sampled model gives joint draws: each takes one draw of prevalence and confusion that a chain
kept, and the truths given it, so that doubt about a judge shows in all their items at once. A point
model has no doubt about its judges: each item's truth is drawn from its own posterior.

Which documents to judge next, so that the ranking of systems becomes more certain.

The doubt about a pair of systems is the entropy, in bits, of which is better: with the difference
of their means normal about mu with spread sigma, H(Phi(mu / sigma)). One more judgment of a
document, by an average judge, gives label y with probability sum_k q_k theta[k, y]. It moves mu by
the information in that label, and sigma shrinks by what it explains. The gain is the doubt now less
the doubt then, over all labels and all pairs.

The effect of a document's truth on the difference is estimated from the draws, within its topic:
the mean difference among the draws where it has truth k, less the mean of all. Such a mean is
noisy, and there are many documents, so each is shrunk by the part that noise alone would explain.
The next label is also evidence about the judge, and so about other topics; that is ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.judgments import Judgments
from adjudge.evaluation._pool import Pool
from adjudge.evaluation.scores import tabulate
from adjudge.kernels.fixed import SMALLEST
from adjudge.kernels.gibbs import key_of
from adjudge.kernels.truths import draw_given, draw_judged
from adjudge.models.dependence import count_further

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
                out[row, self.extras] = self._draw_unjudged(draw, judged)
        return out

    def _draw_unjudged(self, draw: int, judged: _Truths) -> _Truths:  # (extra,)
        """Draw truths of unjudged entries, from a draw of their topic's prevalence.

        If the model has no prevalence of topics, it is drawn given the truths of the topic's judged
        documents in the same draw.
        """
        rng = np.random.default_rng([self.seed, draw])
        if self.joint is not None and self.joint.by_topic:
            prevalence = self.joint.prevalence(draw)
        else:
            shape = len(self.pool.topics), len(self.consensus.scale.truths)
            counts = tabulate(shape, self.of_topic[self.entries], judged)
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


_MOST_PAIRS = 200  # the pairs in most doubt, where there are more
_SURE = 0.001  # bits: a pair with less doubt needs no judgment
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Doubt:
    """The pairs of systems in doubt, by one measure."""

    first: NDArray[np.int64]  # (pair,)
    second: NDArray[np.int64]  # (pair,)
    mean: NDArray[np.float64]  # (pair,) of first minus second
    sd: NDArray[np.float64]  # (pair,)
    bits: float  # over all pairs, also those not listed

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Doubt:  # (draw, system)
        """Measure the doubt from draws of the systems' values."""
        pairs = np.array(list(combinations(range(values.shape[1]), 2)), dtype=np.int64)
        first, second = pairs.reshape(-1, 2).T
        mean = values.mean(axis=0)
        spread = np.atleast_2d(np.cov(values, rowvar=False)) if len(values) > 1 else None
        variance = np.zeros(first.size)
        if spread is not None:
            own = np.diagonal(spread)
            variance = np.maximum(own[first] + own[second] - 2 * spread[first, second], 0.0)
        gap, sd = mean[first] - mean[second], np.sqrt(variance)
        moving = sd > _TINY
        bits = np.zeros(first.size)
        bits[moving] = entropy(ndtr(gap[moving] / sd[moving]))
        chosen = np.argsort(-bits, kind="stable")[:_MOST_PAIRS]
        chosen = chosen[bits[chosen] > _SURE]
        return cls(
            first=first[chosen],
            second=second[chosen],
            mean=gap[chosen],
            sd=sd[chosen],
            bits=float(bits.sum()),
        )


class Influence:
    """Sums of the systems' values in a topic by the truth of each document."""

    def __init__(self, pool: Pool, truths: int, measure: str = "") -> None:
        self.measure = measure
        systems, topics, entries = len(pool.systems), len(pool.topics), len(pool.item)
        self.pool, self.draws = pool, 0
        self.count = np.zeros((entries, truths))
        self.total = np.zeros((entries, truths, systems))
        self.sum = np.zeros((topics, systems))
        self.square = np.zeros((topics, systems, systems))

    def add(
        self,
        truths: NDArray[np.int16],  # (draw, entry)
        values: NDArray[np.float64],  # (draw, system, topic)
    ) -> None:
        """Add a block of draws."""
        self.draws += len(truths)
        self.sum += values.sum(axis=0).T
        self.square += np.einsum("dst,drt->tsr", values, values)
        begins = self.pool.begins
        for k in range(self.count.shape[1]):
            has = (truths == k).astype(np.float64)
            self.count[:, k] += has.sum(axis=0)
            for t in range(len(begins) - 1):
                part = slice(begins[t], begins[t + 1])
                self.total[part, k] += has[:, part].T @ values[:, :, t]

    def gains(
        self,
        doubt: Doubt,
        confusion: NDArray[np.float64],  # (truth, label)
    ) -> NDArray[np.float64]:  # (entry, pair)
        """Return the bits of doubt about each pair that one more judgment of a document removes."""
        topics = len(self.pool.topics)
        gain = np.zeros((len(self.count), doubt.first.size))
        before = entropy(ndtr(doubt.mean / doubt.sd))
        for t in range(topics):
            part = slice(self.pool.begins[t], self.pool.begins[t + 1])
            share, shift = self._shifts(t, part, doubt)
            chance = share @ confusion  # (entry, label)
            moved = np.einsum("ek,kl,ekp->elp", share, confusion, shift) / topics
            moved /= np.maximum(chance, _TINY)[:, :, None]
            explained = np.einsum("el,elp->ep", chance, moved**2)
            left = np.sqrt(np.maximum(doubt.sd**2 - explained, _TINY * doubt.sd**2))
            after = entropy(ndtr((doubt.mean + moved) / left[:, None, :]))
            gain[part] = before - np.einsum("el,elp->ep", chance, after)
        return np.maximum(gain, 0.0)

    def _shifts(
        self, topic: int, part: slice, doubt: Doubt
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (entry, truth), (entry, truth, pair)
        """Return the probability of each truth, and how it moves each pair's difference."""
        count = self.count[part]
        share = count / self.draws
        mean = self.sum[topic] / self.draws
        moved = self.total[part] / np.maximum(count, 1.0)[:, :, None] - mean
        moved[count == 0] = 0.0
        pair = moved[:, :, doubt.first] - moved[:, :, doubt.second]
        spread = self.square[topic] / self.draws - np.outer(mean, mean)
        own = np.diagonal(spread)
        variance = own[doubt.first] + own[doubt.second] - 2 * spread[doubt.first, doubt.second]
        explained = np.einsum("ek,ekp->ep", share, pair**2)
        noise = np.maximum((count > 0).sum(axis=1) - 1, 0)[:, None] * variance / self.draws
        kept = np.maximum(1 - noise / np.maximum(explained, _TINY), 0.0)
        return share, pair * np.sqrt(kept)[:, None, :]


def entropy(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the entropy of a probability, in bits."""
    q = np.clip(p, _TINY, 1 - _TINY)
    return np.asarray(-(q * np.log2(q) + (1 - q) * np.log2(1 - q)))


def average_confusion(consensus: Consensus) -> NDArray[np.float64]:  # (truth, label)
    """Return the mean confusion of the judges, weighted by their judgments."""
    counts = consensus.counts.sum(axis=0) + 1.0 / len(consensus.scale.labels)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def no_items() -> Any:
    """Return an empty table of documents to judge next."""
    text, count, real = pa.large_string(), pa.int64(), pa.float64()
    kinds = {"topic": text, "document": text, "judgments": count, "label": text}
    kinds |= {"probability": real, "gain": real, "first": text, "second": text}
    return pa.schema(kinds).empty_table()


def next_table(consensus: Consensus, influence: Influence, doubt: Doubt, most: int) -> Any:
    """Return the documents whose next judgment removes most doubt, best first.

    One row per document: topic, document, judgments so far, label, its probability (null if not
    judged), gain in bits, and the pair of systems that it informs most. A gain is scaled by the
    weight of one more judgment next to the existing ones.
    """
    pool = influence.pool
    gains = influence.gains(doubt, average_confusion(consensus))
    further = count_further(consensus.judgments.counts_per_item, consensus.correlation or 0.0)
    gains *= np.append(further, 1.0)[pool.item][:, None]  # -1: not judged
    total = gains.sum(axis=1)
    order = np.argsort(-total, kind="stable")[:most]
    order = order[total[order] > 0]
    item = pool.item[order]
    judged = item >= 0
    counts = np.append(consensus.judgments.counts_per_item, 0)
    helped = gains[order].argmax(axis=1) if doubt.first.size else np.empty(0, dtype=np.int64)
    label = np.append(consensus.choice, 0)[item]
    names = pa.array(consensus.scale.truths, pa.large_string())
    systems = pa.array(pool.systems, pa.large_string())
    return pa.table(
        {
            "topic": pool.topics.take(pa.array(pool.topic[order])),
            "document": pool.documents.take(pa.array(order)),
            "judgments": pa.array(counts[item]),
            "label": names.take(pa.array(label, mask=~judged)),
            "probability": pa.array(np.append(consensus.probability, 0.0)[item], mask=~judged),
            "gain": pa.array(total[order]),
            "first": systems.take(pa.array(doubt.first[helped])),
            "second": systems.take(pa.array(doubt.second[helped])),
        }
    )
