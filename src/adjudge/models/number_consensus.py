"""What a model of numbers leaves: the value of each item, the bias and noise of each judge."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.data.saved import Saved
from adjudge.data.source import count_of
from adjudge.engines.engine import Engine
from adjudge.engines.threads import ThreadsEngine
from adjudge.models._number_fitting import (
    JudgeState,
    Numbers,
    errors_of,
    judges_of,
    most_of,
    numbers_of,
    value_items,
)

_Floats = NDArray[np.float64]
LEVEL = 1.959964  # of a 95% interval
_BARS = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ContinuousConsensus(Saved):
    """What was found: the value of each item, and the bias and noise of each judge."""

    holds: ClassVar[str] = "fit of numbers"

    judgments: Judgments
    settings: dict[str, object]
    value: _Floats  # (item,)
    error: _Floats  # (item,) standard error
    numbers: Numbers = field(repr=False)
    state: JudgeState = field(repr=False)
    iterations: int
    converged: bool
    widened: float = 1.0  # how many times gold made the standard errors larger
    common: float = 0.0  # standard deviation of what judges get wrong together
    stretch: float = 0.0  # and of their mean scale
    notes: tuple[str, ...] = ()

    @property
    def shift(self) -> _Floats:  # (judge,)
        """How far above the others each judge is, in the middle of the numbers."""
        return self.state.shift * self.numbers.width

    @property
    def scale(self) -> _Floats:  # (judge,)
        """How far apart each judge puts what is 1 apart."""
        return self.state.scale

    @property
    def noise(self) -> _Floats:  # (judge,)
        """The standard deviation of what is left."""
        return np.sqrt(self.state.noise) * self.numbers.width

    @property
    def labels(self) -> Any:
        """One row an item: its value with a 95% interval, and how many judged it."""
        given = self.judgments
        columns: dict[str, Any] = {"item": given.items}
        if given.topics is not None and given.topic is not None:
            columns["topic"] = given.topics.take(pa.array(given.topic))
        if given.documents is not None:
            columns["document"] = given.documents
        columns["label"] = pa.array(np.round(self.value, 6))
        columns["low"] = pa.array(np.round(self.value - LEVEL * self.error, 6))
        columns["high"] = pa.array(np.round(self.value + LEVEL * self.error, 6))
        columns["error"] = pa.array(np.round(self.error, 6))
        columns["judgments"] = pa.array(given.counts_per_item)
        return pa.table(columns)

    @property
    def judges(self) -> Any:
        """One row a judge: how many judgments they gave, their bias and their noise."""
        return pa.table(
            {
                "judge": self.judgments.judges,
                "judgments": pa.array(self.judgments.counts_per_judge),
                "shift": pa.array(np.round(self.shift, 6)),
                "scale": pa.array(np.round(self.scale, 6)),
                "noise": pa.array(np.round(self.noise, 6)),
            }
        )

    def __repr__(self) -> str:
        given = self.judgments
        return (
            f"ContinuousConsensus({count_of(len(given), 'judgment')}, "
            f"{count_of(given.item_count, 'item')}, {count_of(given.judge_count, 'judge')}, "
            f"numbers from {given.scale.labels[0]} to "
            f"{given.scale.labels[-1]})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: how many items, how values are spread, the first of them."""
        from adjudge.data.html import show

        items = len(self.value)
        facts = (
            f"{count_of(items, 'item')}, standard error {float(self.error.mean()):.3g} on average"
        )
        count, edges = np.histogram(self.value, bins=_BARS)
        names = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
        bars = list(zip(names, (count / items).tolist(), strict=True))
        return show("Numbers", facts, bars, self.labels, items, self.notes)

    @takes_tables
    def predict(
        self, judgments: JudgmentsLike, *, engine: Engine | None = None
    ) -> ContinuousConsensus:
        """The values of other judgments, by the judges as they are known.

        A judge who is new is taken to be like the others, with a bias that nobody knows.
        """
        number = numbers_of(judgments.scale)
        state, new = judges_of(self.state, self.judgments, judgments)
        own = replace(
            self.numbers,
            number=(number - self.numbers.centre) / self.numbers.width,
            gold=np.empty(0),
            judgments=len(judgments),
            items=judgments.item_count,
            most=most_of(judgments),
        )
        place = engine if engine is not None else ThreadsEngine()
        sweeps = place.load(judgments, shared=True)
        value, spread, _ = value_items(sweeps, own, state)
        notes = self.notes
        if new:
            notes = (
                *notes,
                f"{new} of {count_of(judgments.judge_count, 'judge')} "
                f"{'is' if new == 1 else 'are'} new: "
                "like the others",
            )
        return replace(
            self,
            judgments=judgments,
            value=value,
            error=errors_of(own, value, spread, (self.common, self.stretch, self.widened)),
            numbers=own,
            state=state,
            notes=notes,
        )
