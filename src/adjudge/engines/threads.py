"""The embedded engine: threads of this process, each with counts of its own."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Counts, Parameters
from adjudge.engines.sampling import ThreadsSampler
from adjudge.errors import BadSetting
from adjudge.kernels import confusion as kernels
from adjudge.kernels.fixed import LIKELIHOOD, LOG, log_units

_SMALL = 100_000  # judgments below which a second thread costs more than it brings
_BLOCK = 1_000_000  # judgments in a block at most
_BLOCKS = 4  # blocks a thread at least, so that a thread that is held up does not hold up others


def usable_cores() -> int:
    """How many cores this process may use; where the system does not say, all there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsEngine:
    """Sweeps by threads of this process: as many as there are cores, unless told otherwise."""

    threads: int = field(default_factory=usable_cores)

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise BadSetting("threads", self.threads, "at least one thread")

    def load(
        self,
        judgments: Judgments,
        known: NDArray[np.int16] | None = None,
        *,
        by_topic: bool = False,
        shared: bool = False,
    ) -> ThreadsSweeps:
        """Take judgments in; nothing is copied."""
        if by_topic and judgments.topic is None:
            raise BadSetting("by_topic", True, "judgments with topics: these have none")
        return ThreadsSweeps(judgments, known, by_topic, shared, self.threads)

    def sampler(
        self,
        judgments: Judgments,
        known: NDArray[np.int16] | None = None,
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


class ThreadsSweeps:
    """Judgments in memory, swept block by block by a few threads."""

    def __init__(
        self,
        judgments: Judgments,
        known: NDArray[np.int16] | None,
        by_topic: bool,
        shared: bool,
        threads: int,
    ) -> None:
        scale = judgments.scale
        self.judgments = judgments
        self.given = (judgments.offsets, judgments.judge, judgments.label)
        self.shared = shared
        self.truths, self.labels = len(scale.truths), len(scale.labels)
        stands = np.array(scale.truth_of)[:, None] == np.arange(self.truths)  # (label, truth)
        self.stands = stands.astype(np.int64).reshape(-1)
        none = np.full(1, -1, dtype=np.int16)
        self.known, self.known_step = (none, 0) if known is None else (known, 1)
        pooled = np.zeros(1, dtype=np.int32)
        if by_topic and judgments.topic is not None:
            self.topic, self.topic_step = judgments.topic, 1
            self.topics = judgments.topic_count
        else:
            self.topic, self.topic_step, self.topics = pooled, 0, 1
        self.where = (self.topic, self.topic_step, self.known, self.known_step)
        self.threads = 1 if len(judgments) < _SMALL else threads
        least = 1 if self.threads == 1 else _BLOCKS * self.threads
        self.blocks = _blocks(judgments.offsets, max(least, len(judgments) // _BLOCK))
        self.items_of = np.bincount(self.topic, minlength=self.topics)  # (topic,)
        if self.topic_step == 0:
            self.items_of = np.array([judgments.item_count])
        self.cells = self._cells(shared)  # (judge * label,)
        # Threads live as long as this object: the pool ends them when it goes.
        self.pool = ThreadPoolExecutor(self.threads - 1) if self.threads > 1 else None

    def _cells(self, shared: bool) -> NDArray[np.int64]:
        """How many judgments there are of each label by each judge (or by all together)."""
        judges = 1 if shared else self.judgments.judge_count
        cells = np.zeros(judges * self.labels, dtype=np.int64)
        step = 0 if shared else self.labels
        kernels.count_cells(self.judgments.judge, self.judgments.label, step, cells)
        return cells

    def votes(self) -> Counts:
        """Counts with vote shares for posteriors."""
        return self._swept(None, self.shared, None)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters, in one pass."""
        return self._swept(parameters, self.shared, None)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:
        """The posterior of every item, and the counts that go with it."""
        posterior = np.empty((self.judgments.item_count, self.truths), dtype=np.float64)
        shared = self.shared and not own
        if shared != self.shared and parameters is not None:
            # The kernel has one step for reading and counting, so spell the shared matrix out.
            spelt = np.broadcast_to(
                parameters.confusion,
                (self.judgments.judge_count, *parameters.confusion.shape[1:]),
            )
            parameters = Parameters(prevalence=parameters.prevalence, confusion=spelt)
        return posterior, self._swept(parameters, shared, posterior)

    def _swept(
        self,
        parameters: Parameters | None,
        shared: bool,
        posterior: NDArray[np.float64] | None,
    ) -> Counts:
        """Run one sweep over all blocks and put the threads' counts together."""
        cells = self.cells if shared == self.shared else self._cells(shared)
        step = 0 if shared else self.labels
        keep = posterior is not None
        out = np.empty((1, 1)) if posterior is None else posterior
        kernel, inputs, base = self._inputs(parameters, cells)
        numbers = itertools.count()

        def work() -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
            counts = np.zeros(len(cells) * (self.truths - 1), dtype=np.int64)
            classes = np.zeros(self.topics * (self.truths - 1), dtype=np.int64)
            likelihood = 0
            while (block := next(numbers)) < len(self.blocks) - 1:
                ends = self.blocks[block], self.blocks[block + 1]
                likelihood += kernel(
                    *self.given, *ends, *self.where, *inputs, step, counts, classes, out, keep
                )
            return counts, classes, likelihood

        parts = self._together(work)
        for part in parts[1:]:
            np.add(parts[0][0], part[0], out=parts[0][0])
            np.add(parts[0][1], part[1], out=parts[0][1])
        counts, classes, _ = parts[0]
        likelihood = sum(part[2] for part in parts) / LIKELIHOOD + base
        return self._counts(counts, classes, cells, likelihood)

    def _together(self, work: Callable[[], Any]) -> list[Any]:
        """The results of every thread; this one works too."""
        if self.pool is None:
            return [work()]
        tasks = [self.pool.submit(work) for _ in range(self.threads - 1)]
        return [work(), *(task.result() for task in tasks)]

    def _inputs(
        self, parameters: Parameters | None, cells: NDArray[np.int64]
    ) -> tuple[Callable[..., int], tuple[NDArray[np.int64], ...], float]:
        """The kernel, its tables, and the log-likelihood of truth 0, which it leaves out."""
        if parameters is None:
            return kernels.vote_shares(self.truths), (self.stands,), math.nan
        logs = log_units(parameters.confusion)  # (judge, truth, label)
        prevalence = log_units(parameters.prevalence)  # (topic, truth)
        ratio = np.empty(len(cells) * (self.truths - 1), dtype=np.int64)
        prior = np.empty(self.topics * (self.truths - 1), dtype=np.int64)
        kernels.relative(logs, ratio)
        kernels.relative(prevalence[:, :, None], prior)
        # Summed exactly, so that the order of judges changes no bit.
        base = math.fsum((cells * (logs[:, 0].reshape(-1) / LOG)).tolist())
        base += math.fsum((self.items_of * (prevalence[:, 0] / LOG)).tolist())
        return kernels.expectation(self.truths), (prior, ratio), base

    def _counts(
        self,
        counts: NDArray[np.int64],
        classes: NDArray[np.int64],
        cells: NDArray[np.int64],
        likelihood: float,
    ) -> Counts:
        """Whole-number counts as numbers of judgments and items, truth 0 put back."""
        confusion = np.empty((len(cells) // self.labels, self.truths, self.labels))
        kinds = np.empty((self.topics, self.truths))
        kernels.numbers(counts, cells, confusion)
        kernels.numbers(classes, self.items_of, kinds[:, :, None])
        return Counts(classes=kinds, confusion=confusion, log_likelihood=likelihood)


def _blocks(offsets: NDArray[np.int64], count: int) -> list[int]:
    """Cuts between items that give each of ``count`` blocks about as many judgments."""
    items = len(offsets) - 1
    if items == 0:
        return [0, 0]
    wanted = np.linspace(0, offsets[-1], count + 1)[1:-1]
    cuts = np.searchsorted(offsets, wanted)
    return [0, *np.unique(np.clip(cuts, 0, items)).tolist(), items]


def compiled() -> bool:
    """Whether the sweeps were compiled before: numba keeps them beside the code or in its cache."""
    kernel: Any = kernels.count_cells
    folder = Path(kernel.stats.cache_path)
    made = [entry.stat().st_mtime for entry in folder.glob("confusion.vote_shares*.nbi")]
    return bool(made) and max(made) >= Path(kernels.__file__).stat().st_mtime
