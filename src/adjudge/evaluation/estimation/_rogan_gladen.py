"""Rogan-Gladen: a share, as labels have it, corrected by how often labels are wrong.

    p = (q + specificity - 1) / (sensitivity + specificity - 1)

q is the share of all items labelled so; sensitivity and specificity come from the gold items.
Rogan and Gladen (1978), doi:10.1093/oxfordjournals.aje.a112510. The interval is Lang and
Reiczigel's (2014), doi:10.1016/j.prevetmed.2013.09.015, which keeps the doubt about q,
sensitivity and specificity and adds pseudo-counts, so that it holds in small samples; where q is
known of all items, as here, that doubt is none, and only items without gold are in question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from adjudge.errors import BadData

_Flags = NDArray[np.bool_]


def rogan_gladen(
    labelled: _Flags,  # (member,) all items, by labels in which their own gold had no part
    item: NDArray[np.int64],  # (gold,)
    truly: _Flags,  # (gold,)
    level: float,
) -> tuple[float, float, float]:
    """The corrected share, and its interval."""
    yes, no = int(truly.sum()), int((~truly).sum())
    if not yes or not no:
        raise BadData(
            "gold has one class only, so that either sensitivity or specificity is not known",
            expected="gold of both classes",
        )
    z = float(ndtri(0.5 + level / 2))
    q = float(labelled.mean())
    found = labelled[item]
    sensitivity = (int((found & truly).sum()) + 1) / (yes + 2)
    specificity = (int((~found & ~truly).sum()) + 1) / (no + 2)
    slope = sensitivity + specificity - 1.0
    if slope <= 0.05:
        raise BadData(
            f"labels say next to nothing about this share (sensitivity {sensitivity:.2f}, "
            f"specificity {specificity:.2f}); wanted better than chance"
        )
    share = float(np.clip((q + specificity - 1.0) / slope, 0.0, 1.0))
    wrong = share * sensitivity * (1 - sensitivity) / (yes + 2)
    false = (1 - share) * specificity * (1 - specificity) / (no + 2)
    left = 1.0 - len(item) / len(labelled)  # gold items are known
    shift = 2 * z**2 * (wrong - false)
    reach = z * float(np.sqrt(left * (share * wrong + (1 - share) * false))) / slope
    low, high = share + shift - reach, share + shift + reach
    value = (q + _plain(~found & ~truly, no) - 1.0) / max(
        _plain(found & truly, yes) + _plain(~found & ~truly, no) - 1.0, slope / 2
    )
    return float(np.clip(value, 0, 1)), max(low, 0.0), min(high, 1.0)


def _plain(hits: _Flags, of: int) -> float:
    return float(hits.sum()) / of
