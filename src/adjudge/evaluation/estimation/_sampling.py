"""The sample: which items have gold, with what chance each was drawn, and what totals follow.

An item drawn with chance pi stands for 1/pi items, itself included. With w the weights and e what
is known of the drawn items only (their residuals), a total over all items is estimated by sum w e.
Its variance, for samples of a fixed size drawn in strata with chances that may differ (Hajek 1981;
Deville and Tille 2005, doi:10.1016/j.jspi.2004.02.005), is

    V = sum_h 1 / (1 - sum_i a_i^2) sum_i (1 - pi_i) (w_i e_i - B_h)^2,
    a_i = (1 - pi_i) / sum_i (1 - pi_i),    B_h = sum_i a_i w_i e_i,

which for equal chances is the textbook N^2 (1 - n/N) s^2 / n. With n_h / (n_h - 1) as its first
part, two items of unlike chances would count (1 - pi) twice, and show too little. Items drawn in
later rounds, among those not drawn before, give an unbiased total each round, in which earlier gold
stands for itself alone; rounds are averaged, and being unbiased given what came before, their
errors add up as if independent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.data.source import count_of
from adjudge.errors import BadData

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]
_FEWEST = 2  # gold items in a stratum from which a spread can be told
_BELIEVED = 2.0  # degrees of freedom that a believed spread counts for


def align_judged(gold: Gold | None, judgments: Judgments) -> NDArray[np.int16]:  # (item,)
    """The truth of each item that has gold and that somebody judged, else -1."""
    if gold is None:
        return np.full(judgments.item_count, -1, dtype=np.int16)
    return np.where(judgments.counts_per_item > 0, gold.align(judgments), -1).astype(np.int16)


def by_item(values: NDArray[Any], gold: Gold, judgments: Judgments) -> NDArray[Any]:  # (item,)
    """Return values of gold items by the items of the judgments, 0 where there is no gold."""
    found = np.zeros(judgments.item_count + 1, dtype=values.dtype)
    found[look_up(gold.items, judgments.items)] = values
    return found[:-1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The gold items of a population, in the order of their items, and how they were drawn."""

    item: _Whole  # (gold,) in the population
    truth: NDArray[np.int16]  # (gold,)
    chance: _Floats  # (gold,) of being drawn in its round
    group: _Whole  # (gold,) strata, rounds and their parts, from 0
    round: _Whole  # (group,) the round of each group, from 0
    drawn: bool  # with chances that were told, not taken for equal

    def __len__(self) -> int:
        return len(self.item)

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return int(self.round.max(initial=0)) + 1

    def in_strata(self, stratum: _Whole) -> Sample:
        """The sample taken for one drawn at random in each of these strata of all items.

        Strata with fewer than two gold items are one together, or else go to the largest one.
        """
        codes, stratum = np.unique(stratum, return_inverse=True)
        have = np.bincount(stratum[self.item], minlength=len(codes))
        merged = np.where(have >= _FEWEST, np.arange(len(codes)), -1)
        small = np.flatnonzero(merged < 0)
        if small.size:
            whole = int(have[small].sum()) >= _FEWEST
            merged[small] = small[0] if whole else int(np.argmax(have))
        _, stratum = np.unique(merged[stratum], return_inverse=True)
        size = np.bincount(stratum)
        got = np.bincount(stratum[self.item], minlength=len(size))
        group = stratum[self.item]
        turn = np.zeros(len(size), dtype=np.int64)
        return replace(self, chance=got[group] / size[group], group=group, round=turn)

    def spread(self, first: _Floats, second: _Floats) -> _Floats:  # (group,)
        """The covariance of the totals of two residuals (gold,), group by group."""
        groups = len(self.round)
        open_ = 1.0 - self.chance
        mass = np.bincount(self.group, weights=open_, minlength=groups)
        squares = np.bincount(self.group, weights=open_**2, minlength=groups)
        whole = []
        for residual in (first, second):
            scaled = residual / self.chance
            middle = np.bincount(self.group, weights=open_ * scaled, minlength=groups)
            whole.append(scaled - (middle / np.where(mass > 0, mass, 1.0))[self.group])
        sums = np.bincount(self.group, weights=open_ * whole[0] * whole[1], minlength=groups)
        alone = 1.0 - squares / np.where(mass > 0, mass, 1.0) ** 2
        return np.asarray(np.where(self._open() > 1, sums / np.maximum(alone, 1e-300), 0.0))

    def shares(self, doubt: _Floats) -> _Floats:  # (gold,) -> (round,)
        """What each round counts for: by the inverse of the variance that is expected of it.

        ``doubt`` is the variance believed of each gold item before its gold was known. What was
        seen of a round must not decide: a lucky round would count for most.
        """
        if self.rounds == 1:
            return np.ones(1)
        each = (1.0 - self.chance) / self.chance**2 * doubt
        variance = np.bincount(self.round[self.group], weights=each, minlength=self.rounds)
        some = np.maximum(variance, 1e-9 * max(float(variance.max()), 1e-300))
        return np.asarray((1.0 / some) / (1.0 / some).sum())

    def weights(self, shares: _Floats) -> _Floats:  # (gold,)
        """What each gold item stands for: its chance in its round, itself alone in later ones."""
        later = 1.0 - np.cumsum(shares)
        of = self.round[self.group]
        return np.asarray(shares[of] / self.chance + np.maximum(later[of], 0.0))

    def variance(
        self,
        residual: _Floats,  # (gold,)
        shares: _Floats,  # (round,)
        believed: _Floats | None = None,  # (gold,) variances
    ) -> tuple[float, float]:
        """The variance of the weighted total of residuals, and its degrees of freedom.

        Where variances are believed of the items, they count as two degrees of freedom of each
        group, as in a moderated t (Smyth 2004): eleven items that are alike do not show that all
        are. Of items that were chosen the larger counts, seen or believed: few of them carry most
        of the spread, and a draw that missed these is off and looks sure. Groups have degrees of
        freedom together as Welch (1949) has them, with the squares of their variances taken
        without bias, which matters to groups of two.
        """
        spread = self.spread(residual, residual)
        freedom = np.maximum(self._open() - 1.0, 0.0)
        if believed is not None:
            each = (1.0 - self.chance) / self.chance**2 * believed
            promised = np.bincount(self.group, weights=each, minlength=len(spread))
            spread = (freedom * spread + _BELIEVED * promised) / (freedom + _BELIEVED)
            if self.drawn:
                spread = np.maximum(spread, promised)
            freedom = freedom + _BELIEVED
        spread = spread * shares[self.round] ** 2
        total = float(spread.sum())
        some = spread > 0
        if not some.any():
            return total, float(max(len(self) - 1, 1))
        freedom = np.maximum(freedom, 1.0)
        joint = total**2 / float((spread**2 / (freedom + 2.0)).sum()) - 2.0
        return total, max(joint, float(freedom[some].min()))

    def _open(self) -> _Floats:  # (group,)
        """How many gold items of each group might not have been drawn."""
        counted = np.bincount(self.group[self.chance < 1], minlength=len(self.round))
        return counted.astype(np.float64)


