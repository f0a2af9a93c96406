"""OneStep: each judge's confusion matrix as the vote has it, applied once.

    theta_j[k, l] = (sum_i share_i(k) [y_ij = l] + gamma[k, l]) / its row's sum

The first iteration of Dawid-Skene (1979), doi:10.2307/2346806, and no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import GoldLike, JudgmentsLike, takes_tables
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models.expectation import maximise, prior_counts
from adjudge.models.model import Progress, Ties, check_ties, conclude, prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class OneStep:
    """A confusion matrix for each judge, measured against the vote and applied once."""

    name: ClassVar[str] = "one-step"

    diagonal: float = 3.0
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)
        if not self.diagonal > 0:
            raise BadSetting("diagonal", self.diagonal, "more than 0")

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,  # noqa: ARG002 - one pass needs none
    ) -> Consensus:
        """The consensus of judgments, with gold where it is known."""
        prepared = prepare(judgments, gold, engine, by_topic=self.by_topic)
        gamma = prior_counts(judgments.scale, self.diagonal)
        parameters = maximise(prepared.sweeps.votes(), gamma)
        return conclude(self, prepared, parameters)
