"""Beliefs about all items, calibrated by gold, that owe nothing to an item's own gold.

The model is fitted once, without gold. Gold is then dealt into folds, and what its probabilities
mean is learnt with each fold left out: a gold item has the probabilities of the calibration that
did not see it, every other item the mean of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.families import Families
from adjudge.data.judgments import Judgments
from adjudge.engines.voices import Voices, voices_of
from adjudge.models.cross_calibration import Features, calibrate_across

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CrossFit:
    """A consensus fitted without gold, ready to be calibrated across folds of gold."""

    consensus: Consensus
    spoken: Judgments
    voices: Voices
    confusion: _Floats  # (judge, truth, label)

    @classmethod
    def of(cls, consensus: Consensus) -> CrossFit:
        """What calibrating needs of a consensus."""
        table = consensus.judgments
        families = consensus.families or Families.none(table.judge_count)
        spoken, voices = voices_of(table, families, repeats=consensus.model == "item-types")
        shape = (table.judge_count, *consensus.confusion.shape[1:])
        return cls(consensus, spoken, voices, np.broadcast_to(consensus.confusion, shape))

    @cached_property
    def _features(self) -> Features:
        """What every calibration of this fit shares."""
        return Features.of(self.spoken, self.voices, self.consensus.posterior, self.confusion)

    def beliefs(self, known: NDArray[np.int16], *, folds: int, seed: int) -> _Floats:
        """Probabilities (item, truth) in which no gold item's own gold had a part."""
        gold = np.flatnonzero(known >= 0)
        if len(gold) < folds:
            return np.array(self.consensus.posterior)
        fold = np.zeros(len(known), dtype=np.int64)
        fold[gold] = np.random.default_rng([seed, len(gold)]).permutation(len(gold)) % folds
        return calibrate_across(known, fold, self._features)
