"""Two results next to each other: the labels of such a project, and the coin for the sides.

An item of a side-by-side project is a pair. Its answers are stored as the pair is stored: ``left``
is its own result, ``right`` the other. A coin for each row of a page says on which side a
judge sees them, so that nobody's habit of one side favours a result; what a judge answers is turned
round on the way in, and the feedback on the way out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale

LEFT, RIGHT, TIE = "left", "right", "tie"
PAIR_SCALE = Scale(labels=(LEFT, TIE, RIGHT), ordinal=True)
PAIR_SCALE_WITHOUT_TIES = Scale(labels=(LEFT, RIGHT))
_WORDS = {LEFT: "Left is better", TIE: "As good as each other", RIGHT: "Right is better"}
_MIRRORED = {LEFT: RIGHT, RIGHT: LEFT}
_COIN = 19  # sets these draws apart from others of the same seed


def is_of_pairs(labels: Sequence[str]) -> bool:
    """Whether labels are those of pairs: left and right, with or without ties."""
    return {LEFT, RIGHT} <= set(labels) <= set(_WORDS)


def in_words(label: str, of_pairs: bool = True) -> str:
    """A label as a page shows it: that of a pair in words, any other as it is."""
    return _WORDS.get(label, label) if of_pairs else label


def mirror(label: str, swapped: bool = True) -> str:
    """A label as the other side sees it; what names no side stays as it is.

    >>> mirror("left"), mirror("tie"), mirror("left", swapped=False)
    ('right', 'tie', 'left')
    """
    return _MIRRORED.get(label, label) if swapped else label


def toss(seed: int, judge: int, page: int, rows: int) -> NDArray[np.bool_]:  # (row,)
    """Whether the sides of each row of a judge's page are swapped."""
    rng = np.random.default_rng([seed, judge, page, _COIN])
    return rng.integers(0, 2, rows).astype(np.bool_)
