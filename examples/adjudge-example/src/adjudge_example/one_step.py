"""OneStep: each judge's confusion matrix, measured against the vote and applied once.

    theta_j[k, l] = (sum_i share_i(k) [y_ij = l] + gamma[k, l]) / its row's sum

The first iteration of Dawid-Skene (1979), doi:10.2307/2346806.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from adjudge.data.consensus import Consensus
from adjudge.models.expectation import maximise, prior_counts
from adjudge.models.model import Ties, conclude, prepare
from adjudge.models.settings import Fitted, Given


@dataclass(frozen=True, slots=True, kw_only=True)
class OneStep(Fitted):
    """A confusion matrix per judge, measured against the vote and applied once."""

    name: ClassVar[str] = "one-step"

    diagonal: float = 3.0
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def _fit(self, given: Given) -> Consensus:
        prepared = prepare(*given[:3], by_topic=self.by_topic)
        gamma = prior_counts(given.judgments.scale, self.diagonal)
        parameters = maximise(prepared.sweeps.votes(), gamma)
        return conclude(self, prepared, parameters)
