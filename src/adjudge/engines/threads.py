"""The embedded engine: threads of this process, each with counts of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines._coded import Coded
from adjudge.engines._part import Frame, Part, Sums, spelt_out, usable_cores
from adjudge.engines._sampling import ThreadsSampler
from adjudge.engines._voting import count_against, weigh_votes
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Counts, Parameters, RowTask, Tables, Task
from adjudge.errors import BadSetting
from adjudge.kernels import confusion


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsEngine:
    """Sweeps by threads of this process: as many as there are cores, unless told otherwise."""

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


class _ThreadsSweeps:
    """Judgments in this process, swept by a few of its threads."""

    def __init__(
        self,
        judgments: Coded,
        known: NDArray[np.signedinteger] | None,
        by_topic: bool,
        shared: bool,
        threads: int,
    ) -> None:
        self.judgments = judgments
        self.shared = shared
        self.part = Part(judgments, known, by_topic=by_topic, threads=threads)
        self.frame = Frame(judgments.scale, self.part.cells(shared), self.part.items_of())

    def votes(self) -> Counts:
        """Counts with vote shares for posteriors."""
        return self._swept(None, self.frame, None)

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters, in one pass."""
        return self._swept(parameters, self.frame, None)

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:
        """The posterior of every item, and the counts that go with it."""
        truths = len(self.judgments.scale.truths)
        posterior = np.empty((self.judgments.item_count, truths))
        frame = self.frame
        if self.shared and own:
            frame = replace(frame, cells=self.part.cells(False))
            if parameters is not None:
                parameters = spelt_out(parameters, self.judgments.judge_count)
        return posterior, self._swept(parameters, frame, posterior)

    def cells(self) -> NDArray[np.int64]:
        """How many judgments there are of each label by each judge."""
        cells = self.part.cells(False) if self.shared else self.frame.cells
        return cells.reshape(-1, len(self.judgments.scale.labels))

    def against(self, reference: NDArray[np.int16], kinds: int) -> NDArray[np.int64]:
        """How often each judge gave each label to items of each kind."""
        return count_against(self.part, reference, kinds)

    def weigh(
        self, weight: NDArray[np.int64], plain: NDArray[np.int64], flip: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Weighted votes of every item, the items that fell back, and counts in shares."""
        posterior = np.empty((self.judgments.item_count, len(self.judgments.scale.truths)))
        fallback = np.zeros(self.judgments.item_count, dtype=np.bool_)
        return posterior, fallback, weigh_votes(self.part, weight, plain, flip, posterior, fallback)

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters as the whole numbers that tasks read."""
        return self.frame.tables(parameters)[0]

    def counts(self, shares: NDArray[np.int64], classes: NDArray[np.int64]) -> Counts:
        """Shares that a task left, as counts."""
        return self.frame.counts(Sums(shares, classes, 0), 0.0)

    def ask(self, task: Task) -> tuple[Any, ...]:
        """The sums of a task over all judgments."""
        return task.run(self.part)

    def rows(self, task: RowTask, columns: int) -> NDArray[np.float64]:
        """What a task writes of every item."""
        out = np.empty((self.judgments.item_count, columns))
        task.fill(self.part, out)
        return out

    def _swept(
        self,
        parameters: Parameters | None,
        frame: Frame,
        posterior: NDArray[np.float64] | None,
    ) -> Counts:
        """Run one sweep and turn its sums into counts."""
        tables, base = (None, math.nan) if parameters is None else frame.tables(parameters)
        shared = len(frame.cells) == len(frame.scale.labels) and self.shared
        return frame.counts(self.part.sweep(tables, shared, posterior), base)


def are_sweeps_compiled() -> bool:
    """Whether numba has kept any kernel since the kernels were last changed."""
    kernel: Any = confusion.count_cells
    kept = [file.stat().st_mtime for file in Path(kernel.stats.cache_path).glob("*.nbi")]
    sources = Path(confusion.__file__).parent.glob("*.py")
    return max(kept, default=0.0) >= max(file.stat().st_mtime for file in sources)
