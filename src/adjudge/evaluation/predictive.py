"""Posterior predictive checks: would the fitted model have given judgments like these.

Judgments are replicated from draws of the posterior and compared with the real ones in how often
judges agree, how often each label is given, and how often all judges of an item agree.
Models of this family are known to fail when items differ in difficulty: real judges then agree
too much on easy items and too little on hard ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.errors import BadData
from adjudge.kernels.confusion import log_units
from adjudge.kernels.gibbs import key_of
from adjudge.kernels.truths import replicate

_EXTREME = 0.01  # a p-value nearer to 0 or 1 than this is worth a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One quantity of the real judgments among those of the replicated ones.

    ``p`` is the share of replicates at or above the real value: near 0 or 1, the model misses it.
    """

    name: str
    observed: float
    expected: float
    low: float
    high: float
    p: float

    @property
    def fails(self) -> bool:
        """Whether the real value lies where hardly any replicate does."""
        return min(self.p, 1.0 - self.p) < _EXTREME

    def __str__(self) -> str:
        return (
            f"{self.name} is {self.observed:.3f}, the model expects {self.low:.3f} to "
            f"{self.high:.3f} (p = {self.p:.3f})"
        )


def predictive_checks(
    consensus: Consensus, *, replicates: int = 200, seed: int = 0
) -> tuple[Check, ...]:
    """Checks of a sampled consensus; each replicate takes another draw of the posterior."""
    draws = consensus.draws
    if draws is None:
        raise BadData(
            f"{consensus.model} has no draws to replicate judgments from", expected="draws"
        )
    confusion = draws.confusion.reshape(-1, *draws.confusion.shape[2:])
    prevalence = draws.prevalence.reshape(-1, *draws.prevalence.shape[2:])
    chosen = np.linspace(0, len(confusion) - 1, min(replicates, len(confusion))).astype(np.int64)
    rows = np.array(
        [
            _quantities(consensus, confusion[draw], prevalence[draw], seed, number)
            for number, draw in enumerate(chosen)
        ]
    )
    real = _quantities(consensus, confusion[0], prevalence[0], seed, None)
    labels = [f"share of label {name}" for name in consensus.scale.labels]
    names = ["agreement of pairs", "share of unanimous items", *labels]
    return tuple(
        Check(
            name=name,
            observed=float(real[at]),
            expected=float(rows[:, at].mean()),
            low=float(np.quantile(rows[:, at], 0.05)),
            high=float(np.quantile(rows[:, at], 0.95)),
            p=float((rows[:, at] >= real[at]).mean()),
        )
        for at, name in enumerate(names)
        if np.isfinite(real[at])
    )


def _quantities(
    consensus: Consensus,
    confusion: NDArray[np.float32],  # (judge, truth, label)
    prevalence: NDArray[np.float32],  # (topic, truth)
    seed: int,
    number: int | None,
) -> NDArray[np.float64]:
    """Agreement, unanimity and label shares, of one replicate or, without number, of the data."""
    judgments = consensus.judgments
    votes = np.zeros(len(consensus.scale.labels), dtype=np.int64)
    summary = np.zeros(4)
    theta = confusion.astype(np.float64)
    logs, base = log_units(theta), log_units(prevalence.astype(np.float64))
    none = np.full(1, -1, dtype=np.int16)
    known, known_step = (none, 0) if consensus.known is None else (consensus.known, 1)
    topic, topic_step = np.zeros(1, dtype=np.int32), 0
    if len(prevalence) > 1 and judgments.topic is not None:
        topic, topic_step = judgments.topic, 1
    replicate(
        judgments.offsets,
        judgments.judge,
        judgments.label,
        topic,
        topic_step,
        known,
        known_step,
        (base[:, 1:] - base[:, :1]).reshape(-1),
        np.ascontiguousarray((logs[:, 1:] - logs[:, :1]).transpose(0, 2, 1)).reshape(-1),
        theta,
        np.uint64(key_of(seed, 0, number or 0)),
        number is not None,
        votes,
        summary,
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [summary[1] / summary[0], summary[3] / summary[2], *(votes / votes.sum())]
    return np.array(parts)
