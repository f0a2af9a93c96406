"""Draws of rates between two sweeps of the Gibbs sampler: confusion and prevalence given counts.

A row of rates is Dirichlet, given pseudo-counts and counts: gamma variates over their sum. Many are
drawn together, in steps, so that all but the random numbers themselves runs as vector instructions.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from adjudge.kernels._hyper import SMALL, logs, update
from adjudge.kernels._vectors import COMPILED, U
from adjudge.kernels.fixed import LOG, SMALLEST

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
def _dirichlets(rng, shape, rows, columns, room, bits, rate, log):
    """Dirichlet draws, one for each row of shapes, into ``rate``, and their logarithms.

    Shapes become expectations of the rates. ``room`` is to work in, ``bits`` the same as whole
    numbers.
    """
    _gammas(rng, shape, rows * columns, room, rate)
    for row in range(rows):
        start = U(row * columns)
        whole, weight = 0.0, 0.0
        for c in range(U(columns)):
            whole += rate[start + c]
            weight += shape[start + c]
        if whole < _TINY:
            _alone(rng, shape, start, columns, weight, rate)
            whole = 1.0
        whole, weight = 1.0 / whole, 1.0 / weight
        for c in range(U(columns)):
            rate[start + c] *= whole
            shape[start + c] *= weight
    for n in range(rows * columns):
        room[n] = max(rate[n], SMALLEST)
    logs(room, bits, log, rows * columns)


@njit(cache=True, nogil=True)
def _make_rates_workspace(size):
    """Buffers for rates drawn together: shapes, room to work in and its bits, rates, logs."""
    room = np.empty(size, dtype=np.float64)
    return (
        np.empty(size, dtype=np.float64),
        room,
        room.view(np.int64),
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
    shape, room, bits, rate, log = _make_rates_workspace(together * each)
    for begin in range(0, judges, together):
        few = min(together, judges - begin)
        at = U(0)
        for j in range(U(begin), U(begin + few)):
            for k in range(U(truths)):
                for y in range(U(labels)):
                    shape[at] = alpha[k, y] + counts[j, y, k]
                    at += U(1)
        _dirichlets(rng, shape, few * truths, labels, room, bits, rate, log)
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
    shape, room, bits, rate, log = _make_rates_workspace(together * truths)
    for begin in range(0, topics, together):
        few = min(together, topics - begin)
        for b in range(few):
            for k in range(truths):
                shape[U(b * truths + k)] = alpha[k] + classes[begin + b, k]
        _dirichlets(rng, shape, few, truths, room, bits, rate, log)
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

    ``rows`` and ``common`` are the learnt priors of confusion, one a truth, and of prevalence: eta,
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
    """The arrays that ``update`` needs beside its arguments: phi, tails, large, reach."""
    return (
        np.empty(columns, dtype=np.float64),
        np.zeros((columns + 1, SMALL), dtype=np.float64),
        np.zeros((columns + 1, max(rows, 1)), dtype=np.float64),
        np.zeros((columns + 1, 2), dtype=np.int64),
    )
