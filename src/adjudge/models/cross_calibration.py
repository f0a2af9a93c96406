"""Probabilities calibrated by gold across its folds: an item's own gold has no part in its own.

The model is fitted once, without gold. Gold is dealt into folds, and what the probabilities mean is
learnt with each fold left out (``adjudge.models._calibration``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from adjudge.data.consensus import Consensus, Families
from adjudge.data.judgments import Judgments
from adjudge.models._calibration import calibrate_by
from adjudge.models._families import EffectiveJudges, split_judges

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CrossFit:
    """A consensus fitted without gold, ready to be calibrated across folds of gold."""

    consensus: Consensus
    split: Judgments  # by effective judge
    effective: EffectiveJudges
    confusion: _Floats  # (judge, truth, label)

    @classmethod
    def of(cls, consensus: Consensus) -> CrossFit:
        """What calibrating needs of a consensus."""
        table = consensus.judgments
        families = consensus.families or Families.none(table.judge_count)
        split, effective = split_judges(table, families, repeats=consensus.model == "item-types")
        shape = (table.judge_count, *consensus.confusion.shape[1:])
        return cls(consensus, split, effective, np.broadcast_to(consensus.confusion, shape))

    def beliefs(self, known: NDArray[np.int16], *, folds: int, seed: int) -> _Floats:
        """Return probabilities (item, truth) that use no gold item's own gold.

        A gold item has those of the calibration without its fold, every other item the mean of all.
        """
        posterior = self.consensus.posterior
        gold = np.flatnonzero(known >= 0)
        if len(gold) < folds:
            return np.array(posterior)
        fold = np.full(len(known), -1)
        fold[gold] = np.random.default_rng([seed, len(gold)]).permutation(len(gold)) % folds
        judged = self.split.counts_per_item > 0
        found, mean = np.zeros_like(posterior), np.zeros_like(posterior)
        with threadpool_limits(1, "blas"):  # more threads would change bits
            for number in range(folds):
                own = fold == number
                rest = np.where(own, np.int16(-1), known)
                given = (self.split, self.effective)
                calibration = calibrate_by(rest, *given, posterior, self.confusion)
                new = np.array(posterior)
                if calibration is not None:
                    calibration.apply(*given, new)
                found[own] = new[own]
                mean += new / folds
        return np.where(((fold >= 0) & judged)[:, None], found, mean)
