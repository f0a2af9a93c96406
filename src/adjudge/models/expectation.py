"""Expectation-maximisation, written once for every model that has free prevalence and confusion.

E: q_i(k) is proportional to pi_k times the product of theta_j[k, y] over the item's judgments.
M: prevalence and confusion are the expected counts, each row divided by its sum; a row without
counts keeps its prior mean. Each sweep does both: it reads an item, forms q, and adds q to the
counts of its judges. The log-likelihood never falls, and the fit stops when it gains too little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.engines.checkpoint import Checkpoint
from adjudge.engines.engine import Counts, Engine, Parameters, Sweeps
from adjudge.errors import BadSetting
from adjudge.kernels.fixed import SMALLEST
from adjudge.models._notes import describe_empty_classes, describe_unconverged
from adjudge.models._prevalence import Shares, fixed_prevalence
from adjudge.models._relabelling import describe_order, order_of, separate
from adjudge.models.model import (
    Progress,
    Step,
    checkpoint_of,
    conclude,
    prepare,
)


class _Free(Protocol):
    """A model that this expectation-maximisation can fit: what it must say of itself."""

    shared: ClassVar[bool]  # one confusion for all judges

    @property
    def iterations(self) -> int:
        """At most this many sweeps."""

    @property
    def tolerance(self) -> float:
        """The relative gain in log-likelihood below which the fit stops."""

    @property
    def diagonal(self) -> float:
        """Pseudo-counts on the diagonal of the confusion that it starts from."""

    @property
    def by_topic(self) -> bool:
        """Whether each topic has its own prevalence."""

    @property
    def weigh_copies(self) -> bool:
        """Whether near copies have one voice between them."""

    @property
    def prevalence(self) -> Shares | None:
        """Known shares of the classes, if any."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Where an expectation-maximisation ended."""

    parameters: Parameters
    trace: tuple[float, ...]  # log-likelihood of the parameters before each update
    converged: bool


def check_limits(iterations: int, tolerance: float, diagonal: float) -> None:
    """Refuse limits that no fit can keep."""
    if iterations < 1:
        raise BadSetting("iterations", iterations, "at least 1")
    if not tolerance >= 0:
        raise BadSetting("tolerance", tolerance, "0 or more")
    if not diagonal > 0:
        raise BadSetting("diagonal", diagonal, "more than 0")


def prior_counts(scale: Scale, diagonal: float) -> NDArray[np.float64]:  # (truth, label)
    """Pseudo-counts: ``diagonal`` where a label stands for the truth, 1 elsewhere."""
    stands = np.array(scale.truth_of)
    right = np.arange(len(scale.truths))[:, None] == stands[None, :]
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


def _expectation_maximisation(
    sweeps: Sweeps,
    gamma: NDArray[np.float64],  # (truth, label)
    *,
    iterations: int,
    tolerance: float,
    smoothing: Smoothing | None = None,
    fixed: NDArray[np.float64] | None = None,  # (truth,) known prevalence
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
) -> _Fitted:
    """Sweep until the objective gains less than ``tolerance``, relative, or to the limit.

    It starts from vote shares, with gamma as pseudo-counts of the first confusion; or where a
    checkpoint says that it stood.
    """
    kept = None if checkpoint is None else checkpoint.load("em")
    trace: list[float] = []
    if kept is not None:
        arrays, _ = kept
        parameters = Parameters(prevalence=arrays["prevalence"], confusion=arrays["confusion"])
        trace = arrays["trace"].tolist()
    else:
        start = Smoothing(gamma, np.zeros(len(gamma))) if smoothing is None else smoothing
        parameters = maximise(sweeps.votes(), gamma, start, fixed)
    for done in range(len(trace) + 1, iterations + 1):
        counts = sweeps.expect(parameters)
        value = counts.log_likelihood
        if smoothing is not None:
            value += smoothing.log_prior(parameters)
        trace.append(value)
        if progress is not None:
            progress(Step("fitting", done, iterations, f"log-likelihood {trace[-1]:,.1f}"))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tolerance * abs(trace[-1]):
            return _Fitted(parameters, tuple(trace), converged=True)
        parameters = maximise(counts, gamma, smoothing, fixed)
        if checkpoint is not None and checkpoint.due(done):
            rates = {"prevalence": parameters.prevalence, "confusion": parameters.confusion}
            checkpoint.save("em", {**rates, "trace": np.array(trace)})
    return _Fitted(parameters, tuple(trace), converged=False)


def _outcome(
    fitted: _Fitted, iterations: int, tolerance: float, objective: str = "log-likelihood"
) -> str:
    """A sentence on how a fit ended."""
    if fitted.converged:
        return (
            f"converged after {len(fitted.trace)} iterations "
            f"({objective} {fitted.trace[-1]:,.1f}, relative gain below {tolerance:g})"
        )
    return describe_unconverged(iterations)


def fit_points(
    model: _Free,
    judgments: Judgments,
    gold: Gold | None,
    engine: Engine | None,
    progress: Progress | None,
    smoothing: Smoothing | None = None,
) -> Consensus:
    """Fit points: free prevalence and confusion, or smoothed, shared by all judges or not."""
    prepared = prepare(
        judgments,
        gold,
        engine,
        by_topic=model.by_topic,
        shared=model.shared,
        copies=model.weigh_copies,
    )
    gamma = prior_counts(judgments.scale, model.diagonal)
    fixed = fixed_prevalence(model.prevalence, judgments.scale)
    if smoothing is not None:
        gamma = smoothing.confusion
    fitted = _expectation_maximisation(
        prepared.sweeps,
        gamma,
        iterations=model.iterations,
        tolerance=model.tolerance,
        smoothing=smoothing,
        fixed=fixed,
        progress=progress,
        checkpoint=checkpoint_of(prepared, model),
    )
    posterior, last = prepared.sweeps.posterior(fitted.parameters, own=True)
    parameters, counts, order = fitted.parameters, last.confusion, None
    believed = smoothing.prevalence if fixed is None and smoothing is not None else fixed
    alike = believed is None or not np.ptp(believed)  # else the prior tells truths apart, as gold
    if prepared.known is None and alike:
        parts = separate(
            prepared.judgments,
            by_topic=model.by_topic and not model.shared,
            topics=len(parameters.prevalence),
        )
        order = order_of(counts, judgments.scale, parts)
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
        trace=fitted.trace,
        converged=fitted.converged,
        population=shares(counts.sum(axis=0) + gamma, gamma),
        notes=(
            _outcome(
                fitted,
                model.iterations,
                model.tolerance,
                "log-likelihood" if smoothing is None else "log-posterior",
            ),
            *describe_order(order, judgments.scale),
            *describe_empty_classes(model, prepared.judgments, posterior),
        ),
    )
