"""Score probabilities against gold, in the same way for every side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation import measures as scores

SURE = 0.99  # labels above it should be right in 99% of cases


def score(truth: NDArray[np.int16], posterior: NDArray[np.float64]) -> dict[str, Any]:
    """Score probabilities over the items with known truth (0 or above)."""
    known = truth >= 0
    gold, given = truth[known], posterior[known]
    top = given >= given.max(axis=1, keepdims=True) - scores.TIE
    right = top[np.arange(len(gold)), gold] / top.sum(axis=1)  # ties in expectation
    confidence = np.minimum(given.max(axis=1), 1.0)
    sure = confidence > SURE
    return {
        "accuracy": round(float(right.mean()), 6),
        "log_loss": round(float(scores.log_loss(gold, given)), 6),
        "brier": round(float(scores.brier(gold, given)), 6),
        "ece": round(float(scores.corrected_calibration_error(confidence, right)), 6),
        "sure": round(float(sure.mean()), 6),
        "sure_accuracy": round(float(right[sure].mean()), 6) if sure.any() else None,
    }
