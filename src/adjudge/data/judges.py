"""How good a judge is: information per judgment, and shares with intervals that hold.

Labels alone do not show how often judges err: where judges err together, a model takes the errors
for the truth. On real data with gold, the logit of a judge's accuracy is off by a standard
deviation of about .6, of which .38 is common to all judges of a data set. So a share with no gold
behind it has that uncertainty on top of its sampling error, and gold on a judge's items reduces it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.9  # of every interval in the table
OPTIMISM = 0.41  # logit by which models that take their classes for labels overrate judges
_NORMAL = 1.645  # standard errors at that level
_COMMON, _OWN = 0.38, 0.46  # standard deviations: common to all judges, and of each
_ALONE = 1.0  # the same of a judge whose judgments nothing can be compared with
_STEPS = 12  # of Newton's method

_Floats = NDArray[np.float64]


def information(
    counts: _Floats,  # (judge, truth, label)
    prevalence: _Floats,  # (truth,)
) -> _Floats:  # (judge,)
    """Mutual information between the true label and a judge's label, in bits per judgment.

    A judge whose rows are all alike has 0 bits. Each row is first drawn towards the judge's own
    marginal by one pseudo-judgment, or a judge of three judgments would look certain.
    """
    total = counts.sum(axis=(1, 2), keepdims=True)
    labels = counts.shape[2]
    marginal = (counts.sum(axis=1, keepdims=True) + 1.0 / labels) / (total + 1.0)
    rows = counts.sum(axis=2, keepdims=True)
    theta = (counts + marginal) / (rows + 1.0)
    mixed = np.einsum("k,jkl->jl", prevalence, theta)[:, None, :]
    return np.asarray(
        np.maximum(np.einsum("k,jkl->j", prevalence, theta * np.log2(theta / mixed)), 0.0)
    )


def logit(share: _Floats) -> _Floats:
    """The logit of shares, kept away from 0 and 1."""
    kept = np.clip(share, 0.02, 0.98)
    return np.asarray(np.log(kept / (1.0 - kept)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """How often each judge was right, as a model has it and on gold."""

    hits: _Floats  # (judge,) on items without gold, in expectation
    total: _Floats  # (judge,) judgments of such items
    compared: _Floats  # (judge,) the share of them on items that others judged too
    gold_hits: _Floats  # (judge,)
    gold_total: _Floats  # (judge,)

    @property
    def known(self) -> NDArray[np.bool_]:  # (judge,)
        """For whom there is anything to go by."""
        return (self.total * self.compared > 1e-9) | (self.gold_total > 0)


def estimate_shares(evidence: Evidence, level: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Estimate how often each judge is right: the most probable share, and its 90% interval.

    ``level`` (judge,) is added to the logit of the model's shares. The true logit of a judge is
    that, plus an error common to all judges, plus one of their own. Newton's method finds the most
    probable values of all of these given gold; intervals are from the curvature there.
    """
    share = evidence.hits / np.maximum(evidence.total, 1e-9)
    compared = evidence.total * evidence.compared
    prior = logit(share) + level
    p = _expit(prior)
    own = _OWN**2 + 1.0 / np.maximum(compared * p * (1.0 - p), 1e-9)
    alone = compared <= 1e-9
    if alone.any():  # without evidence, like the others
        prior[alone] = fsum(prior[~alone]) / (~alone).sum() if not alone.all() else 0.0
        own[alone] = _OWN**2 + _ALONE**2
    z, common = prior.copy(), 0.0
    for _ in range(_STEPS):
        p = _expit(z)
        gold = evidence.gold_total * p * (1.0 - p)
        curvature = gold + 1.0 / own
        apart = (z - prior - common) / own
        gradient = evidence.gold_hits - evidence.gold_total * p - apart
        precision = 1.0 / _COMMON**2 + fsum(gold / own / curvature)
        pull = fsum(apart + gradient / own / curvature) - common / _COMMON**2
        step = min(max(pull / precision, -1.0), 1.0)
        common += step
        z = z + np.clip((gradient + step / own) / curvature, -1.0, 1.0)
    p = _expit(z)
    curvature = evidence.gold_total * p * (1.0 - p) + 1.0 / own
    precision = 1.0 / _COMMON**2 + fsum(1.0 / own - 1.0 / own**2 / curvature)
    error = _NORMAL * np.sqrt(1.0 / curvature + 1.0 / (own * curvature) ** 2 / precision)
    return p, _expit(z - error), _expit(z + error)


def _expit(z: _Floats) -> _Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * z)))  # never overflows
