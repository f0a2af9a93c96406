"""Families of judges: near-duplicates, found by agreement or declared by the user.

Judges agree because some items are easy for all of them and others hard: one common factor. Let x
be the labels of a judge as indicators, minus the shares of labels that the judge gives, and rho_ab
the correlation of two judges over the items that both judged. The loading lambda says how closely
a judge follows the common factor. The excess is the agreement that the factor does not explain:

    rho_ab ~ lambda_a lambda_b;    excess_ab = 1 - (1 - rho_ab) / (1 - lambda_a lambda_b)

Loadings are weighted medians over a judge's partners. Judges who look alike share one weight, so
that a group of near-duplicates cannot make itself the common factor.

Two judges are near-duplicates, and count as one, if their excess is at least .9. They must share a
twentieth of all items, and independent judges would have disagreed on at least ten. So are two
judges who gave the same labels to the same items, however few. Labels alone cannot tell noisy
copies from good judges who agree: a smaller excess is only reported, by groups of judges, and the
user declares who is one source.

A judgment weighs less where others of its judge's family judged the item, or where the judge
repeated it. The kernels know no weights. To them each judge with a weight is an effective judge:
its log-probabilities are the judge's times the weight, and counts of effective judges are folded
back into those of judges (``adjudge.models._weighted_sweeps``). Where every weight is one, nothing
is wrapped and no bit changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Families, LookAlikes, list_groups
from adjudge.data.judgments import Judgments
from adjudge.engines.sweeps import Sweeps
from adjudge.engines.tasks import CountPairs, Prints
from adjudge.kernels import item_types as kernels
from adjudge.kernels.fixed import WEIGHT
from adjudge.kernels.keys import judge_keys

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_UNIT = 2.0**30  # integer units of a share of labels
_LEAST = 10  # judgments of a judge who is compared
_JUDGES, _JUDGES_OF_MANY, _MANY = 1500, 500, 1_000_000  # the busiest, up to that many judgments
_PAIRS_OF_ITEM, _PAIRS = 1770.0, 2e7  # compared of an item (sixty judgments), and in all, about
_COMMON, _OFTEN = 5, 20  # items in common: to compare two judges, to let them share a weight
_COPY, _SUSPECT, _ALIKE = 0.9, 0.4, 0.35  # excess: merged; reported; sharing a weight in medians
_ERRORS = 2.0  # standard errors by which the excess of a reported pair is above _SUSPECT
_EXPECTED = 10.0  # disagreements of the two, were they independent
_SHARE_OF_ITEMS = 0.05  # that the two have in common
_PARTNERS, _INDEPENDENT = 3, 4  # of a judge, and judges in all, for a common factor to show
_LOADING = 0.6  # of a judge whom nobody can be compared with
_LOWEST, _HIGHEST = 0.05, 0.95  # loadings
_ROWS = 1_000_000  # judgments looked through at a time
_Links = NDArray[Any]  # pairs of judges who may be one source, the most alike first
_LINK = [("first", "i8"), ("second", "i8"), ("excess", "f8"), ("common", "i8")]


class _Pairs(NamedTuple):
    """How pairs of judges agree."""

    judges: _Ints  # (row,) their codes
    common: _Floats  # (row, row)
    correlation: _Floats  # (row, row)
    chance: _Floats  # (row, row) how often their shares of labels alone would agree


def key_judges(cells: NDArray[np.int64]) -> NDArray[np.uint64]:  # (judge,)
    """A scrambled number for each judge that neither renaming nor reordering changes."""
    found = np.empty(len(cells), dtype=np.uint64)
    judge_keys(cells, found)
    return found


def _share_of_items(judgments: Judgments) -> float:
    """The share of items whose pairs are compared, so that there are about ``_PAIRS`` of them."""
    counts = judgments.counts_per_item.astype(np.float64)
    pairs = float(np.minimum(counts * (counts - 1) / 2, _PAIRS_OF_ITEM).sum())
    return 1.0 if pairs <= _PAIRS else _PAIRS / pairs


def find_families(judgments: Judgments, sweeps: Sweeps, *, search: bool = True) -> Families:
    """Find near-duplicates, join them with declared families, and list groups that look alike."""
    judges = judgments.judge_count
    links = _find_links(judgments, sweeps) if search else np.empty(0, _LINK)
    sure = links[links["excess"] >= _COPY]
    family = _join(judges, sure["first"], sure["second"])
    active = judgments.counts_per_judge >= _LEAST
    if len(np.unique(family[active])) < _INDEPENDENT:
        # Three judges who agree against a fourth may well be right: the user decides.
        sure, family = sure[:0], np.arange(judges, dtype=np.int32)
    excess = _means(family[sure["first"]], sure["excess"], judges)
    share = np.where(excess > 0, excess, 1.0)[family]
    declared = np.zeros(judges, dtype=np.bool_)
    if judgments.family is not None:
        own = np.flatnonzero(judgments.family >= 0)
        _, first, code = np.unique(judgments.family[own], return_index=True, return_inverse=True)
        every = np.arange(judges)
        family = _join(judges, np.append(every, own), np.append(family, own[first][code]))
        declared = np.isin(family, family[own])
        share[declared] = 1.0
    found = _suspect(family, links)
    return Families(family=family, share=share, declared=declared, suspected=found)


def _suspect(family: NDArray[np.int32], links: _Links) -> tuple[LookAlikes, ...]:
    """Groups of families that links join, those that would change most if declared first."""
    links = links[family[links["first"]] != family[links["second"]]]
    if not len(links):
        return ()
    ends = np.append(np.arange(len(family)), links["first"]), np.append(family, links["second"])
    group = _join(len(family), *ends)
    excess = _means(group[links["first"]], links["excess"], len(family))
    common = _means(group[links["first"]], links["common"], len(family))
    found = [
        LookAlikes(members, float(excess[members[0]]), round(common[members[0]]))
        for members in list_groups(group)
        if excess[members[0]] > 0
    ]
    return tuple(sorted(found, key=lambda g: (-g.excess * (len(g.judges) - 1), g.judges)))


def _means(group: NDArray[np.int32], value: NDArray[Any], judges: int) -> _Floats:  # (judge,)
    """The mean over the links of each group, at its first judge; 0 where there are none."""
    count = np.bincount(group, minlength=judges)
    return np.asarray(np.bincount(group, value, judges) / np.maximum(count, 1))


def _join(judges: int, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.int32]:  # (judge,)
    """The first judge of everybody's family, if links join ``first`` and ``second``."""
    if not len(first):
        return np.arange(judges, dtype=np.int32)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(first)), (first, second)), shape=(judges, judges))
    _, group = connected_components(graph, directed=False)
    _, start = np.unique(group, return_index=True)
    return np.asarray(start[group], dtype=np.int32)


