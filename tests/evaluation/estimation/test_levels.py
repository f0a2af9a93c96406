"""Levels of topics: found where topics are apart, none where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from adjudge.evaluation.estimation._rankings import levels_of

TOPICS = 40


def made(spread: float, items: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beliefs, topics, and truths that are apart from the beliefs by a level a topic."""
    random = np.random.default_rng(seed)
    topic = np.repeat(np.arange(TOPICS), items)
    belief = random.dirichlet([1, 1, 1], len(topic))
    p = belief * np.exp(spread * random.normal(size=(TOPICS, 3)))[topic]
    p /= p.sum(axis=1, keepdims=True)
    truth = (random.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    return belief, topic, truth.astype(np.int16)


def test_topics_that_are_as_believed_have_no_levels() -> None:
    found = [levels_of(*made(0.0, 12, seed), TOPICS) for seed in range(10)]
    small = [0.0 if one is None else float(np.abs(one.mean).max()) for one in found]
    assert sum(one is None for one in found) >= 4
    assert np.median(small) < 0.1


def test_levels_are_the_most_probable_ones_and_draws_spread_about_them() -> None:
    belief, topic, truth = made(1.0, 30, 3)
    found = levels_of(belief, topic, truth, TOPICS)
    assert found is not None
    draws = found.draw(4000, np.random.default_rng(0))
    assert draws.mean(axis=0) == pytest.approx(found.mean)  # mirrored: exactly
    tau = 1 / np.sqrt(np.linalg.inv(found.root[0] @ found.root[0].T).sum() / 3)
    own = topic == 0

    def lost(u: np.ndarray) -> float:
        p = belief[own] * np.exp(u)
        likely = np.log(p[np.arange(own.sum()), truth[own]] / p.sum(axis=1)).sum()
        return float((u**2).sum() / (2 * tau**2) - likely)

    assert found.mean[0] == pytest.approx(minimize(lost, np.zeros(3)).x, abs=1e-3)
    assert np.cov(draws[:, 0].T) == pytest.approx(found.root[0] @ found.root[0].T, abs=0.05)


def test_a_topic_without_gold_may_be_anything() -> None:
    belief, topic, truth = made(1.0, 20, 5)
    found = levels_of(belief, topic, truth, TOPICS + 1)
    assert found is not None
    assert found.mean[-1] == pytest.approx(np.zeros(3))
    assert np.diag(found.root[-1])[0] > np.diag(found.root[0])[0]
