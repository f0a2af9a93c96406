from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote
from adjudge.errors import BadSetting
from adjudge.evaluation.ratings import _rating_steps, _thin_judgments, accuracy_by_ratings
from adjudge.simulation import demo

TABLE = pa.table(
    {
        "item": ["a"] * 4 + ["b"] * 2 + ["c"],
        "judge": list("wxyzwxw"),
        "label": ["1", "1", "1", "1", "0", "0", "1"],
    }
)


@pytest.mark.parametrize(("ratings", "left"), [(1, [1, 1, 1]), (2, [2, 2, 1]), (9, [4, 2, 1])])
def test_each_item_keeps_at_most_so_many(ratings: int, left: list[int]) -> None:
    less = _thin_judgments(Judgments.from_table(TABLE), ratings, seed=3)
    assert less.counts_per_item.tolist() == left
    assert less.judge_count == 4


def test_which_are_kept_is_chance_and_each_is_as_likely() -> None:
    judgments = Judgments.from_table(TABLE)
    tally = np.zeros(4)
    for seed in range(400):
        tally[_thin_judgments(judgments, 1, seed).judge[0]] += 1
    assert tally.min() > 60  # 100 expected, sd 8.7


def test_steps_end_where_a_quarter_of_the_gold_items_do() -> None:
    judgments = Judgments.from_table(TABLE)
    assert _rating_steps(judgments, Gold.of({"a": 1, "b": 0, "c": 1})) == (1, 2, 3)
    assert _rating_steps(judgments, Gold.of({"stranger": 1})) == ()


def test_a_perfect_crowd_is_right_with_any_number() -> None:
    gold = Gold.of({"a": 1, "b": 0, "c": 1})
    curve = accuracy_by_ratings(
        {"vote": MajorityVote()}, Judgments.from_table(TABLE), gold, ratings=(1, 4), runs=3
    )
    assert curve["accuracy"].to_pylist() == [1.0, 1.0]
    assert curve["ratings"].to_pylist() == [1, 4]
    assert curve["runs"].to_pylist() == [3, 3]
    assert all(0.3 < low < 0.5 for low in curve["low"].to_pylist())  # Wilson's for 3 of 3: 0.439


def test_more_judgments_are_more_accurate_on_a_made_crowd() -> None:
    made = demo(3)
    curve = accuracy_by_ratings(
        {"vote": MajorityVote()}, made.judgments, made.truth, ratings=(1, 5), runs=3
    )
    first, last = curve["accuracy"].to_pylist()
    assert last > first + 0.03


def test_numbers_that_cannot_be() -> None:
    made = demo(3)
    with pytest.raises(BadSetting, match="runs = 0: wanted at least one run"):
        accuracy_by_ratings({}, made.judgments, made.truth, runs=0)
    with pytest.raises(BadSetting, match="ratings = 0: wanted at least one judgment an item"):
        accuracy_by_ratings({}, made.judgments, made.truth, ratings=(0,))
