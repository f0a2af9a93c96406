"""Passes of the item-types model and of the search for near-duplicate judges.

The expectation step is that of ``adjudge.kernels.confusion``, with types in place of true labels.
Here are the start by votes, the reading of types as true labels, and the counts of pairs of judges.

Every choice among items or pairs is by keys made from what was judged, not from names or places, so
that neither renaming nor reordering changes the result. Sums are integers.

Arguments are those of ``adjudge.kernels.confusion``, and:

where                   topic, topic_step
step                    the number of labels
weight                  (judge,) the weight of a judgment, in units of 2^-20
key                     (judge,) a scrambled number made from how often they gave each label
kinds                   types of each label: type = label * kinds + kind
"""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels._vectors import (
    COMPILED,
    FEW,
    U,
    add_row,
    probabilities,
    room_for,
)
from adjudge.kernels.fixed import SHARE, WEIGHT
from adjudge.kernels.keys import is_chosen, item_key, mixed, pair_share

_START = 0.1  # votes added to each label, and the share of the kind that an item seems not to be
_MOST = 2000  # judgments of an item above which its pairs are not looked at


@njit(**COMPILED)
def _tally_votes(given, i, weight, votes):
    """The weighted votes of one item, in units; returns their sum."""
    offsets, judge, label = given
    votes[:] = 0
    mass = 0
    for m in range(offsets[i], offsets[i + 1]):
        votes[label[m]] += weight[judge[m]]
        mass += weight[judge[m]]
    return mass


@njit(**COMPILED)
def _top_share(votes, mass):
    """The smoothed share of the label with most votes."""
    most = 0
    for k in range(votes.size):
        most = max(most, votes[k])
    return (most / WEIGHT + _START) / (mass / WEIGHT + _START * votes.size)


@njit(**COMPILED)
def count_tops(given, start, stop, weight, step, bins):
    """How many judged items have their top share in each bin."""
    offsets = given[0]
    votes = np.empty(step, dtype=np.int64)
    for i in range(start, stop):
        mass = _tally_votes(given, i, weight, votes)
        if offsets[i + 1] > offsets[i]:
            bins[min(int(_top_share(votes, mass) * bins.size), bins.size - 1)] += 1


@njit(**COMPILED)
def _start_kinds(votes, mass, kinds, easy, p):
    """An item's first types: its vote shares, most of each in the kind that the item seems."""
    for k in range(votes.size):
        share = (votes[k] / WEIGHT + _START) / (mass / WEIGHT + _START * votes.size)
        for h in range(kinds):
            p[k * kinds + h] = share * (1.0 - _START if (h == 1) == easy else _START)
    if kinds == 1:
        p[:] *= 1.0 / p.sum()


@njit(**COMPILED)
def begin_types(given, start, stop, where, weight, step, kinds, median, bins, counts, classes):
    """Add the counts of the first types, by votes alone; an item without votes is left open.

    An item is of the easy kind, 1, where its top share is above the bin ``median``.
    """
    offsets, judge, label = given
    topic, topic_step = where
    types = step * kinds
    votes = np.empty(step, dtype=np.int64)
    p = np.empty(types, dtype=np.float64)
    for i in range(start, stop):
        mass = _tally_votes(given, i, weight, votes)
        if offsets[i + 1] == offsets[i]:
            p[:] = 1.0 / types
        else:
            easy = min(int(_top_share(votes, mass) * bins), bins - 1) > median
            _start_kinds(votes, mass, kinds, easy, p)
        for t in range(1, types):
            share = np.int64(p[t] * SHARE + 0.5)
            classes[topic[i * topic_step] * (types - 1) + t - 1] += share
            for m in range(offsets[i], offsets[i + 1]):
                cell = np.int64(judge[m]) * step + label[m]
                counts[cell * (types - 1) + t - 1] += share


