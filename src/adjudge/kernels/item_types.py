"""Sweeps of models whose items come in more types than there are labels.

The expectation itself is the sweep of ``adjudge.kernels.confusion``, with types in the place of
truths. Here is what such a model needs beside it: where to start, what each judge says of a type
that the others know, how far judges agree beyond the types, and the reading of types as truths.

Every choice among items, judgments or pairs is by keys that are made from what was judged, not from
names or places, so that neither renaming nor reordering changes a bit. Sums are whole numbers.

Arguments are those of ``adjudge.kernels.confusion``, and:

where                   topic, topic_step; where gold is looked at, known and known_step too
step                    how many labels there are
weight                  (judge,) what a judgment of theirs weighs, in units of 2^-20
key                     (judge,) a scrambled number made from how often they gave each label
place                   (type,) where each type lies on the line of grades; empty if on none
kinds                   types of each label, where they are on no line: type = label * kinds + kind
"""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels._hashing import is_chosen, item_key, mixed, pair_share
from adjudge.kernels._vectors import (
    COMPILED,
    FEW,
    UNLOG,
    U,
    exponentials,
    probabilities,
    room_for,
)
from adjudge.kernels.fixed import LIKELIHOOD, SHARE, WEIGHT

_FLOOR = 0.1  # votes that every label has before any is cast
_LIKELY, _UNLIKELY = 0.9, 0.1  # of the kind that an item seems to be, and of the others
_LINE_FLOOR = 0.001
_MOST = 2000  # judgments of an item above which its pairs are not looked at
_LEAST_DOUBT = 1e-6  # nats: of types of which one is nearly certain


@njit(**COMPILED)
def _tally_votes(given, i, weight, votes):
    """The weighted votes of one item, in units; returns their sum."""
    offsets, judge, label = given
    votes[:] = 0
    whole = 0
    for m in range(offsets[i], offsets[i + 1]):
        votes[label[m]] += weight[judge[m]]
        whole += weight[judge[m]]
    return whole


@njit(**COMPILED)
def _top_share(votes, whole):
    """The smoothed share of the label with most votes."""
    most = 0
    for k in range(votes.size):
        most = max(most, votes[k])
    return (most / WEIGHT + _FLOOR) / (whole / WEIGHT + _FLOOR * votes.size)


@njit(**COMPILED)
def count_tops(given, start, stop, weight, step, bins):
    """How many judged items have their top share in each bin."""
    offsets = given[0]
    votes = np.empty(step, dtype=np.int64)
    for i in range(start, stop):
        whole = _tally_votes(given, i, weight, votes)
        if offsets[i + 1] > offsets[i]:
            bins[min(int(_top_share(votes, whole) * bins.size), bins.size - 1)] += 1


@njit(**COMPILED)
def _start_kinds(votes, whole, kinds, easy, p):
    """An item's first types: its vote shares, most of each in the kind that the item seems."""
    for k in range(votes.size):
        share = (votes[k] / WEIGHT + _FLOOR) / (whole / WEIGHT + _FLOOR * votes.size)
        for h in range(kinds):
            p[k * kinds + h] = share * (_LIKELY if (h == 1) == easy else _UNLIKELY)
    if kinds == 1:
        p[:] *= 1.0 / p.sum()


@njit(**COMPILED)
def _start_line(votes, whole, place, width, room, p):
    """An item's first types: those that lie near its mean grade."""
    x, bits, scale = room
    mean = 0.0
    for k in range(votes.size):
        mean += k * (votes[k] / max(whole, 1))
    for t in range(place.size):
        z = (mean - place[t]) / width
        x[t] = -0.5 * z * z
    exponentials(x, bits, scale, p, place.size)
    whole_p = 0.0
    for t in range(place.size):
        p[t] += _LINE_FLOOR
        whole_p += p[t]
    for t in range(place.size):
        p[t] /= whole_p


