"""What to judge next: the documents whose truth decides between systems."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from adjudge.data.judgments import Judgments
from adjudge.data.runs import Run
from adjudge.data.scale import Scale
from adjudge.evaluation._pool import build_pool
from adjudge.evaluation._retrieval import parse_measures
from adjudge.evaluation.ranking._draws import Doubt, Influence


def bits(p: float) -> float:
    return float(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))


def test_doubt_about_pairs() -> None:
    """Systems a, b, c: a - b is normal about 1 with spread 2, c is far off, so two are sure."""
    rng = np.random.default_rng(0)
    a = rng.normal(1, np.sqrt(2), 200_000)
    b = rng.normal(0, np.sqrt(2), 200_000)
    doubt = Doubt.of(np.stack([a, b, np.full(a.size, 99.0)], axis=1))
    assert doubt.first.tolist() == [0]
    assert doubt.second.tolist() == [1]
    assert doubt.mean[0] == pytest.approx(1, abs=0.02)
    assert doubt.sd[0] == pytest.approx(2, abs=0.02)
    assert doubt.bits == pytest.approx(bits(float(ndtr(0.5))), abs=0.01)


def test_the_gain_of_a_linear_measure_is_what_the_formula_says() -> None:
    """P@2 of one topic, four documents, systems that return a, b and c, d.

    The difference is (a + b - c - d) / 2. With chances q it has the mean sum w q and the variance
    sum w^2 q (1 - q), and to learn that a is relevant moves the mean by w (1 - q).
    """
    scale = Scale.parse("0<1")
    simulated = Judgments.from_table(
        {"topic": ["7"] * 4, "document": list("abcd"), "judge": ["x"] * 4, "label": [1, 1, 0, 0]},
        scale=scale,
    )
    runs = [
        Run.from_table({"topic": ["7"] * 2, "document": list(pair), "score": [2.0, 1.0]}, name=pair)
        for pair in ("ab", "cd")
    ]
    pool = build_pool(simulated, np.ones(4, dtype=np.bool_), runs)
    q, weight = np.array([0.5, 0.9, 0.3, 0.99]), np.array([0.5, 0.5, -0.5, -0.5])
    rng = np.random.default_rng(3)
    truths = (rng.random((60_000, 4)) < q).astype(np.int16)
    (measure,) = parse_measures(["P@2"], scale)
    values = measure.values(pool, truths)
    influence = Influence(pool, 2)
    influence.add(truths[:20_000], values[:20_000])
    influence.add(truths[20_000:], values[20_000:])
    doubt = Doubt.of(values[:, :, 0])
    theta = np.array([[0.8, 0.2], [0.3, 0.7]])
    gains = influence.gains(doubt, theta)[:, 0]
    mean, variance = (weight * q).sum(), (weight**2 * q * (1 - q)).sum()
    for entry in range(4):
        chance = q[entry] * theta[1] + (1 - q[entry]) * theta[0]  # (label,)
        after = q[entry] * theta[1] / chance  # (label,)
        moved = weight[entry] * (after - q[entry])
        left = variance - (chance * moved**2).sum()
        then = sum(
            c * bits(float(ndtr((mean + m) / np.sqrt(left))))
            for c, m in zip(chance, moved, strict=True)
        )
        expected = bits(float(ndtr(mean / np.sqrt(variance)))) - then
        assert gains[entry] == pytest.approx(expected, rel=0.05, abs=5e-4)
    assert gains.argmax() == 0
