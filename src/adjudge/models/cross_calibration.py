"""Gold calibrates across its folds: probabilities in which an item's own gold had no part.

What calibrates is ``adjudge.models.calibration``, with fewer candidates, since it is learnt once a
fold: features are made once, and every fold learns from its part of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.voices import Voices
from adjudge.models.calibration import learn, topics_of
from adjudge.models.calibration_features import BLOCK, describe, make_features
from adjudge.models.item_groups import group_items

_KEPT = 2**23  # features of all items that are kept for the next time, at most
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """What is the same for every calibration of one fit, made once: the features of its items."""

    scheme: Any
    spoken: Judgments  # by voices
    voices: Voices
    posterior: _Floats  # (item, truth), fitted without gold
    kept: _Floats | None  # (item, truth, feature), where they are few enough

    @classmethod
    def of(
        cls, spoken: Judgments, voices: Voices, posterior: _Floats, confusion: _Floats
    ) -> Features:
        """The features of a fit; ``confusion`` is (judge, truth, label)."""
        scheme = describe(spoken, voices, posterior, confusion)
        kept = None
        if posterior.size * len(scheme.groups) <= _KEPT:
            every = np.arange(len(posterior))
            kept = make_features(scheme, spoken, voices, every, np.array(posterior))
        return cls(scheme, spoken, voices, posterior, kept)

    def at(self, items: NDArray[np.int64]) -> _Floats:  # (item, truth, feature)
        """The features of some items."""
        if self.kept is not None:
            return np.asarray(self.kept[items])
        own = np.array(self.posterior[items])
        return make_features(self.scheme, self.spoken, self.voices, items, own)

    def blocks(self) -> Iterator[tuple[NDArray[np.int64], _Floats]]:
        """All items and their features, some at a time."""
        for begin in range(0, len(self.posterior), BLOCK):
            part = np.arange(begin, min(begin + BLOCK, len(self.posterior)))
            yield part, self.kept if self.kept is not None else self.at(part)


def calibrate_across(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    fold: NDArray[np.int64],  # (item,) of items whose truth is known
    made: Features,
) -> _Floats:  # (item, truth)
    """Probabilities calibrated by gold in which no gold item's own gold had a part.

    A gold item has those of the calibration without its fold, every other item the mean of all.
    """
    spoken, posterior, scheme = made.spoken, made.posterior, made.scheme
    items = np.flatnonzero((known >= 0) & (spoken.counts_per_item > 0))
    if not items.size or posterior.shape[1] < 2:
        return np.array(posterior)
    own = np.array(posterior[items])
    features = made.at(items)
    truth, of = known[items].astype(np.int64), fold[items]
    learnt, groups = [], group_items(spoken)
    for number in np.unique(of).tolist():
        kept = of != number
        if kept.any():
            given = (items[kept], features[kept], truth[kept], own[kept])
            calibration = learn(scheme, groups, *given, few=True)
            topic = topics_of(groups, calibration.scheme.topics, len(posterior))
            learnt.append((number, calibration, topic))
    out = np.empty_like(posterior)
    where = np.full(len(posterior), -1, dtype=np.int64)
    where[items] = of
    for part, scored in made.blocks():
        old = np.array(posterior[part])
        mean = np.zeros_like(old)
        for number, calibration, topic in learnt:
            new = calibration.blend(scored, old, topic[part])
            mean += new / len(learnt)
            out[part[where[part] == number]] = new[where[part] == number]
        out[part[where[part] < 0]] = mean[where[part] < 0]
    return out
