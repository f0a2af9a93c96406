from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score

from adjudge import DawidSkene, HybridConfusion, MajorityVote, Pmf, SingleConfusion, Vote
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._resampling import split_folds
from adjudge.evaluation.comparison import _label_shares_score
from adjudge.evaluation.crossvalidation import (
    _judgment_folds,
    _predict_held_out,
    cross_validate,
    held_out_score,
)
from adjudge.simulation import Crowd, Population
from strategies import judgments as any_judgments

GRADES = Scale.parse("0<1<2")


def crowd() -> tuple[Judgments, Gold]:
    people = Population.parse("skilled(5,5):100", judges=8)
    simulated = Crowd(items=90, population=people, scale=GRADES, per_item=5, gold=0.5).make(seed=0)
    return simulated.judgments, simulated.gold


def test_pooled_and_folds_rest_on_the_same_labels() -> None:
    judgments, gold = crowd()
    found = cross_validate(DawidSkene(), judgments, gold, folds=4, seed=3, resamples=20)
    assert found.items.to_pylist() == sorted(gold.items.to_pylist())
    right = found.truth == found.choice
    for number, fold in enumerate(found.folds):
        own = right[found.fold == number]
        assert fold.scored == len(own)
        assert fold["accuracy"].value == pytest.approx(own.mean())
    assert found.pooled["accuracy"].value == pytest.approx(
        accuracy_score(found.truth, found.choice)
    )
    assert found.pooled["f1"].low is not None
    assert found.folds[0]["f1"].low is None


def test_a_fold_is_a_fit_with_the_gold_of_the_others() -> None:
    judgments, gold = crowd()
    found = cross_validate(DawidSkene(), judgments, gold, folds=3, seed=1)
    by_name = dict(zip(found.items.to_pylist(), found.fold.tolist(), strict=True))
    others = np.array([by_name[name] != 2 for name in gold.items.to_pylist()])
    consensus = DawidSkene().fit(judgments, gold.select(others))
    place = {name: row for row, name in enumerate(judgments.items.to_pylist())}
    rows = np.flatnonzero(found.fold == 2)
    expected = consensus.posterior[[place[found.items[int(row)].as_py()] for row in rows]]
    assert found.posterior[rows] == pytest.approx(expected)


def test_same_seed_same_result_in_any_order_of_rows() -> None:
    judgments, gold = crowd()
    random = np.random.default_rng(9)
    moved = Gold.from_table(gold.to_table().take(random.permutation(len(gold))))
    rows = judgments.to_table()
    other = Judgments.from_table(rows.take(random.permutation(rows.num_rows)), scale=GRADES)
    first = cross_validate(DawidSkene(), judgments, gold, seed=4, resamples=10)
    again = cross_validate(DawidSkene(), other, moved, seed=4, resamples=10)
    assert np.array_equal(first.fold, again.fold)
    assert first.posterior == pytest.approx(again.posterior)
    assert first.pooled["accuracy"] == again.pooled["accuracy"]
    third = cross_validate(DawidSkene(), judgments, gold, seed=5)
    assert not np.array_equal(first.fold, third.fold)


def test_gold_without_judgments_counts_as_not_labelled() -> None:
    judgments, gold = crowd()
    truths = dict(zip(gold.items.to_pylist(), gold.texts(), strict=True))
    found = cross_validate(MajorityVote(), judgments, Gold.of({**truths, "unseen": 1}))
    assert (found.pooled.gold, found.pooled.scored) == (len(gold) + 1, len(gold))
    at = found.items.to_pylist().index("unseen")
    assert (found.truth[at], found.choice[at]) == (1, -1)
    assert np.isnan(found.posterior[at]).all()


