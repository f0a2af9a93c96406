from __future__ import annotations

import numpy as np
import pytest

from adjudge.data.scale import Scale
from adjudge.evaluation.measures import MEASURES, Measure, ScoredItems

GRADES = Scale.parse("0<1<2")
EMPTY = np.zeros(0, np.int16)


def drawn(seed: int, items: int = 40, scale: Scale = GRADES) -> ScoredItems:
    random = np.random.default_rng(seed)
    posterior = random.dirichlet(np.full(len(scale.truths), 0.7), items)
    if seed % 2:  # with ties
        posterior = np.round(posterior * 4) / 4 + 0.01
        posterior /= posterior.sum(axis=1, keepdims=True)
    truth = random.integers(0, len(scale.truths), items).astype(np.int16)
    return ScoredItems(scale, truth, posterior.argmax(axis=1).astype(np.int16), posterior, bins=7)


def taken(sample: ScoredItems, rows: np.ndarray) -> ScoredItems:
    assert sample.posterior is not None
    return ScoredItems(
        sample.scale,
        sample.truth[rows],
        sample.choice[rows],
        sample.posterior[rows],
        clip=sample.clip,
        bins=sample.bins,
    )


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_weight_is_so_many_copies_of_the_item(measure: Measure, seed: int) -> None:
    sample = drawn(seed)
    rows = np.random.default_rng(seed).integers(0, 40, size=(6, 40))
    weight = np.array([np.bincount(row, minlength=40) for row in rows], dtype=np.float64)
    copied = [float(measure.of(taken(sample, row), None)) for row in rows]
    assert measure.of(sample, weight) == pytest.approx(np.array(copied))


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
def test_the_best_labels_have_the_best_score(measure: Measure) -> None:
    truth = np.array([0, 1, 2, 2, 0], np.int16)
    sure = ScoredItems(GRADES, truth, truth, np.eye(3)[truth])
    best = 1.0 if measure.higher_is_better else 0.0
    assert float(measure.of(sure, None)) == pytest.approx(best, abs=1e-5)
    other = drawn(2)
    worse = float(measure.of(other, None))
    assert worse < best if measure.higher_is_better else worse > best


def test_graded_and_binary_accuracy_part_by_the_collapse() -> None:
    truth = np.array([0, 1, 2, 1], np.int16)
    choice = np.array([0, 2, 1, 0], np.int16)
    sample = ScoredItems(GRADES, truth, choice)
    by_name = {measure.name: measure for measure in MEASURES}
    assert by_name["graded_accuracy"].of(sample, None) == 0.25
    assert by_name["binary_accuracy"].of(sample, None) == 0.75
    other = ScoredItems(GRADES.with_relevant(["2"]), truth, choice)
    assert by_name["binary_accuracy"].of(other, None) == 0.5


def test_probability_of_relevance_is_summed_over_relevant_truths() -> None:
    sample = ScoredItems(
        GRADES, np.array([1], np.int16), np.array([0], np.int16), np.array([[0.4, 0.35, 0.25]])
    )
    assert sample.chance == pytest.approx([0.6])
    assert sample.confidence == pytest.approx([0.4])
    assert sample.relevant is not None
    assert sample.relevant.tolist() == [True]
    assert sample.returned is not None
    assert sample.returned.tolist() == [False]


def test_order_by_chance_changes_no_score() -> None:
    sample = drawn(3)
    ranked = sample.by_chance()
    assert ranked.chance is not None
    assert (np.diff(ranked.chance) >= 0).all()
    for measure in MEASURES:
        assert measure.of(ranked, None) == pytest.approx(measure.of(sample, None))
    only = ScoredItems(GRADES, sample.truth, sample.choice)
    assert only.by_chance() is only


def test_what_a_sample_lacks() -> None:
    nominal = Scale.parse("cat,dog,owl")
    codes = np.array([0, 1], np.int16)
    plain = ScoredItems(nominal, codes, codes)
    reasons = {measure.name: measure.lacks(plain) for measure in MEASURES}
    assert reasons["accuracy"] is None
    assert reasons["graded_accuracy"] == "the scale is nominal: its labels are no grades"
    assert reasons["f1"] == (
        "the scale has no binary collapse: which labels are relevant is not known"
    )
    assert reasons["brier"] == "there are no probabilities, only labels"
    empty = ScoredItems(GRADES, EMPTY, EMPTY)
    assert {measure.lacks(empty) for measure in MEASURES} == {"no gold item has a label"}


def test_names_and_meanings_are_all_different() -> None:
    assert len({measure.name for measure in MEASURES}) == len(MEASURES)
    assert len({measure.meaning for measure in MEASURES}) == len(MEASURES)