@njit(**COMPILED)
def begin_types(
    given, start, stop, where, weight, step, kinds, place, width, median, bins, counts, classes
):
    """Add the counts of the first types, by votes alone; an item without votes is left open.

    An item is of the easy kind, 1, where its top share lies above the bin ``median``.
    """
    offsets, judge, label = given
    topic, topic_step = where
    types = place.size or step * kinds
    votes = np.empty(step, dtype=np.int64)
    p = np.empty(types, dtype=np.float64)
    x = np.empty(types, dtype=np.float64)
    bits = np.empty(types, dtype=np.int64)
    room = (x, bits, bits.view(np.float64))
    for i in range(start, stop):
        whole = _tally_votes(given, i, weight, votes)
        if offsets[i + 1] == offsets[i]:
            p[:] = 1.0 / types
        elif place.size:
            _start_line(votes, whole, place, width, room, p)
        else:
            easy = min(int(_top_share(votes, whole) * bins), bins - 1) > median
            _start_kinds(votes, whole, kinds, easy, p)
        for t in range(1, types):
            share = np.int64(p[t] * SHARE + 0.5)
            classes[topic[i * topic_step] * (types - 1) + t - 1] += share
            for m in range(offsets[i], offsets[i + 1]):
                cell = np.int64(judge[m]) * step + label[m]
                counts[cell * (types - 1) + t - 1] += share


@njit(**COMPILED)
def _gather(given, i, topic, topic_step, tables, step, total):
    """The log ratios of one item's types to type 0."""
    offsets, judge, label = given
    prior, ratio = tables
    others = total.size
    first = topic[i * topic_step] * others
    for t in range(others):
        total[t] = prior[first + t]
    for m in range(U(offsets[i]), U(offsets[i + 1])):
        cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
        for t in range(others):
            total[t] += ratio[cell + U(t)]


@njit(**COMPILED)
def _measure_doubt(prior, types, doubt):
    """Of the types of each topic the log of the sum of their ratios, and their entropy."""
    others = types - 1
    total = np.empty(others, dtype=np.int64)
    p = np.empty(types, dtype=np.float64)
    gain = np.empty(1, dtype=np.float64)
    room = room_for(types)
    for topic in range(len(doubt)):
        for t in range(others):
            total[t] = prior[topic * others + t]
        probabilities(total, 1, types, room, p, gain)
        told = 0.0
        for t in range(others):
            told += p[t + 1] * (total[t] * UNLOG)
        doubt[topic, 0] = gain[0]
        doubt[topic, 1] = max(gain[0] - told, _LEAST_DOUBT)


