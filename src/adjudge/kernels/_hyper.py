"""Slice sampling of a learnt Dirichlet prior, with the rates under it integrated out.

Rows n (judges, or topics) have counts c[n, :] ~ DirichletMultinomial(kappa phi). The prior is phi
uniform on the simplex and kappa ~ Pareto(minimum 1, shape 1.5). Sampled are log kappa and the
additive log ratios eta of phi, one coordinate at a time, by slices with stepping out (R. M. Neal
2003, doi:10.1214/aos/1056562461).

The density needs sums of log Gamma(a + c) - log Gamma(a) = sum over m < c of log(a + m). With the
tail counts T_m = #{n : c_n > m} that is sum of T_m log(a + m): rows do not matter any more, only
how far counts reach. Counts past ``SMALL`` are few, and take Stirling's series from there.
Logarithms are nearly all of the work, so they are taken many at a time.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

_U = np.uint64
SMALL = 128
_SHAPE = 1.5  # of the Pareto on kappa
_MOST = 50  # steps out on either side, at most
_LN2 = 0.6931471805599453
_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of 1/2
_HALF_LOG_TAU = 0.9189385332046727


@njit(cache=True, nogil=True, error_model="numpy")
def logs(x, bits, out, count):
    """The natural logarithm of ``count`` positive numbers, to 1 part in 10^15; ``x`` is used up.

    ``bits`` is ``x`` seen as whole numbers: the power of two is taken off there so that the rest
    lies about 1, and the rest goes through the series of 2 artanh((x - 1) / (x + 1)). Written out,
    so that it runs as vector instructions. Numbers below 2^-1022 are not normal: not for them.
    """
    for k in range(count):
        power = (bits[k] - _HALF) >> 52
        bits[k] -= power << 52
        out[k] = power * _LN2
    for k in range(count):
        s = (x[k] - 1.0) / (x[k] + 1.0)
        a = s * s
        b = a * a
        c = b * b
        low = (1 / 3 + a * (1 / 5)) + b * (1 / 7 + a * (1 / 9))
        high = (1 / 11 + a * (1 / 13)) + b * (1 / 15 + a * (1 / 17))
        tail = low + c * (high + c * (1 / 19 + a * (1 / 21)))
        out[k] += 2.0 * s + 2.0 * s * a * tail


@njit(cache=True, nogil=True)
def make_log_workspace():
    """Room for as many numbers as are taken together: floats, the same as whole numbers, logs."""
    x = np.empty(SMALL, dtype=np.float64)
    return x, x.view(np.int64), np.empty(SMALL, dtype=np.float64)


@njit(cache=True, nogil=True)
def summarise(counts, tails, large, reach):
    """Tail counts, the large counts, and how many there are, for each column and for row sums.

    ``counts`` is (row, column); ``tails`` is (column + 1, SMALL), ``large`` (column + 1, row),
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
            if value >= SMALL:
                large[c, reach[c, 1]] = value
                reach[c, 1] += 1
                tails[c, SMALL - 1] += 1
            elif value > 0:
                tails[c, value - 1] += 1
    for c in range(columns + 1):
        running = 0
        for m in range(SMALL - 1, -1, -1):
            running += tails[c, m]
            tails[c, m] = running
            if running > 0 and reach[c, 0] == 0:
                reach[c, 0] = m + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _summed(x, count):
    """The sum of ``count`` numbers, in four sums side by side: one alone waits for every number."""
    first = second = third = fourth = 0.0
    whole = count - count % _U(4)
    for k in range(_U(0), whole, _U(4)):
        first += x[k]
        second += x[k + _U(1)]
        third += x[k + _U(2)]
        fourth += x[k + _U(3)]
    for k in range(whole, count):
        first += x[k]
    return (first + second) + (third + fourth)


@njit(cache=True, nogil=True, error_model="numpy")
def _log_gamma(x, log_x):
    """Log Gamma of a number of SMALL or more: Stirling's series, exact to 10^-16 there."""
    inverse = 1.0 / x
    square = inverse * inverse
    tail = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260)))
    return (x - 0.5) * log_x - x + _HALF_LOG_TAU + tail


