"""Variational Bayes for HierarchicalConfusion: the fast mode.

Each judge's rows and each topic's prevalence have Dirichlet posteriors; a sweep takes
exp(E[log theta]) in place of theta, and its expected counts give the next posteriors. The priors
kappa phi are raised to their maximum by Minka's fixed point for the Dirichlet-multinomial (T. Minka
2000, "Estimating a Dirichlet distribution"), kappa kept at 1 or more as its Pareto prior demands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Counts, Engine, Parameters
from adjudge.models.expectation import prior_counts, shares
from adjudge.models.model import Prepared, Progress, Step, checkpoint_of, conclude, prepare

_SMALLEST, _LARGEST = 1e-3, 1e4  # pseudo-counts of a prior stay within


def fit_variational(
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
    alpha, beta, counts, trace = _begun(prepared, checkpoint)
    parameters = _expected_logs(counts, alpha, beta)
    converged = False
    for done in range(len(trace) + 1, model.iterations + 1):
        alpha = np.stack([_learn(counts.confusion[:, k], alpha[k]) for k in range(truths)])
        beta = _learn(counts.classes, beta)
        parameters = _expected_logs(counts, alpha, beta)
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
    story = "converged after" if converged else "stopped, not converged, after"
    return conclude(
        model,
        prepared,
        means,
        posterior=posterior,
        counts=last.confusion,
        trace=tuple(trace),
        converged=converged,
        population=alpha / alpha.sum(axis=1, keepdims=True),
        notes=(f"variational, {story} {len(trace)} sweeps",),
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
    counts: Counts, alpha: NDArray[np.float64], beta: NDArray[np.float64]
) -> Parameters:
    """exp(E[log rate]) under the Dirichlet posteriors that counts and priors give."""

    def geometric(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        whole = weights.sum(axis=-1, keepdims=True)
        return np.asarray(np.exp(digamma(weights) - digamma(whole)))

    return Parameters(
        prevalence=geometric(counts.classes + beta), confusion=geometric(counts.confusion + alpha)
    )
