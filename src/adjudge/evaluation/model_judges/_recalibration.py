"""A model's stated confidence made honest by gold: a logistic curve through it, cross-fitted.

    P(right) = 1 / (1 + exp(-(a + b logit(confidence))))

with a ~ N(0, 2²) and b ~ N(1, 1), so that few gold items change little. Platt (1999), with a prior.
Each item's new confidence comes from the curve through the other folds, so that it may be scored on
the same gold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.measures import corrected_calibration_error

_Floats = NDArray[np.float64]
_FOLDS = 5
_LEAST = 20  # gold items from which a curve is drawn
_CLIP = 1e-3  # of a stated confidence: nobody is that sure
_PRECISION = np.array([0.25, 1.0])
_MEAN = np.array([0.0, 1.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Honesty:
    """How honest stated confidences are: mean log loss, Brier score, calibration error."""

    log_loss: float
    brier: float
    calibration_error: float


def fit_curve(confidence: _Floats, right: NDArray[np.bool_]) -> _Floats:  # (2,) a and b
    """The curve through confidences and whether they were right, by Newton's method."""
    x = np.column_stack([np.ones(len(confidence)), _logit(confidence)])
    y = right.astype(np.float64)
    b = _MEAN.copy()
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ b, -30, 30)))
        gradient = x.T @ (y - p) - _PRECISION * (b - _MEAN)
        step = np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + np.diag(_PRECISION), gradient)
        b = b + step / max(1.0, float(np.abs(step).max()))
        if float(np.abs(step).max()) < 1e-9:
            break
    return b


def apply_curve(curve: _Floats, confidence: _Floats) -> _Floats:
    """Confidences after the curve."""
    return np.asarray(1 / (1 + np.exp(-(curve[0] + curve[1] * _logit(confidence)))))


def recalibrated(confidence: _Floats, right: NDArray[np.bool_], seed: int = 0) -> _Floats | None:
    """Every confidence by the curve through the other folds; None where gold is too small."""
    if len(confidence) < _LEAST or right.all() or not right.any():
        return None
    fold = np.random.default_rng(seed).permutation(len(confidence)) % _FOLDS
    after = np.empty(len(confidence))
    for number in range(_FOLDS):
        out = fold == number
        after[out] = apply_curve(fit_curve(confidence[~out], right[~out]), confidence[out])
    return after


def honesty(confidence: _Floats, right: NDArray[np.bool_]) -> Honesty:
    """How honest confidences are."""
    p = np.clip(confidence, _CLIP, 1 - _CLIP)
    return Honesty(
        log_loss=float(-np.log(np.where(right, p, 1 - p)).mean()),
        brier=float(((confidence - right) ** 2).mean()),
        calibration_error=float(corrected_calibration_error(confidence, right)),
    )


def _logit(confidence: _Floats) -> _Floats:
    p = np.clip(confidence, _CLIP, 1 - _CLIP)
    return np.asarray(np.log(p / (1 - p)))
