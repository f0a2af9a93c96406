"""Sweeps over judgments that are numbers: an item's value, and what its judges' biases follow from.

Each judgment adds a integer to the sums of its item and of its judge, in units that are powers
of two and chosen so that sums cannot overflow: the split and order of the work do
not change the result.

The judgments are ``offsets, judge, label``, grouped by item; ``start`` and ``stop`` are the items
of this block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from adjudge.kernels._vectors import COMPILED

FURTHEST = 25.0  # squared residuals, in those expected: more is an outlier, and counts as this


class Swept(NamedTuple):
    """What a sweep reads: the judgments, gold, and the judges as they stand."""

    offsets: Any
    judge: Any
    label: Any
    number: Any  # (label,) the number that each label is
    known: Any  # gold of item i is gold[known[i * known_step]]; -1 is unknown
    known_step: Any
    gold: Any
    prior: Any  # (3,) pull and weight before any judgment, and how far from 0 a value may be
    shift: Any  # (judge,)
    scale: Any  # (judge,)
    noise: Any  # (judge,) variance
    pull: Any  # (judge,) what a judgment of theirs draws by
    weight: Any  # (judge,) their precision, in units
    unit: Any  # (5,) of pulls, weights, values, squares, and of what judges have in common


@njit(**COMPILED)
def _in_units(number, unit):
    """A number as an integer count of units."""
    return np.int64(np.floor(number * unit + 0.5))


@njit(**COMPILED)
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
            square = _in_units(mean * mean, unit[1])
            items[0] += 1
            items[1] += _in_units(mean, unit[0])
            items[2] += square
            items[3] += square * count


@njit(**COMPILED)
def _value(swept, i):
    """The value of an item and its variance, given the judges."""
    code = swept.known[i * swept.known_step]
    if code >= 0:
        return swept.gold[code], 0.0
    pulls, weights = 0, 0
    for m in range(swept.offsets[i], swept.offsets[i + 1]):
        j = swept.judge[m]
        away = swept.number[swept.label[m]] - swept.shift[j]
        pulls += _in_units(away * swept.pull[j], swept.unit[0])
        weights += swept.weight[j]
    precision = swept.prior[1] + weights / swept.unit[1]
    value = (swept.prior[0] + pulls / swept.unit[0]) / precision
    return min(max(value, -swept.prior[2]), swept.prior[2]), 1.0 / precision


@njit(**COMPILED)
def _together(swept, i, value, spread):
    """By how much squared residuals of an item's judges rise and fall together, over its pairs.

    Expected is 0 where each judge errs alone, with a noise that does not depend on the item. What
    a value has taken from every judge makes residuals alike, and is set off.
    """
    rises, squares, shares, taken, unit = 0, 0, 0, 0, swept.unit[4]
    for m in range(swept.offsets[i], swept.offsets[i + 1]):
        j = swept.judge[m]
        residual = swept.number[swept.label[m]] - swept.shift[j] - swept.scale[j] * value
        share = min(swept.scale[j] ** 2 * spread / swept.noise[j], 1.0)
        rise = min(residual * residual / swept.noise[j], FURTHEST) - (1.0 - share)
        rises += _in_units(rise, unit)
        squares += _in_units(rise * rise, unit)
        shares += _in_units(share, unit)
        taken += _in_units(share * share, unit)
    pairs = (rises / unit) ** 2 - squares / unit
    return pairs - 2.0 * ((shares / unit) ** 2 - taken / unit)


@njit(**COMPILED)
def expect(swept, start, stop, judges, items):
    """Add up what is expected of the values: ``judges`` (judge, 3) and ``items`` (2,).

    A judgment adds the value, its square and its product with the number to those of its judge; an
    item adds the value and its square.
    """
    for i in range(start, stop):
        value, spread = _value(swept, i)
        first = _in_units(value, swept.unit[2])
        second = _in_units(value * value + spread, swept.unit[3])
        items[0] += first
        items[1] += second
        for m in range(swept.offsets[i], swept.offsets[i + 1]):
            j = swept.judge[m]
            judges[j, 0] += first
            judges[j, 1] += second
            judges[j, 2] += _in_units(swept.number[swept.label[m]] * value, swept.unit[3])


@njit(**COMPILED)
def write_values(swept, start, stop, out):
    """Write the value of each item, its variance and what its judges share to ``out`` (item, 3)."""
    for i in range(start, stop):
        value, spread = _value(swept, i)
        out[i, 0], out[i, 1] = value, spread
        out[i, 2] = 0.0 if spread == 0.0 else _together(swept, i, value, spread)
