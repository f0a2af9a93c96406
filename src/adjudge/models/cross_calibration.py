"""Probabilities calibrated by gold across its folds: an item's own gold has no part in its own.

The model is fitted once, without gold. Gold is dealt into folds, and what the probabilities mean is
learnt with each fold left out (``adjudge.models._calibration``). Features are made once, and every
fold learns from its part of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from adjudge.data.consensus import Consensus, Families
from adjudge.data.judgments import Judgments
from adjudge.models._calibration import (
    BLOCK,
    FeatureScheme,
    describe,
    group_items,
    learn,
    make_features,
)
from adjudge.models._families import EffectiveJudges, split_judges

_KEPT = 2**23  # features of all items that are kept for the next time, at most
_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
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
        """Probabilities (item, truth) in which no gold item's own gold had a part."""
        gold = np.flatnonzero(known >= 0)
        if len(gold) < folds:
            return np.array(self.consensus.posterior)
        fold = np.zeros(len(known), dtype=np.int64)
        fold[gold] = np.random.default_rng([seed, len(gold)]).permutation(len(gold)) % folds
        with threadpool_limits(1, "blas"):  # more threads would change bits
            return self._calibrate(known, fold)

    @cached_property
    def _scheme(self) -> FeatureScheme:
        posterior = self.consensus.posterior
        return describe(self.split, self.effective, posterior, self.confusion)

    @cached_property
    def _kept(self) -> _Floats | None:  # (item, truth, feature)
        """The features of all items, where they are few enough."""
        items = np.arange(len(self.consensus.posterior))
        return self._make(items) if len(items) * self._make(items[:1]).size <= _KEPT else None

    def _make(self, items: NDArray[np.int64]) -> _Floats:  # (item, truth, feature)
        own = np.array(self.consensus.posterior[items])
        return make_features(self._scheme, self.split, self.effective, items, own)

    def _at(self, items: NDArray[np.int64]) -> _Floats:  # (item, truth, feature)
        """The features of some items."""
        return self._make(items) if self._kept is None else np.asarray(self._kept[items])

    def _blocks(self) -> Iterator[tuple[NDArray[np.int64], _Floats]]:
        """All items and their features, some at a time."""
        items = len(self.consensus.posterior)
        for begin in range(0, items, BLOCK):
            part = np.arange(begin, min(begin + BLOCK, items))
            yield part, self._at(part)

    def _calibrate(
        self,
        known: NDArray[np.int16],  # (item,) truths, -1 where not known
        fold: NDArray[np.int64],  # (item,) of items whose truth is known
    ) -> _Floats:  # (item, truth)
        """Probabilities calibrated by gold in which no gold item's own gold had a part.

        A gold item has those of the calibration without its fold, every other item the mean of all.
        """
        split, posterior = self.split, self.consensus.posterior
        items = np.flatnonzero((known >= 0) & (split.counts_per_item > 0))
        if not items.size or posterior.shape[1] < 2:
            return np.array(posterior)
        own = np.array(posterior[items])
        features = self._at(items)
        truth, of = known[items].astype(np.int64), fold[items]
        learnt, groups = [], group_items(split)
        for number in np.unique(of).tolist():
            kept = of != number
            if kept.any():
                given = (items[kept], features[kept], truth[kept], own[kept])
                calibration = learn(self._scheme, groups, *given)
                topic = calibration.topics_of(groups, len(posterior))
                learnt.append((number, calibration, topic))
        out = np.empty_like(posterior)
        where = np.full(len(posterior), -1, dtype=np.int64)
        where[items] = of
        for part, scored in self._blocks():
            old = np.array(posterior[part])
            mean = np.zeros_like(old)
            for number, calibration, topic in learnt:
                new = calibration.blend(scored, old, topic[part])
                mean += new / len(learnt)
                out[part[where[part] == number]] = new[where[part] == number]
            out[part[where[part] < 0]] = mean[where[part] < 0]
        return out
