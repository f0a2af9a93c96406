"""HierarchicalConfusion: every judge a confusion matrix, under priors learnt from all judges.

    phi_k ~ Dirichlet(1),  kappa_k ~ Pareto(1, 1.5)              for each truth k
    theta_j[k, :] ~ Dirichlet(kappa_k phi_k)
    pi_t ~ Dirichlet(kappa_pi phi_pi), its prior learnt alike    for each topic t
    z_i ~ Categorical(pi_t(i));  y_ij ~ Categorical(theta_j[z_i, :])

The K-class form of B. Carpenter's hierarchical model of relevance coding (see
``hierarchical_relevance``): judges with few judgments borrow from the others, as much as the
others are alike. Truths may be fewer than labels. Beyond the papers.

``method = "variational"`` fits the same model by mean-field variational Bayes with the priors at
their maximum: points instead of draws, for when a second is too long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from adjudge.data.consensus import Consensus
from adjudge.data.given import GoldLike, JudgmentsLike, takes_tables
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Engine
from adjudge.errors import BadSetting
from adjudge.models.expectation import prior_counts
from adjudge.models.gibbs import Prior
from adjudge.models.model import Progress, Ties, check_ties
from adjudge.models.posterior import plan_of, sample_model
from adjudge.models.variational import fit_variational

_Method = Literal["gibbs", "variational"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalConfusion:
    """A confusion matrix for each judge under learnt priors, by Gibbs sampling or variationally.

    Each topic has its own prevalence where topics are known, unless ``by_topic`` is false.
    """

    name: ClassVar[str] = "hierarchical-confusion"
    shared: ClassVar[bool] = False

    method: _Method = "gibbs"
    chains: int = 3
    warmup: int = 500
    draws: int = 1000
    thin: int = 1
    by_topic: bool = True
    iterations: int = 200
    tolerance: float = 1e-6
    weigh_copies: bool = True
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)
        plan_of(self)
        if self.method not in ("gibbs", "variational"):
            raise BadSetting("method", self.method, "gibbs or variational")
        if self.iterations < 1:
            raise BadSetting("iterations", self.iterations, "at least 1")

    @takes_tables
    def fit(
        self,
        judgments: JudgmentsLike,
        gold: GoldLike = None,
        *,
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Consensus:
        """The posterior of judgments, with gold where it is known."""
        if self.method == "variational":
            return fit_variational(self, judgments, gold, engine, progress)
        return sample_model(self, judgments, gold, learnt_prior(judgments, gold), engine, progress)


def learnt_prior(judgments: Judgments, gold: Gold | None) -> Prior:
    """A prior to be learnt, started from judges who are right somewhat more often than not.

    Without gold nothing in it tells truths apart, so switched truths may be put back.
    """
    scale = judgments.scale
    return Prior(
        confusion=prior_counts(scale, 3.0),
        prevalence=np.ones(len(scale.truths)),
        learnt=True,
        exchangeable=gold is None or len(gold) == 0,
    )
