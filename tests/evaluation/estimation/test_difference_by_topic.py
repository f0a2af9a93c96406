"""Clustered by topic: the formula for sums, the bootstrap for what is none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from adjudge.errors import BadData
from adjudge.evaluation.estimation._difference import Corrected, Interval, over_topics
from adjudge.evaluation.estimation._targets import Expansion


def interval(values: np.ndarray, *, is_sum: bool, seed: int = 0) -> Interval:
    """What topics of these values say of others, where gold moves nothing."""
    topics = len(values)
    found = Interval(value=float(values.mean()), variance=0.0, freedom=9.0)
    expansion = Expansion(
        value=found.value,
        adds=np.zeros((topics, 2)),
        of_topic=values / topics,
        share=np.full(topics, 1 / topics),
    )
    corrected = Corrected(interval=found, moved=np.zeros(topics))
    return over_topics(corrected, expansion, np.arange(topics), is_sum=is_sum, seed=seed)


def test_a_sum_has_the_interval_of_a_mean_of_topics() -> None:
    values = np.random.default_rng(1).gamma(1.0, size=25)
    found = interval(values, is_sum=True).bounds(0.95, (-9, 9))
    assert found == pytest.approx(stats.t.interval(0.95, 24, values.mean(), stats.sem(values)))


def test_the_bootstrap_reaches_farther_where_the_long_tail_is() -> None:
    values = np.random.default_rng(1).gamma(0.5, size=25)
    low, high = interval(values, is_sum=False).bounds(0.95, (-9, 9))
    assert high - values.mean() > 1.2 * (values.mean() - low)
    again = interval(values, is_sum=False).bounds(0.95, (-9, 9))
    assert (low, high) == again


@pytest.mark.slow
def test_the_bootstrap_holds_better_than_the_formula_for_skewed_topics() -> None:
    """600 times 25 topics of a lognormal, whose mean is known."""
    random = np.random.default_rng(3)
    held = np.zeros(2)
    for seed in range(600):
        values = random.lognormal(0.0, 1.0, size=25)
        for way, is_sum in enumerate((True, False)):
            low, high = interval(values, is_sum=is_sum, seed=seed).bounds(0.95, (-99, 99))
            held[way] += low <= np.exp(0.5) <= high
    assert held[1] / 600 >= 0.90
    assert held[1] > held[0] + 6


def test_few_topics_or_topics_that_are_alike_have_the_formula() -> None:
    assert interval(np.arange(6.0), is_sum=False).errors is None
    alike = np.zeros(25)
    alike[3] = 1.0
    assert interval(alike, is_sum=False).errors is None
    with pytest.raises(BadData, match="4 topics are too few"):
        interval(np.arange(4.0), is_sum=False)
