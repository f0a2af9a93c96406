"""Expectation-maximisation, written once for every model that has free prevalence and confusion.

E: q_i(k) is proportional to pi_k times the product of theta_j[k, y] over the item's judgments.
M: prevalence and confusion are the expected counts, each row divided by its sum; a row without
counts keeps its prior mean. Each sweep does both: it reads an item, forms q, and adds q to the
counts of its judges. The log-likelihood never falls, and the fit stops when it gains too little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.engines.engine import Counts, Engine, Parameters, Sweeps
from adjudge.errors import BadSetting
from adjudge.models.model import Progress, Step, conclude, prepare


class Free(Protocol):
    """A model that this expectation-maximisation can fit: what it must say of itself."""

    shared: ClassVar[bool]  # one confusion for all judges

    @property
    def iterations(self) -> int:
        """At most this many sweeps."""
        ...

    @property
    def tolerance(self) -> float:
        """The relative gain in log-likelihood below which the fit stops."""
        ...

    @property
    def diagonal(self) -> float:
        """Pseudo-counts on the diagonal of the confusion that it starts from."""
        ...

    @property
    def by_topic(self) -> bool:
        """Whether each topic has its own prevalence."""
        ...


@dataclass(frozen=True, slots=True)
class Fitted:
    """Where an expectation-maximisation ended."""

    parameters: Parameters
    trace: tuple[float, ...]  # log-likelihood of the parameters before each update
    converged: bool


def check_limits(iterations: int, tolerance: float, diagonal: float) -> None:
    """Complain of limits that no fit can keep."""
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


def maximise(counts: Counts, gamma: NDArray[np.float64], smooth: bool) -> Parameters:
    """Prevalence and confusion from counts; with ``smooth``, pseudo-counts gamma are added."""
    confusion = counts.confusion + gamma if smooth else counts.confusion
    prior = gamma / gamma.sum(axis=1, keepdims=True)
    return Parameters(
        prevalence=shares(counts.classes, np.full(counts.classes.shape[1], 1.0)),
        confusion=shares(confusion, prior),
    )


def shares(counts: NDArray[np.float64], empty: NDArray[np.float64]) -> NDArray[np.float64]:
    """Counts divided by their sum along the last axis; ``empty`` (normalised) where it is 0."""
    total = counts.sum(axis=-1, keepdims=True)
    rest = empty / empty.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts / np.where(total > 0, total, 1.0), rest))


def expectation_maximisation(
    sweeps: Sweeps,
    gamma: NDArray[np.float64],  # (truth, label)
    *,
    iterations: int,
    tolerance: float,
    progress: Progress | None = None,
) -> Fitted:
    """Sweep until the log-likelihood gains less than ``tolerance``, relative, or the limit."""
    parameters = maximise(sweeps.votes(), gamma, smooth=True)
    trace: list[float] = []
    for done in range(1, iterations + 1):
        counts = sweeps.expect(parameters)
        trace.append(counts.log_likelihood)
        if progress is not None:
            progress(Step("fitting", done, iterations, f"log-likelihood {trace[-1]:,.1f}"))
        if len(trace) > 1 and trace[-1] - trace[-2] <= tolerance * abs(trace[-1]):
            return Fitted(parameters, tuple(trace), converged=True)
        parameters = maximise(counts, gamma, smooth=False)
    return Fitted(parameters, tuple(trace), converged=False)


def outcome(fitted: Fitted, iterations: int, tolerance: float) -> str:
    """A sentence on how a fit ended."""
    if fitted.converged:
        return (
            f"converged after {len(fitted.trace)} iterations "
            f"(log-likelihood {fitted.trace[-1]:,.1f}, relative gain below {tolerance:g})"
        )
    return f"stopped at the limit of {iterations} iterations, not converged"


def fit_free(
    model: Free,
    judgments: Judgments,
    gold: Gold | None,
    engine: Engine | None,
    progress: Progress | None,
) -> Consensus:
    """Fit a model whose prevalence and confusion are free, shared by all judges or not."""
    prepared = prepare(judgments, gold, engine, by_topic=model.by_topic, shared=model.shared)
    gamma = prior_counts(judgments.scale, model.diagonal)
    fitted = expectation_maximisation(
        prepared.sweeps,
        gamma,
        iterations=model.iterations,
        tolerance=model.tolerance,
        progress=progress,
    )
    posterior, last = prepared.sweeps.posterior(fitted.parameters, own=True)
    return conclude(
        model,
        prepared,
        fitted.parameters,
        posterior=posterior,
        counts=last.confusion,
        trace=fitted.trace,
        converged=fitted.converged,
        population=shares(last.confusion.sum(axis=0) + gamma, gamma),
        notes=(outcome(fitted, model.iterations, model.tolerance),),
    )
