"""Families of judges: who is a near copy of whom, found by agreement or declared by the user.

Judges agree because items are easy or hard for all of them: one common factor. With x the labels a
judge gave as indicators less their shares of labels, and rho_ab the correlation of two judges over
the items they have in common,

    rho_ab ~ lambda_a lambda_b;    excess_ab = 1 - (1 - rho_ab) / (1 - lambda_a lambda_b)

Loadings lambda are weighted medians over partners, look-alikes sharing one weight, so that a clique
cannot explain itself. A pair whose excess is .9 or more is a near copy, if strangers would have
disagreed on ten items at least and the two have a twentieth of all items in common; so is a judge
who said just what another said of just the same items, however few of all they are. Labels alone
cannot tell milder copies from two good judges, so those are only reported.

What a judgment weighs depends on its judge, on how many of their family judged the item, and on how
often they said the same of it. Sweeps know no weights, so each such case is a judge of its own to
them, a *voice*: its log-probabilities are the judge's times its weight, and counts of voices are
folded back into those of judges (``adjudge.models._voice_sweeps``). Where no judgment weighs less
than one, nothing is wrapped, and no bit changes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Families, Pair
from adjudge.data.judgments import Judgments
from adjudge.engines.engine import Sweeps
from adjudge.engines.item_types import CountPairs, Prints
from adjudge.kernels import item_types as kernels
from adjudge.kernels.fixed import WEIGHT
from adjudge.kernels.keys import judge_keys

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]
_UNIT = 2.0**30  # of a habit in whole numbers
_LEAST = 10  # judgments of a judge who is looked at
_JUDGES, _JUDGES_OF_MANY = 1500, 500  # at most, the busiest
_MANY = 1_000_000  # judgments
_PAIRS_OF_ITEM = 1770.0  # of sixty judgments
_PAIRS = 2e7  # in all, about
_COMMON = 5  # items below which two judges are not compared
_COPY, _SUSPECT = 0.9, 0.7  # excess
_EXPECTED = 10.0  # disagreements, were they strangers
_SHARE_OF_ITEMS = 0.05
_PARTNERS = 3
_VOICES = 4  # at least, for what judges have in common to show
_LOADING = 0.6  # of a judge of whom nothing is known
_ALIKE, _ALIKE_COMMON = 0.5, 20  # excess from which two share one weight in the medians
_SETTLED = 5  # iterations before that
_REPORTED = 50  # suspected pairs kept
_TOLD, _NAMED = 3, 6  # families told, judges named of each
_ROWS = 1_000_000  # judgments looked through at a time


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """How pairs of judges agree."""

    judges: NDArray[np.int64]  # (row,) their codes
    common: _Floats  # (row, row)
    correlation: _Floats  # (row, row)
    chance: _Floats  # (row, row) how often their habits alone would agree


def key_judges(cells: NDArray[np.int64]) -> NDArray[np.uint64]:  # (judge,)
    """A scrambled number for each judge that neither renaming nor reordering changes."""
    found = np.empty(len(cells), dtype=np.uint64)
    judge_keys(cells, found)
    return found


def share_of_items(judgments: Judgments, budget: float, most: float) -> float:
    """The share of items whose pairs are looked at, so that there are about ``budget`` pairs."""
    counts = judgments.counts_per_item.astype(np.float64)
    pairs = float(np.minimum(counts * (counts - 1) / 2, most).sum())
    return 1.0 if pairs <= budget else budget / pairs


def find_families(judgments: Judgments, sweeps: Sweeps, *, search: bool = True) -> Families:
    """The families of judges: near copies, and what the user declared, which absorbs them.

    Judgments are those of judges; sweeps may be over the same by voices.
    """
    none = Families.none(judgments.judge_count)
    pairs = _count(judgments, sweeps) if search else None
    families, loading = none, np.full(judgments.judge_count, _LOADING)
    if pairs is not None:
        loading[pairs.judges] = _loadings(pairs)
        families = _near_copies(judgments, pairs, loading[pairs.judges], none)
    if search:
        families = _with_exact_copies(sweeps, families, loading)
        active = judgments.counts_per_judge >= _LEAST
        if families.any and len(np.unique(families.family[active])) < _VOICES:
            # Three who agree against a fourth are as likely right as copies: who is one is asked.
            pairs_found = (*families.merged, *families.suspected)
            families = replace(none, suspected=pairs_found[:_REPORTED])
    if judgments.family is not None:
        families = _declared(judgments.family, families)
    return families


def tell_families(families: Families, judgments: Judgments) -> tuple[str, ...]:
    """What is to be said of families: who is one voice, and who may be."""
    told = []
    for group in families.groups[:_TOLD]:
        how = "declared" if families.declared[group[0]] else "near copies"
        told.append(f"{_names(group, judgments)} have one voice between them ({how})")
    if len(families.groups) > _TOLD:
        told.append(f"more families: {len(families.groups) - _TOLD:,}")
    if families.suspected:
        worst, more = families.suspected[0], len(families.suspected) - 1
        told.append(
            f"{_names(worst.judges, judgments)} agree more than all judges together explain "
            f"({worst.excess:.2f} of the way to copies, {worst.common:,} items in common)"
            + (f"; so do {more:,} more pairs" if more > 1 else "; so does one more pair" * more)
            + "; if they are one source, say so with --family"
        )
    return tuple(told)


def _names(judges: tuple[int, ...], judgments: Judgments) -> str:
    """Judges by name, the first few of them."""
    names = [str(judgments.judges[judge].as_py()) for judge in judges[:_NAMED]]
    more = f" and {len(judges) - _NAMED:,} more" if len(judges) > _NAMED else ""
    if more or len(names) < 2:
        return ", ".join(names) + more
    return ", ".join(names[:-1]) + " and " + names[-1]


def _with_exact_copies(sweeps: Sweeps, families: Families, loading: _Floats) -> Families:
    """Families joined by judges who said the same of the same items.

    Not those who follow closely what all have in common: perfect judges agree too.
    """
    cells = sweeps.cells()
    count = cells.sum(axis=1)
    habit = cells / np.maximum(count, 1)[:, None]
    expected = count * (1.0 - loading**2) * (1.0 - (habit**2).sum(axis=1))
    able = np.flatnonzero(expected >= _EXPECTED)
    if len(able) < 2:
        return families
    speaker = _speakers(sweeps, len(cells))
    (spoken,) = sweeps.ask(Prints(key_judges(cells)[speaker]))
    prints = np.zeros(len(cells), dtype=np.int64)
    np.add.at(prints, speaker, spoken)
    able = able[np.lexsort((able, prints[able]))]
    same = prints[able[1:]] == prints[able[:-1]]
    same &= (cells[able[1:]] == cells[able[:-1]]).all(axis=1)
    found = tuple(
        Pair((int(a), int(b)), 1.0, int(count[a]))
        for a, b in zip(able[:-1][same], able[1:][same], strict=True)
    )
    known = {pair.judges for pair in families.merged}
    new = tuple(pair for pair in found if pair.judges not in known)
    if not new:
        return families
    merged = (*families.merged, *new)
    family, share = _joined(families.share, merged)
    return replace(families, family=family, share=share, merged=merged)


def _joined(before: _Floats, pairs: tuple[Pair, ...]) -> tuple[NDArray[np.int32], _Floats]:
    """Everybody's family, pairs being of one, and its share: the mean of its pairs' excess."""
    family, share = _components(len(before), pairs), before.copy()
    for first in {int(family[pair.judges[0]]) for pair in pairs}:
        own = [pair.excess for pair in pairs if family[pair.judges[0]] == first]
        share[family == first] = sum(sorted(own)) / len(own)
    return family, share


def _speakers(sweeps: Sweeps, judges: int) -> NDArray[np.int32]:
    """The judge behind each code that tasks meet: a voice's own, where sweeps are over voices."""
    voices: Voices | None = getattr(sweeps, "voices", None)
    return np.arange(judges, dtype=np.int32) if voices is None else voices.judge_of


