"""When an item has been judged often enough, and which is to be judged next."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    """An item closes once its label is sure: not before ``least`` judgments, not after ``most``.

    ``sure`` is the posterior probability of its label. A first judgment is never enough: there is
    no doubt to be seen where nobody could disagree.
    """

    least: int = 2
    most: int = 5
    sure: float = 0.9

    def __post_init__(self) -> None:
        if self.least < 1:
            raise BadSetting("least", self.least, "1 or more judgments an item")
        if self.most < self.least:
            raise BadSetting("most", self.most, f"{self.least} or more, as many as the least")
        if not 0.5 <= self.sure <= 1:
            raise BadSetting("sure", self.sure, "a probability from 0.5 to 1")

    def closed(
        self,
        judgments: NDArray[np.integer],  # (item,)
        probability: NDArray[np.float64],  # (item,)
    ) -> NDArray[np.bool_]:  # (item,)
        """Which items need no further judgment."""
        enough = (judgments >= self.least) & (probability >= self.sure)
        return np.asarray(enough | (judgments >= self.most))

    def queue(
        self,
        judgments: NDArray[np.integer],  # (item,)
        probability: NDArray[np.float64],  # (item,)
        gain: NDArray[np.float64],  # (item,)
    ) -> NDArray[np.int64]:
        """The open items, in the order in which to judge them.

        First those below the least, fewest judgments first; then those that gain most.
        """
        open_ones = np.flatnonzero(~self.closed(judgments, probability))
        short = np.minimum(judgments[open_ones], self.least)
        return np.asarray(open_ones[np.lexsort((-gain[open_ones], short))], dtype=np.int64)
