"""Held-out judgments: predictions by hand, folds that spread, models that cannot be scored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge import DawidSkene, HybridConfusion, MajorityVote, Pmf, SingleConfusion, Vote
from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.comparison import _label_shares_score
from adjudge.evaluation.crossvalidation import _judgment_folds, _predict_held_out, held_out_score
from adjudge.simulation import Crowd, Population
from strategies import judgments as any_judgments

MADE = Crowd(
    items=400, population=Population.parse("skilled(40,10):100", judges=12), per_item=5
).make(seed=1)


@settings(deadline=None)
@given(made=any_judgments(), folds=st.integers(2, 4), seed=st.integers(0, 3))
def test_the_judgments_of_an_item_are_spread_evenly(made: Judgments, folds: int, seed: int) -> None:
    fold = _judgment_folds(made, folds, seed)
    for item in range(made.item_count):
        counts = np.bincount(fold[made.item == item], minlength=folds)
        assert counts.max() - counts.min() <= 1


def test_a_prediction_by_hand() -> None:
    consensus = HybridConfusion(method="em").fit(MADE.judgments)
    items, judges = np.array([0, 7], np.int32), np.array([3, 5], np.int32)
    found = _predict_held_out(consensus, items, judges, np.array([1, 0], np.int8))
    for at, (item, judge, label) in enumerate([(0, 3, 1), (7, 5, 0)]):
        q, theta = consensus.posterior[item], consensus.confusion[judge]
        assert found[at] == pytest.approx(q[0] * theta[0, label] + q[1] * theta[1, label])
    both = _predict_held_out(consensus, items, judges, np.array([0, 1], np.int8))
    assert found + both == pytest.approx([1, 1])


def test_judges_may_share_one_confusion() -> None:
    consensus = SingleConfusion().fit(MADE.judgments)
    assert len(consensus.confusion) == 1
    zeros = np.zeros(1, np.int8)
    found = _predict_held_out(consensus, np.array([0], np.int32), np.array([9], np.int32), zeros)
    assert found[0] == pytest.approx(consensus.posterior[0] @ consensus.confusion[0, :, 0])


def test_the_score_is_the_entropy_of_what_can_be_known() -> None:
    """Judges who are right 80% of the time: with 4 of 5 judgments seen, the truth is nearly known.

    Were it known, a judgment would have the mean score .8 ln .8 + .2 ln .2 = -0.500; without any
    knowledge it has ln .5 = -0.693.
    """
    held = held_out_score(HybridConfusion(method="em"), MADE.judgments)
    assert _label_shares_score(MADE.judgments) == pytest.approx(np.log(0.5), abs=0.005)
    assert -0.62 < held.mean < -0.50
    assert 0 < held.error < 0.02
    assert held.clipped == 0
    assert held.seconds > 0
    assert held.by_item.mean() == pytest.approx(held.mean)
    assert len(held.by_item) == 400


def test_each_judgment_is_predicted_by_a_fit_that_did_not_see_it() -> None:
    """One judge of one item each, who says what the item's number says: nothing predicts her."""
    rng = np.random.default_rng(0)
    table = {
        "item": [f"i{n}" for n in range(300)],
        "judge": [f"j{n}" for n in range(300)],
        "label": rng.integers(0, 2, 300).tolist(),
    }
    made = Judgments.from_table(table)
    for model in (MajorityVote(), HybridConfusion(method="em")):
        assert held_out_score(model, made).mean <= _label_shares_score(made) + 0.02


def test_the_standard_error_takes_the_judgments_of_an_item_together() -> None:
    held = held_out_score(MajorityVote(), MADE.judgments)
    gaps = [held.score[held.item == i].sum() - 5 * held.mean for i in range(400)]
    assert held.error == pytest.approx(np.sqrt(np.square(gaps).sum()) / 2000)


def test_a_chance_of_nothing_is_clipped_and_counted() -> None:
    table = {
        "item": ["a", "a", "b", "b", "c", "c"],
        "judge": ["x", "y"] * 3,
        "label": [0, 0, 0, 0, 0, 1],
    }
    held = held_out_score(DawidSkene(), Judgments.from_table(table), folds=6)
    assert held.clipped >= 1
    assert held.score.min() == pytest.approx(np.log(1e-6))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            Vote(),
            "vote cannot be scored by judgments: weights say which judges count, not how they "
            "label",
        ),
        (
            Pmf(),
            "pmf cannot be scored by judgments: factors predict grades, not the chance of each "
            "label",
        ),
    ],
)
def test_a_model_that_cannot_be_scored(model: Vote | Pmf, message: str) -> None:
    with pytest.raises(BadData) as raised:
        held_out_score(model, MADE.judgments)
    assert str(raised.value) == message


def test_too_many_folds() -> None:
    with pytest.raises(BadSetting, match="from 2 to the number of judgments, 2,000"):
        held_out_score(MajorityVote(), MADE.judgments, folds=2001)