def test_what_cannot_be_cross_validated() -> None:
    judgments, gold = crowd()
    with pytest.raises(BadData) as nothing:
        cross_validate(MajorityVote(), judgments, Gold.of({}))
    assert nothing.value.source == "gold"
    for folds in (1, 46):
        with pytest.raises(BadSetting) as error:
            cross_validate(MajorityVote(), judgments, gold, folds=folds)
        assert (error.value.setting, error.value.value) == ("folds", folds)


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.integers(2, 6), st.integers(0, 9))
def test_folds_are_even_and_stratified(truths: list[int], folds: int, seed: int) -> None:
    items = as_names([f"n{number}" for number in range(len(truths))])
    truth = np.array(truths, np.int16)
    fold = split_folds(items, truth, folds, seed)
    sizes = np.bincount(fold, minlength=folds)
    assert np.ptp(sizes) <= 1
    for code in set(truths):
        assert np.ptp(np.bincount(fold[truth == code], minlength=folds)) <= 1
    order = np.random.default_rng(seed).permutation(len(truths))
    moved = split_folds(items.take(pa.array(order)), truth[order], folds, seed)
    assert np.array_equal(moved, fold[order])


SIMULATED = Crowd(
    items=400, population=Population.parse("skilled(40,10):100", judges=12), per_item=5
).make(seed=1)


@settings(deadline=None)
@given(simulated=any_judgments(), folds=st.integers(2, 4), seed=st.integers(0, 3))
def test_the_judgments_of_an_item_are_spread_evenly(
    simulated: Judgments, folds: int, seed: int
) -> None:
    fold = _judgment_folds(simulated, folds, seed)
    for item in range(simulated.item_count):
        counts = np.bincount(fold[simulated.item == item], minlength=folds)
        assert counts.max() - counts.min() <= 1


def test_a_prediction_by_hand() -> None:
    consensus = HybridConfusion(method="em").fit(SIMULATED.judgments)
    items, judges = np.array([0, 7], np.int32), np.array([3, 5], np.int32)
    found = _predict_held_out(consensus, items, judges, np.array([1, 0], np.int8))
    for at, (item, judge, label) in enumerate([(0, 3, 1), (7, 5, 0)]):
        q, theta = consensus.posterior[item], consensus.confusion[judge]
        assert found[at] == pytest.approx(q[0] * theta[0, label] + q[1] * theta[1, label])
    both = _predict_held_out(consensus, items, judges, np.array([0, 1], np.int8))
    assert found + both == pytest.approx([1, 1])


def test_judges_may_share_one_confusion() -> None:
    consensus = SingleConfusion().fit(SIMULATED.judgments)
    assert len(consensus.confusion) == 1
    zeros = np.zeros(1, np.int8)
    found = _predict_held_out(consensus, np.array([0], np.int32), np.array([9], np.int32), zeros)
    assert found[0] == pytest.approx(consensus.posterior[0] @ consensus.confusion[0, :, 0])


def test_the_score_is_the_entropy_of_what_can_be_known() -> None:
    """Judges who are right 80% of the time: with 4 of 5 judgments seen, the truth is nearly known.

    Were it known, a judgment would have the mean score .8 ln .8 + .2 ln .2 = -0.500; without any
    knowledge it has ln .5 = -0.693.
    """
    held = held_out_score(HybridConfusion(method="em"), SIMULATED.judgments)
    assert _label_shares_score(SIMULATED.judgments) == pytest.approx(np.log(0.5), abs=0.005)
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
    simulated = Judgments.from_table(table)
    for model in (MajorityVote(), HybridConfusion(method="em")):
        assert held_out_score(model, simulated).mean <= _label_shares_score(simulated) + 0.02


def test_the_standard_error_takes_the_judgments_of_an_item_together() -> None:
    held = held_out_score(MajorityVote(), SIMULATED.judgments)
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


@pytest.mark.parametrize("model", [Vote(), Pmf()], ids=lambda model: model.name)
def test_a_model_that_cannot_be_scored(model: Vote | Pmf) -> None:
    with pytest.raises(BadData, match=f"{model.name} cannot be scored by judgments"):
        held_out_score(model, SIMULATED.judgments)
    with pytest.raises(BadSetting, match="folds"):
        held_out_score(MajorityVote(), SIMULATED.judgments, folds=2001)
