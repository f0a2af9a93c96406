"""Weighted votes, and what judges' features are counted from: one pass each over the judgments."""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels.fixed import SHARE


@njit(cache=True, nogil=True)
def weigh_votes(
    offsets, judge, label, known, known_step, truth_of, weight, plain, flip, posterior, fallback
):
    """Share of the weight that each truth has in each item; whether the plain weights had to do.

    ``weight`` (judge,) are whole numbers, so that their sums do not depend on the order; where an
    item's sum to nothing, ``plain`` is taken instead. A judge whom ``flip`` marks votes for the
    other one of two truths. A label that stands for no truth casts no vote; an item without votes
    is open, every truth alike. Gold overrules votes.
    """
    truths = posterior.shape[1]
    votes = np.empty(truths, dtype=np.int64)
    for i in range(offsets.size - 1):
        fallback[i] = False
        truth = known[i * known_step]
        if truth >= 0:
            posterior[i, :] = 0.0
            posterior[i, truth] = 1.0
            continue
        whole = 0
        for attempt in range(2):
            votes[:] = 0
            whole = 0
            for m in range(offsets[i], offsets[i + 1]):
                stands = truth_of[label[m]]
                if stands >= 0:
                    heavy = weight[judge[m]] if attempt == 0 else plain[judge[m]]
                    votes[1 - stands if flip[judge[m]] else stands] += heavy
                    whole += heavy
            if whole > 0:
                break
            fallback[i] = attempt == 0 and offsets[i + 1] > offsets[i]
        for k in range(truths):
            posterior[i, k] = votes[k] / whole if whole > 0 else 1.0 / truths


@njit(cache=True, nogil=True)
def count_under(offsets, judge, label, posterior, counts):
    """Add each item's posterior to the counts (judge, truth, label) of its judges, in shares."""
    truths = posterior.shape[1]
    for i in range(offsets.size - 1):
        for k in range(truths):
            share = np.int64(posterior[i, k] * SHARE + 0.5)
            for m in range(offsets[i], offsets[i + 1]):
                counts[judge[m], k, label[m]] += share


@njit(cache=True, nogil=True)
def compare(offsets, judge, label, reference, grade, relevant, value, totals):
    """Compare each judgment with a reference of its item, and add up by judge.

    ``reference`` (item,) is a truth or -1; ``grade`` (label,) the truth a label stands for or -1;
    ``relevant`` (truth,) 1, 0 or -1 for unknown; ``value`` (truth,) its number. ``totals`` (judge,
    4): judgments compared, same truth, same relevance, distance.
    """
    for i in range(offsets.size - 1):
        truth = reference[i]
        if truth < 0:
            continue
        for m in range(offsets[i], offsets[i + 1]):
            given = grade[label[m]]
            if given < 0:
                continue
            row = judge[m]
            totals[row, 0] += 1
            totals[row, 1] += given == truth
            totals[row, 2] += relevant[given] == relevant[truth]
            totals[row, 3] += abs(value[given] - value[truth])


@njit(cache=True, nogil=True)
def compare_labels(offsets, judge, label, wanted, totals):
    """Compare each judgment with the label wanted of its item (-1: none), and add up by judge."""
    for i in range(offsets.size - 1):
        if wanted[i] < 0:
            continue
        for m in range(offsets[i], offsets[i + 1]):
            totals[judge[m], 0] += 1
            totals[judge[m], 1] += label[m] == wanted[i]
