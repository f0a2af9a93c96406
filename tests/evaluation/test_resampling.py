from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from adjudge.errors import BadSetting
from adjudge.evaluation._resampling import (
    centred_interval,
    check_resampling,
    item_weights,
    pattern_weights,
    percentile_interval,
)


def test_item_weights_are_draws_with_replacement() -> None:
    weights = np.concatenate(list(item_weights(50, 4000, seed=1)))
    assert weights.shape == (4000, 50)
    assert (weights.sum(axis=1) == 50).all()
    # Each count is binomial(50, 1/50): mean 1, variance 0.98.
    assert weights.mean() == 1.0
    assert weights.var() == pytest.approx(0.98, abs=0.02)


def test_blocks_do_not_change_the_draws() -> None:
    many = list(item_weights(3_000_000, 3, seed=4))
    assert [len(block) for block in many] == [1, 1, 1]
    assert np.array_equal(many[0], next(item_weights(3_000_000, 1, seed=4)))


def test_same_seed_same_weights() -> None:
    first, again, other = (np.concatenate(list(item_weights(20, 5, s))) for s in (7, 7, 8))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_pattern_weights_are_item_weights_summed_by_pattern() -> None:
    times = np.array([30, 15, 5])
    weights = np.concatenate(list(pattern_weights(times, 4000, seed=2)))
    assert (weights.sum(axis=1) == 50).all()
    pattern = np.repeat(np.arange(3), times)
    items = np.concatenate(list(item_weights(50, 4000, seed=3))) @ np.eye(3)[pattern]
    assert weights.mean(axis=0) == pytest.approx(items.mean(axis=0), abs=0.2)
    assert np.cov(weights.T) == pytest.approx(np.cov(items.T), abs=0.8)


def test_nothing_to_draw_draws_nothing() -> None:
    assert list(item_weights(0, 10, 0)) == []
    assert list(item_weights(10, 0, 0)) == []
    assert list(pattern_weights(np.zeros(0, dtype=np.int64), 10, 0)) == []


def test_intervals_leave_out_resamples_without_a_value() -> None:
    values = np.append(np.arange(101.0), [np.nan] * 50)
    assert percentile_interval(values, 0.9) == pytest.approx((5.0, 95.0))
    assert percentile_interval(np.full(3, np.nan), 0.9) == (None, None)
    assert centred_interval(0.5, np.full(3, np.nan), 0.9, least=0.0) == (None, None)


def test_centred_interval_is_value_and_spread_within_bounds() -> None:
    values = np.array([0.1, 0.3, np.nan])
    reach = norm.ppf(0.95) * 0.1
    assert centred_interval(0.5, values, 0.9, least=0.0) == pytest.approx(
        (0.5 - reach, 0.5 + reach)
    )
    assert centred_interval(0.05, values, 0.9, least=0.0)[0] == 0.0
    assert centred_interval(0.95, values, 0.9, least=0.0)[1] == 1.0


def test_settings_that_cannot_be_used() -> None:
    with pytest.raises(BadSetting) as error:
        check_resampling(-1, 0.95)
    assert str(error.value) == "resamples = -1: wanted 0 (no intervals) or more, such as 1000"
    with pytest.raises(BadSetting) as error:
        check_resampling(10, 1.0)
    assert str(error.value) == "level = 1.0: wanted a number between 0 and 1, such as 0.95"