@njit(**COMPILED)
def count_left_out(
    given, start, stop, where, tables, step, source, grouped, key, items, types, counts, on_gold
):
    """Add up what judges say of types, each judgment under the types that the others give.

    A judgment counts as far as the others tell of its item's type: by the square root of what they
    tell in nats, over the entropy of types before anybody judged, and at most once.
    The others are those of another ``source`` (judge,), which is only looked at for judges who are
    ``grouped`` (judge,). ``counts`` is (judge * step + label, type), flat, in shares; ``on_gold``
    the same for the items whose truth is known, if any is. ``items`` is the share of items counted.
    """
    offsets, judge, label = given
    topic, topic_step, known, known_step = where
    prior, ratio = tables
    others = types - 1
    whole = np.empty(others, dtype=np.int64)
    total = np.empty(FEW * others, dtype=np.int64)
    cells = np.empty(FEW, dtype=np.int64)
    topics = np.empty(FEW, dtype=np.int64)
    marked = np.empty(FEW, dtype=np.bool_)
    p = np.empty(FEW * types, dtype=np.float64)
    gain = np.empty(FEW, dtype=np.float64)
    room = room_for(types)
    doubt = np.empty((prior.size // max(others, 1), 2), dtype=np.float64)
    _measure_doubt(prior, types, doubt)
    few = 0
    for i in range(start, stop):
        if items < 1.0 and not is_chosen(item_key(offsets, judge, label, i, key, step), items):
            continue
        _gather(given, i, topic, topic_step, tables, step, whole)
        for m in range(offsets[i], offsets[i + 1]):
            cell = np.int64(judge[m]) * step + label[m]
            for t in range(others):
                total[few * others + t] = whole[t] - ratio[cell * others + t]
            if grouped[judge[m]]:
                for n in range(offsets[i], offsets[i + 1]):
                    if n != m and source[judge[n]] == source[judge[m]]:
                        other = np.int64(judge[n]) * step + label[n]
                        for t in range(others):
                            total[few * others + t] -= ratio[other * others + t]
            cells[few] = cell
            topics[few] = topic[i * topic_step]
            marked[few] = known[i * known_step] >= 0
            few += 1
            if few == FEW:
                probabilities(total, few, types, room, p, gain)
                _weigh(total, topics, prior, doubt, few, types, p, gain)
                _spread(cells, marked, few, types, p, gain, counts, on_gold)
                few = 0
    if few:
        probabilities(total, few, types, room, p, gain)
        _weigh(total, topics, prior, doubt, few, types, p, gain)
        _spread(cells, marked, few, types, p, gain, counts, on_gold)


@njit(**COMPILED)
def _weigh(total, topics, prior, doubt, few, types, p, gain):
    """Turn the log-likelihoods of a few rows into what they tell of types, 0 to 1."""
    others = types - 1
    for b in range(few):
        first = topics[b] * others
        told = doubt[topics[b], 0] - gain[b]
        for t in range(others):
            told += p[(t + 1) * few + b] * ((total[b * others + t] - prior[first + t]) * UNLOG)
        gain[b] = np.sqrt(min(1.0, max(0.0, told) / doubt[topics[b], 1]))


@njit(**COMPILED)
def _spread(cells, marked, few, types, p, weight, counts, on_gold):
    """Add the shares of a few rows, each by its weight, to their cells."""
    for b in range(few):
        for t in range(types):
            share = np.int64(weight[b] * p[t * few + b] * SHARE + 0.5)
            counts[cells[b] * types + t] += share
            if marked[b]:
                on_gold[cells[b] * types + t] += share


@njit(**COMPILED)
def _add_agreement(total, left, right, own, few, types, rates, room, p, gain, sums):
    """Add a few pairs of judgments to agreement observed, expected, and the weight of all."""
    probabilities(total, few, types, room, p, gain)
    labels = rates.shape[2]
    for b in range(few):
        expected = 0.0
        for t in range(types):
            both = 0.0
            for y in range(labels):
                both += rates[left[b, 0], t, y] * rates[right[b, 0], t, y]
            expected += p[t * few + b] * both
        same = 1.0 if left[b, 1] == right[b, 1] else 0.0
        sums[0] += np.int64(own[b] * same * LIKELIHOOD)
        sums[1] += np.int64(own[b] * expected * LIKELIHOOD)
        sums[2] += np.int64(own[b] * LIKELIHOOD)


@njit(**COMPILED)
def agree_beyond(
    given, start, stop, where, tables, weight, key, person, source, rates, items, most, sums
):
    """How often two judges of an item agree, and how often its types would have them agree.

    The sources of the pair are left out of the item's types; judges of one ``source`` (judge,) are
    no pair. ``person`` (judge,) is the row of ``rates`` (judge, type, label) of each judge;
    ``items`` the share of items looked at, ``most`` about how many pairs of one. An item weighs as
    its voices.
    """
    offsets, judge, label = given
    topic, topic_step = where
    ratio = tables[1]
    types, step = rates.shape[1:]
    others = types - 1
    whole = np.empty(others, dtype=np.int64)
    total = np.empty(FEW * others, dtype=np.int64)
    left = np.empty((FEW, 2), dtype=np.int64)
    right = np.empty((FEW, 2), dtype=np.int64)
    own = np.empty(FEW, dtype=np.float64)
    p = np.empty(FEW * types, dtype=np.float64)
    gain = np.empty(FEW, dtype=np.float64)
    room = room_for(types)
    few = 0
    for i in range(start, stop):
        count = offsets[i + 1] - offsets[i]
        if count < 2 or count > _MOST:
            continue
        code = item_key(offsets, judge, label, i, key, step)
        if not is_chosen(code, items):
            continue
        _gather(given, i, topic, topic_step, tables, step, whole)
        share = pair_share(count, most)
        voices = 0
        for m in range(offsets[i], offsets[i + 1]):
            voices += weight[judge[m]]
        for m in range(offsets[i], offsets[i + 1]):
            for n in range(m + 1, offsets[i + 1]):
                if source[judge[m]] == source[judge[n]]:
                    continue
                if share < 1.0 and not is_chosen(
                    mixed(code ^ (key[judge[m]] + key[judge[n]])), share
                ):
                    continue
                for t in range(others):
                    total[few * others + t] = whole[t]
                for out in (m, n):
                    if weight[judge[out]] == WEIGHT:
                        a = np.int64(judge[out]) * step + label[out]
                        for t in range(others):
                            total[few * others + t] -= ratio[a * others + t]
                        continue
                    for q in range(offsets[i], offsets[i + 1]):  # with those of its source
                        if source[judge[q]] == source[judge[out]]:
                            a = np.int64(judge[q]) * step + label[q]
                            for t in range(others):
                                total[few * others + t] -= ratio[a * others + t]
                left[few, 0], left[few, 1] = person[judge[m]], label[m]
                right[few, 0], right[few, 1] = person[judge[n]], label[n]
                heavy = (weight[judge[m]] / WEIGHT) * (weight[judge[n]] / WEIGHT)
                own[few] = 2.0 * heavy / (share * (voices / WEIGHT))
                few += 1
                if few == FEW:
                    _add_agreement(total, left, right, own, few, types, rates, room, p, gain, sums)
                    few = 0
    if few:
        _add_agreement(total, left, right, own, few, types, rates, room, p, gain, sums)


@njit(**COMPILED)
def read_types(given, start, stop, where, tables, step, reading, part, out):
    """Add ``part`` times what types mean, ``reading`` (type, truth), to each item's truths."""
    topic, topic_step = where
    types, truths = reading.shape
    others = types - 1
    total = np.empty(FEW * others, dtype=np.int64)
    p = np.empty(FEW * types, dtype=np.float64)
    gain = np.empty(FEW, dtype=np.float64)
    room = room_for(types)
    for begin in range(start, stop, FEW):
        few = min(FEW, stop - begin)
        for b in range(few):
            row = total[b * others : (b + 1) * others]
            _gather(given, begin + b, topic, topic_step, tables, step, row)
        probabilities(total, few, types, room, p, gain)
        for b in range(few):
            for k in range(truths):
                truth = 0.0
                for t in range(types):
                    truth += p[t * few + b] * reading[t, k]
                out[begin + b, k] += part * truth


@njit(**COMPILED)
def _is_repeat(judge, label, start, m):
    """Whether a judgment says again what its judge said of the item, from ``start`` on."""
    found = False
    for n in range(start, m):
        found |= judge[n] == judge[m] and label[n] == label[m]
    return found


@njit(**COMPILED)
def count_pairs(given, start, stop, key, row, habit, items, most, sums):
    """What pairs of judges have in common: items, agreements, and what their habits expect.

    ``row`` (judge,) is the row of a judge in the tables, -1 for those left out; ``habit`` (row,
    label) their shares of labels in units of 2^-30. ``sums`` (4, row, row) gets items, agreements,
    and for the judge of the first row the sum of the other's habit, and of their own, at the labels
    that they gave.
    """
    offsets, judge, label = given
    step = habit.shape[1]
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
                sums[2, a, b] += habit[b, label[m]]
                sums[2, b, a] += habit[a, label[n]]
                sums[3, a, b] += habit[a, label[m]]
                sums[3, b, a] += habit[b, label[n]]


@njit(**COMPILED)
def count_company(given, step, family, company, repeated, items):
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
            company[m] = min(seen[family[judge[m]]], 255)
            repeated[m] = min(said[judge[m], label[m]], 255)
        for m in range(offsets[i], offsets[i + 1]):
            seen[family[judge[m]]] = 0
            said[judge[m], label[m]] = 0
            own[judge[m]] = 0