def _find_links(judgments: Judgments, sweeps: Sweeps) -> _Links:
    """Pairs of judges who are near-duplicates or look alike."""
    loading, parts = np.full(judgments.judge_count, _LOADING), []
    pairs = _count(judgments, sweeps)
    if pairs is not None:
        loading[pairs.judges] = own = _loadings(pairs)
        parts.append(_alike(judgments, pairs, own))
    links = np.concatenate([*parts, _exact_duplicates(sweeps, loading)])
    return links[np.lexsort((links["second"], links["first"], -links["excess"]))]


def _link(*columns: NDArray[Any]) -> _Links:
    """Links of their first judges, second judges, excess and items in common."""
    return np.rec.fromarrays(columns, dtype=_LINK)


def _exact_duplicates(sweeps: Sweeps, loading: _Floats) -> _Links:
    """Judges who gave the same labels to the same items, however few of all items those are.

    Judges who follow the common factor closely are left out: perfect judges agree too.
    """
    cells = sweeps.cells()
    count = cells.sum(axis=1)
    label_share = cells / np.maximum(count, 1)[:, None]
    expected = count * (1.0 - loading**2) * (1.0 - (label_share**2).sum(axis=1))
    able = np.flatnonzero(expected >= _EXPECTED)
    (prints,) = sweeps.run(Prints(key_judges(cells)))
    able = able[np.lexsort((able, prints[able]))]
    first, second = able[:-1], able[1:]
    same = (prints[first] == prints[second]) & (cells[first] == cells[second]).all(axis=1)
    return _link(first[same], second[same], np.ones(same.sum()), count[first[same]])


