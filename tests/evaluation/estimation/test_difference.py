"""The difference estimator: unbiased over all samples, the sample mean without beliefs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from adjudge.errors import BadData
from adjudge.evaluation.estimation._difference import (
    Interval,
    correct,
    over_topics,
)
from adjudge.evaluation.estimation._sampling import sample_of
from adjudge.evaluation.estimation._targets import Expansion

TRUTH = np.array([0, 1, 1, 0, 1, 0, 0, 1], dtype=np.int16)
BELIEF = np.array([0.2, 0.9, 0.6, 0.4, 0.3, 0.1, 0.5, 0.8])
ADDS = np.tile([0.0, 1.0], (8, 1)) / 8


def estimated(items: tuple[int, ...], *, tune: bool, few: bool = False) -> Interval:
    at = np.array(items, dtype=np.int64)
    sample = sample_of(at, TRUTH[at], 8, None, None, "gold")
    belief = np.column_stack([1 - BELIEF, BELIEF])
    given = belief.copy()
    given[at] = np.eye(2)[TRUTH[at]]
    expansion = Expansion(value=float((given * ADDS).sum()), adds=ADDS)
    share = float(TRUTH[at].mean())
    plain = np.array([1 - share, share])
    return correct(expansion, sample, belief, plain, tune=tune, few=few)


def test_it_is_unbiased_for_any_estimates() -> None:
    found = [estimated(items, tune=False) for items in combinations(range(8), 3)]
    values = [one.value for one in found]
    assert np.mean(values) == pytest.approx(TRUTH.mean())
    assert np.mean([one.variance for one in found]) == pytest.approx(np.var(values))
    assert found[0].bounds(0.999, (0.0, 1.0)) == (0.0, 1.0)  # within what can be
    known = estimated(tuple(range(8)), tune=True)
    assert known.value == pytest.approx(0.5)
    assert known.variance == pytest.approx(0.0, abs=1e-12)


def test_gold_alone_is_the_sample_mean_and_its_interval() -> None:
    at = np.array([0, 1, 2, 4, 6])
    sample = sample_of(at, TRUTH[at], 8, None, None, "gold")
    plain = np.array([0.4, 0.6])
    given = np.tile(plain, (8, 1))
    given[at] = np.eye(2)[TRUTH[at]]
    expansion = Expansion(value=float((given * ADDS).sum()), adds=ADDS)
    found = correct(expansion, sample, np.tile(plain, (8, 1)), plain, tune=False)
    low, high = found.bounds(0.9, (-9.0, 9.0))
    error = np.sqrt((1 - 5 / 8) * TRUTH[at].var(ddof=1) / 5)
    assert found.value == pytest.approx(0.6)
    assert (low, high) == pytest.approx(stats.t.interval(0.9, 4, loc=0.6, scale=error))


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("items", [(0, 1, 3, 4, 7), (1, 2, 3, 4, 6), (0, 2, 3, 5, 7)])
def test_no_other_power_has_a_smaller_variance(items: tuple[int, ...], few: bool) -> None:
    """A power that was learnt costs a degree of freedom; where few count, a bound does not."""
    best = estimated(items, tune=True, few=few)
    at = np.array(items)
    f, y = BELIEF[at], TRUTH[at]
    slope = np.cov(y, f)[0, 1] / f.var(ddof=1)
    assert best.power == pytest.approx(np.clip(slope, 0, 1))
    spread = (y - best.power * f).var(ddof=1)
    freedom = 4
    if few:  # what is believed counts as two degrees of freedom
        spread, freedom = (4 * spread + 2 * (f * (1 - f)).mean()) / 6, 6
    costs = 0 < slope < 1 or not few
    expected = (1 / 5 - 1 / 8) * spread * (freedom / (freedom - 1) if costs else 1)
    assert best.variance == pytest.approx(expected)
    assert best.freedom == pytest.approx(freedom - costs)


def interval(values: np.ndarray, *, is_sum: bool, seed: int = 0) -> Interval:
    """What topics of these values say of others, where gold moves nothing."""
    topics = len(values)
    moved = np.zeros(topics)
    found = Interval(value=float(values.mean()), variance=0.0, freedom=9.0, moved=moved)
    expansion = Expansion(
        value=found.value,
        adds=np.zeros((topics, 2)),
        of_topic=values / topics,
        share=np.full(topics, 1 / topics),
    )
    return over_topics(found, expansion, np.arange(topics), is_sum=is_sum, seed=seed)


def test_a_sum_has_the_interval_of_a_mean_of_topics() -> None:
    values = np.random.default_rng(1).gamma(1.0, size=25)
    found = interval(values, is_sum=True).bounds(0.95, (-9, 9))
    assert found == pytest.approx(stats.t.interval(0.95, 24, values.mean(), stats.sem(values)))


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
