"""A sweep over judgments in this process: what it reads, a part of the judgments, what it leaves.

The embedded engine has one part, all of the judgments; a process of a cluster has several. Every
engine turns parameters into whole numbers before a sweep and sums back into counts after it, on one
machine: logarithms are taken once, and sums of whole numbers can be added up in any order, so that
no split of the work changes a bit.
"""

from __future__ import annotations

import itertools
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.engines.engine import Counts, Parameters, Tables
from adjudge.kernels import confusion as kernels
from adjudge.kernels import confusion as voting
from adjudge.kernels.fixed import LIKELIHOOD, LOG


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


_SMALL = 100_000  # judgments below which a second thread costs more than it brings

_BLOCK = 1_000_000  # judgments in a block at most

_BLOCKS = 4  # blocks a thread at least, so that a thread that is held up does not hold up others

_HALF = 20  # bits

_LINE = 64  # bytes that a processor fetches at once


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """What a sweep over some of the items leaves, in whole units: added up in any order."""

    counts: NDArray[np.int64]  # (judge * label * (truth - 1),)
    classes: NDArray[np.int64]  # (topic * (truth - 1),)
    likelihood: int

    def add(self, other: Sums) -> Sums:
        """The sums of both; the arrays of this one are used up."""
        np.add(self.counts, other.counts, out=self.counts)
        np.add(self.classes, other.classes, out=self.classes)
        return Sums(self.counts, self.classes, self.likelihood + other.likelihood)


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The numbers of judgments and items that stay the same from sweep to sweep."""

    scale: Scale
    cells: NDArray[np.int64]  # (judge * label,), or (label,) where judges share one confusion
    items_of: NDArray[np.int64]  # (topic,)

    def tables(self, parameters: Parameters) -> tuple[Tables, float]:
        """The tables of a sweep, and the log-likelihood of truth 0, which sweeps leave out."""
        logs = kernels.log_units(parameters.confusion)  # (judge, truth, label)
        prevalence = kernels.log_units(parameters.prevalence)  # (topic, truth)
        truths = prevalence.shape[1]
        ratio = zeros(len(self.cells) * (truths - 1))
        prior = np.empty(len(self.items_of) * (truths - 1), dtype=np.int64)
        kernels.relative(logs, ratio)
        kernels.relative(prevalence[:, :, None], prior)
        base = product_of(self.cells, logs[:, 0].reshape(-1))
        base += product_of(self.items_of, prevalence[:, 0])
        return Tables(prior, ratio, parameters.of_types), base / LOG

    def counts(self, sums: Sums, base: float) -> Counts:
        """Sums as numbers of judgments and items, truth 0 put back."""
        labels = len(self.scale.labels)
        truths = len(sums.classes) // len(self.items_of) + 1
        confusion = np.empty((len(self.cells) // labels, truths, labels))
        kinds = np.empty((len(self.items_of), truths))
        kernels.numbers(sums.counts, self.cells, confusion)
        kernels.numbers(sums.classes, self.items_of, kinds[:, :, None])
        likelihood = sums.likelihood / LIKELIHOOD + base
        return Counts(classes=kinds, confusion=confusion, log_likelihood=likelihood)


def product_of(numbers: NDArray[np.int64], logs: NDArray[np.int64]) -> int:
    """The sum of numbers times logs in units, exactly, so that the order of judges changes no bit.

    Logs are taken in two halves: each product fits, for up to 10^11 judgments in all.
    """
    high = int(numbers @ (logs >> _HALF))
    low = int(numbers @ (logs & ((1 << _HALF) - 1)))
    return (high << _HALF) + low


def zeros(size: int) -> NDArray[np.int64]:
    """Zeros that begin where a line of the processor's cache does.

    Rows of a table are then in as few lines as can be, which is what a sweep waits for once the
    tables are larger than the cache.
    """
    room = np.zeros(size + _LINE // 8, dtype=np.int64)
    skip = -room.ctypes.data % _LINE // 8
    return room[skip : skip + size]


def spelt_out(parameters: Parameters, judges: int) -> Parameters:
    """Parameters with a shared confusion given to every judge.

    The kernel has one step for reading and counting, so a sweep that counts by judge reads so too.
    """
    spelt = np.broadcast_to(parameters.confusion, (judges, *parameters.confusion.shape[1:]))
    return Parameters(prevalence=parameters.prevalence, confusion=spelt)


def even_cuts(offsets: NDArray[np.int64], count: int) -> list[int]:
    """Cut items into at most ``count`` runs with about equally many judgments each."""
    items = len(offsets) - 1
    if items == 0:
        return [0, 0]
    wanted = np.linspace(0, offsets[-1], count + 1)[1:-1]
    cuts = np.searchsorted(offsets, wanted)
    return sorted({0, *np.clip(cuts, 0, items).tolist(), items})


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, read-only.

    Arrays that come in a message are read-only, others are not. numba compiles a kernel for either,
    so all are passed as read-only and every kernel is compiled once.
    """
    seen = array.view()
    seen.flags.writeable = False
    return seen


