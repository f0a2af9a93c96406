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
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.source import count_of
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Counts, Engine, Parameters
from adjudge.errors import BadSetting
from adjudge.models._notes import describe_empty_classes, describe_unconverged
from adjudge.models._posterior import learnt_prior, plan_of, sample_model
from adjudge.models._prevalence import Shares, check_prevalence, fixed_prevalence
from adjudge.models.expectation import prior_counts, shares
from adjudge.models.model import (
    Prepared,
    Progress,
    Step,
    Ties,
    check_ties,
    checkpoint_of,
    conclude,
    prepare,
)

_SMALLEST, _LARGEST = 1e-3, 1e4  # pseudo-counts of a prior stay within


def _fit_variational(
    model: Any,
    judgments: Judgments,
    gold: Gold | None,
    engine: Engine | None,
    progress: Progress | None,
) -> Consensus:
    """Fit the hierarchical model by coordinate ascent until the likelihood settles."""
    by_topic = model.by_topic and judgments.topics is not None
    prepared = prepare(judgments, gold, engine, by_topic=by_topic, copies=model.weigh_copies)
    truths = len(judgments.scale.truths)
    checkpoint = checkpoint_of(prepared, model)
    fixed = fixed_prevalence(model.prevalence, judgments.scale)
    alpha, beta, counts, trace = _begun(prepared, checkpoint)
    parameters = _expected_logs(counts, alpha, beta, fixed)
    converged = False
    for done in range(len(trace) + 1, model.iterations + 1):
        alpha = np.stack([_learn(counts.confusion[:, k], alpha[k]) for k in range(truths)])
        beta = _learn(counts.classes, beta)
        parameters = _expected_logs(counts, alpha, beta, fixed)
        counts = prepared.sweeps.expect(parameters)
        trace.append(counts.log_likelihood)
        if progress is not None:
            progress(Step("fitting", done, model.iterations, f"bound {trace[-1]:,.1f}"))
        if done > 1 and abs(trace[-1] - trace[-2]) <= model.tolerance * abs(trace[-1]):
            converged = True
            break
        if checkpoint is not None and checkpoint.due(done) and done < model.iterations:
            state = {"alpha": alpha, "beta": beta, "trace": np.array(trace)}
            state |= {"classes": counts.classes, "confusion": counts.confusion}
            checkpoint.save("variational", state)
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
        trace=tuple(trace),
        converged=converged,
        population=alpha / alpha.sum(axis=1, keepdims=True),
        notes=(outcome, *describe_empty_classes(model, prepared.judgments, posterior)),
    )


def _begun(
    prepared: Prepared, checkpoint: Checkpoint | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], Counts, list[float]]:
    """Priors, counts and trace to start from: those of votes, or of the checkpoint."""
    kept = None if checkpoint is None else checkpoint.load("variational")
    if kept is None:
        alpha = prior_counts(prepared.judgments.scale, 3.0)
        return alpha, np.ones(len(alpha)), prepared.sweeps.votes(), []
    arrays, _ = kept
    trace: list[float] = arrays["trace"].tolist()
    counts = Counts(
        classes=arrays["classes"], confusion=arrays["confusion"], log_likelihood=trace[-1]
    )
    return arrays["alpha"], arrays["beta"], counts, trace


def _learn(
    counts: NDArray[np.float64],  # (row, column)
    alpha: NDArray[np.float64],  # (column,)
    steps: int = 5,
) -> NDArray[np.float64]:  # (column,)
    """A few fixed-point steps towards the pseudo-counts that make the rows most probable."""
    from scipy.special import digamma

    seen = counts[counts.sum(axis=1) > 1e-9]
    if len(seen) < 2:
        return alpha
    for _ in range(steps):
        kappa = alpha.sum()
        above = (digamma(seen + alpha) - digamma(alpha)).sum(axis=0)
        below = (digamma(seen.sum(axis=1) + kappa) - digamma(kappa)).sum()
        alpha = np.clip(alpha * above / max(below, 1e-12), _SMALLEST, _LARGEST)
        if alpha.sum() < 1.0:
            alpha = alpha / alpha.sum()
    return alpha


def _expected_logs(
    counts: Counts,
    alpha: NDArray[np.float64],  # (truth, label)
    beta: NDArray[np.float64],  # (truth,)
    fixed: NDArray[np.float64] | None,  # (truth,) known prevalence
) -> Parameters:
    """exp(E[log rate]) under the Dirichlet posteriors that counts and priors give."""
    from scipy.special import digamma

    def geometric(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        whole = weights.sum(axis=-1, keepdims=True)
        return np.asarray(np.exp(digamma(weights) - digamma(whole)))

    prevalence = geometric(counts.classes + beta)
    if fixed is not None:
        prevalence = np.tile(fixed, (len(prevalence), 1))
    return Parameters(prevalence=prevalence, confusion=geometric(counts.confusion + alpha))


_Method = Literal["gibbs", "variational"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalConfusion:
    """A confusion matrix for each judge under learnt priors, by Gibbs sampling or variationally.

    Each topic has its own prevalence where topics are known, unless ``by_topic`` is false.
    ``prevalence`` are known shares of the classes, the same in all topics, by label or in the order
    of the labels.
    """

    name: ClassVar[str] = "hierarchical-confusion"
    shared: ClassVar[bool] = False

    method: _Method = "gibbs"
    chains: int = 3
    warmup: int = 500
    draws: int = 1000
    thin: int = 1
    by_topic: bool = True
    prevalence: Shares | None = None
    iterations: int = 200
    tolerance: float = 1e-6
    weigh_copies: bool = True
    ties: Ties = "random"
    seed: int = 0

    def __post_init__(self) -> None:
        check_ties(self.ties)
        plan_of(self)
        check_prevalence(self.prevalence)
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
            return _fit_variational(self, judgments, gold, engine, progress)
        return sample_model(self, judgments, gold, learnt_prior(judgments, gold), engine, progress)