def _count(judgments: Judgments, sweeps: Sweeps) -> _Pairs | None:
    """The agreement of pairs of judges; None where no two could be near-duplicates."""
    cells = sweeps.cells()
    counts = cells.sum(axis=1)
    busy = counts >= max(_LEAST, _SHARE_OF_ITEMS * judgments.item_count)
    if int((counts >= _LEAST).sum()) < _INDEPENDENT or int(busy.sum()) < 2:
        return None
    key = key_judges(cells)
    most = _JUDGES if len(judgments) <= _MANY else _JUDGES_OF_MANY
    order = np.lexsort((key, -counts))[:most]  # the busiest, by a rule that no name decides
    rows = np.sort(order[counts[order] >= _LEAST])
    row = np.full(len(counts), -1, dtype=np.int32)
    row[rows] = np.arange(len(rows), dtype=np.int32)
    base = cells.sum(axis=0) + 1.0
    label_share = cells[rows] + 5.0 * base / base.sum()
    label_share /= label_share.sum(axis=1, keepdims=True)
    units = np.rint(label_share * _UNIT).astype(np.int64)
    (sums,) = sweeps.run(CountPairs(key, row, units, _share_of_items(judgments), _PAIRS_OF_ITEM))
    common, agreed = sums[0].astype(np.float64), sums[1]
    chance = label_share @ label_share.T
    other, own = sums[2] / _UNIT, sums[3] / _UNIT
    together = agreed - other - other.T + common * chance
    spread = common * (1.0 + np.diag(chance)[:, None]) - 2.0 * own  # |x_a - q_a|^2, items with b
    size = np.sqrt(np.maximum(spread * spread.T, 1e-18))
    correlation = np.where(common >= _COMMON, together / size, 0.0)
    return _Pairs(rows, common, correlation, chance)


def _partners(known: NDArray[np.bool_]) -> list[tuple[_Ints, _Ints]]:
    """Judges with at least two partners, in blocks of similar numbers: rows, and their partners.

    A judge with fewer partners than the block is wide has -1 instead. Most pairs never met.
    """
    first, second = np.nonzero(known)
    count = np.bincount(first, minlength=len(known))
    size, blocks = np.where(count > 1, np.frexp(np.maximum(count - 1, 1))[1], 0), []  # 2, 4, 8, ...
    for block in np.unique(size[size > 0]):
        rows = np.flatnonzero(size == block)
        place = np.arange(count[rows].max())
        at = (np.cumsum(count) - count)[rows][:, None] + place
        filled = place < count[rows][:, None]
        blocks.append((rows, np.where(filled, second[np.where(filled, at, 0)], -1)))
    return blocks


def _excess(pairs: _Pairs, loading: _Floats) -> _Floats:  # (row, row)
    """The agreement that the common factor does not explain: 0 none, 1 always agree."""
    return np.asarray(1.0 - (1.0 - pairs.correlation) / (1.0 - np.outer(loading, loading)))


def _loadings(pairs: _Pairs) -> _Floats:  # (row,)
    """How closely each judge follows the common factor.

    The start is a judge's median correlation: what most of the others explain. So good judges
    who are in the majority do not look alike, and a minority of near-duplicates does.
    """
    often = pairs.common >= _OFTEN
    loading = np.full(len(often), _LOADING)
    blocks = []
    for rows, partner in _partners(pairs.common >= _COMMON):
        common = np.where(partner < 0, 0.0, np.minimum(pairs.common[rows[:, None], partner], 50.0))
        followed = np.where(partner < 0, np.inf, pairs.correlation[rows[:, None], partner])
        blocks.append((rows, partner, common, followed))
        median = _medians(followed, (partner >= 0).astype(np.float64))
        loading[rows] = np.sqrt(np.clip(median, _LOWEST**2, _HIGHEST**2))
    for _ in range(40):
        alike = 1.0 + (often & (_excess(pairs, loading) >= _ALIKE)).sum(axis=1)
        new = loading.copy()
        for rows, partner, common, followed in blocks:
            weight = common * loading[partner] / alike[partner]
            new[rows] = np.clip(_medians(followed / loading[partner], weight), _LOWEST, _HIGHEST)
        moved = float(np.abs(new - loading).max())
        loading = 0.5 * (loading + new)
        if moved < 1e-3:
            break
    return loading


