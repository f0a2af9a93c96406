"""When an item has enough judgments, and the expected gain of one more.

Light to import: the app uses it on every page.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting

_BLOCK = 4_000_000  # numbers worked on at a time: 32 MB
_Floats = NDArray[np.float64]


def gain_of(
    posterior: _Floats,  # (item, truth)
    confusion: _Floats,  # (truth, label), or (item, truth, label) of the judge of each
) -> _Floats:  # (item,)
    """Return the bits about each item's truth that one more judgment is expected to give.

    It is the mutual information of truth and label: the doubt about the next label, less the doubt
    that would remain if the truth were known, ``H(q theta) - sum_k q_k H(theta_k)``.
    """
    gain = np.empty(len(posterior))
    step = max(1, _BLOCK // confusion.shape[-1])
    for start in range(0, len(posterior), step):
        part = slice(start, start + step)
        rates = confusion if confusion.ndim == 2 else confusion[part]
        label = np.einsum("ik,kl->il" if rates.ndim == 2 else "ik,ikl->il", posterior[part], rates)
        gain[part] = entropy_of(label) - (posterior[part] * entropy_of(rates)).sum(axis=1)
    return np.asarray(np.maximum(gain, 0.0))


def entropy_of(shares: _Floats) -> _Floats:  # (..., outcome) -> (...)
    """Return the entropy over the last axis, in bits."""
    logs = np.zeros_like(shares)
    np.log2(shares, out=logs, where=shares > 0)
    return np.asarray(-np.einsum("...l,...l->...", shares, logs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """An item closes once its label is certain: not before ``least`` judgments, not after ``most``.

    ``sure`` is the posterior probability of its label. One judgment is rarely enough, since it
    cannot show disagreement.
    """

    least: int = 2
    most: int = 5
    sure: float = 0.9

    def __post_init__(self) -> None:
        if self.least < 1:
            raise BadSetting("least", self.least, "1 or more judgments per item")
        if self.most < self.least:
            raise BadSetting("most", self.most, f"{self.least} or more, as many as the least")
        if not 0.5 <= self.sure <= 1:
            raise BadSetting("sure", self.sure, "a probability from 0.5 to 1")

    def closed(
        self,
        judgments: NDArray[np.integer],  # (item,)
        probability: NDArray[np.float64],  # (item,)
    ) -> NDArray[np.bool_]:  # (item,)
        """Return which items need no further judgment."""
        enough = (judgments >= self.least) & (probability >= self.sure)
        return np.asarray(enough | (judgments >= self.most))

    def queue(
        self,
        judgments: NDArray[np.integer],  # (item,)
        probability: NDArray[np.float64],  # (item,)
        gain: NDArray[np.float64],  # (item,)
    ) -> NDArray[np.int64]:
        """Return the open items in the order in which to judge them.

        First those with fewer than ``least`` judgments, then those that gain most.
        """
        open_ones = np.flatnonzero(~self.closed(judgments, probability))
        short = np.minimum(judgments[open_ones], self.least)
        return np.asarray(open_ones[np.lexsort((-gain[open_ones], short))], dtype=np.int64)
