"""Numbers scrambled out of what was judged, to choose by: no name and no order decides."""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels._vectors import COMPILED, U

_ALL = 2.0**64


@njit(cache=True, nogil=True)
def mixed(value):
    """A 64-bit number scrambled so that near inputs give far outputs (SplitMix64's finaliser)."""
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(**COMPILED)
def item_key(offsets, judge, label, i, key, labels):
    """A scrambled number made from who said what of an item, in whatever order."""
    code = U(0)
    for m in range(offsets[i], offsets[i + 1]):
        code += mixed(key[judge[m]] + U(label[m]) * U(labels + 1))
    return mixed(code)


@njit(**COMPILED)
def is_chosen(code, share):
    """Whether a scrambled number is among the first ``share`` of all numbers."""
    return share >= 1.0 or code < U(share * _ALL)


@njit(**COMPILED)
def pair_share(count, most):
    """The share of an item's pairs to look at, so that there are about ``most``."""
    pairs = 0.5 * count * (count - 1)
    return 1.0 if pairs <= most else most / pairs
