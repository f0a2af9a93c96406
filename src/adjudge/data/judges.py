"""How many bits a judgment carries, from the expected counts of its judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.9  # of every interval in the table


def information(
    counts: NDArray[np.float64],  # (judge, truth, label)
    prevalence: NDArray[np.float64],  # (truth,)
) -> NDArray[np.float64]:  # (judge,)
    """Mutual information between truth and a judge's label, in bits a judgment.

    A judge whose rows are all alike tells nothing: 0 bits. Each row is first drawn towards the
    judge's own marginal by one pseudo-judgment, or a judge of three judgments would look certain.
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
