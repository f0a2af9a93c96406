"""Texts scrambled into numbers, to deal them out evenly whatever they look like."""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels.ties import mixed

_START, _FACTOR = 0xCBF29CE484222325, 0x100000001B3  # FNV-1a, 64 bits


@njit(cache=True, nogil=True)
def deal(ends, letters, hands, out):
    """Deal texts out into ``hands``: the same text always goes to the same one.

    ``letters[ends[i]:ends[i + 1]]`` are the bytes of text i.
    """
    for i in range(out.size):
        code = np.uint64(_START)
        for b in range(ends[i], ends[i + 1]):
            code = (code ^ np.uint64(letters[b])) * np.uint64(_FACTOR)
        out[i] = mixed(code) % np.uint64(hands)
