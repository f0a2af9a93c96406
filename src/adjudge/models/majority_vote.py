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
from adjudge.data.judgments import GoldLike, JudgmentsLike, takes_tables
from adjudge.engines.engine import Engine
from adjudge.kernels.fixed import WEIGHT
from adjudge.models.expectation import maximise, prior_counts
from adjudge.models.model import Progress, Ties, check_ties, conclude, prepare


@dataclass(frozen=True, slots=True, kw_only=True)
class MajorityVote:
    """The commonest label of each item; ties at random under the seed, or to one side."""

    name: ClassVar[str] = "majority-vote"
    shared: ClassVar[bool] = False

    weigh_copies: bool = True
    by_topic: bool = False
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,  # noqa: ARG002 - one pass needs none
    ) -> Consensus:
        """The vote of each item; gold, where it is known, overrules the vote."""
        prepared = prepare(
            judgments, gold, engine, by_topic=self.by_topic, copies=self.weigh_copies
        )
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