def sample_of(
    item: _Whole,  # (gold,) in the population
    truth: NDArray[np.int16],  # (gold,)
    size: int,  # of the population
    chance: _Floats | None,  # (gold,) as told; None for a random draw
    round_: _Whole | None,  # (gold,) from 1
    source: str,
    stratum: _Whole | None = None,  # (gold,) the part of its round that it was drawn in
) -> Sample:
    """A sample from gold; chances have to be known of all items or of none."""
    order = np.argsort(item, kind="stable")
    item, truth = item[order], truth[order]
    if chance is None:
        equal, one = np.full(len(item), len(item) / max(size, 1)), np.zeros(len(item), np.int64)
        return Sample(item=item, truth=truth, chance=equal, group=one, round=one[:1], drawn=False)
    chance = chance[order]
    lacking = int(np.isnan(chance).sum())
    if lacking:
        raise BadData(
            f"{lacking:,} of {count_of(len(chance), 'gold item')} "
            f"{'has' if lacking == 1 else 'have'} no sampling probability; wanted one for "
            f"each, since an item stands for as many as it was drawn "
            "from",
            source=source,
            column="sampling_probability",
        )
    rounds = np.ones(len(item), dtype=np.int64) if round_ is None else round_[order]
    numbers, turn = np.unique(rounds, return_inverse=True)
    few = np.bincount(turn) < _FEWEST
    if few.any():
        raise BadData(
            f"round {numbers[np.argmax(few)]} has one gold item; wanted at least {_FEWEST}",
            source=source,
            column="sampling_round",
        )
    parts = np.ones(len(item), dtype=np.int64) if stratum is None else stratum[order]
    group = _joined(turn, parts, chance < 1)
    return Sample(
        item=item,
        truth=truth,
        chance=chance,
        group=group,
        round=turn[np.unique(group, return_index=True)[1]],
        drawn=True,
    )


def _joined(turn: _Whole, part: _Whole, open_: NDArray[np.bool_]) -> _Whole:  # (gold,)
    """Groups of gold, by round and part of it; one that shows no spread joins the one before it.

    The first of a round joins the second.
    """
    pairs, group = np.unique(np.stack([turn, part]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    have = np.bincount(group[open_], minlength=pairs.shape[1])
    first = np.concatenate([[True], pairs[0, 1:] != pairs[0, :-1]])
    begins = np.zeros(len(have), dtype=np.bool_)
    held = 0
    for place in range(len(have)):  # a group begins where the one before it has two
        begins[place] = first[place] or (held >= _FEWEST and have[place] >= _FEWEST)
        held = have[place] if begins[place] else held + have[place]
    return np.asarray((np.cumsum(begins) - 1)[group], dtype=np.int64)
