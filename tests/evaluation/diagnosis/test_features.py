"""The table of features: company and intervals, by hand and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from adjudge import Gold, Judgments
from adjudge.evaluation.diagnosis.judge_tables import feature_table
from adjudge.simulation import demo


def test_columns_follow_what_the_data_allow() -> None:
    rows = {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": ["cat", "dog", "cat"]}
    table = feature_table(Judgments.from_table(rows))
    assert table.column_names == [
        *("judge", "judgments", "graded-accuracy-majority", "graded-accuracy-majority_count"),
        *("graded-accuracy-majority_low", "graded-accuracy-majority_high"),
        *("label-typicality", "label-typicality_count", "kappa-majority", "bits"),
        *("share_cat", "share_dog"),
    ]
    assert table["share_cat"].to_pylist() == [1, 0]


def test_kappa_with_the_majority_is_cohens() -> None:
    made = demo()
    table = feature_table(made.judgments, seed=1).to_pylist()
    from adjudge import MajorityVote

    judgments = made.judgments
    vote = MajorityVote(seed=1).fit(judgments).choice
    for judge in (0, 5, judgments.judge_count - 1):
        mine = judgments.judge == judge
        wanted = cohen_kappa_score(judgments.label[mine], vote[judgments.item[mine]])
        assert table[judge]["kappa-majority"] == pytest.approx(wanted)


def test_intervals_hold_their_share_and_medians_are_medians() -> None:
    made = demo()
    table = feature_table(made.judgments, made.gold).to_pylist()
    for row in table:
        if row["graded-accuracy-gold"] is not None and 0 < row["graded-accuracy-gold"] < 1:
            low, high = row["graded-accuracy-gold_low"], row["graded-accuracy-gold_high"]
            assert low < row["graded-accuracy-gold"] < high
    seconds = made.judgments.seconds[made.judgments.judge == 3]
    assert table[3]["median-seconds"] == pytest.approx(np.median(seconds), rel=1e-9)
    shares = [row["share_0"] + row["share_1"] + row["share_2"] for row in table]
    assert shares == pytest.approx([1.0] * len(table))


def test_a_judge_without_gold_has_nothing_against_it() -> None:
    rows = {"item": ["a", "b"], "judge": ["x", "y"], "label": [0, 1]}
    row = feature_table(Judgments.from_table(rows), Gold.of({"a": 0})).to_pylist()[1]
    assert row["graded-accuracy-gold"] is None
    assert row["graded-accuracy-gold_low"] is None
    assert row["graded-accuracy-gold_count"] == 0
