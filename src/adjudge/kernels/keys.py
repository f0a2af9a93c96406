"""Choices by keys: numbers scrambled out of names, or out of what was judged.

Ties between truths are broken by an item's name and the seed, and names are dealt out into folds:
a choice does not change when rows are reordered or other items come and go. Items are sampled, and
judges distinguished, by what was judged: there neither renaming nor reordering changes the result.
"""

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
    """A scrambled number made from who said what of an item, in any order."""
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


LOWER, HIGHER, RANDOM = 0, 1, 2
_CLOSE = 1e-9  # probabilities this near are one
_START, _FACTOR = 0xCBF29CE484222325, 0x100000001B3  # FNV-1a, 64 bits


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


@njit(**COMPILED)
def choose_items(offsets, judge, label, start, stop, key, labels, share, out):
    """Mark about a ``share`` of the items, (item, 1), by who said what of them."""
    for i in range(start, stop):
        code = item_key(offsets, judge, label, i, key, labels)
        out[i, 0] = 1.0 if is_chosen(code, share) else 0.0


@njit(**COMPILED)
def add_prints(offsets, judge, label, start, stop, key, labels, prints):
    """Add to each judge's print what they said of each item; equal prints: equal judgments.

    Items differ by who gave them which label, so the copies of a judge all know the same ones.
    """
    for i in range(start, stop):
        code = item_key(offsets, judge, label, i, key, labels)
        for m in range(offsets[i], offsets[i + 1]):
            said = mixed(code + U(label[m]) * U(0x9E3779B97F4A7C15))
            prints[judge[m]] += np.int64(said >> U(24))  # sums of many stay integers


@njit(**COMPILED)
def judge_keys(cells, keys):
    """A scrambled number for each judge, from how often they gave each label, (judge, label)."""
    for j in range(cells.shape[0]):
        code = U(0)
        for y in range(cells.shape[1]):
            code = mixed(code + U(cells[j, y]) + U(0x9E3779B97F4A7C15))
        keys[j] = code
