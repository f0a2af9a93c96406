"""Effective number of judges: how much independent information judges who err together carry.

Let e_ij be 1 where judge j's label of item i differs from the true label, else 0, and r the mean
correlation of two judges' errors on an item. By Kish's design effect, v judgments of an item carry
the information of

    n_eff(v) = v / (1 + (v - 1) r)

independent ones; one more adds n_eff(v + 1) - n_eff(v).

With 50 gold items or more that two judges labelled, r is measured: the covariance of two judges'
errors, each less the mean error of its judge, summed over all pairs of judges on all items, over
the mean of the two variances, summed likewise. Pairs thus count by the items they share, and a
crowd in which most pairs share few items needs no rule of its own. The mean error of a judge with
few gold items is drawn to that of all. Without gold, r is estimated from agreement: with K labels
in use and A the share of pairs of judgments that agree,

    r / (1 - r) = S,    S = (A - 1 / K) / (1 - 1 / K).

The range is these odds divided and multiplied by 3, chosen on real sets with gold. Judges of one
family are never compared with one another, and count as one judge. A negative r counts as 0, so
that judgments never count for more than they are. Light to import: the live collection asks at
every page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from adjudge.data.consensus import Dependence, Families
    from adjudge.data.judgments import Judgments

LEAST_GOLD = 50  # items from which on the correlation is measured
_DRAWN = 5.0  # judgments' worth of all judges' mean error in the mean error of each
_WIDE = 1.645  # standard errors: 90%
_FACTOR = 3.0  # of the odds, by which the estimate without gold may be wrong
_ENDS = 0.05, 0.95  # of a correlation on the logit scale
_MOST = 0.99
_KIND = 1.3  # times the odds where all judges are LLMs, divided by it where all are people
_WEAKEST = 0.02  # S, where judges hardly agree
_UNIT = 2.0**14  # integer units of errors and weights, so that no order changes a sum
_ROWS = 20_000  # judgments compared at a time, so that copies of them stay small

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def measure_dependence(
    judgments: Judgments, known: NDArray[np.int16] | None, families: Families
) -> Dependence | None:
    """The correlation of judges' errors with its 90% range; None where no two share an item.

    ``known`` has the gold label of each item, -1 where there is none.
    """
    found = None if known is None else _measure(judgments, known, families)
    return _estimate(judgments, families) if found is None else found


def _measure(
    judgments: Judgments, known: NDArray[np.int16], families: Families
) -> Dependence | None:
    """The correlation on gold; None where too few gold items have two judges, or nobody errs."""
    gold = np.flatnonzero(known >= 0)
    rows, item = judgments.rows_of(gold)
    judge = judgments.judge[rows]
    source, weight = _share_families(item, families.family[judge])
    judges = np.rint(np.bincount(item, weights=weight, minlength=len(gold)))  # (item,)
    items = int((judges > 1).sum())
    if items < LEAST_GOLD:
        return None
    wrong = np.array(judgments.scale.truth_of)[judgments.label[rows]] != known[gold[item]]
    wrong &= judges[item] > 1
    checked = np.bincount(judge, weights=judges[item] > 1)
    everybody = wrong.sum() / checked.sum()
    mean = (np.bincount(judge, weights=wrong) + _DRAWN * everybody) / (checked + _DRAWN)
    error = np.where(judges[item] > 1, wrong - mean[judge], 0.0)
    both = _cross(item, source, _in_units(weight * error), len(gold)) / _UNIT**2
    square = np.bincount(item, weights=_in_units(weight * error**2), minlength=len(gold)) / _UNIT
    spread = np.maximum(judges - 1, 0) / 2 * square
    every = math.fsum(spread)
    if every <= 0:
        return None
    correlation = math.fsum(both) / every
    apart = math.fsum((both - correlation * spread) ** 2)
    error_of = math.sqrt(apart * items / (items - 1)) / every
    centre = min(max(correlation, _ENDS[0]), _ENDS[1])
    factor = math.exp(_WIDE * error_of / (centre * (1 - centre)))
    return _around(correlation, centre / (1 - centre), factor, items)


def _estimate(judgments: Judgments, families: Families) -> Dependence | None:
    """The correlation as the agreement of judges suggests it."""
    truth_of = np.array(judgments.scale.truth_of)  # -1 is a label of its own
    labels = len(judgments.scale.truths) + 1
    used = np.zeros(labels, dtype=np.bool_)
    pairs = alike = 0
    for begin, end in _blocks(judgments.offsets):
        rows, item = judgments.rows_of(np.arange(begin, end))
        label = truth_of[judgments.label[rows]] + 1
        used[label] = True
        source, weight = _share_families(item, families.family[judgments.judge[rows]])
        units = _in_units(weight)
        pairs += int(_cross(item, source, units, end - begin).sum())
        same, cell = np.unique(item * labels + label, return_inverse=True)
        alike += int(_cross(cell, source * labels + label, units, len(same)).sum())
    if not pairs:
        return None
    chance = 1.0 / max(int(used.sum()), 2)
    odds = max((alike / pairs - chance) / (1.0 - chance), _WEAKEST)
    odds *= _KIND ** kind_balance(judgments)
    return _around(odds / (1.0 + odds), odds, _FACTOR, 0)


def kind_balance(judgments: Judgments) -> float:
    """The share of judgments by LLMs less the share by people; 0 where nothing is declared."""
    if judgments.kind is None or not len(judgments):
        return 0.0
    share = judgments.counts_per_judge / len(judgments)
    return float(share[judgments.kind == 1].sum() - share[judgments.kind == 0].sum())


def _around(correlation: float, odds: float, factor: float, items: int) -> Dependence:
    """A correlation within the range that odds, more or less by a factor, give."""
    from adjudge.data.consensus import Dependence

    low, high = (min(end / (1.0 + end), _MOST) for end in (odds / factor, odds * factor))
    value = min(max(correlation, 0.0), _MOST)
    return Dependence(
        correlation=value, low=min(low, value), high=max(high, value), gold_items=items
    )


def _blocks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Runs of items with about as many judgments as are compared at a time."""
    starts = np.searchsorted(offsets, np.arange(0, int(offsets[-1]), _ROWS))
    return pairwise([*np.unique(starts).tolist(), len(offsets) - 1])