def _medians(value: _Floats, weight: _Floats) -> _Floats:  # (row,)
    """The weighted median of each row, the lower one where two are in the middle."""
    order = np.argsort(value, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    middle = (sums < 0.5 * sums[:, -1:]).sum(axis=1)[:, None]
    return np.take_along_axis(value, np.take_along_axis(order, middle, axis=1), axis=1)[:, 0]


def _alike(judgments: Judgments, pairs: _Pairs, loading: _Floats) -> _Links:
    """Pairs of judges whose excess is large, and larger than chance explains."""
    excess = _excess(pairs, loading)
    expected = pairs.common * (1.0 - np.outer(loading, loading)) * (1.0 - pairs.chance)
    known = pairs.common >= _COMMON
    enough = known.sum(axis=1) >= _PARTNERS
    wide = _SHARE_OF_ITEMS * _share_of_items(judgments) * judgments.item_count
    sure = known & (expected >= _EXPECTED) & (pairs.common >= wide) & np.outer(enough, enough)
    error = np.sqrt(np.maximum(1.0 - excess, 0.0) / np.maximum(expected, _EXPECTED))
    found = sure & ((excess >= _COPY) | (excess - _ERRORS * error >= _SUSPECT))
    first, second = np.nonzero(np.triu(found, 1))
    ends = pairs.judges[first], pairs.judges[second]
    return _link(*ends, np.clip(excess[first, second], 0.0, 1.0), pairs.common[first, second])


@dataclass(frozen=True, slots=True, eq=False)
class EffectiveJudges:
    """Effective judges: each judge, and each judge with each weight below one."""

    judge_of: NDArray[np.int32]  # (effective judge,)
    weight: NDArray[np.float64]  # (effective judge,)
    judges: int
    items: _Ints  # (judge,) items that each judged

    @property
    def units(self) -> _Ints:  # (effective judge,)
        """The weights as integer counts of units."""
        return np.rint(self.weight * WEIGHT).astype(np.int64)

    def fold(self, counts: NDArray[Any], *, weighted: bool) -> NDArray[np.float64]:  # (judge, ...)
        """Counts of effective judges as counts of judges."""
        if len(self.judge_of) == self.judges:
            return np.asarray(counts, dtype=np.float64)
        folded = np.zeros((self.judges, *counts.shape[1:]))
        shape = (-1,) + (1,) * (counts.ndim - 1)
        given = counts * self.weight.reshape(shape) if weighted else counts
        np.add.at(folded, self.judge_of, given)
        return folded


def split_judges(
    judgments: Judgments, families: Families, *, repeats: bool
) -> tuple[Judgments, EffectiveJudges]:
    """Split judgments by effective judge.

    With ``repeats``, repeated judgments of an item by a judge count once.
    """
    judges, counts = judgments.judge_count, judgments.counts_per_judge
    same = EffectiveJudges(np.arange(judges, dtype=np.int32), np.ones(judges), judges, counts)
    if not repeats and not families.any:
        return judgments, same
    from_family = np.empty(len(judgments), dtype=np.uint8)
    repeated = np.empty(len(judgments), dtype=np.uint8)
    items = np.zeros(judges, dtype=np.int64)
    given, labels = (judgments.offsets, judgments.judge, judgments.label), judgments.scale.labels
    kernels.count_family(given, len(labels), families.family, from_family, repeated, items)
    share = families.share
    if not repeats:  # a judge without a family counts as often as they judged
        alone = np.bincount(families.family, minlength=judges)[families.family] == 1
        share = np.where(alone, 0.0, share)
        repeated[:] = 1
    found = [np.empty(0, dtype=np.int64)]
    for begin in range(0, len(judgments), _ROWS):  # in blocks, to save memory
        block = slice(begin, begin + _ROWS)
        found.append(begin + np.flatnonzero(np.maximum(from_family[block], repeated[block]) > 1))
    rows = np.concatenate(found)
    rows = rows[(share[judgments.judge[rows]] > 0) | (repeated[rows] > 1)]
    if not rows.size:
        return judgments, same
    code = (judgments.judge[rows].astype(np.int64) << 16) + (
        from_family[rows].astype(np.int64) << 8
    )
    case, which = np.unique(code + repeated[rows], return_inverse=True)
    who, others, times = case >> 16, (case >> 8) % 256 - 1, case % 256
    judge_of = np.concatenate([same.judge_of, who.astype(np.int32)])
    weight = np.concatenate([same.weight, 1.0 / (times * (1.0 + others * share[who]))])
    split = judgments.judge.copy()
    split[rows] = (judges + which).astype(np.int32)
    names = judgments.judges.take(pa.array(judge_of))
    return replace(judgments, judge=split, judges=names), EffectiveJudges(
        judge_of, weight, judges, items
    )
