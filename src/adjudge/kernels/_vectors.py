"""A few items at a time, in loops that the compiler makes into vector instructions.

Kernels that sweep over items gather the logs of a few of them, turn these into probabilities here,
and scatter the counts. In between, the items lie in parallel, (truth, item). Indices are unsigned,
or every one would first be tested for being negative.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from adjudge.kernels.fixed import LOG, SHARE

U = np.uint64
COMPILED: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
}  # no test of every divisor
UNLOG = 1.0 / LOG
FEW = 128  # items taken together: their judgments and buffers stay in the nearest cache
_PER_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453
_HALF = 0x3FE6A09E667F3BCD  # the bits of the square root of 1/2
_LN2_HIGH = 0.6931471803691238  # ln 2 in two parts, so that a multiple of it can be taken off
_LN2_LOW = 1.9082149292705877e-10  # a number without losing its last bits


@njit(**COMPILED)
def add_row(target, at, source, start, width):
    """``target[at : at + width] += source[start : start + width]``, of flat arrays."""
    for k in range(U(width)):
        target[at + k] += source[start + k]


@njit(**COMPILED)
def exponentials(x, bits, scale, out, count):
    """The exponential of ``count`` numbers of 0 or less, to 1 part in 10^14; below -700 as -700.

    ``scale`` is ``bits`` seen as floats: the power of two is put together there. Written out, so
    that it runs as vector instructions and gives the same bits on every machine.
    """
    for k in range(count):
        v = max(x[k], -700.0)
        n = math.floor(v * _PER_LN2 + 0.5)
        r = (v - n * _LN2_HIGH) - n * _LN2_LOW
        bits[k] = (np.int64(n) + 1023) << 52
        tail = 1 / 720 + r * (1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800))))
        out[k] = 1 + r * (1 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * tail)))))
    for k in range(count):
        out[k] *= scale[k]


@njit(**COMPILED)
def logs(x, bits, out, count):
    """The natural logarithm of ``count`` positive numbers, to 1 part in 10^15; ``x`` is used up.

    ``bits`` is ``x`` seen as integers: the power of two is taken off there so that the rest
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


@njit(**COMPILED)
def probabilities(total, few, truths, buffers, p, gain):
    """Probabilities (truth, item) and log-likelihoods from log ratios (item, truth - 1).

    ``buffers`` are buffers as ``room_for`` makes them.
    """
    x, bits, scale, most, weight, weight_bits = buffers
    others = truths - 1
    for b in range(few):
        top = 0
        for k in range(others):
            top = max(top, total[U(b * others + k)])
        most[b] = top
        x[b] = -top * UNLOG
        for k in range(others):
            x[U((k + 1) * few + b)] = (total[U(b * others + k)] - top) * UNLOG
    exponentials(x, bits, scale, p, few * truths)
    for b in range(few):
        weight[b] = p[b]
    for k in range(1, truths):
        for b in range(few):
            weight[b] += p[U(k * few + b)]
    for b in range(few):
        x[b] = 1.0 / weight[b]
    for k in range(truths):
        for b in range(few):
            p[U(k * few + b)] *= x[b]
    logs(weight, weight_bits, gain, few)
    for b in range(few):
        gain[b] += most[b] * UNLOG


@njit(**COMPILED)
def room_for(truths):
    """Buffers for the probabilities of a few items."""
    x = np.empty(FEW * truths, dtype=np.float64)  # (truth, item)
    bits = np.empty(FEW * truths, dtype=np.int64)
    most = np.empty(FEW, dtype=np.int64)
    weight = np.empty(FEW, dtype=np.float64)
    return x, bits, bits.view(np.float64), most, weight, weight.view(np.int64)


@njit(**COMPILED)
def overrule(known, begin, few, truths, p):
    """Put gold, where it is known, in the place of the probabilities (truth, item)."""
    for b in range(few):
        if known[begin + b] >= 0:
            for k in range(truths):
                p[U(k * few + b)] = 1.0 if k == known[begin + b] else 0.0


@njit(**COMPILED)
def finish(p, few, truths, begin, shares, posterior, keep):
    """Probabilities (truth, item) as integer shares (item, truth - 1), and into the posterior."""
    others = truths - 1
    for k in range(others):
        for b in range(few):
            shares[U(b * others + k)] = np.int64(p[U((k + 1) * few + b)] * SHARE + 0.5)
    if keep:
        for b in range(few):
            for k in range(truths):
                posterior[U(begin + b), U(k)] = p[U(k * few + b)]
