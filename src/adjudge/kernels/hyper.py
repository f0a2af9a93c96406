"""Slice sampling of a learnt Dirichlet prior, with the rates under it integrated out.

Rows n (judges, or topics) have counts c[n, :] ~ DirichletMultinomial(kappa phi). The prior is phi
uniform on the simplex and kappa ~ Pareto(minimum 1, shape 1.5). Sampled are log kappa and the
additive log ratios eta of phi, one coordinate at a time, by slices with stepping out (R. M. Neal
2003, doi:10.1214/aos/1056562461).

The density needs sums of log Gamma(a + c) - log Gamma(a) = sum over m < c of log(a + m). With the
tail counts T_m = #{n : c_n > m} that is sum of T_m log(a + m): rows do not matter any more, only
how far counts reach. Counts past ``_SMALL`` are few, and take Stirling's series from there.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_SMALL = 128
_SHAPE = 1.5  # of the Pareto on kappa
_MOST = 50  # steps out on either side, at most


@njit(cache=True, nogil=True)
def summarise(counts, tails, large, reach):
    """Tail counts, the large counts, and how many there are, for each column and for row sums.

    ``counts`` is (row, column); ``tails`` is (column + 1, _SMALL), ``large`` (column + 1, row),
    ``reach`` (column + 1, 2): how far the tail goes, and how many large counts there are.
    """
    rows, columns = counts.shape
    tails[:] = 0
    reach[:] = 0
    for n in range(rows):
        whole = 0
        for c in range(columns + 1):
            if c < columns:
                value = counts[n, c]
                whole += value
            else:
                value = whole
            if value >= _SMALL:
                large[c, reach[c, 1]] = value
                reach[c, 1] += 1
                tails[c, _SMALL - 1] += 1
            elif value > 0:
                tails[c, value - 1] += 1
    for c in range(columns + 1):
        running = 0
        for m in range(_SMALL - 1, -1, -1):
            running += tails[c, m]
            tails[c, m] = running
            if running > 0 and reach[c, 0] == 0:
                reach[c, 0] = m + 1


@njit(cache=True, nogil=True)
def log_gamma(x):
    """Log Gamma of a number of _SMALL or more: Stirling's series, exact to 10^-16 there."""
    inverse = 1.0 / x
    square = inverse * inverse
    tail = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260)))
    return (x - 0.5) * math.log(x) - x + 0.9189385332046727 + tail


@njit(cache=True, nogil=True)
def rising(a, tail, reach, large):
    """The sum over rows of log Gamma(a + c) - log Gamma(a), from a column's summary."""
    whole = 0.0
    for m in range(reach[0]):
        whole += tail[m] * math.log(a + m)
    if reach[1] > 0:
        base = log_gamma(a + _SMALL)
        for n in range(reach[1]):
            whole += log_gamma(a + large[n]) - base
    return whole


@njit(cache=True, nogil=True)
def spread(eta, phi):
    """Phi from additive log ratios: the last has ratio 0."""
    most = 0.0
    for c in range(eta.size):
        most = max(most, eta[c])
    whole = math.exp(-most)
    phi[eta.size] = whole
    for c in range(eta.size):
        phi[c] = math.exp(eta[c] - most)
        whole += phi[c]
    for c in range(phi.size):
        phi[c] /= whole


@njit(cache=True, nogil=True)
def log_density(eta, log_kappa, phi, tails, large, reach):
    """Log posterior of (eta, log kappa), up to a constant; minus infinity below kappa = 1."""
    if log_kappa < 0.0:
        return -math.inf
    spread(eta, phi)
    kappa = math.exp(log_kappa)
    columns = phi.size
    value = -_SHAPE * log_kappa
    for c in range(columns):
        if phi[c] < 1e-290:
            return -math.inf
        value += math.log(phi[c])  # of the change of variables: the prior itself is flat
        value += rising(kappa * phi[c], tails[c], reach[c], large[c])
    return value - rising(kappa, tails[columns], reach[columns], large[columns])


@njit(cache=True, nogil=True)
def update(rng, counts, eta, kappa, width, phi, tails, large, reach):
    """One sweep of slices over eta and log kappa, in place: ``kappa`` is an array of one number.

    ``width`` (column,) are the first widths of the slices, the last for log kappa.
    """
    summarise(counts, tails, large, reach)
    log_kappa = math.log(kappa[0])
    columns = phi.size
    current = log_density(eta, log_kappa, phi, tails, large, reach)
    for c in range(columns):
        at = eta[c] if c < columns - 1 else log_kappa
        level = current - rng.standard_exponential()
        left = at - width[c] * rng.random()
        right = left + width[c]
        for end in range(2):
            for _ in range(_MOST):
                point = left if end == 0 else right
                if c < columns - 1:
                    eta[c] = point
                    value = log_density(eta, log_kappa, phi, tails, large, reach)
                else:
                    value = log_density(eta, point, phi, tails, large, reach)
                if value <= level:
                    break
                if end == 0:
                    left -= width[c]
                else:
                    right += width[c]
        for _ in range(200):
            point = left + (right - left) * rng.random()
            if c < columns - 1:
                eta[c] = point
                value = log_density(eta, log_kappa, phi, tails, large, reach)
            else:
                value = log_density(eta, point, phi, tails, large, reach)
            if value > level:
                break
            if point < at:
                left = point
            else:
                right = point
        if c == columns - 1:
            log_kappa = point
        current = value
    kappa[0] = math.exp(log_kappa)
    spread(eta, phi)


def workspace(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The arrays that ``update`` needs beside its arguments: phi, tails, large, reach."""
    return (
        np.empty(columns, dtype=np.float64),
        np.zeros((columns + 1, _SMALL), dtype=np.int64),
        np.zeros((columns + 1, max(rows, 1)), dtype=np.int64),
        np.zeros((columns + 1, 2), dtype=np.int64),
    )
