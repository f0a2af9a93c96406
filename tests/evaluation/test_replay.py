"""Adaptive closing: the rule, and what it saves on real judgments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote
from adjudge.data.formats import read
from adjudge.data.formats.trec_rf10 import trec_2011_subset
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.replay import (
    _rating_steps,
    _thin_judgments,
    accuracy_by_ratings,
    replays,
)
from adjudge.evaluation.stopping import Stopping
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.simulation import Crowd, Population
from sizes import sized

MODEL = HybridConfusion(method="em")


def test_an_item_closes_when_it_is_sure_or_full() -> None:
    rule = Stopping(least=2, most=4, sure=0.9)
    judgments = np.array([1, 2, 2, 3, 4, 0])
    probability = np.array([0.99, 0.9, 0.89, 0.5, 0.5, 1.0])
    closed = [False, True, False, False, True, False]
    assert rule.closed(judgments, probability).tolist() == closed


def test_the_queue_has_the_least_judged_first_and_then_the_most_doubtful() -> None:
    rule = Stopping(least=2, most=4, sure=0.9)
    judgments = np.array([3, 0, 2, 1, 2, 1])
    probability = np.array([0.6, 0.5, 0.95, 0.99, 0.7, 0.6])
    gain = np.array([0.4, 0.1, 0.0, 0.2, 0.5, 0.3])
    assert rule.queue(judgments, probability, gain).tolist() == [1, 5, 3, 4, 0]


@pytest.mark.parametrize("setting", [{"least": 0}, {"least": 3, "most": 2}, {"sure": 0.4}])
def test_rules_that_cannot_be(setting: dict[str, float]) -> None:
    with pytest.raises(BadSetting):
        Stopping(**setting)  # type: ignore[arg-type]


def test_it_never_asks_for_more_than_there_is_or_the_budget_allows() -> None:
    crowd = Crowd(items=200, population=Population.parse("skilled:20"), per_item=(1, 6), gold=0.5)
    simulated = crowd.make(seed=2)
    held = int(np.minimum(simulated.judgments.counts_per_item, 5).sum())
    for budget in (0.5, 1.0):
        rule = Stopping(least=1, most=5, sure=1.0)
        (one,) = replays(
            simulated.judgments,
            simulated.gold,
            model=MODEL,
            rule=rule,
            seeds=1,
            rounds=5,
            budget=budget,
        )
        assert one.fixed_judgments == held
        assert one.adaptive_judgments <= max(budget * held, 200)


def test_bad_input() -> None:
    crowd = Crowd(items=20, population=Population.parse("skilled:9")).make(seed=2)
    fixed: dict[str, Any] = {"model": MODEL, "rule": Stopping()}
    with pytest.raises(BadData):
        replays(crowd.judgments, crowd.gold, **fixed)
    for setting in ("budget", "seeds", "rounds"):
        with pytest.raises(BadSetting) as caught:
            replays(crowd.judgments, crowd.truth, **fixed, **{setting: 0})
        assert caught.value.setting == setting
    for setting, value in (("runs", 0), ("ratings", (0,))):
        with pytest.raises(BadSetting) as caught:
            accuracy_by_ratings({}, crowd.judgments, crowd.truth, **{setting: value})
        assert caught.value.setting == setting


@pytest.mark.slow
def test_a_quarter_of_the_judgments_is_saved_at_the_same_accuracy(shared_data: Path) -> None:
    """TREC RF 2010, orders of the real judgments, against 5 an item and against random order."""
    trec = trec_2011_subset(read(shared_data / "trec-rf10" / "judgments.tsv"))
    assert trec.judgments is not None
    assert trec.gold is not None
    found = replays(
        trec.judgments,
        trec.gold,
        model=MODEL,
        rule=Stopping(least=2, most=5, sure=0.95),
        budget=0.7,
        seeds=sized(2, full=20),
        rounds=10,
    )
    saved = np.array([one.saved for one in found])
    against_fixed = np.array([one.adaptive_accuracy - one.fixed_accuracy for one in found])
    against_random = np.array([one.adaptive_accuracy - one.random_accuracy for one in found])
    assert saved.min() >= 0.25
    assert against_fixed.mean() >= 0.0
    assert against_random.mean() > 0.015
    assert (against_random > 0).all()


TABLE = pa.table(
    {
        "item": ["a"] * 4 + ["b"] * 2 + ["c"],
        "judge": list("wxyzwxw"),
        "label": ["1", "1", "1", "1", "0", "0", "1"],
    }
)


@pytest.mark.parametrize(("ratings", "left"), [(1, [1, 1, 1]), (2, [2, 2, 1]), (9, [4, 2, 1])])
def test_each_item_keeps_at_most_the_given_number(ratings: int, left: list[int]) -> None:
    less = _thin_judgments(Judgments.from_table(TABLE), ratings, seed=3)
    assert less.counts_per_item.tolist() == left
    assert less.judge_count == 4


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
