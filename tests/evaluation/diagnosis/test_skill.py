"""Skill and the probability of chance: against Monte Carlo, and against draws of a sampled fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge import Consensus, HierarchicalConfusion, HybridConfusion, Judgments, Scale
from adjudge.evaluation.diagnosis._evidence import Skill, measure_skill, weigh_gold
from adjudge.simulation import Crowd, Population


def with_counts(counts: np.ndarray) -> Consensus:
    """A consensus whose judges have these expected counts (judge, truth, label)."""
    labels = tuple(str(label) for label in range(counts.shape[2]))
    rows = {"item": [], "judge": [], "label": []}
    for judge in range(len(counts)):
        for label in labels:
            rows["item"].append(f"i{label}")  # judged by all, so that all of it is evidence
            rows["judge"].append(f"j{judge}")
            rows["label"].append(label)
    given = Judgments.from_table(rows, scale=Scale(labels=labels, ordinal=True))
    return replace(HybridConfusion(method="em").fit(given), counts=counts)


def skill_of(consensus: Consensus) -> Skill:
    """Skill without gold."""
    return measure_skill(consensus, weigh_gold(consensus, None, least=10), useful=0.1)


@pytest.mark.parametrize("truths", [2, 3, 5])
def test_the_beta_that_stands_for_a_sum_of_betas(truths: int) -> None:
    rng = np.random.default_rng(truths)
    counts = rng.gamma(0.7, 6.0, (40, truths, truths)) * rng.random((40, 1, 1))
    counts += np.eye(truths) * rng.gamma(1.0, 6.0, (40, 1, 1)) * (rng.random((40, 1, 1)) < 0.6)
    found = skill_of(with_counts(counts))
    hits = np.einsum("jkk->jk", counts)
    a, b = hits + 0.5, counts.sum(axis=2) - hits + (truths - 1) / 2
    drawn = rng.beta(a, b, size=(20_000, *a.shape)).sum(axis=2)
    skill = (drawn - 1) / (truths - 1)
    assert found.value == pytest.approx(skill.mean(axis=0), abs=0.01)
    assert found.low == pytest.approx(np.quantile(skill, 0.05, axis=0), abs=0.05)
    assert found.high == pytest.approx(np.quantile(skill, 0.95, axis=0), abs=0.05)
    assert found.p_chance == pytest.approx((skill <= 0).mean(axis=0), abs=0.05)
    assert found.p_useless == pytest.approx((skill <= 0.1).mean(axis=0), abs=0.05)


def test_judges_whose_skill_is_plain() -> None:
    perfect, lazy, reverse = np.eye(2) * 50, np.array([[50.0, 0], [50, 0]]), np.eye(2)[::-1] * 50
    found = skill_of(with_counts(np.stack([perfect, lazy, reverse, np.zeros((2, 2))])))
    assert found.value == pytest.approx([0.98, 0.0, -0.98, 0.0], abs=0.01)
    assert found.p_chance == pytest.approx([0, 0.5, 1, 0.5], abs=1e-9)
    assert found.low[3] < -0.6
    assert found.high[3] > 0.6


def test_one_truth_leaves_nothing_to_tell_apart() -> None:
    found = skill_of(with_counts(np.full((2, 1, 1), 9.0)))
    assert found.value.tolist() == [0.0, 0.0]
    assert found.p_chance.tolist() == [0.5, 0.5]


def test_counts_and_draws_agree() -> None:
    crowd = Crowd(
        items=400,
        population=Population.parse("skilled(8,2):12,spammer:4,lazy:2,adversary:2"),
        scale=Scale.parse("0<1<2"),
        per_item=6,
    )
    made = crowd.make(3)
    counted = skill_of(HybridConfusion(method="em").fit(made.judgments))
    sampled = HierarchicalConfusion(chains=2, warmup=300, draws=400, seed=1).fit(made.judgments)
    drawn = skill_of(sampled)
    assert drawn.p_chance == pytest.approx(sampled.judges["p_chance"].to_numpy(), abs=0.02)
    assert counted.value == pytest.approx(drawn.value, abs=0.1)
    # Who is chance and who is not is told alike; in between, the two may differ.
    sure = (drawn.p_chance < 0.01) | (drawn.p_chance > 0.99)
    assert sure.sum() >= 10
    assert counted.p_chance[sure] == pytest.approx(drawn.p_chance[sure], abs=0.06)
    assert counted.p_chance == pytest.approx(drawn.p_chance, abs=0.35)
