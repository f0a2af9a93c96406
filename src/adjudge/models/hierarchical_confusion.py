"""HierarchicalConfusion: every judge a confusion matrix, under priors learnt from all judges.

    phi_k ~ Dirichlet(1),  kappa_k ~ Pareto(1, 1.5)              for each truth k
    theta_j[k, :] ~ Dirichlet(kappa_k phi_k)
    pi_t ~ Dirichlet(kappa_pi phi_pi), its prior learnt alike    for each topic t
    z_i ~ Categorical(pi_t(i));  y_ij ~ Categorical(theta_j[z_i, :])

The K-class form of B. Carpenter's hierarchical model of relevance coding (see
``hierarchical_relevance``): judges with few judgments borrow from the others, as much as the
others are alike. Truths may be fewer than labels. Beyond the papers.

``method = "variational"`` fits the same model by mean-field variational Bayes with the priors at
their maximum: points instead of draws, for when a second is too long. Each judge's rows and each
topic's prevalence have Dirichlet posteriors; a sweep takes exp(E[log theta]) in place of theta, and
its expected counts give the next posteriors. The priors kappa phi are raised to their maximum by
the fixed point of T. Minka (2000), "Estimating a Dirichlet distribution"; kappa stays at 1 or more,
as its Pareto prior demands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.source import count_of
from adjudge.engines.engine import Parameters
from adjudge.models._notes import describe_empty_classes, describe_unconverged
from adjudge.models._posterior import learnt_prior, sample_model
from adjudge.models.covariates import WithColumns, fit_with_columns
from adjudge.models.expectation import is_settled, prior_counts, shares
from adjudge.models.loop import Loop, State
from adjudge.models.model import Ties, checkpoint_of, conclude, prepare
from adjudge.models.settings import Given, fixed_prevalence

_SMALLEST, _LARGEST = 1e-3, 1e4  # pseudo-counts of a prior stay within
_SETTLED = 1e-4  # change of a log pseudo-count


def _fit_variational(model: Any, given: Given) -> Consensus:
    """Fit the hierarchical model by coordinate ascent until the likelihood settles."""
    judgments = given.judgments
    by_topic = model.by_topic and judgments.topics is not None
    prepared = prepare(*given[:3], by_topic=by_topic, copies=model.weigh_copies)
    fixed = fixed_prevalence(model.prevalence, judgments.scale)
    alpha, votes = prior_counts(judgments.scale, 3.0), prepared.sweeps.votes()
    state: State = {"alpha": alpha, "beta": np.ones(len(alpha))}
    state |= {"classes": votes.classes, "confusion": votes.confusion}

    def step(now: State, _: int) -> tuple[State, float]:
        rows = now["confusion"]
        alpha = np.stack(
            [learn_pseudo_counts(rows[:, k], now["alpha"][k]) for k in range(rows.shape[1])]
        )
        beta = learn_pseudo_counts(now["classes"], now["beta"])
        rates = _expect_logs(now["classes"] + beta, fixed), _expect_logs(rows + alpha)
        counts = prepared.sweeps.expect(Parameters(prevalence=rates[0], confusion=rates[1]))
        after: State = {"alpha": alpha, "beta": beta, "prevalence": rates[0], "rates": rates[1]}
        after |= {"classes": counts.classes, "confusion": counts.confusion}
        return after, counts.log_likelihood

    loop = Loop(
        most=model.iterations,
        progress=given.progress,
        checkpoint=checkpoint_of(prepared, model),
        note="bound {:,.1f}",
    )
    settled = partial(is_settled, tolerance=model.tolerance)
    found, trace, converged = loop.run("variational", state, step, settled)
    alpha, beta = found["alpha"], found["beta"]
    parameters = Parameters(prevalence=found["prevalence"], confusion=found["rates"])
    posterior, last = prepared.sweeps.posterior(parameters, own=True)
    means = Parameters(
        prevalence=shares(last.classes + beta, beta),
        confusion=shares(last.confusion + alpha, alpha),
    )
    if fixed is not None:
        means = replace(means, prevalence=np.tile(fixed, (len(means.prevalence), 1)))
    if converged:
        outcome = f"converged after {count_of(len(trace), 'iteration')}"
    else:
        outcome = describe_unconverged(len(trace))
    return conclude(
        model,
        prepared,
        means,
        posterior=posterior,
        counts=last.confusion,
        trace=trace,
        converged=converged,
        population=alpha / alpha.sum(axis=1, keepdims=True),
        notes=(outcome, *describe_empty_classes(model, prepared.judgments, posterior)),
    )


def learn_pseudo_counts(
    counts: NDArray[np.float64],  # (row, column)
    alpha: NDArray[np.float64],  # (column,)
    steps: int = 5,
) -> NDArray[np.float64]:  # (column,)
    """Fixed-point steps towards the pseudo-counts that make the rows most probable."""
    from scipy.special import digamma

    seen = counts[counts.sum(axis=1) > 1e-9]
    if len(seen) < 2:
        return alpha
    for _ in range(steps):
        kappa = alpha.sum()
        above = (digamma(seen + alpha) - digamma(alpha)).sum(axis=0)
        below = (digamma(seen.sum(axis=1) + kappa) - digamma(kappa)).sum()
        before = alpha
        alpha = np.clip(alpha * above / max(below, 1e-12), _SMALLEST, _LARGEST)
        if alpha.sum() < 1.0:
            alpha = alpha / alpha.sum()
        if np.abs(np.log(alpha / before)).max() < _SETTLED:
            break
    return alpha


def _expect_logs(
    weights: NDArray[np.float64],  # (row, column)
    fixed: NDArray[np.float64] | None = None,  # (column,)
) -> NDArray[np.float64]:
    """exp(E[log rate]) under Dirichlet posteriors; known rates as they are."""
    from scipy.special import digamma

    if fixed is not None:
        return np.tile(fixed, (len(weights), 1))
    return np.asarray(np.exp(digamma(weights) - digamma(weights.sum(axis=-1, keepdims=True))))


_Method = Literal["gibbs", "variational"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalConfusion(WithColumns):
    """A confusion matrix for each judge under learnt priors, by Gibbs sampling or variationally.

    Each topic has its own prevalence where topics are known, unless ``by_topic`` is false.
    ``prevalence`` are known shares of the classes, the same in all topics, by label or in the order
    of the labels. ``item_columns`` and ``judge_columns`` name columns of items and judges, as
    ``covariates`` describes; grades then have to be in order.
    """

    name: ClassVar[str] = "hierarchical-confusion"

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

    def _fit(self, given: Given) -> Consensus:
        if self.has_columns:
            return fit_with_columns(self, given)
        if self.method == "variational":
            return _fit_variational(self, given)
        return sample_model(self, given, learnt_prior(given))