def _count(judgments: Judgments, sweeps: Sweeps) -> _Pairs | None:
    """The agreement of pairs of judges; None where no two could be found to be copies."""
    cells = sweeps.cells()
    counts = cells.sum(axis=1)
    busy = counts >= max(_LEAST, _SHARE_OF_ITEMS * judgments.item_count)
    if int((counts >= _LEAST).sum()) < 4 or int(busy.sum()) < 2:
        return None
    key = key_judges(cells)
    most = _JUDGES if len(judgments) <= _MANY else _JUDGES_OF_MANY
    order = np.lexsort((key, -counts))[:most]  # the busiest, by a rule that no name decides
    rows = np.sort(order[counts[order] >= _LEAST])
    row = np.full(len(counts), -1, dtype=np.int32)
    row[rows] = np.arange(len(rows), dtype=np.int32)
    base = cells.sum(axis=0) + 1.0
    habit = cells[rows] + 5.0 * base / base.sum()
    habit /= habit.sum(axis=1, keepdims=True)
    units = np.rint(habit * _UNIT).astype(np.int64)
    share = share_of_items(judgments, _PAIRS, _PAIRS_OF_ITEM)
    who = _speakers(sweeps, len(counts))
    task = CountPairs(key[who], row[who], units, share, _PAIRS_OF_ITEM)
    (sums,) = sweeps.ask(task)
    common, agreed = sums[0].astype(np.float64), sums[1]
    chance = habit @ habit.T
    other, own = sums[2] / _UNIT, sums[3] / _UNIT
    together = agreed - other - other.T + common * chance
    spread = common * (1.0 + np.diag(chance)[:, None]) - 2.0 * own  # |x_a - q_a|^2, items with b
    size = np.sqrt(np.maximum(spread * spread.T, 1e-18))
    correlation = np.where(common >= _COMMON, together / size, 0.0)
    return _Pairs(rows, common, correlation, chance)


