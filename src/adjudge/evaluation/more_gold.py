"""What more gold labels would show: how closely they would measure the accuracy of the labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adjudge.data.consensus import Consensus
from adjudge.data.gold import Gold
from adjudge.evaluation.scores import wilson

_ENOUGH = 50  # gold labels from which no more are suggested, and how many are suggested below
_FEWEST = 10  # gold labels below which there is no estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreGold:
    """The interval of accuracy that more gold labels are expected to give.

    It is Wilson's, as ``evaluate`` reports it, for labels that are right as often as their
    probabilities say. Margins are half of its width.
    """

    have: int  # gold labels on judged items
    labels: int  # more of them
    accuracy: float  # expected: the mean probability of the labels without gold
    margin_now: float | None  # None without gold
    margin: float  # with all of them
    level: float

    @classmethod
    def of(
        cls, consensus: Consensus, gold: Gold | None = None, *, level: float = 0.95
    ) -> MoreGold | None:
        """What 50 more gold labels would show; None where there are 50, or few items without.

        ``gold`` is all gold there is, whether the fit used it or not.
        """
        judged = consensus.judgments.counts_per_item > 0
        known = np.zeros(len(judged), dtype=np.bool_)
        if gold is not None:
            known = judged & (gold.align(consensus.judgments) >= 0)
        have, left = int(known.sum()), judged & ~known
        labels = min(_ENOUGH, int(left.sum()))
        if have >= _ENOUGH or labels < _FEWEST:
            return None
        accuracy = float(consensus.probability[left].mean())

        def margin(count: int) -> float:
            low, high = wilson(accuracy * count, count, level)
            return (high - low) / 2

        return cls(
            have=have,
            labels=labels,
            accuracy=accuracy,
            margin_now=margin(have) if have else None,
            margin=margin(have + labels),
            level=level,
        )