def _share_families(item: _Ints, family: NDArray[np.int32]) -> tuple[_Ints, _Floats]:
    """The judgments of an item that count as one judge's, and the weight of each among them."""
    key = item * (int(family.max(initial=0)) + 1) + family
    _, source, members = np.unique(key, return_inverse=True, return_counts=True)
    return source, 1.0 / members[source]


def _in_units(values: _Floats) -> _Floats:
    """Values as integer counts of units, whose sums are exact in any order."""
    return np.rint(values * _UNIT)


def _cross(group: _Ints, part: _Ints, values: _Floats, groups: int) -> _Floats:  # (group,)
    """The sum of products of two values, over pairs of one group that are not of one part."""
    _, first, part = np.unique(part, return_index=True, return_inverse=True)
    own = np.bincount(part, weights=values)
    within = np.bincount(group[first], weights=own**2, minlength=groups)
    return np.asarray((np.bincount(group, weights=values, minlength=groups) ** 2 - within) / 2)


def count_effective(judgments: NDArray[Any], correlation: float) -> _Floats:
    """The effective number of that many judgments of an item: n_eff(v)."""
    many = np.asarray(judgments, dtype=np.float64)
    return np.asarray(many / (1.0 + np.maximum(many - 1.0, 0.0) * correlation))


def count_further(judgments: NDArray[Any], correlation: float) -> _Floats:
    """What one more judgment adds to the effective number of that many; 1 for the first."""
    many = np.asarray(judgments, dtype=np.float64)
    return count_effective(many + 1.0, correlation) - count_effective(many, correlation)