def _partners(known: NDArray[np.bool_]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Judges with two partners or more, in blocks of about as many each: rows, and their partners.

    Where a judge of a block has fewer, -1 stands. Most pairs of a crowd never met.
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


def _loadings(pairs: _Pairs) -> _Floats:  # (row,)
    """How closely each judge follows what all judges have in common.

    Judges whose agreement the loadings do not explain share one weight in the medians. That is
    looked at once the loadings have settled a little: good judges agree too, and are explained.
    """
    known = pairs.common >= _COMMON
    often = pairs.common >= _ALIKE_COMMON
    company = np.ones(len(known))
    loading = np.full(len(known), _LOADING)
    blocks = []
    for rows, partner in _partners(known):
        common = np.where(partner < 0, 0.0, np.minimum(pairs.common[rows[:, None], partner], 50.0))
        followed = np.where(partner < 0, np.inf, pairs.correlation[rows[:, None], partner])
        blocks.append((rows, partner, common, followed))
    for iteration in range(40):
        if iteration >= _SETTLED:
            excess = 1.0 - (1.0 - pairs.correlation) / (1.0 - np.outer(loading, loading))
            company = 1.0 + (known & often & (excess >= _ALIKE)).sum(axis=1)
        new = loading.copy()
        for rows, partner, common, followed in blocks:
            weight = common * loading[partner] / company[partner]
            ratio = followed / loading[partner]
            order = np.argsort(ratio, axis=1, kind="stable")
            sums = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
            middle = (sums < 0.5 * sums[:, -1:]).sum(axis=1)
            at = np.take_along_axis(order, middle[:, None], axis=1)
            new[rows] = np.clip(np.take_along_axis(ratio, at, axis=1)[:, 0], 0.05, 0.95)
        moved = float(np.abs(new - loading).max())
        loading = 0.5 * (loading + new)
        if moved < 1e-3 and iteration > _SETTLED:
            break
    return loading


def _near_copies(judgments: Judgments, pairs: _Pairs, loading: _Floats, none: Families) -> Families:
    """Families of judges who all but always agree, and pairs that seem to."""
    shared = np.outer(loading, loading)
    excess = 1.0 - (1.0 - pairs.correlation) / (1.0 - shared)
    expected = pairs.common * (1.0 - shared) * (1.0 - pairs.chance)
    known = pairs.common >= _COMMON
    enough = known.sum(axis=1) >= _PARTNERS
    sure = known & (expected >= _EXPECTED) & enough[:, None] & enough[None, :]
    wide = share_of_items(judgments, _PAIRS, _PAIRS_OF_ITEM) * judgments.item_count
    merged = sure & (excess >= _COPY) & (pairs.common >= _SHARE_OF_ITEMS * wide)
    suspected = sure & (excess >= _SUSPECT) & ~merged
    found = _listed(pairs, np.clip(excess, 0.0, 1.0), merged)
    family, share = _joined(none.share, found)
    return Families(
        family=family,
        share=share,
        declared=none.declared,
        merged=found,
        suspected=_listed(pairs, excess, suspected)[:_REPORTED],
    )


def _listed(pairs: _Pairs, excess: _Floats, chosen: NDArray[np.bool_]) -> tuple[Pair, ...]:
    """The chosen pairs, the most alike first."""
    first, second = np.nonzero(np.triu(chosen, 1))
    listed = [
        Pair((int(pairs.judges[a]), int(pairs.judges[b])), float(excess[a, b]), int(common))
        for a, b, common in zip(first, second, pairs.common[first, second], strict=True)
    ]
    return tuple(sorted(listed, key=lambda pair: (-pair.excess, pair.judges)))


def _components(judges: int, pairs: tuple[Pair, ...]) -> NDArray[np.int32]:  # (judge,)
    """The first judge of everybody's family, pairs being of one family."""
    if not pairs:
        return np.arange(judges, dtype=np.int32)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array([pair.judges for pair in pairs])
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(judges, judges))
    _, group = connected_components(graph, directed=False)
    first = np.full(judges, judges, dtype=np.int32)
    np.minimum.at(first, group, np.arange(judges, dtype=np.int32))
    return np.asarray(first[group])


