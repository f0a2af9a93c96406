"""Expected rows of judges, against a search for the same maximum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from adjudge.models._types import JudgeRows, exact_sum

LABELS, KINDS, STRENGTH = 3, 2, 20.0


@pytest.fixture
def counts() -> NDArray[np.float64]:  # (judge, type, label)
    """Counts of a sharp judge, one who leans to a label, one who errs, and one without any."""
    rng = np.random.default_rng(1)
    rows = np.repeat(np.eye(LABELS), KINDS, axis=0)
    share = [0.9 * rows + 0.03, 0.5 * rows + [0.4, 0.05, 0.05], 0.4 * rows + 0.2]
    drawn = [rng.multinomial(40, row / row.sum(axis=1, keepdims=True)) for row in share]
    return np.array([*drawn, np.zeros((LABELS * KINDS, LABELS))], dtype=np.float64)


def rows_of(counts: NDArray[np.float64], weight: float = 1.0) -> JudgeRows:
    judges = np.full(len(counts), weight)
    return JudgeRows(counts.sum(axis=1), judges, KINDS, STRENGTH)


def typical_of(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The typical row of each label: pooled counts, shares of labels and a diagonal."""
    shares = counts.sum(axis=(0, 1)) + 1
    pooled = counts.sum(axis=0).reshape(LABELS, KINDS, LABELS).sum(axis=1)
    found = pooled + shares / shares.sum() + STRENGTH * np.eye(LABELS)
    return found / found.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_newton_finds_the_most_probable_sharpness_and_slant(
    counts: NDArray[np.float64], weight: float
) -> None:
    """Counts and priors of weight one half, as those of two duplicates, have the same maximum."""
    rows = rows_of(counts * weight, weight)
    typical = typical_of(counts)
    logs = np.log(typical)
    by_label = counts.reshape(len(counts), LABELS, KINDS, LABELS).sum(axis=2)
    for _ in range(50):
        rows._step(by_label * weight, logs)
    for judge, own in enumerate(by_label):

        def loss(x: NDArray[np.float64], own: NDArray[np.float64] = own) -> float:
            row = log_softmax(x[0] * logs + x[1:], axis=1)
            prior = 4 * (x[0] - 1) ** 2 / 2 + (x[1:] ** 2).sum() / 2
            return float(prior - (own * row).sum())

        best = minimize(loss, np.array([1.0, *np.zeros(LABELS)]), tol=1e-10).x
        found = [rows.sharpness[judge], *rows.slant[judge]]
        assert found == pytest.approx(best, abs=1e-3)
    assert rows.sharpness[-1] == pytest.approx(1.0)  # nothing is known: a typical judge


def test_expected_rows_by_hand(counts: NDArray[np.float64]) -> None:
    rows = rows_of(counts)
    expected = rows.update(counts)
    label_row = typical_of(counts)
    pooled = counts.sum(axis=0) + STRENGTH * np.repeat(label_row, KINDS, axis=0)
    type_row = pooled / pooled.sum(axis=1, keepdims=True)
    assert rows.typical(counts) == pytest.approx(type_row, rel=1e-5)
    for judge in range(len(counts)):
        score = rows.sharpness[judge] * np.log(label_row) + rows.slant[judge]
        drawn = np.exp(log_softmax(score, axis=1))
        own = counts[judge].reshape(LABELS, KINDS, LABELS).sum(axis=1) + STRENGTH * drawn
        own /= own.sum(axis=1, keepdims=True)
        right = np.repeat(own / label_row, KINDS, axis=0) * type_row
        right /= right.sum(axis=1, keepdims=True)
        assert expected[judge] == pytest.approx(right, rel=1e-5)
    assert expected[-1] == pytest.approx(type_row, rel=1e-5)  # a judge without counts


def test_a_state_is_restored(counts: NDArray[np.float64]) -> None:
    first, second = rows_of(counts), rows_of(counts)
    first.update(counts)
    second.restore(first.state)
    assert second.update(counts) == pytest.approx(first.update(counts), abs=0)


def test_the_order_of_judges_changes_no_bit() -> None:
    values = np.random.default_rng(0).gamma(1.0, size=(1000, 3))
    expected = exact_sum(values)
    for seed in range(5):
        mixed = np.random.default_rng(seed).permutation(values)
        assert np.array_equal(exact_sum(mixed), expected)
    assert expected == pytest.approx(values.sum(axis=0), rel=1e-6)
