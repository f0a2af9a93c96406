"""The embedded engine: threads of this process, each with counts of its own; one chain a thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines._part import Coded, Part, usable_cores
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Tally, Task
from adjudge.engines.sweeps import Sweeps
from adjudge.errors import BadSetting
from adjudge.kernels import confusion
from adjudge.kernels import gibbs as kernels

_SORTED = 20_000_000  # judgments up to which a better order is worth its memory


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Judgments with items in the order of how many judgments they have.

    Loops over items of one length do not surprise the processor: the sweep runs half as long again
    without it. Items keep their number, so that the order changes no draw.
    """

    number: NDArray[np.int32]  # (item,) of the data
    offsets: NDArray[np.int64]
    cell: NDArray[np.signedinteger]  # (judgment,) judge * labels + label

    @classmethod
    def of(cls, judgments: Coded) -> _Order:
        """Sort the items by their number of judgments, unless there are too many."""
        counts, labels = judgments.counts_per_item, len(judgments.scale.labels)
        rows: Any = slice(None)
        number, offsets = np.arange(len(counts)), judgments.offsets
        if len(judgments) <= _SORTED:
            number = np.argsort(counts, kind="stable")
            offsets = np.concatenate([[0], np.cumsum(counts[number])]).astype(np.int64)
            shift = np.repeat(judgments.offsets[number] - offsets[:-1], counts[number])
            rows = shift + np.arange(len(judgments))
        small = judgments.judge_count * labels <= np.iinfo(np.int32).max
        kind: Any = np.int32 if small else np.int64
        cell = judgments.judge[rows].astype(kind) * kind(labels) + judgments.label[rows]
        return cls(number.astype(np.int32), offsets, cell)


@dataclass(frozen=True, slots=True, eq=False)
class _Now:
    """The state of a chain: the truths of its last sweep, and counts under them."""

    last: NDArray[np.int16]  # (item,)
    counts: NDArray[np.int64]  # (judge, label, truth)
    classes: NDArray[np.int64]  # (topic, truth)
    switch: NDArray[np.int64]  # (pivot, truth)

    @property
    def flat(self) -> tuple[NDArray[np.signedinteger], ...]:
        """All of it as kernels take it."""
        counts, classes, switch = (a.reshape(-1) for a in (self.counts, self.classes, self.switch))
        return counts, classes, switch, self.last

    def tally(self) -> Tally:
        """The counts, to be kept: the chain goes on with its own."""
        return Tally(
            counts=self.counts.copy(), classes=self.classes.copy(), switch=self.switch.copy()
        )


class ThreadsSampler:
    """Judgments in memory, shared by the chains; each chain has counts and a mean of its own."""

    def __init__(
        self,
        judgments: Coded,
        known: NDArray[np.signedinteger] | None,
        *,
        by_topic: bool,
        seed: int,
        chains: int,
        pivot: NDArray[np.int16],  # (item,)
        first: int = 0,  # number of the first item, where these are a part of the items
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
        self.number: NDArray[np.signedinteger] = number  # (item,) in all of the data
        if first:
            self.number = number.astype(np.int64) + first
            if first + self.items <= np.iinfo(np.int32).max:
                self.number = self.number.astype(np.int32)
        gold = (np.full(1, -1, dtype=np.int16), 0) if known is None else (known[number], 1)
        topic, self.topics = (np.zeros(1, dtype=np.int32), 0), 1
        if by_topic and judgments.topic is not None:
            topic, self.topics = (judgments.topic[number], 1), judgments.topic_count
        self.where = (*topic, *gold)
        self.pivot = pivot[number]
        self.now: list[_Now | None] = [None] * chains
        self.means = [np.zeros((self.truths, self.items)) for _ in range(chains)]

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:
        """Counts under a given truth of each item."""
        return self._start(chain, choice[self.order.number]).tally()

    def _start(self, chain: int, last: NDArray[np.int16]) -> _Now:
        order = self.order
        now = _Now(
            last=last,
            counts=np.zeros((self.judges, self.labels, self.truths), dtype=np.int64),
            classes=np.zeros((self.topics, self.truths), dtype=np.int64),
            switch=np.zeros((self.truths, self.truths), dtype=np.int64),
        )
        topic, step, *_ = self.where
        count: Any = kernels.count_hard
        count(order.offsets, order.cell, topic, step, self.truths, self.pivot, now.flat)
        self.now[chain] = now
        return now

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],
        ratio: NDArray[np.int64],
        keep: float,
    ) -> Tally:
        """Draw every truth, and count under it."""
        order = self.order
        now = self.now[chain] or self._start(chain, self.pivot.copy())
        given = (order.offsets, order.cell, self.where, (prior, ratio))
        key = np.uint64(kernels.key_of(self.seed, chain, iteration))
        draw = kernels.drawing(self.truths)
        draw(*given, key, self.number, self.pivot, now.flat, self.means[chain], keep)
        return now.tally()

    def mean(self, chain: int) -> NDArray[np.float64]:
        """The posteriors that a chain added up, items in the order of the data."""
        back = np.empty((self.items, self.truths))
        back[self.order.number] = self.means[chain].T
        return back

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:  # (item, truth)
        """Go on from posteriors that were added up before."""
        self.means[chain] = np.ascontiguousarray(mean[self.order.number].T)

    def tally(self, chain: int) -> Tally | None:
        """The counts of a chain's last sweep, None before its start."""
        now = self.now[chain]
        return None if now is None else now.tally()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsEngine:
    """Sweeps by threads of this process: as many as there are cores, unless given."""

    threads: int = field(default_factory=usable_cores)
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise BadSetting("threads", self.threads, "at least one thread")

    def load(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        shared: bool = False,
    ) -> _ThreadsSweeps:
        """Take judgments in; nothing is copied."""
        if by_topic and judgments.topic is None:
            raise BadSetting("by_topic", True, "judgments with topics: these have none")
        return _ThreadsSweeps(judgments, known, by_topic, shared, self.threads)

    def sampler(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        seed: int = 0,
        chains: int = 1,
        pivot: NDArray[np.int16],
    ) -> ThreadsSampler:
        """Take judgments in for a Gibbs sampler."""
        return ThreadsSampler(
            judgments, known, by_topic=by_topic, seed=seed, chains=chains, pivot=pivot
        )


class _ThreadsSweeps(Sweeps):
    """Judgments in this process, swept by a few of its threads."""

    def __init__(
        self,
        judgments: Coded,
        known: NDArray[np.signedinteger] | None,
        by_topic: bool,
        shared: bool,
        threads: int,
    ) -> None:
        self._part = Part(judgments, known, by_topic=by_topic, threads=threads)
        super().__init__(judgments, by_topic, shared)

    def run(
        self,
        task: Task,
        read: NDArray[Any] | None = None,
        into: tuple[NDArray[Any], ...] = (),
    ) -> tuple[Any, ...]:
        """Run a task on the judgments."""
        return task.run(self._part, *(() if read is None else (read,)), *into)


def are_sweeps_compiled() -> bool:
    """Whether numba has kept any kernel since the kernels were last changed."""
    kernel: Any = confusion.count_cells
    kept = [file.stat().st_mtime for file in Path(kernel.stats.cache_path).glob("*.nbi")]
    sources = Path(confusion.__file__).parent.glob("*.py")
    return max(kept, default=0.0) >= max(file.stat().st_mtime for file in sources)
