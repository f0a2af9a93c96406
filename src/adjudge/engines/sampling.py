"""Gibbs sweeps by threads of this process: one chain a thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Tally
from adjudge.errors import BadSetting
from adjudge.kernels import gibbs as kernels

_SORTED = 20_000_000  # judgments up to which a copy in a better order is worth its memory


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Judgments with items in the order of how many judgments they have.

    Loops over items of one length do not surprise the processor: the sweep runs half as long again
    without it. Items keep their number, so that the order changes no draw.
    """

    number: NDArray[np.int32]  # (item,) of the data
    offsets: NDArray[np.int64]
    judge: NDArray[np.int32]
    label: NDArray[np.signedinteger]

    @classmethod
    def of(cls, judgments: Judgments) -> _Order:
        """The order of judgments, as they are where there are too many to copy."""
        if len(judgments) > _SORTED:
            same = np.arange(judgments.item_count, dtype=np.int32)
            return cls(same, judgments.offsets, judgments.judge, judgments.label)
        counts = judgments.counts_per_item
        number = np.argsort(counts, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(counts[number])]).astype(np.int64)
        shift = np.repeat(judgments.offsets[number] - offsets[:-1], counts[number])
        rows = shift + np.arange(len(judgments))
        return cls(number.astype(np.int32), offsets, judgments.judge[rows], judgments.label[rows])


class ThreadsSampler:
    """Judgments in memory, shared by the chains; each chain has counts and a mean of its own."""

    def __init__(
        self,
        judgments: Judgments,
        known: NDArray[np.int16] | None,
        *,
        by_topic: bool,
        seed: int,
        chains: int,
        pivot: NDArray[np.int16],  # (item,)
    ) -> None:
        if by_topic and judgments.topic is None:
            raise BadSetting("by_topic", True, "judgments with topics: these have none")
        scale = judgments.scale
        self.seed = seed
        self.items = judgments.item_count
        self.judges = judgments.judge_count
        self.truths, self.labels = len(scale.truths), len(scale.labels)
        self.order = _Order.of(judgments)
        number = self.order.number
        self.known, self.known_step = np.full(1, -1, dtype=np.int16), 0
        if known is not None:
            self.known, self.known_step = known[number], 1
        self.topic, self.topic_step, self.topics = np.zeros(1, dtype=np.int32), 0, 1
        if by_topic and judgments.topic is not None:
            self.topic, self.topic_step = judgments.topic[number], 1
            self.topics = judgments.topic_count
        self.pivot = pivot[number]
        self.means = [np.zeros((self.items, self.truths)) for _ in range(chains)]

    def _empty(self) -> Tally:
        return Tally(
            counts=np.zeros((self.judges, self.labels, self.truths), dtype=np.int64),
            classes=np.zeros((self.topics, self.truths), dtype=np.int64),
            switch=np.zeros((self.truths, self.truths), dtype=np.int64),
        )

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:  # noqa: ARG002 - as the protocol
        """Counts under a given truth of each item."""
        tally, order = self._empty(), self.order
        kernels.count_hard(
            order.offsets,
            order.judge,
            order.label,
            0,
            self.items,
            self.topic,
            self.topic_step,
            choice[order.number],
            self.truths,
            self.labels,
            tally.counts.reshape(-1),
            tally.classes.reshape(-1),
        )
        return tally

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],
        ratio: NDArray[np.int64],
        keep: float,
    ) -> Tally:
        """Draw every truth, and count under it."""
        tally, order = self._empty(), self.order
        kernels.drawing(self.truths)(
            order.offsets,
            order.judge,
            order.label,
            0,
            self.items,
            self.topic,
            self.topic_step,
            self.known,
            self.known_step,
            prior,
            ratio,
            self.labels,
            np.uint64(kernels.key_of(self.seed, chain, iteration)),
            order.number,
            tally.counts.reshape(-1),
            tally.classes.reshape(-1),
            self.pivot,
            tally.switch.reshape(-1),
            self.means[chain],
            keep,
        )
        return tally

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up, items in the order of the data."""
        back = np.empty_like(self.means[chain])
        back[self.order.number] = self.means[chain]
        return back
