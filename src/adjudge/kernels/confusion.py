"""The one pass of the "true label + confusion" family: read an item, form its posterior, count.

Given prevalence and confusion, an item's posterior over K truths is a product over its judgments.
A sweep forms it in logs relative to truth 0, so that K - 1 sums suffice, and adds it to the counts
of the item's judges at once: nothing of size items x judges ever exists. Counts of truth 0 follow
by subtraction from the number of judgments in each cell, exactly, since all sums are whole numbers.

Items are taken a few at a time, in three steps: gather the logs, turn them into probabilities with
loops that the compiler makes into vector instructions, scatter the counts. Rows of the tables are
added as one vector each; in between, a few items lie side by side, (truth, item). Indices are
unsigned, or every one of them would first be tested for being negative.

Arguments that the kernels share:

offsets, judge, label   the judgments, grouped by item
start, stop             the items of this block
topic, topic_step       topic of item i at topic[i * topic_step]; step 0 and [0] when pooled
known, known_step       gold of item i at known[i * known_step]; -1 is unknown; step 0 and [-1]
prior                   (topic, truth - 1) log prevalence relative to truth 0, in log units, flat
ratio                   (judge * step + label, truth - 1) log confusion relative to truth 0, flat
votes                   (label, truth) 1 where the label stands for the truth, flat
step                    labels, where each judge has their own confusion; 0, where all share one
counts                  (judge * step + label, truth - 1) shares of truths 1..K-1, flat, added to
classes                 (topic, truth - 1) shares of truths 1..K-1, flat, added to
posterior               (item, truth) written where ``keep`` is true
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from adjudge.kernels.fixed import LIKELIHOOD, LOG, SHARE

U = np.uint64
_COMPILED: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
}  # no test of every divisor
_UNLOG = 1.0 / LOG
_FEW = 128  # items taken together: their judgments and buffers stay in the nearest cache
_PER_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453
_LN2_HIGH = 0.6931471803691238  # ln 2 in two parts, so that a multiple of it can be taken off
_LN2_LOW = 1.9082149292705877e-10  # a number without losing its last bits


@intrinsic(prefer_literal=True)
def add_row(_, target, at, source, start, width):
    """``target[at : at + width] += source[start : start + width]``, as one vector addition.

    Flat arrays of 64-bit whole numbers and a constant width. Written as a loop, it would not become
    a vector addition, since nothing tells the compiler that the two arrays do not overlap.
    """
    if not isinstance(width, types.IntegerLiteral):
        return None

    def generate(context, builder, signature, values):
        if width.literal_value == 0:  # one truth, and nothing to say about it
            return context.get_dummy_value()
        row = ir.VectorType(ir.IntType(64), width.literal_value).as_pointer()

        def place(array, index):
            data = context.make_array(signature.args[array])(context, builder, values[array]).data
            return builder.bitcast(builder.gep(data, [values[index]]), row)

        into, out_of = place(0, 1), place(2, 3)
        both = builder.add(builder.load(into, align=8), builder.load(out_of, align=8))
        builder.store(both, into, align=8)
        return context.get_dummy_value()

    return types.void(target, at, source, start, width), generate


@njit(**_COMPILED)
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


@njit(**_COMPILED)
def logarithms(w, bits, out, count):
    """The logarithm of ``count`` numbers that are 1 or more, to 10^-11; ``w`` is used up.

    ``bits`` is ``w`` seen as whole numbers: the power of two is taken off there, and the rest, in
    1..2, goes through the series of 2 artanh((w - 1) / (w + 1)).
    """
    for k in range(count):
        power = (bits[k] >> 52) - 1023
        out[k] = power * _LN2
        bits[k] -= power << 52
    for k in range(count):
        s = (w[k] - 1.0) / (w[k] + 1.0)
        a = s * s
        b = a * a
        c = b * b
        low = (1.0 + a * (1 / 3)) + b * (1 / 5 + a * (1 / 7))
        mid = (1 / 9 + a * (1 / 11)) + b * (1 / 13 + a * (1 / 15))
        high = (1 / 17 + a * (1 / 19)) + b * (1 / 21)
        out[k] += 2.0 * s * (low + c * (mid + c * high))


@njit(**_COMPILED)
def count_cells(judge, label, step, cells):
    """How many judgments fall in each (judge, label) cell."""
    for m in range(judge.size):
        cells[U(judge[m]) * U(step) + U(label[m])] += 1


@njit(**_COMPILED)
def relative(logs, ratio):
    """Logs (row, truth, column) relative to truth 0, as a flat (row, column, truth - 1)."""
    rows, truths, columns = logs.shape
    at = 0
    for row in range(rows):
        for column in range(columns):
            for k in range(1, truths):
                ratio[at] = logs[row, k, column] - logs[row, 0, column]
                at += 1


@njit(**_COMPILED)
def numbers(shares, cells, out):
    """Sums of shares, flat (row, column, truth - 1), as numbers (row, truth, column).

    ``cells`` (row * column) are the numbers that all truths together have: truth 0 is what the
    others leave.
    """
    rows, truths, columns = out.shape
    at = 0
    for row in range(rows):
        for column in range(columns):
            rest = cells[row * columns + column] * np.int64(SHARE)
            for k in range(1, truths):
                rest -= shares[at]
                out[row, k, column] = shares[at] / SHARE
                at += 1
            out[row, 0, column] = max(rest, 0) / SHARE


@njit(**_COMPILED)
def probabilities(total, few, truths, room, p, gain):
    """Probabilities (truth, item) and log-likelihoods from log ratios (item, truth - 1).

    ``room`` are buffers as ``room_for`` makes them.
    """
    x, bits, scale, most, weight, weight_bits = room
    others = truths - 1
    for b in range(few):
        top = 0
        for k in range(others):
            top = max(top, total[U(b * others + k)])
        most[b] = top
        x[b] = -top * _UNLOG
        for k in range(others):
            x[U((k + 1) * few + b)] = (total[U(b * others + k)] - top) * _UNLOG
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
    logarithms(weight, weight_bits, gain, few)
    for b in range(few):
        gain[b] += most[b] * _UNLOG


@njit(**_COMPILED)
def room_for(truths):
    """Buffers for the probabilities of a few items."""
    x = np.empty(_FEW * truths, dtype=np.float64)  # (truth, item)
    bits = np.empty(_FEW * truths, dtype=np.int64)
    most = np.empty(_FEW, dtype=np.int64)
    weight = np.empty(_FEW, dtype=np.float64)
    return x, bits, bits.view(np.float64), most, weight, weight.view(np.int64)


@njit(**_COMPILED)
def _vote_probabilities(cast, few, truths, every, p):
    """Probabilities (truth, item) from votes (item, truth); ``every`` is a buffer for their sum."""
    for b in range(few):
        votes = 0
        for k in range(truths):
            votes += cast[U(b * truths + k)]
            p[U(k * few + b)] = cast[U(b * truths + k)]
        every[b] = votes
    for k in range(truths):
        for b in range(few):
            share = p[U(k * few + b)] / max(every[b], 1.0)
            p[U(k * few + b)] = share if every[b] > 0 else 1.0 / truths


@njit(**_COMPILED)
def _overrule(known, begin, few, truths, p):
    """Put gold, where it is known, in the place of the probabilities (truth, item)."""
    for b in range(few):
        if known[begin + b] >= 0:
            for k in range(truths):
                p[U(k * few + b)] = 1.0 if k == known[begin + b] else 0.0


@njit(**_COMPILED)
def _finish(p, few, truths, begin, shares, posterior, keep):
    """Probabilities (truth, item) as whole shares (item, truth - 1), and into the posterior."""
    others = truths - 1
    for k in range(others):
        for b in range(few):
            shares[U(b * others + k)] = np.int64(p[U((k + 1) * few + b)] * SHARE + 0.5)
    if keep:
        for b in range(few):
            for k in range(truths):
                posterior[U(begin + b), U(k)] = p[U(k * few + b)]


@cache
def expectation(truths: int) -> Callable[..., Any]:
    """The expectation sweep for so many truths; it returns the log-likelihood relative to truth 0.

    The number of truths is a constant of the compiled loop, so that rows are added as vectors.
    """
    others = truths - 1

    @njit(**_COMPILED)
    def expect(
        offsets,
        judge,
        label,
        start,
        stop,
        topic,
        topic_step,
        known,
        known_step,
        prior,
        ratio,
        step,
        counts,
        classes,
        posterior,
        keep,
    ):
        total = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        p = np.empty(_FEW * truths, dtype=np.float64)  # (truth, item)
        gain = np.empty(_FEW, dtype=np.float64)
        wide = np.int64(truths)  # no constant: what is called is compiled once for any number
        room = room_for(wide)
        likelihood = 0
        for begin in range(start, stop, _FEW):
            few = min(_FEW, stop - begin)
            total[:] = 0
            for b in range(few):
                i, base = U(begin + b), U(b * others)
                add_row(total, base, prior, U(topic[i * U(topic_step)]) * U(others), others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    add_row(total, base, ratio, cell, others)
            probabilities(total, few, wide, room, p, gain)
            if known_step:
                _overrule(known, begin, few, wide, p)
                for b in range(few):
                    truth = known[begin + b]
                    if truth >= 0:
                        gain[b] = total[U(b * others + truth - 1)] * _UNLOG if truth > 0 else 0.0
            for b in range(few):
                likelihood += np.int64(gain[b] * LIKELIHOOD)
            shares = total  # the logs have done their work
            _finish(p, few, wide, begin, shares, posterior, keep)
            for b in range(few):
                i, base = U(begin + b), U(b * others)
                add_row(classes, U(topic[i * U(topic_step)]) * U(others), shares, base, others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    add_row(counts, cell, shares, base, others)
        return likelihood

    return cast(Callable[..., Any], expect)


@cache
def vote_shares(truths: int) -> Callable[..., Any]:
    """The sweep that takes vote shares for posteriors, where everything starts; it returns 0.

    A label that stands for no truth casts no vote; an item without votes is open, every truth
    alike. Gold overrules votes.
    """
    others = truths - 1

    @njit(**_COMPILED)
    def share(
        offsets,
        judge,
        label,
        start,
        stop,
        topic,
        topic_step,
        known,
        known_step,
        votes,
        step,
        counts,
        classes,
        posterior,
        keep,
    ):
        total = np.empty(_FEW * truths, dtype=np.int64)  # (item, truth)
        shares = np.empty(_FEW * others, dtype=np.int64)  # (item, truth - 1)
        p = np.empty(_FEW * truths, dtype=np.float64)  # (truth, item)
        every = np.empty(_FEW, dtype=np.float64)
        wide = np.int64(truths)  # no constant: what is called is compiled once for any number
        for begin in range(start, stop, _FEW):
            few = min(_FEW, stop - begin)
            total[:] = 0
            for b in range(few):
                i, base = U(begin + b), U(b * truths)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    add_row(total, base, votes, U(label[m]) * U(truths), truths)
            _vote_probabilities(total, few, wide, every, p)
            if known_step:
                _overrule(known, begin, few, wide, p)
            _finish(p, few, wide, begin, shares, posterior, keep)
            for b in range(few):
                i, base = U(begin + b), U(b * others)
                add_row(classes, U(topic[i * U(topic_step)]) * U(others), shares, base, others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    add_row(counts, cell, shares, base, others)
        return 0

    return cast(Callable[..., Any], share)
