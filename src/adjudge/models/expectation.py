"""Expectation-maximisation, written once for every model that has free prevalence and confusion.

E: q_i(k) is proportional to pi_k times the product of theta_j[k, y] over the item's judgments.
M: prevalence and confusion are the expected counts, each row divided by its sum; a row without
counts keeps its prior mean. Each sweep does both: it reads an item, forms q, and adds q to the
counts of its judges. The log-likelihood never falls, and the fit stops when it gains too little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.names import look_up
from adjudge.data.scale import Scale
from adjudge.engines.engine import Counts, Parameters
from adjudge.errors import BadSetting
from adjudge.kernels.fixed import SMALLEST
from adjudge.models._notes import describe_empty_classes, describe_unconverged
from adjudge.models._relabelling import describe_order, order_of, separate
from adjudge.models.loop import Loop, State
from adjudge.models.model import Prepared, checkpoint_of, conclude, prepare
from adjudge.models.settings import Given, fixed_prevalence


def is_settled(trace: Sequence[float], tolerance: float) -> bool:
    """Whether the objective no longer changes by more than ``tolerance``, relative to itself."""
    return len(trace) > 1 and abs(trace[-1] - trace[-2]) <= tolerance * abs(trace[-1])


def prior_counts(scale: Scale, diagonal: float) -> NDArray[np.float64]:  # (truth, label)
    """Pseudo-counts: ``diagonal`` where a label means the truth, 1 elsewhere."""
    truth_of = np.array(scale.truth_of)
    right = np.arange(len(scale.truths))[:, None] == truth_of[None, :]
    return np.where(right, diagonal, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Smoothing:
    """Pseudo-counts added to the counts of every M step, and their part of the objective.

    Rates are then the most probable under Dirichlet priors of one pseudo-count more, and what never
    falls is the log-likelihood plus the sum of each pseudo-count times the log of its rate.
    """

    confusion: NDArray[np.float64]  # (truth, label)
    prevalence: NDArray[np.float64]  # (truth,)

    def log_prior(self, parameters: Parameters) -> float:
        """The prior's part of the objective, up to a constant; exact whatever the order."""
        terms = self.confusion * np.log(np.maximum(parameters.confusion, SMALLEST))
        more = self.prevalence * np.log(np.maximum(parameters.prevalence, SMALLEST))
        return math.fsum(terms.reshape(-1)) + math.fsum(more.reshape(-1))


def maximise(
    counts: Counts,
    gamma: NDArray[np.float64],  # (truth, label)
    smoothing: Smoothing | None = None,
    fixed: NDArray[np.float64] | None = None,  # (truth,) known prevalence
) -> Parameters:
    """Prevalence and confusion from counts, smoothed or free; a row without counts is gamma's."""
    classes, confusion = counts.classes, counts.confusion
    if smoothing is not None:
        classes, confusion = classes + smoothing.prevalence, confusion + smoothing.confusion
    if fixed is not None:
        classes = np.tile(fixed, (len(classes), 1))
    return Parameters(
        prevalence=shares(classes, np.full(classes.shape[1], 1.0)),
        confusion=shares(confusion, gamma / gamma.sum(axis=1, keepdims=True)),
    )


def shares(counts: NDArray[np.float64], empty: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts divided by their sum along the last axis; ``empty`` (normalised) where it is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    rest = empty / empty.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.where(total > 0, total, 1.0), rest))


def _counts_of(state: State) -> Counts:
    return Counts(classes=state["classes"], confusion=state["confusion"], log_likelihood=0.0)


def _continue_counts(
    start: Consensus, prepared: Prepared, votes: NDArray[np.float64]
) -> NDArray[np.float64]:  # (judge, truth, label), or one for all
    """The counts of an earlier fit, for its judges; of votes for others."""
    scale = prepared.judgments.scale
    if start.scale != scale:
        raise BadSetting("start", f"a fit on {start.scale}", f"a fit on the scale {scale}")
    if len(votes) == 1 != prepared.judgments.judge_count:
        return np.asarray(start.counts.sum(axis=0, keepdims=True))
    code = look_up(prepared.judgments.judges, start.judgments.judges)
    counts = np.array(votes, dtype=np.float64)
    counts[code >= 0] = start.counts[code[code >= 0]]
    return counts


def fit_points(model: Any, given: Given, smoothing: Smoothing | None = None) -> Consensus:
    """Fit points: free prevalence and confusion, or smoothed, shared by all judges or not.

    Sweep until the objective gains less than ``tolerance``, relative, or to the limit. The start is
    vote shares, with gamma as pseudo-counts of the first confusion.
    """
    scale = given.judgments.scale
    prepared = prepare(
        *given[:3], by_topic=model.by_topic, shared=model.shared, copies=model.weigh_copies
    )
    gamma = prior_counts(scale, model.diagonal) if smoothing is None else smoothing.confusion
    fixed = fixed_prevalence(model.prevalence, scale)
    start = Smoothing(gamma, np.zeros(len(gamma))) if smoothing is None else smoothing
    sweeps = prepared.sweeps

    def step(now: State, done: int) -> tuple[State, float]:
        parameters = maximise(_counts_of(now), gamma, smoothing if done else start, fixed)
        counts = sweeps.expect(parameters)
        after = {"prevalence": parameters.prevalence, "rates": parameters.confusion}
        more = 0.0 if smoothing is None else smoothing.log_prior(parameters)
        after |= {"classes": counts.classes, "confusion": counts.confusion}
        return after, counts.log_likelihood + more

    def settled(trace: Sequence[float]) -> bool:  # it never falls, but for rounding
        return len(trace) > 1 and trace[-1] - trace[-2] <= model.tolerance * abs(trace[-1])

    loop = Loop(
        most=model.iterations,
        progress=given.progress,
        checkpoint=checkpoint_of(prepared, model),
        note="log-likelihood {:,.1f}",
    )
    votes = sweeps.votes()
    begin = {"classes": votes.classes, "confusion": votes.confusion}
    if given.start is not None:
        begin["confusion"] = _continue_counts(given.start, prepared, votes.confusion)
    found, trace, converged = loop.run("em", begin, step, settled)
    parameters = Parameters(prevalence=found["prevalence"], confusion=found["rates"])
    outcome = describe_unconverged(model.iterations)
    if converged:
        objective = "log-likelihood" if smoothing is None else "log-posterior"
        outcome = (
            f"converged after {len(trace)} iterations "
            f"({objective} {trace[-1]:,.1f}, relative gain below {model.tolerance:g})"
        )
    else:
        parameters = maximise(_counts_of(found), gamma, smoothing, fixed)
    posterior, last = sweeps.posterior(parameters, own=True)
    counts, order = last.confusion, None
    believed = smoothing.prevalence if fixed is None and smoothing is not None else fixed
    alike = believed is None or not np.ptp(believed)  # else the prior distinguishes truths, as gold
    if prepared.known is None and alike:
        parts = separate(
            prepared.judgments,
            by_topic=model.by_topic and not model.shared,
            topics=len(parameters.prevalence),
        )
        order = order_of(counts, scale, parts)
    if order is not None:
        parameters = Parameters(
            prevalence=order.topics(parameters.prevalence),
            confusion=order.judges(parameters.confusion),
        )
        posterior, counts = order.items(posterior), order.judges(counts)
    return conclude(
        model,
        prepared,
        parameters,
        posterior=posterior,
        counts=counts,
        trace=trace,
        converged=converged,
        population=shares(counts.sum(axis=0) + gamma, gamma),
        notes=(
            outcome,
            *describe_order(order, scale),
            *describe_empty_classes(model, prepared.judgments, posterior),
        ),
    )
