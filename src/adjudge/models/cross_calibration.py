"""Gold calibrates across its folds: probabilities in which an item's own gold had no part.

What calibrates is ``adjudge.models.calibration``, with fewer candidates, since it is learnt once a
fold: features are made once, and every fold learns from its part of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.engines.voices import Voices
from adjudge.models.calibration import describe, learn, make_features, topics_of
from adjudge.models.item_groups import group_items

_BLOCK = 100_000  # items calibrated at a time
_Floats = NDArray[np.float64]


def calibrate_across(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    fold: NDArray[np.int64],  # (item,) of items whose truth is known
    spoken: Judgments,  # by voices
    voices: Voices,
    posterior: _Floats,  # (item, truth), fitted without that gold
    confusion: _Floats,  # (judge, truth, label)
) -> _Floats:  # (item, truth)
    """Probabilities calibrated by gold in which no gold item's own gold had a part.

    A gold item has those of the calibration without its fold, every other item the mean of all.
    """
    items = np.flatnonzero((known >= 0) & (spoken.counts_per_item > 0))
    if not items.size or posterior.shape[1] < 2:
        return np.array(posterior)
    scheme = describe(spoken, voices, posterior, confusion)
    own = np.array(posterior[items])
    features = make_features(scheme, spoken, voices, items, own)
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
    for begin in range(0, len(posterior), _BLOCK):
        part = np.arange(begin, min(begin + _BLOCK, len(posterior)))
        old = np.array(posterior[part])
        scored = make_features(scheme, spoken, voices, part, old)
        mean = np.zeros_like(old)
        for number, calibration, topic in learnt:
            new = calibration.blend(scored, old, topic[part])
            mean += new / len(learnt)
            out[part[where[part] == number]] = new[where[part] == number]
        out[part[where[part] < 0]] = mean[where[part] < 0]
    return out
