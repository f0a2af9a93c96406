"""Ties between truths, broken by a random number that belongs to the item's name and the seed.

Tied to the name, a choice does not change when rows are reordered or other items come and go.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LOWER, HIGHER, RANDOM = 0, 1, 2
_CLOSE = 1e-9  # probabilities this near are one


@njit(cache=True, nogil=True)
def mixed(value):
    """A 64-bit number scrambled so that near inputs give far outputs (SplitMix64's finaliser)."""
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
def choose(posterior, starts, letters, seed, rule, choice):
    """The most probable truth of each item; how many had to be decided by the rule.

    ``letters[starts[i]:starts[i + 1]]`` are the bytes of item i's name.
    """
    truths = posterior.shape[1]
    tied = 0
    for i in range(posterior.shape[0]):
        best = posterior[i, 0]
        for k in range(1, truths):
            best = max(best, posterior[i, k])
        first, last, many = -1, -1, 0
        for k in range(truths):
            if posterior[i, k] >= best - _CLOSE:
                first = k if first < 0 else first
                last = k
                many += 1
        picked = first
        if many > 1:
            tied += 1
            if rule == HIGHER:
                picked = last
            elif rule == RANDOM:
                code = mixed(np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15))
                for b in range(starts[i], starts[i + 1]):
                    code = (code ^ np.uint64(letters[b])) * np.uint64(0x100000001B3)
                turn = np.int64(mixed(code) % np.uint64(many))
                for k in range(truths):
                    if posterior[i, k] >= best - _CLOSE:
                        if turn == 0:
                            picked = k
                            break
                        turn -= 1
        choice[i] = picked
    return tied
