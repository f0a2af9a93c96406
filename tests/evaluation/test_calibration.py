"""A model's probabilities next to the vote's: the measure by hand, and when it is reported."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote
from adjudge.evaluation import compare_with_vote, evaluate
from adjudge.evaluation.against_gold import MoreGold, _smoothed_vote_share
from adjudge.evaluation.scores import wilson
from gold_panels import drawn, simulate_panel

TABLE = pa.table(
    {
        "item": ["a", "a", "a", "b", "c"],
        "judge": ["x", "y", "z", "x", "y"],
        "label": ["1", "1", "0", "0", "2"],
    }
)
GOLD = Gold.of({"a": "1", "b": "2", "c": "2"})


def test_the_share_has_half_a_judgment_for_each_label() -> None:
    judgments = Judgments.from_table(TABLE)
    expected = np.array([[1.5, 2.5, 0.5], [1.5, 0.5, 0.5], [0.5, 0.5, 1.5]])
    expected /= expected.sum(axis=1, keepdims=True)
    assert _smoothed_vote_share(judgments) == pytest.approx(expected)


def test_a_model_is_next_to_the_vote_on_the_same_items() -> None:
    judgments = Judgments.from_table(TABLE)
    found = compare_with_vote(evaluate(MajorityVote().fit(judgments), GOLD), judgments)
    assert found is not None
    assert found.items == 3
    given = (2.5 / 4.5, 0.5 / 2.5, 1.5 / 2.5)  # the shares of the truths of a, b and c
    assert found.vote == pytest.approx(-sum(math.log(share) for share in given) / 3)
    # The plain shares give b's truth nothing: clipped, it costs 13.8.
    assert found.model == pytest.approx((-math.log(2 / 3) - math.log(1e-6)) / 3, abs=1e-5)
    assert found.worse
    assert found.warning == (
        "Its probabilities are worse than the plain vote's: log loss 4.740 on 3 gold items, where "
        "the vote share (half a judgment added to each label) has 0.903."
    )


def test_nothing_is_compared_where_it_would_not_be_fair() -> None:
    judgments = Judgments.from_table(TABLE)
    with_gold = evaluate(MajorityVote().fit(judgments, GOLD), GOLD)
    assert compare_with_vote(with_gold, judgments) is None
    bare = evaluate(pa.table({"item": ["a", "b"], "label": ["1", "0"]}), GOLD, judgments.scale)
    assert compare_with_vote(bare, judgments) is None
    nobody = evaluate(MajorityVote().fit(judgments), Gold.of({"z": "1"}))
    assert compare_with_vote(nobody, judgments) is None


def test_without_gold_the_margin_is_that_of_fifty_labels() -> None:
    judgments, _ = simulate_panel()
    consensus = MajorityVote().fit(judgments)
    found = MoreGold.of(consensus)
    assert found is not None
    share = float(consensus.probability.mean())
    low, high = wilson(50 * share, 50)
    assert (found.have, found.labels, found.margin_now) == (0, 50, None)
    assert found.accuracy == pytest.approx(share)
    assert found.margin == pytest.approx((high - low) / 2)
    narrow = MoreGold.of(consensus, level=0.5)
    assert narrow is not None
    assert narrow.margin < found.margin


def test_gold_there_is_already_counts_and_its_items_do_not() -> None:
    judgments, gold = simulate_panel()
    few = drawn(gold, 20, 1)
    consensus = MajorityVote().fit(judgments, few)
    found = MoreGold.of(consensus, few)
    assert found is not None
    assert (found.have, found.labels) == (20, 50)
    left = few.align(judgments) < 0
    assert found.accuracy == pytest.approx(float(consensus.probability[left].mean()))
    assert found.margin_now is not None
    assert found.margin_now > found.margin
    assert MoreGold.of(consensus, drawn(gold, 50, 1)) is None


def test_no_more_labels_than_there_are_items() -> None:
    judgments, gold = simulate_panel(items=30)
    consensus = MajorityVote().fit(judgments)
    found = MoreGold.of(consensus)
    assert found is not None
    assert found.labels == 30
    assert MoreGold.of(consensus, drawn(gold, 21, 1)) is None
    strangers = Gold.of({f"other-{number}": 1 for number in range(60)})
    again = MoreGold.of(consensus, strangers)
    assert again == found