class Part:
    """Judgments in memory, swept block by block by a few threads."""

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

    def stands(self) -> NDArray[np.int64]:  # (label * truth,)
        """1 where a label stands for a truth."""
        return self.judgments.scale.stands.T.astype(np.int64).reshape(-1)

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
        inputs: Any
        if tables is None:
            kernel, inputs = voting.vote_shares(truths), self.stands()
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
                given = (self.given, *ends, where, inputs, step)
                likelihood += kernel(*given, counts, classes, out, keep)
            return Sums(counts, classes, int(likelihood))

        parts: list[Sums] = self._together(work)
        return reduce(Sums.add, parts)

    def add_up(
        self, size: int, run: Callable[[int, int, NDArray[np.int64]], None]
    ) -> NDArray[np.int64]:
        """Whole numbers that blocks add to, each thread to its own, put together."""

        def work(take: Callable[[], tuple[int, int] | None]) -> NDArray[np.int64]:
            counts = np.zeros(size, dtype=np.int64)
            while (ends := take()) is not None:
                run(*ends, counts)
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


class FramedSweeps(ABC):
    """Judgments to be swept, wherever they are: a subclass counts cells and runs one sweep."""

    def __init__(self, judgments: Coded, by_topic: bool, shared: bool) -> None:
        self.judgments, self.shared = judgments, shared
        items_of = np.array([judgments.item_count])
        if by_topic and judgments.topic is not None:
            items_of = np.bincount(judgments.topic, minlength=judgments.topic_count)
        self.frame = Frame(judgments.scale, self._count_cells(shared), items_of)

    @abstractmethod
    def _count_cells(self, shared: bool) -> NDArray[np.int64]:  # (judge * label,) or (label,)
        """How many judgments there are of each label by each judge (or by all together)."""

    @abstractmethod
    def _sweep(
        self, tables: Tables | None, shared: bool, posterior: NDArray[np.float64] | None
    ) -> Sums:
        """The sums of one sweep; posteriors are written where there is an array for them."""

    def votes(self) -> Counts:
        """Counts with vote shares for posteriors."""
        return self.frame.counts(self._sweep(None, self.shared, None), math.nan)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters, in one pass."""
        tables, base = self.frame.tables(parameters)
        return self.frame.counts(self._sweep(tables, self.shared, None), base)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:  # (item, truth)
        """The posterior of every item, and the counts that go with it."""
        frame = self.frame
        if self.shared and own:
            frame = replace(frame, cells=self._count_cells(False))
            if parameters is not None:
                parameters = spelt_out(parameters, self.judgments.judge_count)
        tables, base = (None, math.nan) if parameters is None else frame.tables(parameters)
        posterior = self.make_rows(len(self.judgments.scale.truths))
        return posterior, frame.counts(
            self._sweep(tables, self.shared and not own, posterior), base
        )

    def cells(self) -> NDArray[np.int64]:  # (judge, label)
        """How many judgments there are of each label by each judge."""
        cells = self._count_cells(False) if self.shared else self.frame.cells
        return cells.reshape(-1, len(self.judgments.scale.labels))

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters as the whole numbers that tasks read."""
        return self.frame.tables(parameters)[0]

    def counts(self, shares: NDArray[np.int64], classes: NDArray[np.int64]) -> Counts:
        """The shares of a task as counts."""
        return self.frame.counts(Sums(shares, classes, 0), 0.0)

    def make_rows(self, columns: int) -> NDArray[np.float64]:  # (item, column)
        """An array to write something of every item to."""
        return np.empty((self.judgments.item_count, columns))


def usable_cores() -> int:
    """How many cores this process may use; where the system does not say, all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def count_against(
    part: Part, reference: NDArray[np.int16], kinds: int
) -> NDArray[np.int64]:  # (judge, kind, label)
    """How often each judge gave each label where the item's reference is of each kind.

    Items whose reference is -1 are left out.
    """
    shape = (part.judgments.judge_count, kinds, part.labels)

    def count(start: int, stop: int, counts: NDArray[np.int64]) -> None:
        voting.count_against(*part.given, start, stop, reference, counts.reshape(shape))

    return part.add_up(int(np.prod(shape)), count).reshape(shape)


def weigh_votes(
    part: Part,
    weight: NDArray[np.int64],  # (judge,)
    plain: NDArray[np.int64],  # (judge,)
    flip: NDArray[np.bool_],  # (judge,)
    posterior: NDArray[np.float64],  # (item, truth), written
    fallback: NDArray[np.bool_],  # (item,), written
) -> NDArray[np.int64]:  # (judge, truth, label)
    """Weighted votes of every item, and the counts under them, in shares."""
    truth_of = np.array(part.judgments.scale.truth_of, dtype=np.int64)
    shape = (part.judgments.judge_count, part.truths, part.labels)

    kernel: Any = voting.weigh_votes

    def vote(start: int, stop: int, counts: NDArray[np.int64]) -> None:
        judges = (truth_of, weight, plain, flip)
        kernel(part.given, start, stop, part.where[2:], *judges, posterior, fallback)
        voting.count_under(*part.given, start, stop, posterior, counts.reshape(shape))

    return part.add_up(int(np.prod(shape)), vote).reshape(shape)