def _declared(declared: NDArray[np.int32], found: Families) -> Families:
    """Declared families put on top: each is one voice, and absorbs what overlaps it."""
    family, share = found.family.copy(), found.share.copy()
    marked = found.declared.copy()
    for code in np.unique(declared[declared >= 0]):
        own = np.isin(family, np.unique(family[declared == code]))
        family[own] = np.flatnonzero(own)[0]
        share[own] = 1.0
        marked[own] = True
    return Families(
        family=family,
        share=share,
        declared=marked,
        merged=found.merged,
        suspected=tuple(
            pair for pair in found.suspected if family[pair.judges[0]] != family[pair.judges[1]]
        ),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Voices:
    """Judges as sweeps see them."""

    judge_of: NDArray[np.int32]  # (voice,)
    weight: NDArray[np.float64]  # (voice,)
    judges: int
    items: _Whole  # (judge,) how many items each judged

    @property
    def units(self) -> _Whole:  # (voice,)
        """The weights in whole units."""
        return np.rint(self.weight * WEIGHT).astype(np.int64)

    def fold(self, counts: NDArray[Any], *, weighted: bool) -> NDArray[np.float64]:  # (judge, ...)
        """Counts of voices as counts of judges."""
        if len(self.judge_of) == self.judges:
            return np.asarray(counts, dtype=np.float64)
        folded = np.zeros((self.judges, *counts.shape[1:]))
        shape = (-1,) + (1,) * (counts.ndim - 1)
        np.add.at(
            folded, self.judge_of, counts * self.weight.reshape(shape) if weighted else counts
        )
        return folded


def voices_of(
    judgments: Judgments, families: Families, *, repeats: bool
) -> tuple[Judgments, Voices]:
    """Judgments by voices. ``repeats``: several judgments of an item by one judge are one voice."""
    judges = judgments.judge_count
    whole = judgments.counts_per_judge
    same = Voices(np.arange(judges, dtype=np.int32), np.ones(judges), judges, whole)
    if not repeats and not families.any:
        return judgments, same
    company = np.empty(len(judgments), dtype=np.uint8)
    repeated = np.empty(len(judgments), dtype=np.uint8)
    items = np.zeros(judges, dtype=np.int64)
    given, labels = (judgments.offsets, judgments.judge, judgments.label), judgments.scale.labels
    kernels.count_company(given, len(labels), families.family, company, repeated, items)
    share = families.share
    if not repeats:  # alone in their family, they may say the same thing twice
        alone = np.bincount(families.family, minlength=judges)[families.family] == 1
        share = np.where(alone, 0.0, share)
        repeated[:] = 1
    rows = _shared_rows(company, repeated)
    rows = rows[(share[judgments.judge[rows]] > 0) | (repeated[rows] > 1)]
    if not rows.size:
        return judgments, same
    code = (judgments.judge[rows].astype(np.int64) << 16) + (company[rows].astype(np.int64) << 8)
    case, which = np.unique(code + repeated[rows], return_inverse=True)
    who, others, times = case >> 16, (case >> 8) % 256 - 1, case % 256
    judge_of = np.concatenate([same.judge_of, who.astype(np.int32)])
    weight = np.concatenate([same.weight, 1.0 / (times * (1.0 + others * share[who]))])
    spoken = judgments.judge.copy()
    spoken[rows] = (judges + which).astype(np.int32)
    names = judgments.judges.take(pa.array(judge_of))
    return replace(judgments, judge=spoken, judges=names), Voices(judge_of, weight, judges, items)


def _shared_rows(company: NDArray[np.uint8], repeated: NDArray[np.uint8]) -> _Whole:
    """Where a judgment is not alone, looked for in blocks: flags of all would be many."""
    found = [
        begin
        + np.flatnonzero(
            (company[begin : begin + _ROWS] > 1) | (repeated[begin : begin + _ROWS] > 1)
        )
        for begin in range(0, len(company), _ROWS)
    ]
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)
