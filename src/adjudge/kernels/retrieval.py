"""Measures of rankings under many draws of the truth: one value a draw, system and topic.

Arguments that the kernels share:

truths                  (draw, entry) the truth drawn for each document of the pool
begins                  (topic + 1,) where the pool of each topic begins
starts                  (system * topics + topic + 1,) where each ranking begins
entry                   (row,) the documents of rankings, counted from the beginning of their pool
place                   (row,) their places, from 1; documents outside the pool are left out
gain                    (truth,) what a document of each truth is worth, relevant if above 0
cutoff                  the last place that counts
out                     (draw, system, topic) the values

A document outside the pool is worth nothing, so a ranking need only list those in it. A topic
without any gain in its pool has the value 0, as in trec_eval.
"""

from __future__ import annotations

import numpy as np
from numba import njit

AP, P, R, RR, SUCCESS, RPREC = range(6)


@njit(cache=True, nogil=True)
def _binary(kind, cutoff, wanted, drawn, relevant, entry, place):
    """One value of a measure that looks at relevance alone, over one ranking."""
    found, total, first = 0, 0.0, 0
    limit = wanted if kind == RPREC else cutoff
    for at in range(entry.size):
        if place[at] > limit:
            break
        if relevant[drawn[entry[at]]]:
            found += 1
            if first == 0:
                first = place[at]
                if kind in (RR, SUCCESS):
                    break
            total += found / place[at]
    if kind == AP:
        return total / wanted if wanted else 0.0
    if kind == P:
        return found / cutoff
    if kind in (R, RPREC):
        return found / wanted if wanted else 0.0
    if kind == RR:
        return 1.0 / first if first else 0.0
    return 1.0 if found else 0.0


@njit(cache=True, nogil=True)
def binary_values(kind, cutoff, truths, begins, starts, entry, place, gain, out):
    """AP, P, R, RR, Success or Rprec of every ranking under every draw."""
    relevant = gain > 0
    topics = begins.size - 1
    for d in range(truths.shape[0]):
        for t in range(topics):
            drawn = truths[d, begins[t] : begins[t + 1]]
            wanted = 0
            for e in range(drawn.size):
                wanted += relevant[drawn[e]]
            for s in range(out.shape[1]):
                first, last = starts[s * topics + t], starts[s * topics + t + 1]
                out[d, s, t] = _binary(
                    kind, cutoff, wanted, drawn, relevant, entry[first:last], place[first:last]
                )


@njit(cache=True, nogil=True)
def discounted_values(cutoff, truths, begins, starts, entry, place, gain, falling, share, out):
    """The sum of gain times ``share[place - 1]`` of every ranking under every draw.

    Without ``falling`` that is all (rank-biased precision). Otherwise it is divided by the most
    that any ranking of the pool could have: ``falling`` has the truths from most gain to least.
    """
    topics = begins.size - 1
    room = np.append(np.zeros(1), np.cumsum(share))  # what the first so many places are worth
    counts = np.empty(gain.size, dtype=np.int64)
    for d in range(truths.shape[0]):
        for t in range(topics):
            drawn = truths[d, begins[t] : begins[t + 1]]
            best = 1.0
            if falling.size:
                counts[:] = 0
                for e in range(drawn.size):
                    counts[drawn[e]] += 1
                best, taken = 0.0, 0
                for k in falling:
                    after = min(taken + counts[k], cutoff)
                    if gain[k] > 0:
                        best += gain[k] * (room[after] - room[taken])
                    taken = after
            for s in range(out.shape[1]):
                total = 0.0
                for at in range(starts[s * topics + t], starts[s * topics + t + 1]):
                    if place[at] > cutoff:
                        break
                    total += gain[drawn[entry[at]]] * share[place[at] - 1]
                out[d, s, t] = total / best if best > 0 else 0.0
