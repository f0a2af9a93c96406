"""The Gibbs sampler of Bradley and Terry's model with ties, judges and positions.

With x half the log odds between two items and tied = 2 cos(phi), the chance of a win has
1 / (cosh x + cos phi) below it, whose zeros lie on the imaginary axis: it is a mixture of normal
densities whose precision is a sum of gamma variables over (c^2 + x^2), c = (2 k - 1) pi +- phi.
With no ties phi is pi / 2 and the precision is Polya and gamma's (Polson, Scott and Windle 2013,
doi:10.1080/01621459.2013.829001). With tied = 2 cosh(c) above 2 the same term is a product of two
such, at x + c and x - c. Given precisions, everything is normal. The first terms of each sum are
drawn, the rest is put in at its mean: its variance is less than 1e-5 of the total.

Arguments are those of ``adjudge.kernels.pairs``, and:

starts, entries   cells of each item: entries[starts[i]:starts[i + 1]], as cell * 2 + (it is b)
theta             (item,) log strengths
prior             weight of the prior: that many wins and losses against an item of log strength 0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

_COMPILED: dict[str, Any] = {"cache": True, "nogil": True, "error_model": "numpy"}
_TERMS = 12


@njit(**_COMPILED)
def _precision(many, x, tied, rng):
    """A draw of the precision of x, and of its linear term, for a number of comparisons."""
    if tied <= 2.0:
        return _summed(many, x, math.acos(0.5 * tied), rng), 0.0
    c = math.acosh(0.5 * tied)
    one = 0.25 * _summed(many, 0.5 * (x + c), 0.5 * math.pi, rng)
    two = 0.25 * _summed(many, 0.5 * (x - c), 0.5 * math.pi, rng)
    return one + two, -c * (one - two)


@njit(**_COMPILED)
def _summed(many, x, phi, rng):
    """A draw of the precision w in (cosh x + cos phi)^-many = E exp(-w x^2 / 2), tilted by it."""
    square = x * x
    small = abs(x) < 1e-4
    mean = 1.0 / (1.0 + math.cos(phi))
    if not small:
        grown = math.exp(-abs(x))
        mean = (1.0 - grown * grown) / (
            (1.0 + grown * grown + 2.0 * grown * math.cos(phi)) * abs(x)
        )
    total, head = 0.0, 0.0
    for k in range(_TERMS):
        middle = (2 * k + 1) * math.pi
        for c in (middle - phi, middle + phi):
            weight = 2.0 / (c * c + square)
            head += weight
            drawn = rng.standard_exponential() if many == 1.0 else rng.standard_gamma(many)
            total += weight * drawn
    return total + max(mean - head, 0.0) * many


@njit(**_COMPILED)
def _log_chance(x, tied):
    """log(2 cosh x + tied), without overflow."""
    size = abs(x)
    grown = math.exp(-size)
    return size + math.log(1.0 + grown * grown + tied * grown)


@njit(**_COMPILED)
def turn(a, b, judge, side, wins, theta, lean, tied, right, turned, rng):
    """Draw which comparisons were against the order; ``turned`` (cell, 3) says how many."""
    for c in range(a.size):
        j = judge[c]
        d, move = theta[a[c]] - theta[b[c]], side[c] * lean[j]
        with_order, against = (
            _log_chance(0.5 * (d + move), tied),
            _log_chance(0.5 * (move - d), tied),
        )
        for o in range(3):
            turned[c, o] = 0.0
            if wins[c, o] == 0.0:
                continue
            sign = 0.5 if o == 0 else (-0.5 if o == 1 else 0.0)
            p = math.log(right[j]) + sign * (d + move) - with_order
            q = math.log1p(-right[j]) + sign * (move - d) - against
            chance = 1.0 / (1.0 + math.exp(min(p - q, 700.0)))
            many = wins[c, o]
            norm = int(many)
            count = 0.0
            for _ in range(norm):
                count += 1.0 if rng.random() < chance else 0.0
            turned[c, o] = count + (many - norm) * chance


@njit(**_COMPILED)
def draw_right(judge, wins, turned, alpha, beta, right, rng):
    """Draw how often each judge answers with the order."""
    good = np.full(right.size, alpha)
    bad = np.full(right.size, beta)
    for c in range(judge.size):
        for o in range(3):
            good[judge[c]] += wins[c, o] - turned[c, o]
            bad[judge[c]] += turned[c, o]
    for j in range(right.size):
        x, y = rng.standard_gamma(good[j]), rng.standard_gamma(bad[j])
        right[j] = min(max(x / (x + y), 1e-9), 1.0 - 1e-9)


@njit(**_COMPILED)
def log_tied(a, b, judge, side, wins, turned, theta, lean, tied):
    """The log-likelihood as far as it depends on the weight of ties."""
    total = 0.0
    for c in range(a.size):
        d, move = theta[a[c]] - theta[b[c]], side[c] * lean[judge[c]]
        against = turned[c, 0] + turned[c, 1] + turned[c, 2]
        plain = wins[c, 0] + wins[c, 1] + wins[c, 2] - against
        total += wins[c, 2] * math.log(tied)
        if plain > 0.0:
            total -= plain * _log_chance(0.5 * (d + move), tied)
        if against > 0.0:
            total -= against * _log_chance(0.5 * (move - d), tied)
    return total


@njit(**_COMPILED)
def augment(a, b, judge, side, wins, turned, theta, lean, tied, form, rng):
    """Draw the precision of every cell: ``form`` (cell, 4) precision and linear term, both ways.

    They belong to the total log odds: psi with the order, and move - d against it.
    """
    for c in range(a.size):
        d, move = theta[a[c]] - theta[b[c]], side[c] * lean[judge[c]]
        against = turned[c, 0] + turned[c, 1] + turned[c, 2]
        plain = wins[c, 0] + wins[c, 1] + wins[c, 2] - against
        form[c, :] = 0.0
        if plain > 0.0:
            w, linear = _precision(plain, 0.5 * (d + move), tied, rng)
            ahead = wins[c, 0] - turned[c, 0] - wins[c, 1] + turned[c, 1]
            form[c, 0], form[c, 1] = 0.25 * w, 0.5 * (ahead + linear)
        if against > 0.0:
            w, linear = _precision(against, 0.5 * (move - d), tied, rng)
            ahead = turned[c, 0] - turned[c, 1]
            form[c, 2], form[c, 3] = 0.25 * w, 0.5 * (ahead + linear)


@njit(**_COMPILED)
def draw_theta(starts, entries, a, b, judge, side, theta, lean, form, prior, rng):
    """Draw log strengths one after the other, then their common level."""
    level, weight = 0.0, 0.0
    for i in range(theta.size):
        own, w = 0.0, 0.0
        if prior > 0.0:
            w = 0.25 * _summed(2.0 * prior, 0.5 * theta[i], 0.5 * math.pi, rng)
        held = w
        for n in range(starts[i], starts[i + 1]):
            c = entries[n] >> 1
            sign = -1.0 if entries[n] & 1 else 1.0
            move = side[c] * lean[judge[c]]
            rest = theta[a[c]] - theta[b[c]] - sign * theta[i]
            w += form[c, 0] + form[c, 2]
            own += sign * (form[c, 1] - form[c, 0] * (rest + move))
            own -= sign * (form[c, 3] - form[c, 2] * (move - rest))
        theta[i] = own / w + rng.standard_normal() / math.sqrt(w)
        level += held * theta[i]
        weight += held
    if prior > 0.0:
        theta += -level / weight + rng.standard_normal() / math.sqrt(weight)


@njit(**_COMPILED)
def draw_lean(a, b, judge, side, theta, lean, form, centre, spread, rng):
    """Draw each judge's lean to what is shown first, and its mean over judges; the new mean."""
    own = np.full(lean.size, centre / (spread * spread))
    w = np.full(lean.size, 1.0 / (spread * spread))
    for c in range(a.size):
        if side[c] != 0:
            d = theta[a[c]] - theta[b[c]]
            w[judge[c]] += form[c, 0] + form[c, 2]
            own[judge[c]] += side[c] * (form[c, 1] - form[c, 0] * d)
            own[judge[c]] += side[c] * (form[c, 3] + form[c, 2] * d)
    total = 0.0
    for j in range(lean.size):
        lean[j] = own[j] / w[j] + rng.standard_normal() / math.sqrt(w[j])
        total += lean[j]
    held = 1.0 + lean.size / (spread * spread)
    return total / (spread * spread) / held + rng.standard_normal() / math.sqrt(held)
