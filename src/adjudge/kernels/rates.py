"""Draws of rates between two sweeps of the Gibbs sampler: confusion and prevalence given counts.

A row of rates is Dirichlet, given pseudo-counts and counts: gamma variates over their sum. Many are
drawn together, in steps, so that all but the random numbers themselves runs as vector instructions.


Slice sampling of a learnt Dirichlet prior, with the rates under it integrated out.

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

from adjudge.kernels._vectors import COMPILED, U, logs
from adjudge.kernels.fixed import LOG, SMALLEST

_U = np.uint64
SMALL = 128
_SHAPE = 1.5  # of the Pareto on kappa
_MOST = 50  # steps out on either side, at most
_HALF_LOG_TAU = 0.9189385332046727


@njit(cache=True, nogil=True)
def make_log_workspace():
    """Room for as many numbers as are taken together: floats, the same as integers, logs."""
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
        total = 0
        for c in range(columns + 1):
            if c < columns:
                value = counts[n, c]
                total += value
            else:
                value = total
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
    """The sum of ``count`` numbers, in four sums in parallel: one alone waits for every number."""
    first = second = third = fourth = 0.0
    total = count - count % _U(4)
    for k in range(_U(0), total, _U(4)):
        first += x[k]
        second += x[k + _U(1)]
        third += x[k + _U(2)]
        fourth += x[k + _U(3)]
    for k in range(total, count):
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
    total = _summed(x, few)
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
            total += _summed(x, few)
    return total


@njit(cache=True, nogil=True)
def _spread(eta, phi):
    """Phi from additive log ratios: the last has ratio 0."""
    most = 0.0
    for c in range(eta.size):
        most = max(most, eta[c])
    total = math.exp(-most)
    phi[eta.size] = total
    for c in range(eta.size):
        phi[c] = math.exp(eta[c] - most)
        total += phi[c]
    for c in range(phi.size):
        phi[c] /= total


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
def _moved(c, point, eta, log_kappa, total, phi, tails, large, reach, x, bits, out):
    """The log density with coordinate c at a point: of eta, which is moved, or else log kappa.

    ``total`` is the part that kappa alone has a say in, where log kappa is now.
    """
    if c < eta.size:
        eta[c] = point
        return _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out) - total
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
    total = _log_whole(log_kappa, tails, large, reach, x, bits, out)
    current = _log_shares(eta, log_kappa, phi, tails, large, reach, x, bits, out) - total
    for c in range(phi.size):
        at = eta[c] if c < eta.size else log_kappa
        level = current - rng.standard_exponential()
        left = at - width[c] * rng.random()
        right = left + width[c]
        for end in range(2):
            for _ in range(_MOST):
                point = left if end == 0 else right
                value = _moved(
                    c, point, eta, log_kappa, total, phi, tails, large, reach, x, bits, out
                )
                if value <= level:
                    break
                if end == 0:
                    left -= width[c]
                else:
                    right += width[c]
        for _ in range(200):
            point = left + (right - left) * rng.random()
            value = _moved(c, point, eta, log_kappa, total, phi, tails, large, reach, x, bits, out)
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


_FEW = 512  # rates drawn together
_TINY = 1e-290


@njit(**COMPILED)
def _gammas(rng, shape, count, spread, out):
    """Gamma variates of ``count`` shapes, by G. Marsaglia and W. W. Tsang (2000).

    A shape below 1 is drawn one higher and shrunk by a power of a uniform number. The method
    (doi:10.1145/358407.358414) is exact; only its draws of normal numbers cannot be done as
    vectors. ``spread`` is room to work in.
    """
    for n in range(count):
        out[n] = shape[n] - 1 / 3 if shape[n] >= 1.0 else shape[n] + 2 / 3
        spread[n] = 1.0 / math.sqrt(9.0 * out[n])
    for n in range(count):
        accepted = False
        root = 0.0
        while not accepted:
            x = rng.standard_normal()
            root = 1.0 + spread[n] * x
            if root > 0.0:
                u = rng.random()
                square = x * x
                accepted = u < 1.0 - 0.0331 * square * square  # nearly always, and no logs
                if not accepted:
                    v = root * root * root
                    accepted = math.log(u) < 0.5 * square + out[n] * (1.0 - v + math.log(v))
        spread[n] = root
    for n in range(count):
        out[n] *= spread[n] * spread[n] * spread[n]
    for n in range(count):
        if shape[n] < 1.0:
            out[n] *= math.exp(-rng.standard_exponential() / shape[n])


@njit(**COMPILED)
def _alone(rng, shape, start, columns, weight, rate):
    """One rate of 1 and the others 0: what a Dirichlet of very small shapes comes to."""
    left = rng.random() * weight
    chosen = U(0)
    for c in range(U(columns)):
        rate[start + c] = 0.0
        left -= shape[start + c]
        chosen += U(left >= 0.0 and c + U(1) < U(columns))
    rate[start + chosen] = 1.0


@njit(**COMPILED)
def _dirichlets(rng, shape, rows, columns, buffer, bits, rate, log):
    """Dirichlet draws, one for each row of shapes, into ``rate``, and their logarithms.

    Shapes become expectations of the rates. ``buffer`` is to work in, ``bits`` the same as
    integers.
    """
    _gammas(rng, shape, rows * columns, buffer, rate)
    for row in range(rows):
        start = U(row * columns)
        total, weight = 0.0, 0.0
        for c in range(U(columns)):
            total += rate[start + c]
            weight += shape[start + c]
        if total < _TINY:
            _alone(rng, shape, start, columns, weight, rate)
            total = 1.0
        total, weight = 1.0 / total, 1.0 / weight
        for c in range(U(columns)):
            rate[start + c] *= total
            shape[start + c] *= weight
    for n in range(rows * columns):
        buffer[n] = max(rate[n], SMALLEST)
    logs(buffer, bits, log, rows * columns)


@njit(cache=True, nogil=True)
def _make_rates_workspace(size):
    """Buffers for rates drawn together: shapes, room to work in and its bits, rates, logs."""
    buffer = np.empty(size, dtype=np.float64)
    return (
        np.empty(size, dtype=np.float64),
        buffer,
        buffer.view(np.int64),
        np.empty(size, dtype=np.float64),
        np.empty(size, dtype=np.float64),
    )


@njit(**COMPILED)
def _draw_confusion(rng, counts, alpha, theta, ratio, mean, keep):
    """Confusion rows given counts, theta_j[k] ~ Dirichlet(alpha_k + counts), and their log ratios.

    ``counts`` is (judge, label, truth), as the sweep leaves them, ``alpha`` (truth, label),
    ``theta`` (judge, truth, label); ``ratio`` is what the sweep takes. Where ``keep`` is true, the
    expectation of theta given the counts is added to ``mean``.
    """
    judges, truths, labels = theta.shape
    each = truths * labels
    together = max(1, _FEW // each)
    shape, buffer, bits, rate, log = _make_rates_workspace(together * each)
    for begin in range(0, judges, together):
        few = min(together, judges - begin)
        at = U(0)
        for j in range(U(begin), U(begin + few)):
            for k in range(U(truths)):
                for y in range(U(labels)):
                    shape[at] = alpha[k, y] + counts[j, y, k]
                    at += U(1)
        _dirichlets(rng, shape, few * truths, labels, buffer, bits, rate, log)
        at = U(0)
        for j in range(U(begin), U(begin + few)):
            for k in range(U(truths)):
                for y in range(U(labels)):
                    theta[j, k, y] = rate[at]
                    if keep:
                        mean[j, k, y] += shape[at]
                    at += U(1)
        into = U(begin * labels * (truths - 1))
        for b in range(few):
            for y in range(labels):
                first = U(b * each + y)
                for k in range(1, truths):
                    ahead = log[first + U(k * labels)] - log[first]
                    ratio[into] = np.int64(ahead * LOG)
                    into += U(1)


@njit(**COMPILED)
def _draw_prevalence(rng, classes, alpha, prevalence, prior, mean, keep):
    """Prevalence of each topic given counts, pi_t ~ Dirichlet(alpha + counts), and its log ratios.

    ``classes`` is (topic, truth), as the sweep leaves them; the rest is as in ``_draw_confusion``.
    """
    topics, truths = prevalence.shape
    together = max(1, _FEW // truths)
    shape, buffer, bits, rate, log = _make_rates_workspace(together * truths)
    for begin in range(0, topics, together):
        few = min(together, topics - begin)
        for b in range(few):
            for k in range(truths):
                shape[U(b * truths + k)] = alpha[k] + classes[begin + b, k]
        _dirichlets(rng, shape, few, truths, buffer, bits, rate, log)
        for b in range(few):
            first = U(b * truths)
            for k in range(U(truths)):
                prevalence[begin + b, k] = rate[first + k]
                if keep:
                    mean[begin + b, k] += shape[first + k]
            for k in range(1, truths):
                ahead = log[first + U(k)] - log[first]
                prior[(begin + b) * (truths - 1) + k - 1] = np.int64(ahead * LOG)


@njit(cache=True, nogil=True)
def draw_rates(rng, counts, classes, rows, common, confusion, prevalence, keep):
    """Everything between two sweeps: learnt priors given the counts, then rates given both.

    ``rows`` and ``common`` are the learnt priors of confusion (per truth) and of prevalence: eta,
    kappa, width, phi and room for ``update``, or None where the prior is fixed. ``confusion`` and
    ``prevalence`` are pseudo-counts, rates, log ratios and sums of expectations, as
    ``_draw_confusion`` and ``_draw_prevalence`` take them. All in one, since to hand over a random
    generator costs more than a hundred draws from it.
    """
    alpha, theta, ratio, theta_mean = confusion
    beta, pi, prior, pi_mean = prevalence
    if rows is not None:
        eta, kappa, width, phi, tails, large, reach = rows
        for k in range(alpha.shape[0]):
            table, one = counts[:, :, k], kappa[k : k + 1]
            update(rng, table, eta[k], one, width[k], phi[k], tails, large, reach)
            for y in range(alpha.shape[1]):
                alpha[k, y] = kappa[k] * phi[k, y]
    if common is not None:
        eta, kappa, width, phi, tails, large, reach = common
        strided = classes[:, ::1]  # a view like those above, or update would be compiled twice
        update(rng, strided, eta[0], kappa[:1], width[0], phi[0], tails, large, reach)
        for k in range(beta.size):
            beta[k] = kappa[0] * phi[0, k]
    _draw_confusion(rng, counts, alpha, theta, ratio, theta_mean, keep)
    _draw_prevalence(rng, classes, beta, pi, prior, pi_mean, keep)


def workspace(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The arrays that ``update`` needs next to its arguments: phi, tails, large, reach."""
    return (
        np.empty(columns, dtype=np.float64),
        np.zeros((columns + 1, SMALL), dtype=np.float64),
        np.zeros((columns + 1, max(rows, 1)), dtype=np.float64),
        np.zeros((columns + 1, 2), dtype=np.int64),
    )
