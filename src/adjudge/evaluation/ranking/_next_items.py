"""Which documents to judge next, so that the ranking of systems becomes more certain.

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
from adjudge.evaluation._pool import Pool
from adjudge.models.dependence import count_further

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