@njit(**COMPILED)
def read_types(given, start, stop, where, tables, step, reading, out):
    """Write each item's true label, given what types mean, ``reading`` (type, truth)."""
    offsets, judge, label = given
    topic, topic_step = where
    prior, ratio = tables
    types, truths = reading.shape
    others = types - 1
    total = np.empty(FEW * others, dtype=np.int64)
    p = np.empty(FEW * types, dtype=np.float64)
    gain = np.empty(FEW, dtype=np.float64)
    buffers = room_for(types)
    for begin in range(start, stop, FEW):
        few = min(FEW, stop - begin)
        total[:] = 0
        for b in range(few):
            i, base = U(begin + b), U(b * others)
            add_row(total, base, prior, U(topic[i * U(topic_step)]) * U(others), others)
            for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                add_row(total, base, ratio, cell, others)
        probabilities(total, few, types, buffers, p, gain)
        for b in range(few):
            for k in range(truths):
                truth = 0.0
                for t in range(types):
                    truth += p[t * few + b] * reading[t, k]
                out[begin + b, k] = truth


@njit(**COMPILED)
def _is_repeat(judge, label, start, m):
    """Whether a judgment says again what its judge said of the item, from ``start`` on."""
    found = False
    for n in range(start, m):
        found |= judge[n] == judge[m] and label[n] == label[m]
    return found


@njit(**COMPILED)
def count_pairs(given, start, stop, key, row, label_share, items, most, sums):
    """Count what pairs of judges have in common: items, agreements, and what is expected.

    ``row`` (judge,) is the row of a judge in the tables, -1 for those left out; ``label_share``
    (row, label) their shares of labels in units of 2^-30. ``sums`` (4, row, row) gets items,
    agreements, and for the judge of the first row the sum of the other's share, and of their own,
    at the labels that they gave.
    """
    offsets, judge, label = given
    step = label_share.shape[1]
    again = np.empty(_MOST, dtype=np.bool_)
    for i in range(start, stop):
        count = offsets[i + 1] - offsets[i]
        if count < 2 or count > _MOST:
            continue
        code = item_key(offsets, judge, label, i, key, step)
        if not is_chosen(code, items):
            continue
        share = pair_share(count, most)
        for m in range(offsets[i], offsets[i + 1]):
            again[m - offsets[i]] = _is_repeat(judge, label, offsets[i], m)
        for m in range(offsets[i], offsets[i + 1]):
            a = row[judge[m]]
            if a < 0 or again[m - offsets[i]]:
                continue
            for n in range(m + 1, offsets[i + 1]):
                b = row[judge[n]]
                if b < 0 or a == b or again[n - offsets[i]]:
                    continue
                if share < 1.0 and not is_chosen(
                    mixed(code ^ (key[judge[m]] + key[judge[n]])), share
                ):
                    continue
                same = np.int64(label[m] == label[n])
                sums[0, a, b] += 1
                sums[0, b, a] += 1
                sums[1, a, b] += same
                sums[1, b, a] += same
                sums[2, a, b] += label_share[b, label[m]]
                sums[2, b, a] += label_share[a, label[n]]
                sums[3, a, b] += label_share[a, label[m]]
                sums[3, b, a] += label_share[b, label[n]]


@njit(**COMPILED)
def count_family(given, step, family, from_family, repeated, items):
    """How many judgments of the item come from each judgment's family, repeats counted once.

    ``repeated`` gets how often its judge gave the item that very label. Both are 255 at most.
    ``items`` (judge,) gets how many items each judged.
    """
    offsets, judge, label = given
    seen = np.zeros(family.size, dtype=np.int64)
    said = np.zeros((family.size, step), dtype=np.int64)
    own = np.zeros(family.size, dtype=np.int8)
    for i in range(offsets.size - 1):
        for m in range(offsets[i], offsets[i + 1]):
            if said[judge[m], label[m]] == 0:
                seen[family[judge[m]]] += 1
            said[judge[m], label[m]] += 1
            if own[judge[m]] == 0:
                items[judge[m]] += 1
            own[judge[m]] = 1
        for m in range(offsets[i], offsets[i + 1]):
            from_family[m] = min(seen[family[judge[m]]], 255)
            repeated[m] = min(said[judge[m], label[m]], 255)
        for m in range(offsets[i], offsets[i + 1]):
            seen[family[judge[m]]] = 0
            said[judge[m], label[m]] = 0
            own[judge[m]] = 0
