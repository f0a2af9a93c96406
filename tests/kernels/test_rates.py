"""Rates drawn between sweeps: their distributions, known from SciPy and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, gamma, kstest

from adjudge.kernels import rates


@pytest.mark.parametrize("shape", [0.05, 0.4, 0.999, 1.0, 1.5, 8.0, 3000.0])
def test_gamma_variates_follow_their_distribution(shape: float) -> None:
    rng = np.random.default_rng(1)
    count = 100_000
    out = np.empty(count)
    rates._gammas(rng, np.full(count, shape), count, np.empty(count), out)
    assert kstest(out, gamma(shape).cdf).pvalue > 0.001
    assert out.mean() == pytest.approx(shape, rel=5 / np.sqrt(count * shape))
    assert out.var() == pytest.approx(shape, rel=0.1 if shape > 0.1 else 0.3)


def test_confusion_follows_its_dirichlet() -> None:
    rng = np.random.default_rng(4)
    counts = np.array([[[5, 0], [1, 20]]])  # (judge, label, truth)
    alpha = np.array([[2.0, 1.0], [1.0, 3.0]])
    theta, mean = np.empty((1, 2, 2)), np.zeros((1, 2, 2))
    ratio = np.empty(2, dtype=np.int64)
    drawn, ratios = [], []
    for _ in range(20_000):
        rates._draw_confusion(rng, counts, alpha, theta, ratio, mean, True)
        drawn.append(theta[0].copy())
        ratios.append(ratio.copy())
    expected = np.array([[7 / 9, 2 / 9], [1 / 24, 23 / 24]])
    assert mean[0] / 20_000 == pytest.approx(expected)
    found = np.array(drawn)  # (draw, truth, label)
    known = np.log(found[:, 1] / found[:, 0]) * 2**40
    np.testing.assert_allclose(ratios, known, rtol=1e-6, atol=2)
    assert found.mean(axis=0) == pytest.approx(expected, abs=0.005)
    assert found.sum(axis=2) == pytest.approx(1)
    assert kstest(found[:, 0, 0], beta(7, 2).cdf).pvalue > 0.001
    assert kstest(found[:, 1, 1], beta(23, 1).cdf).pvalue > 0.001


def test_many_judges_truths_and_labels_each_have_their_own_counts() -> None:
    """More cells than are drawn together, and not a multiple of that."""
    rng = np.random.default_rng(6)
    judges, truths, labels = 301, 3, 4
    counts = rng.integers(0, 40, (judges, labels, truths))
    alpha = rng.uniform(0.5, 3, (truths, labels))
    theta, mean = np.empty((judges, truths, labels)), np.zeros((judges, truths, labels))
    ratio = np.empty(judges * labels * (truths - 1), dtype=np.int64)
    total = np.zeros_like(theta)
    for _ in range(400):
        rates._draw_confusion(rng, counts, alpha, theta, ratio, mean, True)
        total += theta
    shapes = counts.transpose(0, 2, 1) + alpha
    expected = shapes / shapes.sum(axis=2, keepdims=True)
    assert mean / 400 == pytest.approx(expected)
    assert np.abs(total / 400 - expected).max() < 0.05
    logs = np.log(theta).transpose(0, 2, 1)  # (judge, label, truth)
    known = (logs[:, :, 1:] - logs[:, :, :1]).reshape(-1)
    assert ratio * 2.0**-40 == pytest.approx(known, abs=1e-9)
    rates._draw_confusion(rng, counts, alpha, theta, ratio, mean, False)
    assert mean / 400 == pytest.approx(expected)


def test_prevalence_follows_its_dirichlet() -> None:
    rng = np.random.default_rng(7)
    topics = 400
    classes = np.stack([np.arange(topics), np.full(topics, 9), np.zeros(topics)], axis=1)
    alpha = np.array([1.0, 2.0, 0.7])
    pi, mean = np.empty((topics, 3)), np.zeros((topics, 3))
    prior = np.empty(topics * 2, dtype=np.int64)
    total = np.zeros_like(pi)
    for _ in range(1000):
        rates._draw_prevalence(rng, classes.astype(np.int64), alpha, pi, prior, mean, True)
        total += pi
    shapes = classes + alpha
    expected = shapes / shapes.sum(axis=1, keepdims=True)
    assert mean / 1000 == pytest.approx(expected)
    assert total / 1000 == pytest.approx(expected, abs=0.03)
    known = np.log(np.maximum(pi, 2.0**-40))
    assert prior.reshape(topics, 2) * 2.0**-40 == pytest.approx(
        known[:, 1:] - known[:, :1], abs=1e-9
    )


def test_tiny_pseudo_counts_give_rates_and_not_nonsense() -> None:
    """All gamma variates are 0 then: one rate is 1, and each as often as its share says."""
    rng = np.random.default_rng(8)
    alpha = np.array([[1e-6, 3e-6]])
    theta, mean = np.empty((2000, 1, 2)), np.zeros((2000, 1, 2))
    counts = np.zeros((2000, 2, 1), dtype=np.int64)
    rates._draw_confusion(rng, counts, alpha, theta, np.empty(0, dtype=np.int64), mean, True)
    assert theta.sum(axis=2) == pytest.approx(1)
    assert theta[:, 0, 1].mean() == pytest.approx(0.75, abs=0.05)
