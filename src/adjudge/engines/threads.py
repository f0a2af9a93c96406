"""The embedded engine: threads of this process, each with counts of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines._coded import Coded
from adjudge.engines._part import FramedSweeps, Part, Sums, usable_cores
from adjudge.engines._sampling import ThreadsSampler
from adjudge.engines._voting import count_against, weigh_votes
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import RowTask, Tables, Task
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


class _ThreadsSweeps(FramedSweeps):
    """Judgments in this process, swept by a few of its threads."""

    def __init__(
        self,
        judgments: Coded,
        known: NDArray[np.signedinteger] | None,
        by_topic: bool,
        shared: bool,
        threads: int,
    ) -> None:
        self.part = Part(judgments, known, by_topic=by_topic, threads=threads)
        super().__init__(judgments, by_topic, shared)

    def _count_cells(self, shared: bool) -> NDArray[np.int64]:
        return self.part.cells(shared)

    def _sweep(
        self, tables: Tables | None, shared: bool, posterior: NDArray[np.float64] | None
    ) -> Sums:
        return self.part.sweep(tables, shared, posterior)

    def against(self, reference: NDArray[np.int16], kinds: int) -> NDArray[np.int64]:
        """How often each judge gave each label to items of each kind."""
        return count_against(self.part, reference, kinds)

    def weigh(
        self, weight: NDArray[np.int64], plain: NDArray[np.int64], flip: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Weighted votes of every item, the items that fell back, and counts in shares."""
        posterior = self.make_rows(len(self.judgments.scale.truths))
        fallback = np.zeros(self.judgments.item_count, dtype=np.bool_)
        return posterior, fallback, weigh_votes(self.part, weight, plain, flip, posterior, fallback)

    def ask(self, task: Task) -> tuple[Any, ...]:
        """The sums of a task over all judgments."""
        return task.run(self.part)

    def rows(self, task: RowTask, columns: int) -> NDArray[np.float64]:
        """What a task writes of every item."""
        out = self.make_rows(columns)
        task.fill(self.part, out)
        return out


def are_sweeps_compiled() -> bool:
    """Whether numba has kept any kernel since the kernels were last changed."""
    kernel: Any = confusion.count_cells
    kept = [file.stat().st_mtime for file in Path(kernel.stats.cache_path).glob("*.nbi")]
    sources = Path(confusion.__file__).parent.glob("*.py")
    return max(kept, default=0.0) >= max(file.stat().st_mtime for file in sources)
