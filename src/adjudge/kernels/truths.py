"""Draws of every item's truth, and replicated judgments.

Truths are drawn from posteriors, or given rates and the item's judgments. The random number of an
item depends on (key, number of the item) alone, as in ``adjudge.kernels.gibbs``, so that which
other items are drawn changes nothing.

Replicated judgments are what the same judges would have said of the same items under the model: for
one draw of prevalence and confusion, an item's truth is drawn given its judgments, and each of its
judgments is then drawn again given that truth. What is compared between real and replicated
judgments is added up at once, so that no replicate is ever held.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adjudge.kernels._vectors import U
from adjudge.kernels.fixed import LOG
from adjudge.kernels.gibbs import _GOLDEN, _TO_UNIT
from adjudge.kernels.keys import mixed


@njit(cache=True, nogil=True)
def _picked(p, truths, key, number):
    """A truth drawn from weights ``p`` by the random number of an item under the key."""
    mass = 0.0
    for k in range(truths):
        mass += p[k]
    left = (mixed(key + (U(number) + U(1)) * U(_GOLDEN)) >> U(11)) * _TO_UNIT * mass
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


@njit(cache=True, nogil=True)
def replicate(
    offsets, judge, label, topic, topic_step, known, known_step, prior, ratio, theta, key, anew,
    votes, summary,
):  # fmt: skip
    """Votes of each label, and (pairs, agreeing pairs, items of two or more, unanimous items).

    ``theta`` is (judge, truth, label). With ``anew`` judgments are replicated under the key, else
    they are taken as they are: the same sums of the real judgments.
    """
    truths, labels = theta.shape[1], theta.shape[2]
    others = truths - 1
    p = np.empty(truths, dtype=np.float64)
    seen = np.zeros(labels, dtype=np.int64)
    turn = U(0)
    for i in range(offsets.size - 1):
        first, last = offsets[i], offsets[i + 1]
        here = topic[i * topic_step] * others
        truth = known[i * known_step]
        if anew and truth < 0:
            most = 0.0
            p[0] = 0.0
            for k in range(others):
                total = prior[here + k]
                for m in range(first, last):
                    total += ratio[(judge[m] * labels + label[m]) * others + k]
                p[k + 1] = total / LOG
                most = max(most, p[k + 1])
            for k in range(truths):
                p[k] = math.exp(p[k] - most)
            truth = _picked(p, truths, key, turn)
            turn += U(1)
        seen[:] = 0
        for m in range(first, last):
            given = label[m]
            if anew:
                given = _picked(theta[judge[m], truth], labels, key, turn)
                turn += U(1)
            seen[given] += 1
            votes[given] += 1
        count = last - first
        if count >= 2:
            summary[0] += count * (count - 1) / 2
            summary[2] += 1
            for y in range(labels):
                summary[1] += seen[y] * (seen[y] - 1) / 2
                if seen[y] == count:
                    summary[3] += 1
