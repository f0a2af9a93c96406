"""The sweep of the Gibbs sampler: the expectation sweep with a draw instead of an expectation.

Each item's truth is drawn from its posterior under the current prevalence and confusion, and the
judgments of the item are counted under the truth drawn. Counts are integers, so that only the
items whose truth has changed since the last sweep need be counted again: a small part of them. The
posterior itself is added up too, so that an item's probability is an average of posteriors and not
a count of draws (Rao-Blackwell).

The random number of an item depends on (seed, chain, iteration, item) alone: the key holds the
first three, scrambled, and an item's number is the SplitMix64 stream of that key at the item. So
neither blocks nor threads nor engines change a draw.

Arguments are those of ``adjudge.kernels.confusion``, and:

now                     counts, classes, switch, last together: the state of a chain
cell                    (judgment,) judge * labels + label
counts                  (cell, truth) judgments under each truth, flat, kept up
classes                 (topic, truth) items of each truth, flat, kept up
key                     the 64-bit key of this chain and iteration
number                  (item,) the number of each item in the data, whatever the order here
pivot                   (item,) a reference labelling, to notice when labels have switched
switch                  (pivot, truth) how many items of each pivot have each truth, flat, kept up
last                    (item,) the truths of the last sweep, which counts are of; overwritten
mean                    (truth, item) posteriors added up, where ``keep`` is not 0
keep                    what a posterior is multiplied with before it is added: 1, 0, or -1
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numba import njit

from adjudge.kernels._vectors import COMPILED, UNLOG, U, add_row, exponentials
from adjudge.kernels.keys import mixed

_GOLDEN = 0x9E3779B97F4A7C15
_TO_UNIT = 2.0**-53
_FEW = 512  # items taken together: enough that calls between the steps do not count


@njit(cache=True, nogil=True)
def key_of(seed, chain, iteration):
    """The key under which a sweep draws: seed, chain and iteration scrambled into 64 bits."""
    key = mixed(U(seed) + U(_GOLDEN))
    key = mixed(key ^ (U(chain) + U(1)) * U(_GOLDEN))
    return mixed(key ^ (U(iteration) + U(1)) * U(_GOLDEN))


@njit(**COMPILED)
def _draw_truths(total, truths, uniform, few, keep, x, bits, scale, p, drawn):
    """Draws among truths, from log ratios (item, truth - 1).

    Left in ``p`` (truth, item) are the posteriors times ``keep``.
    """
    others = truths - 1
    for b in range(few):
        most = 0
        for k in range(others):
            most = max(most, total[U(b * others + k)])
        x[b] = -most * UNLOG
        for k in range(others):
            x[U((k + 1) * few + b)] = (total[U(b * others + k)] - most) * UNLOG
    exponentials(x, bits, scale, p, few * truths)
    for b in range(few):
        mass = 0.0
        for k in range(truths):
            mass += p[U(k * few + b)]
        left = uniform[b] * mass
        chosen = 0
        for k in range(others):
            left -= p[U(k * few + b)]
            chosen += left >= 0.0
        drawn[b] = chosen
        for k in range(truths):
            p[U(k * few + b)] *= keep / mass


@njit(**COMPILED)
def _overrule(known, begin, few, truths, keep, p, drawn):
    """Put gold, where it is known, in the place of draws and posteriors."""
    for b in range(few):
        truth = known[U(begin + b)]
        if truth >= 0:
            drawn[b] = truth
            for k in range(truths):
                p[U(k * few + b)] = keep if k == truth else 0.0


@njit(**COMPILED)
def _recount(offsets, cell, begin, few, topic, topic_step, truths, pivot, now, drawn, changed):
    """Bring the counts up to the truths drawn: from one cell to another where they have changed.

    The changed are listed first, without a branch that the processor could only guess.
    """
    counts, classes, switch, last = now
    many = U(0)
    for b in range(few):
        changed[many] = b
        many += U(drawn[b] != last[U(begin + b)])
    for n in range(many):
        b = U(changed[n])
        i = U(begin) + b
        new, old = U(drawn[b]), U(last[i])
        last[i] = drawn[b]
        at = U(pivot[i]) * U(truths)
        switch[at + new] += 1
        switch[at + old] -= 1
        at = U(topic[i * U(topic_step)]) * U(truths)
        classes[at + new] += 1
        classes[at + old] -= 1
        for m in range(U(offsets[i]), U(offsets[i + U(1)])):
            at = U(cell[m]) * U(truths)
            counts[at + new] += 1
            counts[at + old] -= 1


@cache
def drawing(truths: int) -> Callable[..., Any]:
    """The drawing sweep for that many truths, a constant of the compiled loop."""
    others = truths - 1

    @njit(**COMPILED)
    def draw(offsets, cell, where, tables, key, number, pivot, now, mean, keep):
        topic, topic_step, known, known_step = where
        prior, ratio = tables
        stop = offsets.size - 1
        total = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        x = np.empty(_FEW * truths, dtype=np.float64)  # (truth, item)
        p = np.empty(_FEW * truths, dtype=np.float64)  # (truth, item)
        bits = np.empty(_FEW * truths, dtype=np.int64)
        scale = bits.view(np.float64)
        uniform = np.empty(_FEW, dtype=np.float64)
        drawn = np.empty(_FEW, dtype=np.int64)
        changed = np.empty(_FEW, dtype=np.int64)
        wide = np.int64(truths)  # no constant: what is called is compiled once for any number
        for begin in range(0, stop, _FEW):
            few = min(_FEW, stop - begin)
            for b in range(few):
                counter = (U(number[U(begin + b)]) + U(1)) * U(_GOLDEN)
                uniform[b] = (mixed(key + counter) >> U(11)) * _TO_UNIT
            total[:] = 0
            for b in range(few):
                i, base = U(begin + b), U(b * others)
                add_row(total, base, prior, U(topic[i * U(topic_step)]) * U(others), others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    add_row(total, base, ratio, U(cell[m]) * U(others), others)
            _draw_truths(total, wide, uniform, few, keep, x, bits, scale, p, drawn)
            if known_step:
                _overrule(known, begin, few, wide, keep, p, drawn)
            what = (topic, topic_step, wide, pivot, now, drawn, changed)
            _recount(offsets, cell, begin, few, *what)
            if keep != 0:
                for k in range(truths):
                    for b in range(few):
                        mean[k, U(begin + b)] += p[U(k * few + b)]

    return cast(Callable[..., Any], draw)


@njit(cache=True, nogil=True)
def count_hard(offsets, cell, topic, topic_step, truths, pivot, now):
    """Counts of judgments under given truths, ``last``, from nothing: where a chain starts."""
    counts, classes, switch, last = now
    for i in range(offsets.size - 1):
        chosen = last[i]
        switch[pivot[i] * truths + chosen] += 1
        classes[topic[i * topic_step] * truths + chosen] += 1
        for m in range(offsets[i], offsets[i + 1]):
            counts[cell[m] * truths + chosen] += 1
