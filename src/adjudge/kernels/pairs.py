"""Sweeps over pairs of items: Newman's iteration of Bradley and Terry's model.

Comparisons are counted once into cells, each a pair of items by one judge (or by all) with one of
them shown first; a sweep costs a division per cell, however many comparisons stand in it.

a, b            (cell,) the two items, a < b
judge           (cell,) the judge, or 0 where all are taken together
side            (cell,) 1 where a was shown first, -1 where b was, 0 where that is not known
win_a, win_b    (cell,) weights of comparisons that either won
tie             (cell,) and of ties
strength        (item,) of each item
lean            (judge,) log odds that a judge gives the item that is shown first
tied            how heavy ties are: P(tie) = tied sqrt(A B) / (A + B + tied sqrt(A B))
right           (judge,) how often a judge answers with the order rather than against it

Slopes for comparisons and grades on one scale of strengths take:

theta           (item,) log strengths
a, b, judge, side, win_a, win_b, tie    (cell,) as in ``adjudge.kernels.pairs``
lean, odds      (judge,) log odds for what is shown first; log odds to answer with the order
item, judge, label, weight              (judgment,) grades, 0 being the lowest
cut             (grade - 1,) rising; P(label > k) is logistic in
                exp(sharp_j) (theta_i - cut_k - shift_j)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}


@njit(**_COMPILED)
def key_comparisons(left, right, outcome, first, judge, items, judges, unsaid, weight, key, heavy):
    """Fill keys ((pair * 3 + side) * judges + judge) * 3 + outcome; return their number.

    ``first`` and ``judge`` are empty where cells do not differ by them, and their counts 1; so is
    ``weight`` where comparisons weigh one each. An outcome from ``unsaid`` on has no key.
    """
    size = 0
    for n in range(left.size):
        if outcome[n] >= unsaid:
            continue
        i, k, said = np.int64(left[n]), np.int64(right[n]), np.int64(outcome[n])
        turned = i > k
        place = min(i, k) * items + max(i, k)
        if first.size:
            place *= 3
            if first[n] < 0:
                place += 1
            elif (first[n] == 0) != turned:
                place += 2
        if judge.size:
            place = place * judges + judge[n]
        if turned and said <= 1:
            said = 1 - said
        key[size] = place * 3 + said
        if weight.size:
            heavy[size] = weight[n]
        size += 1
    return size


@njit(**_COMPILED)
def count_cells(key, weight, items, sides, judges, a, b, judge, side, counts):
    """Fill cells from sorted keys of ``key_comparisons``; return their number.

    ``weight`` is (comparison,), or empty where each weighs one; ``sides`` is 3, or 1 where cells
    do not differ by them; so is ``judges``.
    """
    cell = -1
    last = -1
    for n in range(key.size):
        place = key[n] // 3
        if place != last:
            last = place
            cell += 1
            rest = place // judges
            judge[cell] = place - rest * judges
            pair = rest // sides
            side[cell] = rest - pair * sides - 1 if sides > 1 else 0
            a[cell] = pair // items
            b[cell] = pair - a[cell] * items
        counts[cell, key[n] - place * 3] += weight[n] if weight.size else 1.0
    return cell + 1


@njit(**_COMPILED)
def iterate(a, b, judge, side, win_a, win_b, tie, strength, lean, tied, up, down, totals):
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
        norm = 1.0 / (first + second + tied * even)
        half = 0.5 * tied * even
        x = (win_a[c] + 0.5 * tie[c]) * (second + half) * norm
        y = (win_b[c] + 0.5 * tie[c]) * (first + half) * norm
        up[i] += x
        down[i] += y
        up[k] += y
        down[k] += x
        if tied > 0.0:
            totals[0] += tie[c] * (first + second) * norm
            totals[1] += (win_a[c] + win_b[c]) * even * norm
        if side[c] != 0:
            mean = (first + half) * norm
            spread = first * norm + 0.5 * half * norm - mean * mean
            totals[2 + 2 * j] += side[c] * (x - y)
            totals[3 + 2 * j] += (win_a[c] + win_b[c] + tie[c]) * spread


@njit(**_COMPILED)
def information(a, b, judge, side, win_a, win_b, tie, strength, lean, tied, right, out):
    """The information in the comparisons of cells; ``out`` is (4, cell).

    Of the difference of the two log strengths; of how often the judge is right; of both together;
    and of the judge's lean, if they were right.
    """
    for c in range(a.size):
        i, k, j = a[c], b[c], judge[c]
        many = win_a[c] + win_b[c] + tie[c]
        p, q, t, m = _three(strength[i], strength[k], side[c] * lean[j], tied)
        pr, qr, tr, mr = _three(strength[k], strength[i], side[c] * lean[j], tied)
        good, bad = right[j], 1.0 - right[j]
        known, own, both = 0.0, 0.0, 0.0
        for one, other, score in ((p, pr, 1.0), (q, qr, 0.0), (t, tr, 0.5)):
            chance = good * one + bad * other
            slope = good * one * (score - m) - bad * other * (score - mr)
            if chance > 0.0:
                known += slope * slope / chance
                own += (one - other) ** 2 / chance
                both += slope * (one - other) / chance
        out[0, c] = known * many
        out[1, c] = own * many
        out[2, c] = both * many
        out[3, c] = (p + 0.25 * t - m * m) * many if side[c] != 0 else 0.0


@njit(**_COMPILED)
def count_answers(left, right, outcome, first, judge, score, out):
    """Add up what each judge answered, (judge, 6).

    Comparisons, decided, decided as the scores have it, ties, decided with a known order, and those
    of them won by what was shown first.
    """
    for n in range(left.size):
        row = out[judge[n]]
        row[0] += 1
        if outcome[n] > 1:
            row[3] += outcome[n] == 2
            continue
        ahead = score[left[n]] - score[right[n]]
        row[1] += 1
        row[2] += ahead > 0.0 if outcome[n] == 0 else ahead < 0.0
        if first[n] >= 0:
            row[4] += 1
            row[5] += outcome[n] == first[n]


@njit(**_COMPILED)
def _three(first, second, lean, tied):
    """Probabilities that the first wins, loses, ties; and the mean of its score."""
    move = math.exp(0.5 * lean)
    x, y = first * move, second / move
    even = tied * math.sqrt(first * second)
    norm = 1.0 / (x + y + even)
    mean = (x + 0.5 * even) * norm
    return x * norm, y * norm, even * norm, mean


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


_LEAST = 1e-300


@njit(**_COMPILED)
def compared(
    a, b, judge, side, win_a, win_b, tie, theta, lean, odds, tied, to_theta, to_lean, to_odds
):
    """The log likelihood of comparisons and its slope in log ``tied``; adds slopes to the rest."""
    total, to_tied = 0.0, 0.0
    for c in range(a.size):
        i, k, j = a[c], b[c], judge[c]
        d, shown = theta[i] - theta[k], side[c] * lean[j]
        right = 1.0 / (1.0 + math.exp(-odds[j]))
        up, down = math.exp(0.5 * (d + shown)), math.exp(0.5 * (shown - d))
        norm, turned = 1.0 / (up + 1.0 / up + tied), 1.0 / (down + 1.0 / down + tied)
        mean, other = (up + 0.5 * tied) * norm, (down + 0.5 * tied) * turned
        for outcome in range(3):
            if outcome == 0:
                many, score, p, q = win_a[c], 1.0, up * norm, down * turned
            elif outcome == 1:
                many, score, p, q = win_b[c], 0.0, norm / up, turned / down
            else:
                many, score, p, q = tie[c], 0.5, tied * norm, tied * turned
            if many == 0.0:
                continue
            chance = max(right * p + (1.0 - right) * q, _LEAST)
            share = right * p / chance
            x, y = share * (score - mean), (1.0 - share) * (score - other)
            total += many * math.log(chance)
            to_theta[i] += many * (x - y)
            to_theta[k] -= many * (x - y)
            to_lean[j] += many * side[c] * (x + y)
            to_odds[j] += many * (share - right)
            even = 1.0 if outcome == 2 else 0.0
            to_tied += many * (even - tied * (share * norm + (1.0 - share) * turned))
    return total, to_tied


@njit(**_COMPILED)
def graded(
    item, judge, label, weight, theta, shift, sharp, cut, to_theta, to_shift, to_sharp, to_cut
):
    """The log likelihood of grades; adds its slopes to those given."""
    total = 0.0
    for n in range(item.size):
        i, j, given = item[n], judge[n], label[n]
        steep = math.exp(sharp[j])
        level = theta[i] - shift[j]
        log, above, below, x, y = 0.0, 0.0, 0.0, 0.0, 0.0
        if given > 0:  # above the cut below it
            x = steep * (level - cut[given - 1])
            log -= math.log1p(math.exp(-x)) if x > -30.0 else -x
            above = 1.0 / (1.0 + math.exp(min(x, 700.0)))
        if given < cut.size:  # and below the one above it
            y = steep * (level - cut[given])
            log -= math.log1p(math.exp(y)) if y < 30.0 else y
            below = -1.0 / (1.0 + math.exp(min(-y, 700.0)))
        if given > 0 and given < cut.size:
            gap = max(x - y, 1e-12)
            log += math.log(-math.expm1(-gap))
            more = 1.0 / math.expm1(min(gap, 700.0))
            above += more
            below -= more
        total += weight[n] * log
        slope = weight[n] * steep * (above + below)
        to_theta[i] += slope
        to_shift[j] -= slope
        to_sharp[j] += weight[n] * (above * x + below * y)
        if given > 0:
            to_cut[given - 1] -= weight[n] * steep * above
        if given < cut.size:
            to_cut[given] -= weight[n] * steep * below
    return total
