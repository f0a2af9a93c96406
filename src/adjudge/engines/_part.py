"""A part of the judgments in memory: all of them on one machine, a run of items on a cluster."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale

_SMALL = 100_000  # judgments below which a second thread costs more than it brings
_BLOCK = 1_000_000  # judgments in a block at most
_BLOCKS = 4  # blocks per thread at least, so that one slow thread does not hold up the others
_LINE = 64  # bytes of a line of the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slice:
    """The judgments of a run of items, without their names."""

    scale: Scale
    offsets: NDArray[np.int64]  # (item + 1,), from 0
    judge: NDArray[np.int32]  # (judgment,)
    label: NDArray[np.signedinteger]  # (judgment,)
    topic: NDArray[np.int32] | None  # (item,)
    judge_count: int
    topic_count: int

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def item_count(self) -> int:
        """How many items there are, judged or not."""
        return len(self.offsets) - 1

    @property
    def counts_per_item(self) -> NDArray[np.int64]:  # (item,)
        """How many judgments each item has."""
        return np.diff(self.offsets)


Coded: TypeAlias = Judgments | Slice


def cut(judgments: Coded, items: slice) -> Slice:
    """The judgments of a run of items; judges and labels are not copied."""
    first, last = int(judgments.offsets[items.start]), int(judgments.offsets[items.stop])
    topic = judgments.topic
    return Slice(
        scale=judgments.scale,
        offsets=judgments.offsets[items.start : items.stop + 1] - first,
        judge=judgments.judge[first:last],
        label=judgments.label[first:last],
        topic=None if topic is None else topic[items],
        judge_count=judgments.judge_count,
        topic_count=judgments.topic_count,
    )


def zeros(size: int) -> NDArray[np.int64]:
    """Make zeros that begin where a line of the processor's cache does.

    Rows of a table are then in as few lines as possible, which is what a sweep waits for if its
    tables are larger than the cache.
    """
    room = np.zeros(size + _LINE // 8, dtype=np.int64)
    skip = -room.ctypes.data % _LINE // 8
    return room[skip : skip + size]


def even_cuts(offsets: NDArray[np.int64], count: int) -> list[int]:
    """Cut items into at most ``count`` runs with about equally many judgments each."""
    items = len(offsets) - 1
    if items == 0:
        return [0, 0]
    bounds = np.linspace(0, offsets[-1], count + 1)[1:-1]
    cuts = np.searchsorted(offsets, bounds)
    return sorted({0, *np.clip(cuts, 0, items).tolist(), items})


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only.

    Arrays that come in a message are read-only, others are not. numba compiles a kernel for either,
    so all are passed as read-only and every kernel is compiled once.
    """
    seen = array.view()
    seen.flags.writeable = False
    return seen


_Ends = tuple[int, int]  # items from, to


class Part:
    """Judgments in memory, gone through block by block by a few threads."""

    def __init__(
        self,
        judgments: Coded,
        known: NDArray[np.signedinteger] | None,
        *,
        by_topic: bool,
        threads: int,
    ) -> None:
        scale = judgments.scale
        self.judgments = judgments
        self.given = (_fixed(judgments.offsets), _fixed(judgments.judge), _fixed(judgments.label))
        self.truths, self.labels = len(scale.truths), len(scale.labels)
        self.known: NDArray[np.signedinteger] = np.full(1, -1, dtype=np.int16)
        self.known_step = 0
        if known is not None:
            self.known, self.known_step = known, 1
        self.topic, self.topic_step, self.topics = _fixed(np.zeros(1, dtype=np.int32)), 0, 1
        if by_topic and judgments.topic is not None:
            self.topic, self.topic_step = _fixed(judgments.topic), 1
            self.topics = judgments.topic_count
        self.where = (self.topic, self.topic_step, self.known, self.known_step)
        self.threads = 1 if len(judgments) < _SMALL else threads
        least = 1 if self.threads == 1 else _BLOCKS * self.threads
        self.blocks = even_cuts(judgments.offsets, max(least, len(judgments) // _BLOCK))
        # Threads live as long as this object: the pool ends them when it goes.
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def add_up(
        self, run: Callable[..., None], *shapes: int | tuple[int, ...]
    ) -> tuple[NDArray[np.int64], ...]:
        """Add up what blocks add to whole numbers of these shapes, each thread to its own."""

        def work(take: Callable[[], _Ends | None]) -> list[NDArray[np.int64]]:
            sums = [zeros(math.prod(np.atleast_1d(shape))).reshape(shape) for shape in shapes]
            while (ends := take()) is not None:
                run(*ends, *sums)
            return sums

        first, *rest = self._together(work)
        for sums in rest:
            for total, added in zip(first, sums, strict=True):
                np.add(total, added, out=total)
        return tuple(first)

    def each_block(self, run: Callable[[int, int], None]) -> None:
        """Run every block, for what it writes of its own items."""

        def work(take: Callable[[], _Ends | None]) -> None:
            while (ends := take()) is not None:
                run(*ends)

        self._together(work)

    def _together(self, work: Callable[[Callable[[], _Ends | None]], Any]) -> list[Any]:
        """Collect the results of every thread, this one too; each takes block after block."""
        numbers = itertools.count()

        def take() -> _Ends | None:
            block = next(numbers)
            if block >= len(self.blocks) - 1:
                return None
            return self.blocks[block], self.blocks[block + 1]

        if self.pool is None:
            return [work(take)]
        tasks = [self.pool.submit(work, take) for _ in range(self.threads - 1)]
        return [work(take), *(task.result() for task in tasks)]


def usable_cores() -> int:
    """Count the cores this process may use; where the system does not say, all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
