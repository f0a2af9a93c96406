"""The sample: which items have gold, with what chance each was drawn, and what totals follow.

An item drawn with chance pi stands for 1/pi items, itself included. With w the weights and e what
is known of the drawn items only (their residuals), a total over all items is estimated by sum w e.
Its variance, for samples of a fixed size drawn in strata with chances that may differ (Hajek 1981;
Deville and Tille 2005, doi:10.1016/j.jspi.2004.02.005), is

    V = sum_h n_h / (n_h - 1) sum_i (1 - pi_i) (w_i e_i - B_h)^2,
    B_h = sum_i (1 - pi_i) w_i e_i / sum_i (1 - pi_i),

which for equal chances is the textbook N^2 (1 - n/N) s^2 / n. Items drawn in later rounds, among
those not drawn before, give an unbiased total each round, in which earlier gold stands for itself
alone; rounds are averaged, and being unbiased given what came before, their errors add up as if
independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadData

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]
_FEWEST = 2  # gold items in a stratum from which a spread can be told
_BELIEVED = 2.0  # gold items that a believed spread counts for


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sample:
    """The gold items of a population, in the order of their items, and how they were drawn."""

    item: _Whole  # (gold,) in the population
    truth: NDArray[np.int16]  # (gold,)
    chance: _Floats  # (gold,) of being drawn in its round
    group: _Whole  # (gold,) strata and rounds, from 0
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
        return Sample(
            item=self.item,
            truth=self.truth,
            chance=got[group] / size[group],
            group=group.astype(np.int64),
            round=np.zeros(len(size), dtype=np.int64),
            drawn=self.drawn,
        )

    def spread(self, first: _Floats, second: _Floats) -> _Floats:  # (group,)
        """The covariance of the totals of two residuals (gold,), group by group."""
        groups = len(self.round)
        count = np.bincount(self.group, minlength=groups).astype(np.float64)
        open_ = 1.0 - self.chance
        mass = np.bincount(self.group, weights=open_, minlength=groups)
        whole = []
        for residual in (first, second):
            scaled = residual / self.chance
            middle = np.bincount(self.group, weights=open_ * scaled, minlength=groups)
            whole.append(scaled - (middle / np.where(mass > 0, mass, 1.0))[self.group])
        sums = np.bincount(self.group, weights=open_ * whole[0] * whole[1], minlength=groups)
        return np.asarray(sums * count / np.maximum(count - 1.0, 1.0))

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

        Where variances are believed of the items, they count as much as two items of each group:
        eleven items that are alike do not show that all are.
        """
        spread = self.spread(residual, residual)
        count = np.bincount(self.group[self.chance < 1], minlength=len(spread))
        if believed is not None:
            each = (1.0 - self.chance) / self.chance**2 * believed
            promised = np.bincount(self.group, weights=each, minlength=len(spread))
            seen = np.maximum(count - 1, 0)
            spread = (seen * spread + _BELIEVED * promised) / (seen + _BELIEVED)
        spread = spread * shares[self.round] ** 2
        each = spread**2 / np.maximum(count - 1, 1)
        total = float(spread.sum())
        if not each.sum() > 0:
            return total, float(max(len(self) - 1, 1))
        return total, max(total**2 / float(each.sum()), 1.0)


def sample_of(
    item: _Whole,  # (gold,) in the population
    truth: NDArray[np.int16],  # (gold,)
    size: int,  # of the population
    chance: _Floats | None,  # (gold,) as told; None for a random draw
    round_: _Whole | None,  # (gold,) from 1
    source: str,
) -> Sample:
    """A sample from gold; chances have to be known of all items or of none."""
    order = np.argsort(item, kind="stable")
    item, truth = item[order], truth[order]
    if chance is None:
        equal = np.full(len(item), len(item) / max(size, 1))
        group = np.zeros(len(item), dtype=np.int64)
        return Sample(
            item=item, truth=truth, chance=equal, group=group, round=group[:1], drawn=False
        )
    chance = chance[order]
    if np.isnan(chance).any():
        raise BadData(
            f"{int(np.isnan(chance).sum()):,} of {len(chance):,} gold items have no sampling "
            "probability; wanted one for each, since an item stands for as many as it was drawn "
            "from",
            source=source,
            column="sampling_probability",
        )
    rounds = np.ones(len(item), dtype=np.int64) if round_ is None else round_[order]
    numbers, group = np.unique(rounds, return_inverse=True)
    few = np.bincount(group) < _FEWEST
    if few.any():
        raise BadData(
            f"round {numbers[np.argmax(few)]} has one gold item; wanted at least {_FEWEST}",
            source=source,
            column="sampling_round",
        )
    return Sample(
        item=item,
        truth=truth,
        chance=chance,
        group=group.astype(np.int64),
        round=np.arange(len(numbers)),
        drawn=True,
    )
