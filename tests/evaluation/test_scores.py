from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from adjudge.errors import BadSetting
from adjudge.evaluation._resampling import (
    centred_interval,
    check_resampling,
    item_weights,
    pattern_weights,
    percentile_interval,
)
from adjudge.evaluation.scores import Score, score_table, wilson


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (15, 148), (7, 10), (500, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_scipys(hits: int, count: int, level: float) -> None:
    expected = binomtest(hits, count).proportion_ci(level, method="wilson")
    assert wilson(hits, count, level) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_of_newcombes_table() -> None:
    # Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
    rounded = [tuple(round(x, 4) for x in wilson(*case)) for case in _NEWCOMBE]
    assert rounded == [(0.2553, 0.3662), (0.0624, 0.1605), (0.0, 0.1611), (0.0061, 0.1718)]


_NEWCOMBE = [(81, 263), (15, 148), (0, 20), (1, 29)]


def test_wilson_of_nothing_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def test_an_error_below_none_is_shown_as_none_and_kept_as_it_is() -> None:
    score = Score(name="corrected_calibration_error", value=-0.02, low=-0.05, high=0.04)
    assert str(score) == "corrected_calibration_error 0.000 (0.000 to 0.040)"
    assert (score.shown.value, score.shown.low, score.shown.high) == (0.0, 0.0, 0.04)
    assert score_table([score])["value"].to_pylist() == [-0.02]
    kappa = Score(name="kappa", value=-0.02)
    assert kappa.shown == kappa  # agreement may be worse than by chance
    assert not Score.undefined("corrected_calibration_error", "no gold").shown.defined


def test_the_table_has_nulls_for_what_is_undefined() -> None:
    rows = score_table([Score(name="a", value=1.0), Score.undefined("b", "why")]).to_pylist()
    assert rows == [
        {"score": "a", "value": 1.0, "low": None, "high": None, "reason": None},
        {"score": "b", "value": None, "low": None, "high": None, "reason": "why"},
    ]
    assert score_table([]).num_rows == 0


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


def test_pattern_weights_are_item_weights_summed_by_pattern() -> None:
    times = np.array([30, 15, 5])
    weights = np.concatenate(list(pattern_weights(times, 4000, seed=2)))
    assert (weights.sum(axis=1) == 50).all()
    pattern = np.repeat(np.arange(3), times)
    items = np.concatenate(list(item_weights(50, 4000, seed=3))) @ np.eye(3)[pattern]
    assert weights.mean(axis=0) == pytest.approx(items.mean(axis=0), abs=0.2)
    assert np.cov(weights.T) == pytest.approx(np.cov(items.T), abs=0.8)


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


@pytest.mark.parametrize(
    ("resamples", "level", "setting"), [(-1, 0.95, "resamples"), (10, 1.0, "level")]
)
def test_impossible_settings(resamples: int, level: float, setting: str) -> None:
    with pytest.raises(BadSetting) as error:
        check_resampling(resamples, level)
    assert error.value.setting == setting
