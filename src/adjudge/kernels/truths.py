"""Draws of every item's truth, kept: from posteriors, or given rates and the item's judgments.

The random number of an item depends on (key, number of the item) alone, as in
``adjudge.kernels.gibbs``, so that which other items are drawn changes nothing.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adjudge.kernels._hashing import mixed
from adjudge.kernels._vectors import U
from adjudge.kernels.gibbs import _GOLDEN, _TO_UNIT


@njit(cache=True, nogil=True)
def _picked(p, truths, key, number):
    """A truth drawn from weights ``p`` by the random number of an item under the key."""
    whole = 0.0
    for k in range(truths):
        whole += p[k]
    left = (mixed(key + (U(number) + U(1)) * U(_GOLDEN)) >> U(11)) * _TO_UNIT * whole
    truth = 0
    for k in range(truths - 1):
        left -= p[k]
        if left >= 0.0:
            truth = k + 1
        else:
            break
    return truth


@njit(cache=True, nogil=True)
def draw_given(weight, row, key, number, out):
    """The truth of each item, drawn from the row of ``weight`` (row, truth) that is its own."""
    truths = weight.shape[1]
    for i in range(out.size):
        out[i] = _picked(weight[row[i]], truths, key, number[i])


@njit(cache=True, nogil=True)
def draw_judged(offsets, judge, label, topic, known, base, logs, key, number, out):
    """The truth of each item, drawn given its judgments, or as known where that is not -1.

    ``base`` is (topic, truth), ``logs`` (judge, truth, label): logarithms of rates.
    """
    truths = base.shape[1]
    p = np.empty(truths, dtype=np.float64)
    for i in range(out.size):
        if known[i] >= 0:
            out[i] = known[i]
            continue
        for k in range(truths):
            p[k] = base[topic[i], k]
        for m in range(offsets[i], offsets[i + 1]):
            for k in range(truths):
                p[k] += logs[judge[m], k, label[m]]
        most = p.max()
        for k in range(truths):
            p[k] = math.exp(p[k] - most)
        out[i] = _picked(p, truths, key, number[i])
