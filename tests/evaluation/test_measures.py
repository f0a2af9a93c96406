from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import metrics

from adjudge.data.scale import Scale
from adjudge.evaluation import measures as scores
from adjudge.evaluation.against_gold import _calibration, _confusion
from adjudge.evaluation.measures import MEASURES, Cells, Measure, ScoredItems

GRADES = Scale.parse("0<1<2")


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
    arrays = {"truth": sample.truth, "choice": sample.choice, "posterior": sample.posterior}
    return replace(sample, **{name: values[rows] for name, values in arrays.items()})


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_weight_of_n_equals_n_copies_of_the_item(measure: Measure, seed: int) -> None:
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


Arrays = tuple[NDArray[np.int16], NDArray[np.int16], NDArray[np.float64]]


def simulated(seed: int, items: int = 400, truths: int = 3) -> Arrays:
    random = np.random.default_rng(seed)
    posterior = random.dirichlet(np.full(truths, 0.7), items)
    posterior = np.round(posterior, 1 if seed % 2 else 6)  # odd seeds have ties
    posterior[:, 0] = 1 - posterior[:, 1:].sum(axis=1)
    posterior = np.abs(posterior) / np.abs(posterior).sum(axis=1, keepdims=True)
    truth = np.array([random.choice(truths, p=row) for row in posterior], dtype=np.int16)
    return truth, posterior.argmax(axis=1).astype(np.int16), posterior


# --- against scikit-learn ---


@pytest.mark.parametrize("seed", range(4))
def test_labels_against_scikit_learn(seed: int) -> None:
    truth, choice, _ = simulated(seed)
    assert scores.accuracy(truth, choice) == pytest.approx(metrics.accuracy_score(truth, choice))
    expected = metrics.cohen_kappa_score(truth, choice, weights="quadratic")
    assert scores.quadratic_kappa(truth, choice) == pytest.approx(expected)
    assert scores.grade_error(truth, choice) == pytest.approx(
        metrics.mean_absolute_error(truth, choice)
    )
    assert scores.grade_rmse(truth, choice) == pytest.approx(
        metrics.root_mean_squared_error(truth, choice)
    )


@pytest.mark.parametrize("seed", range(4))
def test_relevance_against_scikit_learn(seed: int) -> None:
    truth, choice, posterior = simulated(seed)
    relevant, returned, chance = truth > 0, choice > 0, posterior[:, 1:].sum(axis=1)
    cells = Cells.of(relevant, returned)
    assert cells.precision == pytest.approx(metrics.precision_score(relevant, returned))
    assert cells.recall == pytest.approx(metrics.recall_score(relevant, returned))
    assert cells.specificity == pytest.approx(metrics.recall_score(~relevant, ~returned))
    assert cells.f1 == pytest.approx(metrics.f1_score(relevant, returned))
    assert scores.auc(relevant, chance) == pytest.approx(metrics.roc_auc_score(relevant, chance))
    expected = metrics.mean_squared_error(relevant.astype(float), chance)
    assert scores.mse(relevant, chance) == pytest.approx(expected)
    assert scores.rmse(relevant, chance) == pytest.approx(math.sqrt(expected))
    assert scores.squared_error(relevant, chance) == pytest.approx(expected * len(truth))


@pytest.mark.parametrize("seed", [0, 2])
def test_probabilities_against_scikit_learn(seed: int) -> None:
    truth, _, posterior = simulated(seed)
    inside = np.clip(posterior, 1e-3, None)
    inside /= inside.sum(axis=1, keepdims=True)
    expected = metrics.log_loss(truth, inside, labels=[0, 1, 2])
    assert scores.log_loss(truth, inside) == pytest.approx(expected)
    expected = metrics.brier_score_loss(truth, inside, labels=[0, 1, 2], scale_by_half=False)
    assert scores.brier(truth, inside) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(2))
def test_confusion_against_scikit_learn(seed: int) -> None:
    truth, choice, posterior = simulated(seed)
    matrix = _confusion(truth, np.eye(3)[choice], "abc")
    assert np.array_equal(matrix.counts, metrics.confusion_matrix(truth, choice))
    assert matrix.precision == pytest.approx(metrics.precision_score(truth, choice, average=None))
    assert matrix.recall == pytest.approx(metrics.recall_score(truth, choice, average=None))
    parts = _confusion(truth, posterior, "abc")
    assert parts.counts == pytest.approx(np.eye(3)[truth].T @ posterior)


# --- by hand ---


def test_ties_in_expectation_by_hand() -> None:
    posterior = np.array([[0.5, 0.5, 0.0], [0.4, 0.4, 0.2], [1 / 3, 1 / 3, 1 / 3], [0.1, 0.9, 0.0]])
    truth = np.array([0, 2, 1, 1])
    # 1/2 for a shared top with the truth, 0 without it, 1/3, and 1 for a top alone.
    assert scores.expected_accuracy(truth, posterior) == pytest.approx((0.5 + 0 + 1 / 3 + 1) / 4)


