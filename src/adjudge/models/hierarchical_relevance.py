"""HierarchicalRelevance: binary relevance, judges with sensitivity and specificity, topics.

    phi_pi, phi_0, phi_1 ~ Beta(1, 1);  kappa_pi, kappa_0, kappa_1 ~ Pareto(1, 1.5)
    pi_t     ~ Beta(kappa_pi phi_pi, kappa_pi (1 - phi_pi))       prevalence of topic t
    theta0_j ~ Beta(kappa_0 phi_0, kappa_0 (1 - phi_0))           specificity of judge j
    theta1_j ~ Beta(kappa_1 phi_1, kappa_1 (1 - phi_1))           sensitivity of judge j
    z_i ~ Bernoulli(pi_t(i));  y ~ Bernoulli(z theta1_j + (1 - z)(1 - theta0_j))

B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding", TREC. His run
had 3 chains of 2,000 sweeps in JAGS, the first 1,000 dropped. Departures: phi and kappa are drawn
with the rates integrated out, and an item's relevance averages its posteriors, not its draws.

With columns of items and judges it is fitted as ``covariates`` describes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.errors import BadData
from adjudge.models._posterior import learnt_prior, sample_model
from adjudge.models.covariates import WithColumns, fit_with_columns
from adjudge.models.model import Ties
from adjudge.models.settings import Given


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalRelevance(WithColumns):
    """Sensitivity and specificity for each judge under learnt priors, by Gibbs sampling.

    The labels must be two; truth is the second. Topics have a prevalence each where they are known.

    ``item_columns`` and ``judge_columns`` name columns of items and judges: a logistic prior
    on an item's relevance and on a judge's rates, fitted by variational EM and not sampled.
    ``prevalence`` are known shares of the two labels, the same in all topics.
    """

    name: ClassVar[str] = "hierarchical-relevance"

    chains: int = 3
    warmup: int = 1000
    draws: int = 1000
    thin: int = 1
    by_topic: bool = True
    weigh_copies: bool = True
    ties: Ties = "random"
    seed: int = 0

    def _fit(self, given: Given) -> Consensus:
        scale = given.judgments.scale
        if len(scale.labels) != 2 or len(scale.truths) != 2:
            raise BadData(
                f"{self.name} takes two labels, and these are {len(scale.labels)}: {scale}; "
                "collapse them (--binary), or take hierarchical-confusion, its form for any number",
                value=scale.labels,
                expected="two labels",
            )
        if self.has_columns:
            return fit_with_columns(self, given)
        consensus = sample_model(self, given, learnt_prior(given))
        return replace(consensus, draws=consensus.draws and _as_published(consensus.draws))


def _as_published(draws: Draws) -> Draws:
    """The draws with hyper-parameters named as in the paper."""
    hyper = draws.hyper
    named = {
        "phi_0": hyper["phi"][:, :, 0, 0],
        "phi_1": hyper["phi"][:, :, 1, 1],
        "kappa_0": hyper["kappa"][:, :, 0],
        "kappa_1": hyper["kappa"][:, :, 1],
    }
    if "phi_prevalence" in hyper:  # not where the prevalence is known
        named["phi_pi"] = hyper["phi_prevalence"][:, :, 1]
        named["kappa_pi"] = hyper["kappa_prevalence"]
    order = ("phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1")
    return replace(draws, hyper={name: named[name] for name in order if name in named})
