"""The sample: which items have gold, with what probability each was drawn, and what totals follow.

An item drawn with probability pi represents 1/pi items, itself included. With w the weights and e
what is known of the drawn items only (their residuals), a total over all items is estimated by
sum w e. Its variance, for samples of a fixed size drawn in strata with probabilities that may
differ (Hajek 1981; Deville and Tille 2005, doi:10.1016/j.jspi.2004.02.005), is

    V = sum_h 1 / (1 - sum_i a_i^2) sum_i (1 - pi_i) (w_i e_i - B_h)^2,
    a_i = (1 - pi_i) / sum_i (1 - pi_i),    B_h = sum_i a_i w_i e_i,

which for equal probabilities is the textbook N^2 (1 - n/N) s^2 / n. With n_h / (n_h - 1) as its
first part, two items of unlike probabilities would count (1 - pi) twice, and show too little. Items
drawn in later rounds, among those not drawn before, give an unbiased total per round, in which
earlier gold represents itself only; rounds are averaged, and since each is unbiased given the
earlier ones, their errors add up as if independent.
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
_FEWEST = 2  # gold items in a stratum that show a spread
_BELIEVED = 2.0  # degrees of freedom that a believed spread counts for


def align_judged(gold: Gold | None, judgments: Judgments) -> NDArray[np.int16]:  # (item,)
    """Return the truth of each judged item with gold, else -1."""
    if gold is None:
        return np.full(judgments.item_count, -1, dtype=np.int16)
    return np.where(judgments.counts_per_item > 0, gold.align(judgments), -1).astype(np.int16)


def by_item(values: NDArray[Any], gold: Gold, judgments: Judgments) -> NDArray[Any]:  # (item,)
    """Return values of gold items by the items of the judgments, 0 for items without gold."""
    found = np.zeros(judgments.item_count + 1, dtype=values.dtype)
    found[look_up(gold.items, judgments.items)] = values
    return found[:-1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The gold items of a population, in the order of their items, and how they were drawn."""

    item: _Whole  # (gold,) in the population
    truth: NDArray[np.int16]  # (gold,)
    chance: _Floats  # (gold,) inclusion probability in its round
    group: _Whole  # (gold,) strata, rounds and their parts, from 0
    round: _Whole  # (group,) the round of each group, from 0
    drawn: bool  # whether inclusion probabilities are known, not assumed equal

    def __len__(self) -> int:
        return len(self.item)

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return int(self.round.max(initial=0)) + 1

    def in_strata(self, stratum: _Whole) -> Sample:
        """Return the sample as if drawn at random in each of these strata of all items.

        Strata with fewer than two gold items are merged, or else join the largest one.
        """
        codes, stratum = np.unique(stratum, return_inverse=True)
        have = np.bincount(stratum[self.item], minlength=len(codes))
        merged = np.where(have >= _FEWEST, np.arange(len(codes)), -1)
        small = np.flatnonzero(merged < 0)
        if small.size:
            enough = int(have[small].sum()) >= _FEWEST
            merged[small] = small[0] if enough else int(np.argmax(have))
        _, stratum = np.unique(merged[stratum], return_inverse=True)
        size, group = np.bincount(stratum), stratum[self.item]
        got = np.bincount(group, minlength=len(size))
        turn = np.zeros(len(size), dtype=np.int64)
        return replace(self, chance=got[group] / size[group], group=group, round=turn)

    def _sum(self, values: _Floats) -> _Floats:  # (gold,) -> (group,)
        return np.bincount(self.group, weights=values, minlength=len(self.round)).astype(np.float64)

    def spread(self, first: _Floats, second: _Floats) -> _Floats:  # (group,)
        """Return the covariance of the totals of two residuals (gold,), per group."""
        open_ = 1.0 - self.chance
        mass = self._sum(open_)
        safe = np.where(mass > 0, mass, 1.0)
        apart = []
        for residual in (first, second):
            scaled = residual / self.chance
            apart.append(scaled - (self._sum(open_ * scaled) / safe)[self.group])
        alone = 1.0 - self._sum(open_**2) / safe**2
        sums = self._sum(open_ * apart[0] * apart[1])
        return np.asarray(np.where(self._open() > 1, sums / np.maximum(alone, 1e-300), 0.0))

    def shares(self, doubt: _Floats) -> _Floats:  # (gold,) -> (round,)
        """Return the weight of each round, by the inverse of the variance expected of it.

        ``doubt`` is the variance believed of each gold item before its gold was known. The observed
        variance must not decide: a lucky round would get most weight.
        """
        if self.rounds == 1:
            return np.ones(1)
        each = (1.0 - self.chance) / self.chance**2 * doubt
        variance = np.bincount(self.round[self.group], weights=each, minlength=self.rounds)
        some = np.maximum(variance, 1e-9 * max(float(variance.max()), 1e-300))
        return np.asarray((1.0 / some) / (1.0 / some).sum())

    def weights(self, shares: _Floats) -> _Floats:  # (gold,)
        """Return how many items each gold item represents, averaged over rounds."""
        later = 1.0 - np.cumsum(shares)
        of = self.round[self.group]
        return np.asarray(shares[of] / self.chance + np.maximum(later[of], 0.0))

    def variance(
        self,
        residual: _Floats,  # (gold,)
        shares: _Floats,  # (round,)
        believed: _Floats | None = None,  # (gold,) variances
    ) -> tuple[float, float]:
        """Return the variance of the weighted total of residuals, and its degrees of freedom.

        Believed variances count as two degrees of freedom per group, as in a moderated t (Smyth
        2004): eleven items that are alike do not show that all are. For drawn items the larger of
        the observed and the believed variance counts: few items carry most of the spread, and a
        draw that missed them would look certain. Degrees of freedom of groups are combined as by
        Welch (1949), with unbiased squares of variances, which matters to groups of two.
        """
        spread = self.spread(residual, residual)
        freedom = np.maximum(self._open() - 1.0, 0.0)
        if believed is not None:
            promised = self._sum((1.0 - self.chance) / self.chance**2 * believed)
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
        """Return how many gold items of each group might not have been drawn."""
        return self._sum((self.chance < 1).astype(np.float64))


