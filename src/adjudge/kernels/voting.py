"""Weighted votes, and what judges' features are counted from: one pass each over the judgments."""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels.fixed import SHARE


@njit(cache=True, nogil=True)
def weigh_votes(
    offsets,
    judge,
    label,
    start,
    stop,
    known,
    known_step,
    truth_of,
    weight,
    plain,
    flip,
    posterior,
    fallback,
):
    """Share of the weight that each truth has in each item; whether the plain weights had to do.

    ``weight`` (judge,) are whole numbers, so that their sums do not depend on the order; where an
    item's sum to nothing, ``plain`` is taken instead. A judge whom ``flip`` marks votes for the
    other one of two truths. A label that stands for no truth casts no vote; an item without votes
    is open, every truth alike. Gold overrules votes.
    """
    truths = posterior.shape[1]
    votes = np.empty(truths, dtype=np.int64)
    for i in range(start, stop):
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
def count_under(offsets, judge, label, start, stop, posterior, counts):
    """Add each item's posterior to the counts (judge, truth, label) of its judges, in shares."""
    truths = posterior.shape[1]
    for i in range(start, stop):
        for k in range(truths):
            share = np.int64(posterior[i, k] * SHARE + 0.5)
            for m in range(offsets[i], offsets[i + 1]):
                counts[judge[m], k, label[m]] += share


@njit(cache=True, nogil=True)
def count_against(offsets, judge, label, start, stop, reference, counts):
    """Count the labels of each judge by the kind of the item: (judge, kind, label).

    ``reference`` (item,) is the kind of each item, -1 for those that are left out.
    """
    for i in range(start, stop):
        kind = reference[i]
        if kind >= 0:
            for m in range(offsets[i], offsets[i + 1]):
                counts[judge[m], kind, label[m]] += 1
