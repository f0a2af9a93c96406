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


def estimate_shares(evidence: Evidence, level: float) -> tuple[_Floats, _Floats, _Floats]:
    """Estimate how often each judge is right: the most probable share, and its 90% interval.

    ``level`` is added to the logit of the model's shares. The common error of all judges is
    estimated from all gold first, then each judge's own.
    """
    share = evidence.hits / np.maximum(evidence.total, 1e-9)
    compared = evidence.total * evidence.compared
    prior = logit(share) + level
    p = _expit(prior)
    sampled = 1.0 / np.maximum(compared * p * (1.0 - p), 1e-9)
    alone = compared <= 1e-9
    if alone.any():  # like the others, as far as anybody knows
        prior[alone] = fsum(prior[~alone]) / (~alone).sum() if not alone.all() else 0.0
        sampled[alone] = _ALONE**2
    common, unsure = _common_error(evidence, prior, _OWN**2 + sampled)
    prior, spread = prior + common, _OWN**2 + sampled + unsure
    z = prior.copy()
    for _ in range(_STEPS):
        p = _expit(z)
        gradient = evidence.gold_hits - evidence.gold_total * p - (z - prior) / spread
        z = z + np.clip(gradient / (evidence.gold_total * p * (1.0 - p) + 1.0 / spread), -1.0, 1.0)
    p = _expit(z)
    error = _NORMAL / np.sqrt(evidence.gold_total * p * (1.0 - p) + 1.0 / spread)
    return p, _expit(z - error), _expit(z + error)


def _common_error(evidence: Evidence, prior: _Floats, own: _Floats) -> tuple[float, float]:
    """The error in logit that all judges share, from gold, and its variance."""
    found, precision = 0.0, 1.0 / _COMMON**2
    for _ in range(_STEPS):
        p = _expit(prior + found)
        weight = 1.0 / (1.0 + own * evidence.gold_total * p * (1.0 - p))
        gradient = fsum(weight * (evidence.gold_hits - evidence.gold_total * p))
        precision = fsum(weight * evidence.gold_total * p * (1.0 - p)) + 1.0 / _COMMON**2
        found += min(max((gradient - found / _COMMON**2) / precision, -1.0), 1.0)
    return found, 1.0 / precision


def _expit(z: _Floats) -> _Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-z)))
