"""Log likelihood and slopes of comparisons and grades on one scale of strengths.

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

from numba import njit

_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
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
        whole, turned = 1.0 / (up + 1.0 / up + tied), 1.0 / (down + 1.0 / down + tied)
        mean, other = (up + 0.5 * tied) * whole, (down + 0.5 * tied) * turned
        for outcome in range(3):
            if outcome == 0:
                many, score, p, q = win_a[c], 1.0, up * whole, down * turned
            elif outcome == 1:
                many, score, p, q = win_b[c], 0.0, whole / up, turned / down
            else:
                many, score, p, q = tie[c], 0.5, tied * whole, tied * turned
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
            to_tied += many * (even - tied * (share * whole + (1.0 - share) * turned))
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
