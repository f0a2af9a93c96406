"""What an engine is: a place where sweeps over the judgments run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.checkpoint import Checkpoint

if TYPE_CHECKING:
    from adjudge.engines._part import Part
    from adjudge.engines.sweeps import Sweeps


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Parameters:
    """What a sweep is given: how common each truth is, and how each judge confuses them.

    With ``of_types`` these are types of items, which gold does not overrule.
    """

    prevalence: NDArray[np.float64]  # (topic, truth), or one row where topics share it
    confusion: NDArray[np.float64]  # (judge, truth, label), or one matrix where judges share it
    of_types: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """What a sweep gives back: expected counts under the parameters, and their likelihood."""

    classes: NDArray[np.float64]  # (topic, truth), or one row
    confusion: NDArray[np.float64]  # (judge, truth, label), or one matrix
    log_likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What a sweep reads next to the judgments: log ratios to truth 0, in units."""

    prior: NDArray[np.int64]  # (topic * (truth - 1),)
    ratio: NDArray[np.int64]  # (judge * label * (truth - 1),)
    of_types: bool = False


class Task(Protocol):
    """Something computed over the parts of the judgments: whole numbers that add up, and rows."""

    def run(self, part: Part, *rows: Any) -> tuple[Any, ...]:
        """Return the sums of a part; ``rows`` of its items are read, or written."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What a draw of every item's truth leaves: integer counts under the truths drawn."""

    counts: NDArray[np.int64]  # (judge, label, truth)
    classes: NDArray[np.int64]  # (topic, truth), or one row
    switch: NDArray[np.int64]  # (pivot, truth) items by reference labelling and truth drawn


class Sampler(Protocol):
    """Judgments loaded into an engine, ready for chains of a Gibbs sampler."""

    def start(self, chain: int, choice: NDArray[np.int16]) -> Tally:  # (item,)
        """Counts under a given truth of each item: where a chain starts."""

    def draw(
        self,
        chain: int,
        iteration: int,
        prior: NDArray[np.int64],  # (topic * (truth - 1),)
        ratio: NDArray[np.int64],  # (judge * label * (truth - 1),)
        keep: float,
    ) -> Tally:
        """Draw every truth, under the random numbers of (seed, chain, iteration, item).

        Posteriors times ``keep`` are added to the chain's mean; -1 takes a draw back again.
        """

    def mean(self, chain: int) -> NDArray[np.float64]:  # (item, truth)
        """The posteriors that a chain added up."""

    def restore(self, chain: int, mean: NDArray[np.float64]) -> None:  # (item, truth)
        """Go on from posteriors that a chain added up before."""


class Engine(Protocol):
    """A place where sweeps run: threads here, a cluster there. All give the same bits."""

    def load(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        shared: bool = False,
    ) -> Sweeps:
        """Take judgments in. ``shared``: one confusion for all judges."""

    @property
    def threads(self) -> int:
        """How many chains can run at once."""

    @property
    def checkpoint(self) -> Checkpoint | None:
        """Where fits on this engine write how far they are, if anywhere."""

    def sampler(
        self,
        judgments: Judgments,
        known: NDArray[np.signedinteger] | None = None,
        *,
        by_topic: bool = False,
        seed: int = 0,
        chains: int = 1,
        pivot: NDArray[np.int16],
    ) -> Sampler:
        """Take judgments in for a Gibbs sampler; ``pivot`` is a reference labelling."""