@njit(cache=True, nogil=True, error_model="numpy")
def _rising(a, c, tails, large, reach, x, bits, out):
    """The sum over rows of log Gamma(a + count) - log Gamma(a), counts as column c has them."""
    few = _U(reach[c, 0])
    for m in range(few):
        x[m] = a + m
    logs(x, bits, out, few)
    for m in range(few):
        x[m] = out[m] * tails[c, m]
    whole = _summed(x, few)
    many = _U(reach[c, 1])
    if many > 0:
        base = _log_gamma(a + SMALL, math.log(a + SMALL))
        for begin in range(_U(0), many, _U(SMALL)):
            few = min(_U(SMALL), many - begin)
            for n in range(few):
                x[n] = a + large[c, begin + n]
            logs(x, bits, out, few)
            for n in range(few):
                x[n] = _log_gamma(a + large[c, begin + n], out[n]) - base
            whole += _summed(x, few)
    return whole


@njit(cache=True, nogil=True)
def _spread(eta, phi):
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
def _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out):
    """The part of the log density that phi has a say in; phi is left as eta has it."""
    _spread(eta, phi)
    kappa = math.exp(log_kappa)
    value = -_SHAPE * log_kappa
    for c in range(phi.size):
        if phi[c] < 1e-290:
            return -math.inf
        value += math.log(phi[c])  # of the change of variables: the prior itself is flat
        value += _rising(kappa * phi[c], _U(c), tails, large, reach, x, bits, out)
    return value


@njit(cache=True, nogil=True)
def _log_whole(log_kappa, tails, large, reach, x, bits, out):
    """The part of the log density that kappa alone has a say in: that of the row sums."""
    columns = _U(len(reach) - 1)
    return _rising(math.exp(log_kappa), columns, tails, large, reach, x, bits, out)


@njit(cache=True, nogil=True)
def log_density(eta, log_kappa, phi, tails, large, reach):
    """Log posterior of (eta, log kappa), up to a constant; minus infinity below kappa = 1."""
    if log_kappa < 0.0:
        return -math.inf
    x, bits, out = make_log_workspace()
    value = _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out)
    return value - _log_whole(log_kappa, tails, large, reach, x, bits, out)


@njit(cache=True, nogil=True)
def _moved(c, point, eta, log_kappa, whole, phi, tails, large, reach, x, bits, out):
    """The log density with coordinate c at a point: of eta, which is moved, or else log kappa.

    ``whole`` is the part that kappa alone has a say in, where log kappa is now.
    """
    if c < eta.size:
        eta[c] = point
        return _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out) - whole
    if point < 0.0:
        return -math.inf
    shares = _log_shares(eta, point, phi, tails, large, reach, x, bits, out)
    return shares - _log_whole(point, tails, large, reach, x, bits, out)


@njit(cache=True, nogil=True)
def update(rng, counts, eta, kappa, width, phi, tails, large, reach):
    """One sweep of slices over eta and log kappa, in place: ``kappa`` is an array of one number.

    ``width`` (column,) are the first widths of the slices, the last for log kappa.
    """
    summarise(counts, tails, large, reach)
    x, bits, out = make_log_workspace()
    log_kappa = math.log(kappa[0])
    whole = _log_whole(log_kappa, tails, large, reach, x, bits, out)
    current = _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out) - whole
    for c in range(phi.size):
        at = eta[c] if c < eta.size else log_kappa
        level = current - rng.standard_exponential()
        left = at - width[c] * rng.random()
        right = left + width[c]
        for end in range(2):
            for _ in range(_MOST):
                point = left if end == 0 else right
                value = _moved(
                    c, point, eta, log_kappa, whole, phi, tails, large, reach, x, bits, out
                )
                if value <= level:
                    break
                if end == 0:
                    left -= width[c]
                else:
                    right += width[c]
        for _ in range(200):
            point = left + (right - left) * rng.random()
            value = _moved(c, point, eta, log_kappa, whole, phi, tails, large, reach, x, bits, out)
            if value > level:
                break
            if point < at:
                left = point
            else:
                right = point
        if c == eta.size:
            log_kappa = point
        current = value
    kappa[0] = math.exp(log_kappa)
    _spread(eta, phi)
