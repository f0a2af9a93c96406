"""The loop of fits that iterate until they settle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjudge.engines.checkpoint import Checkpoint
from adjudge.models.model import Progress, Step

State = dict[str, Any]  # arrays by name: what goes from one iteration to the next


@dataclass(frozen=True, slots=True, kw_only=True)
class Loop:
    """How often to iterate at most, who sees progress, and where a stopped loop continues."""

    most: int
    progress: Progress | None = None
    checkpoint: Checkpoint | None = None
    note: str = ""  # on the value of an iteration

    def run(
        self,
        name: str,
        state: State,
        step: Callable[[State, int], tuple[State, float]],
        settled: Callable[[Sequence[float]], bool],
    ) -> tuple[State, tuple[float, ...], bool]:
        """Iterate until the values settle: the last state, the values, and whether they settled.

        ``step`` is given a state and the number of iterations before, and returns the next state
        and a value. ``name`` is that of the loop in a checkpoint.
        """
        trace: list[float] = []
        kept = None if self.checkpoint is None else self.checkpoint.load(name)
        if kept is not None:
            state = kept[0]
            trace = state.pop("trace").tolist()
        while len(trace) < self.most and not settled(trace):
            state, value = step(state, len(trace))
            trace.append(value)
            done = len(trace)
            if self.progress is not None:
                self.progress(Step("fitting", done, self.most, self.note.format(value)))
            if self.checkpoint is not None and self.checkpoint.due(done):
                self.checkpoint.save(name, {**state, "trace": np.array(trace)})
        return state, tuple(trace), settled(trace)