def sample_of(
    item: _Whole,  # (gold,) in the population
    truth: NDArray[np.int16],  # (gold,)
    size: int,  # of the population
    chance: _Floats | None,  # (gold,) inclusion probabilities; None for a random draw
    round_: _Whole | None,  # (gold,) from 1
    source: str,
    stratum: _Whole | None = None,  # (gold,) the part of its round that it was drawn in
) -> Sample:
    """Make a sample of gold; either all inclusion probabilities are known, or none is."""
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
            f"{'has' if lacking == 1 else 'have'} no sampling probability; expected one for each, "
            "since it says how many items a gold item represents",
            source=source,
            column="sampling_probability",
        )
    rounds = np.ones(len(item), dtype=np.int64) if round_ is None else round_[order]
    numbers, turn = np.unique(rounds, return_inverse=True)
    few = np.bincount(turn) < _FEWEST
    if few.any():
        raise BadData(
            f"round {numbers[np.argmax(few)]} has one gold item; expected at least {_FEWEST}",
            source=source,
            column="sampling_round",
        )
    parts = np.ones(len(item), dtype=np.int64) if stratum is None else stratum[order]
    group = _join_groups(turn, parts, chance < 1)
    return Sample(
        item=item,
        truth=truth,
        chance=chance,
        group=group,
        round=turn[np.unique(group, return_index=True)[1]],
        drawn=True,
    )


def _join_groups(turn: _Whole, part: _Whole, open_: NDArray[np.bool_]) -> _Whole:  # (gold,)
    """Return groups of gold, by round and part; one that shows no spread joins the one before.

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
