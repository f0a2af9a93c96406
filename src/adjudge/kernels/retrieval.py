"""Measures of rankings under many draws of the truth: one value per draw, system and topic.

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

AP, P, R, RR, SUCCESS, RPREC, BPREF = range(7)


@njit(cache=True, nogil=True)
def _compute_bpref(relevant_count, drawn, relevant, entry):
    """Bpref as trec_eval has it: how seldom an irrelevant document ranks above a relevant one."""
    if relevant_count == 0:
        return 0.0
    total, above = 0.0, 0
    most = min(relevant_count, drawn.size - relevant_count)
    for at in range(entry.size):
        if not relevant[drawn[entry[at]]]:
            above += 1
        elif above:
            total += 1.0 - min(above, relevant_count) / most
        else:
            total += 1.0
    return total / relevant_count


@njit(cache=True, nogil=True)
def _binary(kind, cutoff, relevant_count, drawn, relevant, entry, place):
    """One value of a measure that looks at relevance alone, over one ranking."""
    if kind == BPREF:
        return _compute_bpref(relevant_count, drawn, relevant, entry)
    found, total, first = 0, 0.0, 0
    limit = relevant_count if kind == RPREC else cutoff
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
        return total / relevant_count if relevant_count else 0.0
    if kind == P:
        return found / cutoff
    if kind in (R, RPREC):
        return found / relevant_count if relevant_count else 0.0
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
            relevant_count = 0
            for e in range(drawn.size):
                relevant_count += relevant[drawn[e]]
            for s in range(out.shape[1]):
                first, last = starts[s * topics + t], starts[s * topics + t + 1]
                out[d, s, t] = _binary(
                    kind,
                    cutoff,
                    relevant_count,
                    drawn,
                    relevant,
                    entry[first:last],
                    place[first:last],
                )


@njit(cache=True, nogil=True)
def flip_binary(kind, cutoff, truths, begins, starts, entry, place, gain, sign, out):
    """Add to ``out`` (entry, truth) what the signed sum of systems is with each truth of an entry.

    One entry is changed at a time, everything else as drawn; summed over draws, for its own topic.
    """
    relevant = gain > 0
    topics = begins.size - 1
    yes, no = int(np.argmax(relevant)), int(np.argmin(relevant))
    for d in range(truths.shape[0]):
        for t in range(topics):
            drawn = truths[d, begins[t] : begins[t + 1]].copy()
            relevant_count = 0
            for e in range(drawn.size):
                relevant_count += relevant[drawn[e]]
            for e in range(drawn.size):
                old = drawn[e]
                others = relevant_count - relevant[old]
                found = np.zeros(2)
                for value in range(2):
                    drawn[e] = yes if value else no
                    for s in range(sign.size):
                        first, last = starts[s * topics + t], starts[s * topics + t + 1]
                        found[value] += sign[s] * _binary(
                            kind,
                            cutoff,
                            others + value,
                            drawn,
                            relevant,
                            entry[first:last],
                            place[first:last],
                        )
                drawn[e] = old
                for k in range(gain.size):
                    out[begins[t] + e, k] += found[1] if relevant[k] else found[0]


@njit(cache=True, nogil=True)
def _ideal(counts, gain, falling, worth, cutoff):
    """The most that a ranking of that many documents of each truth can have."""
    best, taken = 0.0, 0
    for k in falling:
        after = min(taken + counts[k], cutoff)
        if gain[k] > 0:
            best += gain[k] * (worth[after] - worth[taken])
        taken = after
    return best


@njit(cache=True, nogil=True)
def flip_discounted(cutoff, truths, begins, starts, entry, place, gain, falling, share, sign, out):
    """The same as ``flip_binary`` for sums of gains by place, as ``discounted_values`` has them."""
    topics = begins.size - 1
    worth = np.append(np.zeros(1), np.cumsum(share))
    counts = np.empty(gain.size, dtype=np.int64)
    for d in range(truths.shape[0]):
        for t in range(topics):
            drawn = truths[d, begins[t] : begins[t + 1]]
            weight = np.zeros(drawn.size)
            for s in range(sign.size):
                for at in range(starts[s * topics + t], starts[s * topics + t + 1]):
                    if place[at] > cutoff:
                        break
                    weight[entry[at]] += sign[s] * share[place[at] - 1]
            counts[:] = 0
            total = 0.0
            for e in range(drawn.size):
                counts[drawn[e]] += 1
                total += gain[drawn[e]] * weight[e]
            for e in range(drawn.size):
                old = drawn[e]
                counts[old] -= 1
                for k in range(gain.size):
                    best = 1.0
                    if falling.size:
                        counts[k] += 1
                        best = _ideal(counts, gain, falling, worth, cutoff)
                        counts[k] -= 1
                    value = total + (gain[k] - gain[old]) * weight[e]
                    out[begins[t] + e, k] += value / best if best > 0 else 0.0
                counts[old] += 1


@njit(cache=True, nogil=True)
def discounted_values(cutoff, truths, begins, starts, entry, place, gain, falling, share, out):
    """The sum of gain times ``share[place - 1]`` of every ranking under every draw.

    Without ``falling`` that is all (rank-biased precision). Otherwise it is divided by the most
    that any ranking of the pool could have: ``falling`` has the truths from most gain to least.
    """
    topics = begins.size - 1
    worth = np.append(np.zeros(1), np.cumsum(share))  # what the first that many places are worth
    counts = np.empty(gain.size, dtype=np.int64)
    for d in range(truths.shape[0]):
        for t in range(topics):
            drawn = truths[d, begins[t] : begins[t + 1]]
            best = 1.0
            if falling.size:
                counts[:] = 0
                for e in range(drawn.size):
                    counts[drawn[e]] += 1
                best = _ideal(counts, gain, falling, worth, cutoff)
            for s in range(out.shape[1]):
                total = 0.0
                for at in range(starts[s * topics + t], starts[s * topics + t + 1]):
                    if place[at] > cutoff:
                        break
                    total += gain[drawn[entry[at]]] * share[place[at] - 1]
                out[d, s, t] = total / best if best > 0 else 0.0
