"""The one pass of the "true label + confusion" family: read an item, form its posterior, count.

Given prevalence and confusion, an item's posterior over K truths is a product over its judgments.
A sweep forms it in logs relative to truth 0, so that K - 1 sums suffice, and adds it to the counts
of the item's judges at once: nothing of size items x judges ever exists. Counts of truth 0 follow
by subtraction from the number of judgments in each cell, exactly, since all sums are integers.

Arguments that the kernels share:

offsets, judge, label   the judgments, grouped by item
start, stop             the items of this block
topic, topic_step       topic of item i at topic[i * topic_step]; step 0 and [0] when pooled
known, known_step       gold of item i at known[i * known_step]; -1 is unknown; step 0 and [-1]
prior                   (topic, truth - 1) log prevalence relative to truth 0, in log units, flat
ratio                   (judge * step + label, truth - 1) log confusion relative to truth 0, flat
step                    labels, where each judge has their own confusion; 0, where all share one
counts                  (judge * step + label, truth - 1) shares of truths 1..K-1, flat, added to
classes                 (topic, truth - 1) shares of truths 1..K-1, flat, added to
posterior               (item, truth) written where ``keep`` is true

Some of them come together: ``given`` are the judgments, ``where`` topics and gold with their steps,
``tables`` prior and ratio.

Votes, plain and weighted, and what judges' features are counted from, are one pass each too:

votes                   (label, truth) 1 where the label means the truth, flat
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from adjudge.kernels._vectors import (
    COMPILED,
    FEW,
    UNLOG,
    U,
    add_row,
    finish,
    overrule,
    probabilities,
    room_for,
)
from adjudge.kernels.fixed import LIKELIHOOD, LOG, SHARE, SMALLEST


@njit(**COMPILED)
def count_cells(judge, label, step, cells):
    """How many judgments fall in each (judge, label) cell."""
    for m in range(judge.size):
        cells[U(judge[m]) * U(step) + U(label[m])] += 1


def log_units(rates: NDArray[np.float64]) -> NDArray[np.int64]:
    """The logarithm of each rate, in units of 2^-40."""
    logs = np.maximum(rates, SMALLEST, order="C")
    np.log(logs, out=logs)
    logs *= LOG
    return np.rint(logs, out=logs).astype(np.int64)


@njit(**COMPILED)
def relative(logs, ratio):
    """Logs (row, truth, column) relative to truth 0, as a flat (row, column, truth - 1)."""
    rows, truths, columns = logs.shape
    at = 0
    for row in range(rows):
        for column in range(columns):
            for k in range(1, truths):
                ratio[at] = logs[row, k, column] - logs[row, 0, column]
                at += 1


@njit(**COMPILED)
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


@njit(**COMPILED)
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


@cache
def expectation(truths: int, voting: bool = False) -> Callable[..., Any]:
    """The expectation sweep for a number of truths; returns the log-likelihood relative to truth 0.

    The number of truths is a constant of the compiled loop, so that additions of rows are unrolled.
    With ``voting``, posteriors are vote shares, where everything starts, and it returns 0: the
    second of ``tables`` is ``votes``. A label that means no truth casts no vote; an item
    without votes is open, every truth alike. Gold overrules votes.
    """
    others = truths - 1
    width = truths if voting else others  # of what is summed over the judgments of an item

    @njit(**COMPILED)
    def expect(given, start, stop, where, tables, step, counts, classes, posterior, keep):
        offsets, judge, label = given
        topic, topic_step, known, known_step = where
        prior, ratio = tables
        total = np.empty(FEW * width, dtype=np.int64)  # (item, width)
        shares = np.empty(FEW * others, dtype=np.int64)  # (item, truth - 1)
        p = np.empty(FEW * truths, dtype=np.float64)  # (truth, item)
        gain = np.empty(FEW, dtype=np.float64)
        wide = np.int64(truths)  # no constant: what is called is compiled once for any number
        buffers = room_for(wide)
        likelihood = 0
        for begin in range(start, stop, FEW):
            few = min(FEW, stop - begin)
            total[:] = 0
            for b in range(few):
                i, base = U(begin + b), U(b * width)
                if not voting:
                    add_row(total, base, prior, U(topic[i * U(topic_step)]) * U(others), others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = U(label[m]) if voting else U(judge[m]) * U(step) + U(label[m])
                    add_row(total, base, ratio, cell * U(width), width)
            if voting:
                _vote_probabilities(total, few, wide, gain, p)
            else:
                probabilities(total, few, wide, buffers, p, gain)
            if known_step:
                overrule(known, begin, few, wide, p)
            if not voting:
                for b in range(few):
                    truth = known[known_step * (begin + b)]
                    if truth >= 0:
                        gain[b] = total[U(b * others + truth - 1)] * UNLOG if truth > 0 else 0.0
                    likelihood += np.int64(gain[b] * LIKELIHOOD)
            finish(p, few, wide, begin, shares, posterior, keep)
            for b in range(few):
                i, base = U(begin + b), U(b * others)
                add_row(classes, U(topic[i * U(topic_step)]) * U(others), shares, base, others)
                for m in range(U(offsets[i]), U(offsets[i + U(1)])):
                    cell = (U(judge[m]) * U(step) + U(label[m])) * U(others)
                    add_row(counts, cell, shares, base, others)
        return likelihood

    return cast(Callable[..., Any], expect)


@njit(cache=True, nogil=True)
def weigh_votes(given, start, stop, gold, truth_of, weight, plain, flip, posterior, fallback):
    """Share of the weight that each truth has in each item; whether the plain weights had to do.

    ``weight`` (judge,) are integers, so that their sums do not depend on the order; where an
    item's sum to nothing, ``plain`` is taken instead. A judge whom ``flip`` marks votes for the
    other one of two truths. A label that means no truth casts no vote; an item without votes
    is open, every truth alike. Gold, ``known`` and ``known_step`` together, overrules votes.
    """
    offsets, judge, label = given
    known, known_step = gold
    truths = posterior.shape[1]
    votes = np.empty(truths, dtype=np.int64)
    for i in range(start, stop):
        fallback[i] = False
        truth = known[i * known_step]
        if truth >= 0:
            posterior[i, :] = 0.0
            posterior[i, truth] = 1.0
            continue
        mass = 0
        for attempt in range(2):
            votes[:] = 0
            mass = 0
            for m in range(offsets[i], offsets[i + 1]):
                voted = truth_of[label[m]]
                if voted >= 0:
                    heavy = weight[judge[m]] if attempt == 0 else plain[judge[m]]
                    votes[1 - voted if flip[judge[m]] else voted] += heavy
                    mass += heavy
            if mass > 0:
                break
            fallback[i] = attempt == 0 and offsets[i + 1] > offsets[i]
        for k in range(truths):
            posterior[i, k] = votes[k] / mass if mass > 0 else 1.0 / truths


@njit(cache=True, nogil=True)
def count_under(offsets, judge, label, start, stop, posterior, counts):
    """Add each item's posterior to the counts (judge, truth, label) of its judges, in shares."""
    truths = posterior.shape[1]
    for i in range(start, stop):
        for k in range(truths):
            share = np.int64(posterior[i, k] * SHARE + 0.5)
            for m in range(offsets[i], offsets[i + 1]):
                counts[judge[m], k, label[m]] += share


@njit(cache=True, nogil=True)
def count_against(offsets, judge, label, start, stop, reference, counts):
    """Count the labels of each judge by the kind of the item: (judge, kind, label).

    ``reference`` (item,) is the kind of each item, -1 for those that are left out.
    """
    for i in range(start, stop):
        kind = reference[i]
        if kind >= 0:
            for m in range(offsets[i], offsets[i + 1]):
                counts[judge[m], kind, label[m]] += 1
