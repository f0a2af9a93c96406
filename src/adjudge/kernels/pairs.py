"""Sweeps over pairs of items: Newman's and the MM iteration of Bradley and Terry's model.

Comparisons are counted once into cells, each a pair of items by one judge (or by all) with one of
them shown first; a sweep costs a division a cell, however many comparisons stand in it.

a, b            (cell,) the two items, a < b
judge           (cell,) the judge, or 0 where all are taken together
side            (cell,) 1 where a was shown first, -1 where b was, 0 where that is not known
win_a, win_b    (cell,) weights of comparisons that either won
tie             (cell,) and of ties
strength        (item,) of each item
lean            (judge,) log odds that a judge gives the item that is shown first
tied            how heavy ties are: P(tie) = tied sqrt(A B) / (A + B + tied sqrt(A B))
right           (judge,) how often a judge answers with the order rather than against it
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(**_COMPILED)
def count_cells(key, weight, a, b, rest, counts, items, others):
    """Fill cells from sorted keys ((pair * others + other) * 3 + outcome); how many there are.

    ``weight`` is (comparison,), or empty where each weighs one.
    """
    cell = -1
    last = -1
    for n in range(key.size):
        place = key[n] // 3
        if place != last:
            last = place
            cell += 1
            pair = place // others
            rest[cell] = place - pair * others
            a[cell] = pair // items
            b[cell] = pair - a[cell] * items
        counts[cell, key[n] - place * 3] += weight[n] if weight.size else 1.0
    return cell + 1


@njit(**_COMPILED)
def newman(a, b, judge, side, win_a, win_b, tie, strength, lean, tied, up, down, totals):
    """Add to ``up`` and ``down`` (item,) what Newman's iteration multiplies a strength with.

    ``totals`` has what the weight of ties is made of, up and down, and then for each judge the
    gradient and curvature of their lean: (2 + 2 judges,).
    """
    root = np.sqrt(strength)
    shift = np.exp(0.5 * lean)
    for c in range(a.size):
        i, k, j = a[c], b[c], judge[c]
        first, second, even = strength[i], strength[k], 0.0
        if side[c] > 0:
            first *= shift[j]
            second /= shift[j]
        elif side[c] < 0:
            first /= shift[j]
            second *= shift[j]
        if tied > 0.0:
            even = root[i] * root[k]
        whole = 1.0 / (first + second + tied * even)
        half = 0.5 * tied * even
        x = (win_a[c] + 0.5 * tie[c]) * (second + half) * whole
        y = (win_b[c] + 0.5 * tie[c]) * (first + half) * whole
        up[i] += x
        down[i] += y
        up[k] += y
        down[k] += x
        if tied > 0.0:
            totals[0] += tie[c] * (first + second) * whole
            totals[1] += (win_a[c] + win_b[c]) * even * whole
        if side[c] != 0:
            mean = (first + half) * whole
            spread = first * whole + 0.5 * half * whole - mean * mean
            totals[2 + 2 * j] += side[c] * (x - y)
            totals[3 + 2 * j] += (win_a[c] + win_b[c] + tie[c]) * spread


@njit(**_COMPILED)
def minorise(a, b, judge, side, win_a, win_b, tie, strength, lean, tied, up, down, totals):
    """The same for the MM iteration: ``up`` are wins, ``down`` those expected."""
    root = np.sqrt(strength)
    shift = np.exp(0.5 * lean)
    for c in range(a.size):
        i, k, j = a[c], b[c], judge[c]
        move = shift[j] if side[c] > 0 else (1.0 / shift[j] if side[c] < 0 else 1.0)
        first, second = strength[i] * move, strength[k] / move
        even = root[i] * root[k] if tied > 0.0 else 0.0
        whole = 1.0 / (first + second + tied * even)
        half = 0.5 * tied * even
        many = win_a[c] + win_b[c] + tie[c]
        up[i] += win_a[c] + 0.5 * tie[c]
        up[k] += win_b[c] + 0.5 * tie[c]
        down[i] += many * (first + half) * whole
        down[k] += many * (second + half) * whole
        totals[0] += tie[c]
        totals[1] += many * even * whole
        if side[c] != 0:
            mean = (first + half) * whole
            spread = first * whole + 0.5 * half * whole - mean * mean
            totals[2 + 2 * j] += side[c] * (win_a[c] + 0.5 * tie[c] - many * mean)
            totals[3 + 2 * j] += many * spread


@njit(**_COMPILED)
def crowd(
    a, b, judge, side, win_a, win_b, tie, strength, lean, tied, up, down, totals, right, told
):
    """Newman's iteration where a judge may answer against the order, and how often they did.

    Each comparison is taken both ways, by how likely either is; ``told`` (judge,) adds up how many
    of a judge's comparisons were with the order.
    """
    root = np.sqrt(strength)
    moves = np.ones((lean.size, 3))  # by the side, looked up: which side it is nobody can foresee
    moves[:, 2] = np.exp(0.5 * lean)
    moves[:, 0] = 1.0 / moves[:, 2]
    ties, decided = 0.0, 0.0
    for c in range(a.size):
        i, k, j = np.uint64(a[c]), np.uint64(b[c]), np.uint64(judge[c])  # never negative: faster
        move, back = moves[j, 1 + side[c]], moves[j, 1 - side[c]]
        even = root[i] * root[k]
        half = 0.5 * tied * even
        first, second = strength[i] * move, strength[k] * back
        other, another = strength[k] * move, strength[i] * back  # as one against the order sees it
        whole = 1.0 / (first + second + 2.0 * half)
        turned = 1.0 / (other + another + 2.0 * half)
        p, q = right[j] * whole, (1.0 - right[j]) * turned
        with_a, with_b = p * first, p * second
        against_a, against_b = q * other, q * another
        share_a = with_a / (with_a + against_a)
        share_b = with_b / (with_b + against_b)
        ga, gb, gt = share_a * win_a[c], share_b * win_b[c], 0.0
        if tie[c] > 0.0:
            gt = p / (p + q) * tie[c]
        ra, rb, rt = win_a[c] - ga, win_b[c] - gb, tie[c] - gt
        x = (ga + 0.5 * gt) * (second + half) * whole
        y = (gb + 0.5 * gt) * (first + half) * whole
        u = (ra + 0.5 * rt) * (another + half) * turned
        v = (rb + 0.5 * rt) * (other + half) * turned
        up[i] += x + v
        down[i] += y + u
        up[k] += y + u
        down[k] += x + v
        told[j] += ga + gb + gt
        ties += gt * (first + second) * whole + rt * (other + another) * turned
        decided += ((ga + gb) * whole + (ra + rb) * turned) * even
        if side[c] != 0:
            mean, away = (first + half) * whole, (other + half) * turned
            spread = first * whole + 0.5 * half * whole - mean * mean
            wide = other * turned + 0.5 * half * turned - away * away
            totals[2 + 2 * j] += side[c] * (x - y + u - v)
            totals[3 + 2 * j] += (ga + gb + gt) * spread + (ra + rb + rt) * wide
    totals[0] += ties
    totals[1] += decided


@njit(**_COMPILED)
def information(a, b, judge, side, many, strength, lean, tied, right, out):
    """What a cell's comparisons tell of the difference of its two log strengths, and likelihoods.

    ``out`` (cell, 6): information; the probabilities that a wins, b wins, and of a tie; what the
    comparisons tell of how often their judge is right; and of both together.
    """
    for c in range(a.size):
        i, k, j = a[c], b[c], judge[c]
        p, q, t, m = _three(strength[i], strength[k], side[c] * lean[j], tied)
        pr, qr, tr, mr = _three(strength[k], strength[i], side[c] * lean[j], tied)
        good, bad = right[j], 1.0 - right[j]
        told, own, both = 0.0, 0.0, 0.0
        for one, other, score in ((p, pr, 1.0), (q, qr, 0.0), (t, tr, 0.5)):
            chance = good * one + bad * other
            slope = good * one * (score - m) - bad * other * (score - mr)
            if chance > 0.0:
                told += slope * slope / chance
                own += (one - other) ** 2 / chance
                both += slope * (one - other) / chance
        out[c, 0] = told * many[c]
        out[c, 1] = good * p + bad * pr
        out[c, 2] = good * q + bad * qr
        out[c, 3] = good * t + bad * tr
        out[c, 4] = own * many[c]
        out[c, 5] = both * many[c]


@njit(**_COMPILED)
def _three(first, second, lean, tied):
    """Probabilities that the first wins, loses, ties; and the mean of its score."""
    move = math.exp(0.5 * lean)
    x, y = first * move, second / move
    even = tied * math.sqrt(first * second)
    whole = 1.0 / (x + y + even)
    mean = (x + 0.5 * even) * whole
    return x * whole, y * whole, even * whole, mean


@njit(**_COMPILED)
def elo(left, right, outcome, order, initial, scale, step, score):
    """Ratings by Elo's rule, comparison by comparison in the given order."""
    score[:] = initial
    for n in range(order.size):
        c = order[n]
        if outcome[c] > 2:
            continue
        i, k = left[c], right[c]
        expected = 1.0 / (1.0 + 10.0 ** ((score[k] - score[i]) / scale))
        won = 1.0 if outcome[c] == 0 else (0.0 if outcome[c] == 1 else 0.5)
        move = step * (won - expected)
        score[i] += move
        score[k] -= move
