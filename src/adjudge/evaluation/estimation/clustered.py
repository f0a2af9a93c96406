"""Clustered by topic: intervals about other topics than these, from how far these differ.

Each topic's part of the estimate, corrected by its gold, less the part that it would have if all
topics were alike, is one draw of what a topic does. T of them give the variance T / (T - 1) sum of
squares, with T - 1 degrees of freedom. What gold leaves open about each topic is in it already.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadData
from adjudge.evaluation.estimation.difference import Corrected, Interval
from adjudge.evaluation.estimation.expansion import Expansion

_FEWEST = 5  # topics


def over_topics(
    corrected: Corrected,
    expansion: Expansion,
    topics: NDArray[np.int64] | None,  # (member,)
) -> Interval:
    """The interval about a population of topics, of which these were drawn at random."""
    if topics is None or expansion.of_topic is None or expansion.share is None:
        raise BadData(
            "the judgments have no topics, so nothing is clustered by them; wanted a column topic",
            wanted="topics",
        )
    count = len(expansion.of_topic)
    if count < _FEWEST:
        raise BadData(
            f"{count} topics are too few to speak of others; wanted at least {_FEWEST}, or an "
            "interval about these alone",
            wanted="topics",
        )
    own = expansion.of_topic + np.bincount(topics, weights=corrected.moved, minlength=count)
    apart = own - corrected.interval.value * expansion.share
    variance = count / (count - 1) * float((apart**2).sum())
    return replace(corrected.interval, variance=variance, freedom=count - 1.0)
