"""What an engine is: a place where a sweep over the judgments runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.checkpoint import Checkpoint

if TYPE_CHECKING:
    from adjudge.engines._part import Part


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
    """What a sweep reads beside the judgments: log ratios to truth 0, in units."""

    prior: NDArray[np.int64]  # (topic * (truth - 1),)
    ratio: NDArray[np.int64]  # (judge * label * (truth - 1),)
    of_types: bool = False


class Task(Protocol):
    """Something to be added up over the parts of the judgments, in whole numbers."""

    def run(self, part: Part) -> tuple[Any, ...]:
        """The sums of a part."""


class RowTask(Protocol):
    """Something to be written of every item."""

    def fill(self, part: Part, out: NDArray[np.float64]) -> None:  # (item, column)
        """Write the rows of a part's items."""


class Sweeps(Protocol):
    """Judgments loaded into an engine, ready to be swept."""

    def votes(self) -> Counts:
        """Counts with vote shares for posteriors: where every model starts."""

    def expect(self, parameters: Parameters) -> Counts:
        """Expected counts under the parameters."""

    def posterior(
        self, parameters: Parameters | None, *, own: bool
    ) -> tuple[NDArray[np.float64], Counts]:  # (item, truth)
        """The posterior of every item under the parameters (None: vote shares), with counts.

        With ``own`` the counts are each judge's, even where judges share one confusion.
        """

    def cells(self) -> NDArray[np.int64]:  # (judge, label)
        """How many judgments there are of each label by each judge."""

    def against(
        self, reference: NDArray[np.int16], kinds: int
    ) -> NDArray[np.int64]:  # (judge, kind, label)
        """How often each judge gave each label to items of each kind.

        ``reference`` (item,) is the kind of each item, -1 for items that are left out.
        """

    def weigh(
        self,
        weight: NDArray[np.int64],  # (judge,)
        plain: NDArray[np.int64],  # (judge,)
        flip: NDArray[np.bool_],  # (judge,)
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Weighted votes: shares (item, truth), items that fell back, (judge, truth, label) counts.

        An item whose judges have no weight falls back to ``plain`` weights; judges whom ``flip``
        marks vote for the other one of two truths. Counts are in shares.
        """

    def ask(self, task: Task) -> tuple[Any, ...]:
        """The sums of a task over all parts."""

    def rows(self, task: RowTask, columns: int) -> NDArray[np.float64]:  # (item, column)
        """What a task writes of every item."""

    def tables(self, parameters: Parameters) -> Tables:
        """The parameters as the whole numbers that tasks read."""

    def counts(self, shares: NDArray[np.int64], classes: NDArray[np.int64]) -> Counts:
        """Shares (judge * label * (truth - 1)) and (topic * (truth - 1)) of a task as counts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tally:
    """What a draw of every item's truth leaves: whole counts under the truths drawn."""

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
