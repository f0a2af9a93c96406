"""Clustered by topic: intervals about other topics than these, from how far these differ.

Each topic's part of the estimate, corrected by its gold, less the part that it would have if all
topics were alike, is one draw of what a topic does. T of them give the variance T / (T - 1) sum of
squares, with T - 1 degrees of freedom. What gold leaves open about each topic is in it already.

For what is no sum over items (nDCG, AP, bpref, rates) no formula says how far that holds: topics
are drawn again, with replacement, and the interval is from how the same ratio of error to standard
error falls over the draws (the bootstrap t, Efron 1982, doi:10.1137/1.9781611970319). It need not
reach as far down as up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadData
from adjudge.evaluation.estimation.difference import Corrected, Interval
from adjudge.evaluation.estimation.expansion import Expansion

_FEWEST = 5  # topics
_DRAWN_FROM = 10  # topics from which drawing them again says more than a formula
_DRAWS = 4000


def over_topics(
    corrected: Corrected,
    expansion: Expansion,
    topics: NDArray[np.int64] | None,  # (member,)
    *,
    is_sum: bool,
    seed: int,
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
    drawn = None if is_sum or count < _DRAWN_FROM else _errors(apart, seed)
    return replace(corrected.interval, variance=variance, freedom=count - 1.0, errors=drawn)


def _errors(apart: NDArray[np.float64], seed: int) -> NDArray[np.float64] | None:  # (draw,)
    """Errors over draws of the topics, each in its own standard errors, in order."""
    count = len(apart)
    random = np.random.default_rng([seed, 17])
    drawn = apart[random.integers(count, size=(_DRAWS, count))]  # (draw, topic)
    off = drawn.sum(axis=1) - apart.sum()
    error = np.sqrt(count * drawn.var(axis=1, ddof=1))
    kept = error > 1e-9 * max(float(np.abs(apart).max()), 1e-300)
    if kept.mean() < 0.99:  # topics that are nearly all alike have no spread to go by
        return None
    return np.sort(off[kept] / error[kept])
