"""A model's probabilities beside the plain vote's: the yardstick by hand, and when it is told."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

from adjudge import Gold, Judgments, MajorityVote
from adjudge.data.scale import Scale
from adjudge.evaluation import beside_vote, evaluate
from adjudge.evaluation.against_gold import BesideVote, _smoothed_vote_share

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
    wanted = np.array([[1.5, 2.5, 0.5], [1.5, 0.5, 0.5], [0.5, 0.5, 1.5]])
    wanted /= wanted.sum(axis=1, keepdims=True)
    assert _smoothed_vote_share(judgments) == pytest.approx(wanted)


def test_labels_count_for_the_truths_that_they_stand_for() -> None:
    scale = Scale(labels=("x", "0", "1", "2"), truths=("0", "1"), truth_of=(-1, 0, 1, 1))
    table = pa.table({"item": ["a"] * 4, "judge": list("abcd"), "label": ["x", "0", "1", "2"]})
    judgments = Judgments.from_table(table, scale=scale)
    assert _smoothed_vote_share(judgments)[0] == pytest.approx([1.5 / 4, 2.5 / 4])


def test_a_model_is_beside_the_vote_on_the_same_items() -> None:
    judgments = Judgments.from_table(TABLE)
    found = beside_vote(evaluate(MajorityVote().fit(judgments), GOLD), judgments)
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


def test_a_model_that_is_better_says_nothing() -> None:
    assert BesideVote(items=5, model=0.4, vote=0.5).warning is None
    assert BesideVote(items=5, model=0.5, vote=0.5).warning is None


def test_nothing_is_compared_where_it_would_not_be_fair() -> None:
    judgments = Judgments.from_table(TABLE)
    told = evaluate(MajorityVote().fit(judgments, GOLD), GOLD)
    assert beside_vote(told, judgments) is None
    bare = evaluate(pa.table({"item": ["a", "b"], "label": ["1", "0"]}), GOLD, judgments.scale)
    assert beside_vote(bare, judgments) is None
    nobody = evaluate(MajorityVote().fit(judgments), Gold.of({"z": "1"}))
    assert beside_vote(nobody, judgments) is None
