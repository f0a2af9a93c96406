"""Sweeps over judgments that are numbers: an item's value, and what its judges' biases follow from.

Each judgment adds a whole number to the sums of its item and of its judge, in units that are powers
of two and chosen so that sums cannot overflow: no split and no order of the work changes a bit.

Arguments that the kernels share:

offsets, judge, label   the judgments, grouped by item
start, stop             the items of this block
number                  (label,) the number that each label is
known, known_step       gold of item i is gold[known[i * known_step]]; -1 is unknown
"""

from __future__ import annotations

import numpy as np
from numba import njit

from adjudge.kernels.confusion import _COMPILED


@njit(**_COMPILED)
def _whole(number, unit):
    """A number in whole units."""
    return np.int64(np.floor(number * unit + 0.5))


@njit(**_COMPILED)
def measure(offsets, judge, label, start, stop, first, second, unit, judges, items):
    """Add up what stays the same from sweep to sweep, and the plain means of items.

    ``first`` and ``second`` (label,) are numbers and squares in units, ``unit`` (2,) those units.
    ``judges`` (judge, 3): judgments, numbers, squares. ``items`` (4,): how many were judged, their
    means, squares of these, and the squares once a judgment.
    """
    for i in range(start, stop):
        total = 0
        for m in range(offsets[i], offsets[i + 1]):
            total += first[label[m]]
            judges[judge[m], 0] += 1
            judges[judge[m], 1] += first[label[m]]
            judges[judge[m], 2] += second[label[m]]
        count = offsets[i + 1] - offsets[i]
        if count:
            mean = total / unit[0] / count
            square = _whole(mean * mean, unit[1])
            items[0] += 1
            items[1] += _whole(mean, unit[0])
            items[2] += square
            items[3] += square * count


@njit(**_COMPILED)
def _value(
    offsets, judge, label, i, number, known, known_step, gold, prior, shift, pull, weight, unit
):
    """The value of an item and its variance, given the judges.

    ``prior`` (3,): pull and weight before any judgment, and how far from 0 a value may be. ``pull``
    (judge,) is what a judgment of theirs draws by, ``weight`` (judge,) their precision in units.
    ``unit`` (2,): those of pulls and of weights.
    """
    code = known[i * known_step]
    if code >= 0:
        return gold[code], 0.0
    pulls, weights = 0, 0
    for m in range(offsets[i], offsets[i + 1]):
        j = judge[m]
        pulls += _whole((number[label[m]] - shift[j]) * pull[j], unit[0])
        weights += weight[j]
    precision = prior[1] + weights / unit[1]
    value = (prior[0] + pulls / unit[0]) / precision
    return min(max(value, -prior[2]), prior[2]), 1.0 / precision


@njit(**_COMPILED)
def expect(
    offsets,
    judge,
    label,
    start,
    stop,
    number,
    known,
    known_step,
    gold,
    prior,
    shift,
    pull,
    weight,
    unit,
    judges,
    items,
):
    """Add up what is expected of the values: ``judges`` (judge, 3) and ``items`` (2,).

    A judgment adds the value, its square and its product with the number to those of its judge; an
    item adds the value and its square. ``unit[2]`` is that of values, ``unit[3]`` of squares.
    """
    for i in range(start, stop):
        value, spread = _value(
            offsets,
            judge,
            label,
            i,
            number,
            known,
            known_step,
            gold,
            prior,
            shift,
            pull,
            weight,
            unit,
        )
        first = _whole(value, unit[2])
        second = _whole(value * value + spread, unit[3])
        items[0] += first
        items[1] += second
        for m in range(offsets[i], offsets[i + 1]):
            j = judge[m]
            judges[j, 0] += first
            judges[j, 1] += second
            judges[j, 2] += _whole(number[label[m]] * value, unit[3])


@njit(**_COMPILED)
def write_values(
    offsets,
    judge,
    label,
    start,
    stop,
    number,
    known,
    known_step,
    gold,
    prior,
    shift,
    pull,
    weight,
    unit,
    out,
):
    """Write the value and the variance of each item to ``out`` (item, 2)."""
    for i in range(start, stop):
        out[i, 0], out[i, 1] = _value(
            offsets,
            judge,
            label,
            i,
            number,
            known,
            known_step,
            gold,
            prior,
            shift,
            pull,
            weight,
            unit,
        )
