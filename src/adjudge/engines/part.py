"""Judgments of some of the items, in this process, and the sweeps over them by a few threads.

The embedded engine has one part, all of the judgments; a process of a cluster has several. What a
sweep leaves are sums of whole numbers, so parts can be added up in any order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.blocks import even_cuts
from adjudge.data.mapped import releaser
from adjudge.data.scale import Scale
from adjudge.engines.engine import Coded
from adjudge.engines.tables import Sums, Tables, zeros
from adjudge.kernels import confusion as kernels
from adjudge.kernels import voting

_SMALL = 100_000  # judgments below which a second thread costs more than it brings
_BLOCK = 1_000_000  # judgments in a block at most
_BLOCKS = 4  # blocks a thread at least, so that a thread that is held up does not hold up others


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


def cut(judgments: Coded, start: int, stop: int) -> Slice:
    """The judgments of the items from ``start`` to ``stop``; judges and labels are not copied."""
    first, last = int(judgments.offsets[start]), int(judgments.offsets[stop])
    topic = judgments.topic
    return Slice(
        scale=judgments.scale,
        offsets=judgments.offsets[start : stop + 1] - first,
        judge=judgments.judge[first:last],
        label=judgments.label[first:last],
        topic=None if topic is None else topic[start:stop],
        judge_count=judgments.judge_count,
        topic_count=judgments.topic_count,
    )


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, as one that cannot be written.

    Judgments on disk and those of another process cannot be written; those in memory could. numba
    compiles for either, so all are passed alike and every kernel is compiled once.
    """
    seen = array.view()
    seen.flags.writeable = False
    return seen


