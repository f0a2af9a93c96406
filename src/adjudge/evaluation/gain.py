"""What one more judgment is expected to tell about the truth of an item, in bits.

Plain functions of arrays, light to import: the live collection asks them at every page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_BLOCK = 4_000_000  # numbers worked on at a time: 32 MB

_Floats = NDArray[np.float64]


def gain_of(
    posterior: _Floats,  # (item, truth)
    confusion: _Floats,  # (truth, label)
) -> _Floats:  # (item,)
    """The bits that one judgment under that confusion is expected to tell about each item's truth.

    It is the mutual information of truth and label: the doubt about the label that will come, less
    what of it would remain if the truth were known, ``H(q theta) - sum_k q_k H(theta_k)``.
    """
    inner = entropy_of(confusion)  # (truth,)
    gain = np.empty(len(posterior))
    step = max(1, _BLOCK // confusion.shape[1])
    for start in range(0, len(posterior), step):
        part = posterior[start : start + step]
        gain[start : start + step] = entropy_of(part @ confusion) - part @ inner
    return np.asarray(np.maximum(gain, 0.0))


def gain_by(
    posterior: _Floats,  # (pair, truth)
    confusion: _Floats,  # (pair, truth, label)
) -> _Floats:  # (pair,)
    """The same for pairs of an item and the judge at hand: each with a confusion of its own."""
    mixed = np.einsum("pk,pkl->pl", posterior, confusion)
    inner = np.einsum("pk,pk->p", posterior, entropy_of(confusion))
    return np.asarray(np.maximum(entropy_of(mixed) - inner, 0.0))


def entropy_of(shares: _Floats) -> _Floats:  # (..., outcome) -> (...)
    """Entropy over the last axis, in bits."""
    logs = np.zeros_like(shares)
    np.log2(shares, out=logs, where=shares > 0)
    return np.asarray(-np.einsum("...l,...l->...", shares, logs))
