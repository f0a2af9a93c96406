"""MajorityVote: each judgment one vote, the label with most votes wins.

    label(item) = argmax_c  sum_j [y_j == c]

The probability of a label is its share of the votes; prevalence and confusion are counts against
those shares. It is the baseline of every paper, and hard to beat where judges are good and alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from adjudge.data.consensus import Consensus
from adjudge.kernels.fixed import WEIGHT
from adjudge.models.expectation import maximise, prior_counts
from adjudge.models.model import Ties, conclude, prepare
from adjudge.models.settings import Fitted, Given


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityVote(Fitted):
    """The commonest label of each item; ties at random under the seed, or to one side."""

    name: ClassVar[str] = "majority-vote"

    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def _fit(self, given: Given) -> Consensus:
        prepared = prepare(*given[:3], by_topic=self.by_topic, copies=self.weigh_copies)
        judgments = given.judgments
        posterior, counts = prepared.sweeps.posterior(None, own=True)
        gamma = prior_counts(judgments.scale, 1.0)
        parameters = maximise(counts, gamma)
        one = np.full(judgments.judge_count, int(WEIGHT), dtype=np.int64)
        return conclude(
            self,
            prepared,
            parameters,
            posterior=posterior,
            counts=counts.confusion,
            votes=(one, one, one < 0),
        )
