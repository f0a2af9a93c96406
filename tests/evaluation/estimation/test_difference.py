"""The difference estimator: unbiased over all samples, the sample mean without beliefs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from adjudge.evaluation.estimation._difference import Corrected, correct
from adjudge.evaluation.estimation._sampling import sample_of
from adjudge.evaluation.estimation._targets import Expansion

TRUTH = np.array([0, 1, 1, 0, 1, 0, 0, 1], dtype=np.int16)
BELIEF = np.array([0.2, 0.9, 0.6, 0.4, 0.3, 0.1, 0.5, 0.8])
ADDS = np.tile([0.0, 1.0], (8, 1)) / 8


def estimated(items: tuple[int, ...], *, tune: bool, few: bool = False) -> Corrected:
    at = np.array(items, dtype=np.int64)
    sample = sample_of(at, TRUTH[at], 8, None, None, "gold")
    belief = np.column_stack([1 - BELIEF, BELIEF])
    told = belief.copy()
    told[at] = np.eye(2)[TRUTH[at]]
    expansion = Expansion(value=float((told * ADDS).sum()), adds=ADDS)
    share = float(TRUTH[at].mean())
    plain = np.array([1 - share, share])
    return correct(expansion, sample, belief, plain, tune=tune, few=few)


def test_it_is_unbiased_whatever_is_believed() -> None:
    found = [estimated(items, tune=False).interval for items in combinations(range(8), 3)]
    values = [one.value for one in found]
    assert np.mean(values) == pytest.approx(TRUTH.mean())
    assert np.mean([one.variance for one in found]) == pytest.approx(np.var(values))


def test_gold_alone_is_the_sample_mean_and_its_interval() -> None:
    at = np.array([0, 1, 2, 4, 6])
    sample = sample_of(at, TRUTH[at], 8, None, None, "gold")
    plain = np.array([0.4, 0.6])
    told = np.tile(plain, (8, 1))
    told[at] = np.eye(2)[TRUTH[at]]
    expansion = Expansion(value=float((told * ADDS).sum()), adds=ADDS)
    found = correct(expansion, sample, np.tile(plain, (8, 1)), plain, tune=False)
    low, high = found.interval.bounds(0.9, (-9.0, 9.0))
    error = np.sqrt((1 - 5 / 8) * TRUTH[at].var(ddof=1) / 5)
    assert found.interval.value == pytest.approx(0.6)
    assert (low, high) == pytest.approx(stats.t.interval(0.9, 4, loc=0.6, scale=error))


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("items", [(0, 1, 3, 4, 7), (1, 2, 3, 4, 6), (0, 2, 3, 5, 7)])
def test_no_other_power_has_a_smaller_variance(items: tuple[int, ...], few: bool) -> None:
    """A power that was learnt costs a degree of freedom; where few count, a bound does not."""
    best = estimated(items, tune=True, few=few).interval
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


def test_where_all_is_known_nothing_is_in_doubt() -> None:
    found = estimated(tuple(range(8)), tune=True).interval
    assert found.value == pytest.approx(0.5)
    assert found.variance == pytest.approx(0.0, abs=1e-12)


def test_an_interval_stays_within_what_can_be() -> None:
    found = estimated((0, 1, 3), tune=False).interval
    low, high = found.bounds(0.999, (0.0, 1.0))
    assert (low, high) == (0.0, 1.0)
