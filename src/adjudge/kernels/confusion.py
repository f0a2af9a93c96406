"""The one pass of the "true label + confusion" family: read an item, form its posterior, count.

Given prevalence and confusion, an item's posterior over K truths is a product over its judgments.
A sweep forms it in logs relative to truth 0, so that K - 1 sums suffice, and adds it to the counts
of the item's judges at once: nothing of size items x judges ever exists. Counts of truth 0 follow
by subtraction from the number of judgments in each cell, exactly, since all sums are whole numbers.

Arguments that several kernels share:

offsets, judge, label   the judgments, grouped by item
start, stop             the items of this block
topic, topic_step       topic of item i at topic[i * topic_step]; step 0 and [0] when pooled
known, known_step       gold of item i at known[i * known_step]; -1 is unknown; step 0 and [-1]
prior                   (topic, truth - 1) log prevalence relative to truth 0, in log units
ratio                   (judge * step + label, truth - 1) log confusion relative to truth 0
step                    labels, where each judge has her own confusion; 0, where all share one
counts                  (judge * step + label, truth - 1) shares of truths 1..K-1, added to
classes                 (topic, truth - 1) shares of truths 1..K-1, added to
posterior               (item, truth) written where ``keep`` is true
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adjudge.kernels.fixed import LIKELIHOOD, LOG, SHARE

_UNLOG = 1.0 / LOG


@njit(cache=True, nogil=True)
def count_cells(judge, label, step, cells):  # type: ignore[no-untyped-def]
    """How many judgments fall in each (judge, label) cell."""
    for m in range(judge.size):
        cells[judge[m] * step + label[m]] += 1


@njit(cache=True, nogil=True)
def expect_binary(  # type: ignore[no-untyped-def]
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
    """One expectation sweep for two truths; the log-likelihood relative to truth 0."""
    likelihood = 0
    for i in range(start, stop):
        first, last = offsets[i], offsets[i + 1]
        here = topic[i * topic_step]
        total = prior[here, 0]
        for m in range(first, last):
            total += ratio[judge[m] * step + label[m], 0]
        x = total * _UNLOG
        e = math.exp(-abs(x))
        small = e / (1.0 + e)
        large = 1.0 / (1.0 + e)
        gain = math.log1p(e)
        if x > 0:
            p0, p1 = small, large
            gain += x
        else:
            p0, p1 = large, small
        truth = known[i * known_step]
        if truth >= 0:
            p1 = float(truth)
            p0 = 1.0 - p1
            gain = x * p1
        share = np.int64(p1 * SHARE + 0.5)
        likelihood += np.int64(gain * LIKELIHOOD)
        for m in range(first, last):
            counts[judge[m] * step + label[m], 0] += share
        classes[here, 0] += share
        if keep:
            posterior[i, 0] = p0
            posterior[i, 1] = p1
    return likelihood


@njit(cache=True, nogil=True)
def expect_many(  # type: ignore[no-untyped-def]
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
    """One expectation sweep for any number of truths; the log-likelihood relative to truth 0."""
    others = prior.shape[1]
    total = np.empty(others, dtype=np.int64)
    shares = np.empty(others, dtype=np.int64)
    p = np.empty(others + 1, dtype=np.float64)
    likelihood = 0
    for i in range(start, stop):
        first, last = offsets[i], offsets[i + 1]
        here = topic[i * topic_step]
        for k in range(others):
            total[k] = prior[here, k]
        for m in range(first, last):
            cell = judge[m] * step + label[m]
            for k in range(others):
                total[k] += ratio[cell, k]
        top = 0
        for k in range(others):
            top = max(top, total[k])
        weight = math.exp(-top * _UNLOG)
        p[0] = weight
        for k in range(others):
            p[k + 1] = math.exp((total[k] - top) * _UNLOG)
            weight += p[k + 1]
        gain = top * _UNLOG + math.log(weight)
        for k in range(others + 1):
            p[k] /= weight
        truth = known[i * known_step]
        if truth >= 0:
            p[:] = 0.0
            p[truth] = 1.0
            gain = total[truth - 1] * _UNLOG if truth > 0 else 0.0
        likelihood += np.int64(gain * LIKELIHOOD)
        for k in range(others):
            shares[k] = np.int64(p[k + 1] * SHARE + 0.5)
            classes[here, k] += shares[k]
        for m in range(first, last):
            cell = judge[m] * step + label[m]
            for k in range(others):
                counts[cell, k] += shares[k]
        if keep:
            for k in range(others + 1):
                posterior[i, k] = p[k]
    return likelihood


@njit(cache=True, nogil=True)
def share_votes(  # type: ignore[no-untyped-def]
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
    others = counts.shape[1]
    p = np.empty(others + 1, dtype=np.float64)
    shares = np.empty(others, dtype=np.int64)
    for i in range(start, stop):
        first, last = offsets[i], offsets[i + 1]
        here = topic[i * topic_step]
        p[:] = 0.0
        votes = 0.0
        for m in range(first, last):
            truth = truth_of[label[m]]
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
            p[:] = 1.0 / (others + 1)
        for k in range(others):
            shares[k] = np.int64(p[k + 1] * SHARE + 0.5)
            classes[here, k] += shares[k]
        for m in range(first, last):
            cell = judge[m] * step + label[m]
            for k in range(others):
                counts[cell, k] += shares[k]
        if keep:
            for k in range(others + 1):
                posterior[i, k] = p[k]
