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
from adjudge.errors import BadSetting
from adjudge.kernels import confusion as kernels
from adjudge.kernels.fixed import LIKELIHOOD, LOG, SHARE, log_units

_SMALL = 100_000  # judgments below which a second thread costs more than it brings
_BLOCK = 1_000_000  # judgments in a block, so that threads that are held up do not hold up others


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsEngine:
    """Sweeps by threads of this process: as many as there are cores, unless told otherwise."""

    threads: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

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
        self.shared = shared
        self.truths, self.labels = len(scale.truths), len(scale.labels)
        self.truth_of = np.array(scale.truth_of, dtype=np.int16)
        none = np.full(1, -1, dtype=np.int16)
        self.known, self.known_step = (none, 0) if known is None else (known, 1)
        pooled = np.zeros(1, dtype=np.int32)
        if by_topic and judgments.topic is not None:
            self.topic, self.topic_step = judgments.topic, 1
            self.topics = judgments.topic_count
        else:
            self.topic, self.topic_step, self.topics = pooled, 0, 1
        self.threads = 1 if len(judgments) < _SMALL else threads
        self.blocks = _blocks(judgments.offsets, max(self.threads, len(judgments) // _BLOCK))
        self.items_of = np.bincount(self.topic, minlength=self.topics)  # (topic,)
        if self.topic_step == 0:
            self.items_of = np.array([judgments.item_count])
        self.cells = self._cells(shared)  # (judge * label,)

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
        run, base = self._kernel(parameters, cells)
        numbers = itertools.count()

        def work() -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
            counts = np.zeros(len(cells) * (self.truths - 1), dtype=np.int64)
            classes = np.zeros(self.topics * (self.truths - 1), dtype=np.int64)
            likelihood = 0
            while (block := next(numbers)) < len(self.blocks) - 1:
                start, stop = self.blocks[block], self.blocks[block + 1]
                likelihood += run(start, stop, step, counts, classes, out, keep) or 0
            return counts, classes, likelihood

        parts = self._together(work)
        counts = sum((part[0] for part in parts[1:]), parts[0][0])
        classes = sum((part[1] for part in parts[1:]), parts[0][1])
        likelihood = sum(part[2] for part in parts) / LIKELIHOOD + base
        return self._counts(counts, classes, cells, likelihood)

    def _together(self, work: Callable[[], Any]) -> list[Any]:
        """The results of every thread."""
        if self.threads == 1:
            return [work()]
        with ThreadPoolExecutor(self.threads) as pool:
            return [task.result() for task in [pool.submit(work) for _ in range(self.threads)]]

    def _kernel(
        self, parameters: Parameters | None, cells: NDArray[np.int64]
    ) -> tuple[Callable[..., Any], float]:
        """The kernel with its inputs bound, and the likelihood of truth 0 that it leaves out."""
        judgments = self.judgments
        given = (judgments.offsets, judgments.judge, judgments.label)
        where = (self.topic, self.topic_step, self.known, self.known_step)
        if parameters is None:

            def run_votes(start: int, stop: int, *rest: Any) -> Any:
                return kernels.share_votes(
                    *given, start, stop, *where, self.truth_of, self.truths, *rest
                )

            return run_votes, math.nan
        logs = log_units(parameters.confusion)  # (judge, truth, label)
        ratio = np.ascontiguousarray((logs[:, 1:] - logs[:, :1]).transpose(0, 2, 1))
        ratio = ratio.reshape(-1)
        prevalence = log_units(parameters.prevalence)  # (topic, truth)
        prior = (prevalence[:, 1:] - prevalence[:, :1]).reshape(-1)
        kernel = kernels.expectation(self.truths)

        def run(start: int, stop: int, *rest: Any) -> Any:
            return kernel(*given, start, stop, *where, prior, ratio, *rest)

        # Summed exactly, so that the order of judges changes no bit.
        base = math.fsum(cells * (logs[:, 0].reshape(-1) / LOG))
        base += math.fsum(self.items_of * (prevalence[:, 0] / LOG))
        return run, base

    def _counts(
        self,
        counts: NDArray[np.int64],
        classes: NDArray[np.int64],
        cells: NDArray[np.int64],
        likelihood: float,
    ) -> Counts:
        """Whole-number counts as numbers of judgments and items, truth 0 put back."""
        whole = int(SHARE)
        counts = counts.reshape(len(cells), self.truths - 1)
        classes = classes.reshape(self.topics, self.truths - 1)
        every = np.empty((len(cells), self.truths), dtype=np.float64)
        every[:, 1:] = counts / SHARE
        every[:, 0] = np.maximum(cells * whole - counts.sum(axis=1), 0) / SHARE
        shape = (-1, self.labels, self.truths)
        kinds = np.empty((self.topics, self.truths), dtype=np.float64)
        kinds[:, 1:] = classes / SHARE
        kinds[:, 0] = np.maximum(self.items_of * whole - classes.sum(axis=1), 0) / SHARE
        return Counts(
            classes=kinds,
            confusion=np.ascontiguousarray(every.reshape(shape).transpose(0, 2, 1)),
            log_likelihood=likelihood,
        )


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
    kernel: Any = kernels.share_votes
    folder = Path(kernel.stats.cache_path)
    made = [entry.stat().st_mtime for entry in folder.glob("confusion.share_votes*.nbi")]
    return bool(made) and max(made) >= Path(kernels.__file__).stat().st_mtime