def test_a_fractional_response_counts_in_part() -> None:
    # Section 9.3: a system that returns 0.72 for items that are relevant 72 times in 100.
    relevant = np.arange(100) < 72
    cells = Cells.of(relevant, np.full(100, 0.72))
    assert cells.true_positive == pytest.approx(51.84)
    assert cells.false_positive == pytest.approx(20.16)
    assert cells.false_negative == pytest.approx(20.16)
    assert cells.true_negative == pytest.approx(7.84)
    sure = Cells.of(relevant, np.ones(100))
    assert (sure.true_positive, sure.false_positive) == (72, 28)
    assert (sure.false_negative, sure.true_negative) == (0, 0)


def test_the_papers_simulation_of_fractional_responses() -> None:
    # Section 9.3: uniform probabilities, truth drawn by them: 0.75 quantised, 0.66 in part.
    random = np.random.default_rng(93)
    chance = random.random(400_000)
    relevant = random.random(400_000) < chance
    full, parts = Cells.of(relevant, chance > 0.5), Cells.of(relevant, chance)
    assert (full.precision, full.recall) == pytest.approx((0.75, 0.75), abs=0.005)
    # Exactly 2/3: E p² / E p = (1/3) / (1/2); the paper prints 0.66.
    assert (parts.precision, parts.recall) == pytest.approx((2 / 3, 2 / 3), abs=0.005)


def test_calibration_by_hand() -> None:
    confidence = np.array([0.0, 0.5, 0.45, 0.51, 0.9, 1.0])
    right = np.array([False, True, False, True, True, False])
    found = _calibration(confidence, right, bins=2)
    assert found.edges.tolist() == [0.0, 0.5, 1.0]
    assert found.count.tolist() == [3, 3]  # 0.5 belongs to the lower bin
    assert found.confidence == pytest.approx([0.95 / 3, 2.41 / 3])
    assert found.share == pytest.approx([1 / 3, 2 / 3])
    assert found.error == pytest.approx(0.5 * abs(0.95 - 1) / 3 + 0.5 * (2.41 - 2) / 3)
    empty = _calibration(confidence, right, bins=100).to_table().to_pylist()
    assert empty[60] == {
        "low": 0.6,
        "high": 0.61,
        "items": 0,
        "confidence": None,
        "share": None,
        "share_low": None,
        "share_high": None,
    }
    # Wilson's interval of 1 of 3 and of 2 of 3.
    assert found.share_low == pytest.approx([0.0615, 0.2077], abs=1e-4)
    assert found.share_high == pytest.approx([0.7923, 0.9385], abs=1e-4)
    assert found.corrected == scores.corrected_calibration_error(confidence, right, bins=2)


def test_the_corrected_calibration_error_by_hand() -> None:
    confidence, right = np.array([0.9, 0.9, 0.6]), np.array([True, False, True])
    # One bin: S = 2.4 - 2 = .4, V = .09 + .09 + .24 = .42, z = .6172; Phi .7315, phi .3297.
    found = scores.corrected_calibration_error(confidence, right, bins=1)
    assert found == pytest.approx((0.4 * 0.4630 - 2 * 0.64807 * 0.3297) / 3, abs=1e-4)
    sure = scores.corrected_calibration_error(np.ones(4), np.array([True, True, True, False]))
    assert sure == pytest.approx(0.25)  # nothing is left to luck by a probability of 1
    assert scores.corrected_calibration_error(np.ones(4), np.ones(4, np.bool_)) == 0


@pytest.mark.parametrize("items", [60, 500, 5_000])
def test_calibrated_predictions_have_no_corrected_error_on_average(items: int) -> None:
    random = np.random.default_rng(items)
    plain, corrected = [], []
    for _ in range(400):
        confidence = random.uniform(0.5, 1.0, items)
        right = random.random(items) < confidence
        plain.append(float(scores.calibration_error(confidence, right)))
        corrected.append(float(scores.corrected_calibration_error(confidence, right)))
    luck = np.std(corrected) / np.sqrt(len(corrected))
    assert abs(np.mean(corrected)) < 4 * luck + 0.02 * np.mean(plain)
    assert np.mean(plain) > 5 * abs(np.mean(corrected))  # what there was to correct


@pytest.mark.parametrize("excess", [0.1, 0.25, -0.2])
def test_a_known_miscalibration_is_found_by_the_corrected_error(excess: float) -> None:
    random = np.random.default_rng(3)
    found = []
    for _ in range(200):
        confidence = random.uniform(0.6, 0.8, 2_000)
        right = random.random(2_000) < confidence - excess
        found.append(float(scores.corrected_calibration_error(confidence, right)))
    assert np.mean(found) == pytest.approx(abs(excess), abs=0.003)
