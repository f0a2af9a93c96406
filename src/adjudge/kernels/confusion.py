"""The one pass of the "true label + confusion" family: read an item, form its posterior, count.

Given prevalence and confusion, an item's posterior over K truths is a product over its judgments.
A sweep forms it in logs relative to truth 0, so that K - 1 sums suffice, and adds it to the counts
of the item's judges at once: nothing of size items x judges ever exists. Counts of truth 0 follow
by subtraction from the number of judgments in each cell, exactly, since all sums are whole numbers.

Items are taken a few at a time, in three steps: gather the logs, turn them into probabilities with
loops that the compiler makes into vector instructions, scatter the counts. Indices are unsigned,
or every one of them would first be tested for being negative.

Arguments that the kernels share:

offsets, judge, label   the judgments, grouped by item
start, stop             the items of this block
topic, topic_step       topic of item i at topic[i * topic_step]; step 0 and [0] when pooled
known, known_step       gold of item i at known[i * known_step]; -1 is unknown; step 0 and [-1]
prior                   (topic, truth - 1) log prevalence relative to truth 0, in log units, flat
ratio                   (judge * step + label, truth - 1) log confusion relative to truth 0, flat
step                    labels, where each judge has her own confusion; 0, where all share one
counts                  (judge * step + label, truth - 1) shares of truths 1..K-1, flat, added to
classes                 (topic, truth - 1) shares of truths 1..K-1, flat, added to
posterior               (item, truth) written where ``keep`` is true
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit

from adjudge.kernels.fixed import LIKELIHOOD, LOG, SHARE

U = np.uint64
_UNLOG = 1.0 / LOG
_FEW = 128  # items taken together: their judgments and buffers stay in the nearest cache
_PER_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453
_LN2_HIGH = 0.6931471803691238  # ln 2 in two parts, so that a multiple of it can be taken off
_LN2_LOW = 1.9082149292705877e-10  # a number without losing its last bits


@njit(cache=True, nogil=True)
def exponentials(x, bits, scale, out, count):
    """The exponential of ``count`` numbers of 0 or less, to 1 part in 10^14; below -700 as -700.

    ``scale`` is ``bits`` seen as floats: the power of two is put together there. Written out, so
    that it runs as vector instructions and gives the same bits on every machine.
    """
    for k in range(count):
        v = max(x[k], -700.0)
        n = math.floor(v * _PER_LN2 + 0.5)
        r = (v - n * _LN2_HIGH) - n * _LN2_LOW
        bits[k] = (np.int64(n) + 1023) << 52
        tail = 1 / 720 + r * (1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800))))
        out[k] = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * tail)))))
    for k in range(count):
        out[k] *= scale[k]


@njit(cache=True, nogil=True)
def logarithms(w, bits, out, count):
    """The logarithm of ``count`` numbers that are 1 or more, to 10^-11; ``w`` is used up.

    ``bits`` is ``w`` seen as whole numbers: the power of two is taken off there, and the rest, in
    1..2, goes through the series of 2 artanh((w - 1) / (w + 1)).
    """
    for k in range(count):
        power = (bits[k] >> 52) - 1023
        out[k] = power * _LN2
        bits[k] -= power << 52
    for k in range(count):
        s = (w[k] - 1.0) / (w[k] + 1.0)
        a = s * s
        b = a * a
        c = b * b
        low = (1.0 + a * (1 / 3)) + b * (1 / 5 + a * (1 / 7))
        mid = (1 / 9 + a * (1 / 11)) + b * (1 / 13 + a * (1 / 15))
        high = (1 / 17 + a * (1 / 19)) + b * (1 / 21)
        out[k] += 2.0 * s * (low + c * (mid + c * high))


@njit(cache=True, nogil=True)
def count_cells(judge, label, step, cells):
    """How many judgments fall in each (judge, label) cell."""
    for m in range(judge.size):
        cells[U(judge[m]) * U(step) + U(label[m])] += 1


@cache
def expectation(truths: int) -> Callable[..., Any]:
    """The expectation sweep for so many truths; it returns the log-likelihood relative to truth 0.

    The number of truths is a constant of the compiled loop, so that its inner loops unroll.
    """
    others = truths - 1

    @njit(cache=True, nogil=True)
    def expect(
        offsets,
        judge,
        label,
        start,
        stop,
        topic,
        topic_step,
        known,
        known_step,
        prior,
        ratio,
        step,
        counts,
        classes,
        posterior,
        keep,
    ):
        total = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        shares = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        x = np.empty(_FEW * truths, dtype=np.float64)  # (item, truth)
        p = np.empty(_FEW * truths, dtype=np.float64)  # (item, truth)
        bits = np.empty(_FEW * truths, dtype=np.int64)
        scale = bits.view(np.float64)
        top = np.empty(_FEW, dtype=np.float64)
        weight = np.empty(_FEW, dtype=np.float64)
        weight_bits = weight.view(np.int64)
        inverse = np.empty(_FEW, dtype=np.float64)
        gain = np.empty(_FEW, dtype=np.float64)
        likelihood = 0
        for begin in range(start, stop, _FEW):
            few = min(_FEW, stop - begin)
            for b in range(few):
                i = U(begin + b)
                here = U(topic[i * U(topic_step)]) * U(others)
                base = U(b * others)
                for k in range(others):
                    total[base + U(k)] = prior[here + U(k)]
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    for k in range(others):
                        total[base + U(k)] += ratio[cell + U(k)]
            for b in range(few):
                most = 0
                for k in range(others):
                    most = max(most, total[U(b * others + k)])
                top[b] = most * _UNLOG
                x[U(b * truths)] = -most * _UNLOG
                for k in range(others):
                    x[U(b * truths + k + 1)] = (total[U(b * others + k)] - most) * _UNLOG
            exponentials(x, bits, scale, p, few * truths)
            for b in range(few):
                whole = 0.0
                for k in range(truths):
                    whole += p[U(b * truths + k)]
                weight[b] = whole
                inverse[b] = 1.0 / whole
            logarithms(weight, weight_bits, gain, few)
            for b in range(few):
                gain[b] += top[b]
                for k in range(truths):
                    p[U(b * truths + k)] *= inverse[b]
            if known_step:
                for b in range(few):
                    truth = known[begin + b]
                    if truth >= 0:
                        gain[b] = total[U(b * others + truth - 1)] * _UNLOG if truth > 0 else 0.0
                        for k in range(truths):
                            p[U(b * truths + k)] = 1.0 if k == truth else 0.0
            for b in range(few):
                likelihood += np.int64(gain[b] * LIKELIHOOD)
                for k in range(others):
                    shares[U(b * others + k)] = np.int64(p[U(b * truths + k + 1)] * SHARE + 0.5)
            for b in range(few):
                i = U(begin + b)
                here = U(topic[i * U(topic_step)]) * U(others)
                base = U(b * others)
                for k in range(others):
                    classes[here + U(k)] += shares[base + U(k)]
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    for k in range(others):
                        counts[cell + U(k)] += shares[base + U(k)]
            if keep:
                for b in range(few):
                    for k in range(truths):
                        posterior[begin + b, k] = p[U(b * truths + k)]
        return likelihood

    return expect


@njit(cache=True, nogil=True)
def share_votes(
    offsets,
    judge,
    label,
    start,
    stop,
    topic,
    topic_step,
    known,
    known_step,
    truth_of,
    truths,
    step,
    counts,
    classes,
    posterior,
    keep,
):
    """One sweep that takes vote shares for posteriors: where everything starts.

    A label that stands for no truth (truth_of < 0) casts no vote; an item without votes is open,
    every truth alike. Gold overrules votes.
    """
    others = truths - 1
    p = np.empty(truths, dtype=np.float64)
    shares = np.empty(others, dtype=np.int64)
    for i in range(start, stop):
        here = topic[i * topic_step] * others
        p[:] = 0.0
        votes = 0.0
        for m in range(U(offsets[i]), U(offsets[i + 1])):
            truth = truth_of[U(label[m])]
            if truth >= 0:
                p[truth] += 1.0
                votes += 1.0
        truth = known[i * known_step]
        if truth >= 0:
            p[:] = 0.0
            p[truth] = 1.0
        elif votes > 0:
            p /= votes
        else:
            p[:] = 1.0 / truths
        for k in range(others):
            shares[k] = np.int64(p[k + 1] * SHARE + 0.5)
            classes[here + k] += shares[k]
        for m in range(U(offsets[i]), U(offsets[i + 1])):
            cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
            for k in range(others):
                counts[cell + U(k)] += shares[k]
        if keep:
            posterior[i, :] = p
