"""Measures of arms, on small counts worked out by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import precision_recall_fscore_support

from adjudge.collect.services._arm_measures import (
    confusions,
    estimate_means,
    estimate_pooled,
    measure_names,
    measures,
    permutation_test,
    vote_test,
    votes,
)


def test_measures_of_a_confusion_worked_out_by_hand() -> None:
    # truth a: 3 as a, 1 as b; truth b: 2 as b; truth c never, and nothing is called c
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    names = measure_names(["a", "b", "c"])
    found = dict(zip(names, measures(counts), strict=True))
    assert found == pytest.approx(
        {
            "accuracy": 5 / 6,
            "precision a": 1.0,
            "precision b": 2 / 3,
            "precision c": np.nan,
            "recall a": 0.75,
            "recall b": 1.0,
            "recall c": np.nan,
        },
        nan_ok=True,
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=40))
@settings(deadline=None)
def test_measures_are_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    truth, label = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    counts = confusions(np.zeros(len(truth), dtype=np.int64), truth, label, 1, 3)[0]
    precision, recall, *_ = precision_recall_fscore_support(
        truth, label, labels=[0, 1, 2], zero_division=np.nan
    )
    expected = [np.mean(truth == label), *precision, *recall]
    np.testing.assert_allclose(measures(counts), expected, equal_nan=True)


def test_means_leave_out_what_a_judge_has_not() -> None:
    rows = np.array([[1.0, np.nan], [0.5, 0.25], [0.0, np.nan]])
    rng = np.random.default_rng(1)
    np.testing.assert_allclose(estimate_means(rows, resamples=0, rng=rng)[0], [0.5, 0.25])
    value = estimate_means(rows[[0, 2]], resamples=9, rng=rng)[0]
    np.testing.assert_allclose(value, [0.5, np.nan])


def test_an_exact_permutation_test_is_met() -> None:
    # Of the 20 ways to choose three of six, two are as extreme as {0,0,0} against {1,1,1}.
    rows = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]])
    arm = np.array([0, 0, 0, 1, 1, 1])
    p = permutation_test(rows, arm, permutations=20_000, rng=np.random.default_rng(1))
    assert p[0] == pytest.approx(2 / 20, abs=0.01)
    one = permutation_test(rows[:3], arm[:3], permutations=9, rng=np.random.default_rng(1))
    assert np.isnan(one[0])


def test_the_permutation_test_holds_its_level() -> None:
    """Without a difference p is about uniform: at most 5% of p are at most .05, give or take."""
    rng = np.random.default_rng(5)
    arm = np.repeat([0, 1, 2], 8)
    rows = rng.random((24, 400))  # 400 measures are 400 experiments
    p = permutation_test(rows, arm, permutations=199, rng=rng)
    assert 0.025 < (p <= 0.05).mean() < 0.085
    assert p.mean() == pytest.approx(0.5, abs=0.05)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(7)
    judged = pooled = 0
    for _ in range(300):
        rows = (rng.random((40, 1)) < 0.7).astype(float)
        _, low, high = estimate_means(rows, resamples=300, rng=rng)
        judged += bool(low[0] <= 0.7 <= high[0])
        truth = np.zeros(60, dtype=np.int64)
        label = (rng.random(60) >= 0.7).astype(np.int64)
        _, low, high = estimate_pooled(truth, label, 2, resamples=300, rng=rng)
        pooled += bool(low[0] <= 0.7 <= high[0])
    assert 0.89 < judged / 300 <= 0.99
    assert 0.89 < pooled / 300 <= 0.99


def test_votes_by_group_with_ties_at_random() -> None:
    group = np.array([0, 0, 0, 1, 1, 1])
    item = np.array([0, 0, 0, 0, 1, 1])
    label = np.array([1, 1, 0, 2, 0, 1])
    chosen = [votes(group, item, label, (2, 3, 3), np.random.default_rng(n)) for n in range(40)]
    for one in chosen:
        assert one[:, 2].tolist() == [-1, -1]
        assert (one[0, 0], one[1, 0], one[0, 1]) == (1, 2, -1)
    assert {int(one[1, 1]) for one in chosen} == {0, 1}


def test_the_test_of_votes_sees_arms_that_differ_and_none_where_they_do_not() -> None:
    rng = np.random.default_rng(3)
    many, items = 20, 30
    judge = np.repeat(np.arange(many), items)
    item = np.tile(np.arange(items), many)
    arm = np.arange(many) % 2
    accepted = np.zeros((items, 2), dtype=bool)
    accepted[:, 0] = True
    skill = np.where(arm[judge] == 0, 0.9, 0.45)
    label = (rng.random(judge.size) >= skill).astype(np.int64)
    p = vote_test(judge, item, label, arm, accepted, permutations=199, rng=rng)
    assert p <= 0.02
    same = (rng.random(judge.size) >= 0.7).astype(np.int64)
    assert vote_test(judge, item, same, arm, accepted, permutations=199, rng=rng) > 0.05
    assert np.isnan(vote_test(judge, item, label, arm * 0, accepted, permutations=9, rng=rng))
