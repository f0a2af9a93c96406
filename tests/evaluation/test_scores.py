from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from adjudge.evaluation.scores import Score, score_table, wilson


@pytest.mark.parametrize(("hits", "count"), [(0, 1), (1, 1), (15, 148), (7, 10), (500, 1000)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_wilson_is_scipys(hits: int, count: int, level: float) -> None:
    wanted = binomtest(hits, count).proportion_ci(level, method="wilson")
    assert wilson(hits, count, level) == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_wilson_of_newcombes_table() -> None:
    # Newcombe (1998), table I, method 3: 81/263, 15/148, 0/20, 1/29.
    rounded = [tuple(round(x, 4) for x in wilson(*case)) for case in _NEWCOMBE]
    assert rounded == [(0.2553, 0.3662), (0.0624, 0.1605), (0.0, 0.1611), (0.0061, 0.1718)]


_NEWCOMBE = [(81, 263), (15, 148), (0, 20), (1, 29)]


def test_wilson_of_nothing_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


@given(st.integers(1, 10_000), st.data())
@settings(deadline=None, max_examples=50)
def test_wilson_holds_the_share(count: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, count))
    low, high = wilson(hits, count)
    assert 0 <= low <= hits / count + 1e-12
    assert hits / count - 1e-12 <= high <= 1


def test_a_score_reads_well() -> None:
    assert str(Score(name="auc", value=0.5)) == "auc 0.500"
    assert str(Score(name="auc", value=0.5, low=0.4, high=0.61)) == "auc 0.500 (0.400 to 0.610)"
    nothing = Score.undefined("auc", "gold has one class only")
    assert str(nothing) == "auc undefined: gold has one class only"
    assert math.isnan(float(nothing))
    assert not nothing.defined


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