class Part:
    """Judgments in memory, or mapped into it, swept block by block by a few threads."""

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
        self.release = releaser(*self.given)
        # Threads live as long as this object: the pool ends them when it goes.
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def stands(self) -> NDArray[np.int64]:  # (label * truth,)
        """1 where a label stands for a truth."""
        stands = np.array(self.judgments.scale.truth_of)[:, None] == np.arange(self.truths)
        return np.asarray(stands, dtype=np.int64).reshape(-1)

    def items_of(self) -> NDArray[np.int64]:  # (topic,)
        """How many items each topic has, or all have together."""
        if self.topic_step == 0:
            return np.array([self.judgments.item_count])
        return np.bincount(self.topic, minlength=self.topics)

    def cells(self, shared: bool) -> NDArray[np.int64]:  # (judge * label,) or (label,)
        """How many judgments there are of each label by each judge (or by all together)."""
        size = (1 if shared else self.judgments.judge_count) * self.labels
        step = 0 if shared else self.labels

        def count(start: int, stop: int, cells: NDArray[np.int64]) -> None:
            offsets, judge, label = self.given
            rows = slice(offsets[start], offsets[stop])
            kernels.count_cells(judge[rows], label[rows], step, cells)

        return self.add_up(size, count)

    def sweep(
        self,
        tables: Tables | None,
        shared: bool,
        posterior: NDArray[np.float64] | None = None,  # (item, truth), written
    ) -> Sums:
        """Sums of expected counts under the tables; None: with vote shares for posteriors.

        Tables of types have more classes than there are truths, and gold does not overrule them.
        """
        truths = self.truths if tables is None else len(tables.prior) // self.topics + 1
        others = truths - 1
        cells = (1 if shared else self.judgments.judge_count) * self.labels
        step = 0 if shared else self.labels
        keep = posterior is not None
        out = np.empty((1, 1)) if posterior is None else posterior
        give_back = releaser(posterior)
        inputs: tuple[NDArray[np.int64], ...]
        if tables is None:
            kernel, inputs = kernels.vote_shares(truths), (self.stands(),)
        else:
            kernel, inputs = kernels.expectation(truths), (tables.prior, tables.ratio)
        where = self.where
        if tables is not None and tables.of_types:
            where = (self.topic, self.topic_step, np.full(1, -1, dtype=np.int16), 0)

        def work(take: Callable[[], tuple[int, int] | None]) -> Sums:
            counts = zeros(cells * others)
            classes = np.zeros(self.topics * others, dtype=np.int64)
            likelihood = 0
            while (ends := take()) is not None:
                likelihood += kernel(
                    *self.given, *ends, *where, *inputs, step, counts, classes, out, keep
                )
                self._let_go(*ends)
                if give_back is not None:
                    give_back(ends)
            return Sums(counts, classes, int(likelihood))

        parts: list[Sums] = self._together(work)
        return reduce(Sums.add, parts)

    def against(
        self, reference: NDArray[np.int16], kinds: int
    ) -> NDArray[np.int64]:  # (judge, kind, label)
        """How often each judge gave each label where the item's reference is of each kind.

        Items whose reference is -1 are left out.
        """
        shape = (self.judgments.judge_count, kinds, self.labels)

        def count(start: int, stop: int, counts: NDArray[np.int64]) -> None:
            voting.count_against(*self.given, start, stop, reference, counts.reshape(shape))

        return self.add_up(int(np.prod(shape)), count).reshape(shape)

    def weigh(
        self,
        weight: NDArray[np.int64],  # (judge,)
        plain: NDArray[np.int64],  # (judge,)
        flip: NDArray[np.bool_],  # (judge,)
        posterior: NDArray[np.float64],  # (item, truth), written
        fallback: NDArray[np.bool_],  # (item,), written
    ) -> NDArray[np.int64]:  # (judge, truth, label)
        """Weighted votes of every item, and the counts under them, in shares."""
        truth_of = np.array(self.judgments.scale.truth_of, dtype=np.int64)
        shape = (self.judgments.judge_count, self.truths, self.labels)

        def vote(start: int, stop: int, counts: NDArray[np.int64]) -> None:
            voting.weigh_votes(
                *self.given,
                start,
                stop,
                self.known,
                self.known_step,
                truth_of,
                weight,
                plain,
                flip,
                posterior,
                fallback,
            )
            voting.count_under(*self.given, start, stop, posterior, counts.reshape(shape))

        return self.add_up(int(np.prod(shape)), vote).reshape(shape)

    def add_up(
        self, size: int, run: Callable[[int, int, NDArray[np.int64]], None]
    ) -> NDArray[np.int64]:
        """Whole numbers that blocks add to, each thread to its own, put together."""

        def work(take: Callable[[], tuple[int, int] | None]) -> NDArray[np.int64]:
            counts = np.zeros(size, dtype=np.int64)
            while (ends := take()) is not None:
                run(*ends, counts)
                self._let_go(*ends)
            return counts

        first, *rest = self._together(work)
        for counts in rest:
            np.add(first, counts, out=first)
        return np.asarray(first)

    def each_block(self, run: Callable[[int, int], None]) -> None:
        """Run every block, for what it writes of its own items."""

        def work(take: Callable[[], tuple[int, int] | None]) -> None:
            while (ends := take()) is not None:
                run(*ends)
                self._let_go(*ends)

        self._together(work)

    def _together(self, work: Callable[[Callable[[], tuple[int, int] | None]], Any]) -> list[Any]:
        """The results of every thread, each taking block after block; this one works too."""
        numbers = itertools.count()

        def take() -> tuple[int, int] | None:
            block = next(numbers)
            if block >= len(self.blocks) - 1:
                return None
            return self.blocks[block], self.blocks[block + 1]

        if self.pool is None:
            return [work(take)]
        tasks = [self.pool.submit(work, take) for _ in range(self.threads - 1)]
        return [work(take), *(task.result() for task in tasks)]

    def _let_go(self, start: int, stop: int) -> None:
        """Give back the memory of a block that is mapped from disk: it can be read again."""
        if self.release is not None:
            offsets = self.judgments.offsets
            self.release((start, stop), *[(int(offsets[start]), int(offsets[stop]))] * 2)
