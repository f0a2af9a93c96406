"""Advice and gold: gold leads where there is enough, wherever it was given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from adjudge import (
    Consensus,
    Gold,
    HierarchicalConfusion,
    HybridConfusion,
    Judgments,
    MajorityVote,
    Scale,
)
from adjudge.evaluation.diagnosis._evidence import Skill, measure_skill, weigh_gold
from adjudge.evaluation.diagnosis.diagnose import diagnose

ITEMS = 60
TRUTH = np.arange(ITEMS) % 2
SKEWED = (np.arange(ITEMS) % 15 == 0).astype(int)  # 4 of 60


def judged(scale: str = "0<1", **judges: np.ndarray) -> Judgments:
    rows = [(f"i{n}", j, str(k)) for j, labels in judges.items() for n, k in enumerate(labels)]
    table = dict(zip(("item", "judge", "label"), map(list, zip(*rows, strict=True)), strict=True))
    return Judgments.from_table(table, scale=Scale.parse(scale))


def gold_of(truth: np.ndarray, count: int = ITEMS) -> Gold:
    return Gold.of({f"i{n}": int(k) for n, k in enumerate(truth[:count])})


def wrong(truth: np.ndarray, *, every: int) -> np.ndarray:
    """Wrong labels of two, but for one item in so many."""
    return np.where(np.arange(ITEMS) // 2 % every == 0, truth, 1 - truth)


def advised(found: Any) -> dict[str, str]:
    return dict(zip(*(found.judges[name].to_pylist() for name in ("judge", "advice")), strict=True))


FOOLED = judged(
    a=wrong(TRUTH, every=6), b=wrong(TRUTH, every=5), c=wrong(TRUTH, every=4), good=TRUTH
)


@pytest.mark.parametrize(
    "model", [MajorityVote(), HierarchicalConfusion(chains=1, warmup=50, draws=50)]
)
def test_gold_leads_where_three_judges_outvote_the_one_who_is_right(model: Any) -> None:
    fit = model.fit(FOOLED)
    before = advised(diagnose(fit, pairs=False))
    assert before["good"] == "drop"
    found = diagnose(fit, gold=gold_of(TRUTH), pairs=False)
    assert advised(found) == {"a": "drop", "b": "drop", "c": "drop", "good": "keep"}
    good = found.judges.to_pylist()[3]
    assert good["why"].startswith("right on 100% (97% to 100%) of 60 gold items")
    assert good["skill_low"] > 0.8


def test_gold_that_the_fit_was_given_counts_as_well() -> None:
    fit = MajorityVote().fit(FOOLED, gold_of(TRUTH, 20))
    assert advised(diagnose(fit, pairs=False))["good"] == "keep"
    evidence = weigh_gold(fit, gold_of(TRUTH, 30), least=10)
    assert evidence.golds.sum(axis=(1, 2)).tolist() == [30.0] * 4
    assert evidence.golds[3].tolist() == [[15.0, 0.0], [0.0, 15.0]]


def test_with_little_gold_the_consensus_counts_too() -> None:
    fit = MajorityVote().fit(FOOLED)
    evidence = weigh_gold(fit, gold_of(TRUTH, 6), least=10)
    assert not evidence.decides.any()
    assert evidence.counts.sum(axis=(1, 2)) == pytest.approx([ITEMS] * 4)
    assert evidence.counts[3] == pytest.approx(np.eye(2) * 3 + fit.evidence[3] * 0.9)


def test_the_consensus_fills_truths_that_gold_lacks_and_no_more() -> None:
    """Gold has 40 of truth 0 and 2 of truth 1; the consensus adds 8 to the latter."""
    truth = (np.arange(ITEMS) >= 38).astype(int)
    given = Gold.of({f"i{n}": int(truth[n]) for n in range(40)})
    fit = MajorityVote().fit(judged(x=truth, y=truth, z=truth))
    evidence = weigh_gold(fit, given, least=10)
    assert evidence.decides.all()
    assert evidence.counts[0] == pytest.approx(np.diag([38.0, 10.0]))


def test_the_commonest_label_alone_is_not_kept_and_not_dropped() -> None:
    """Right on 93% of gold by always giving 0, where 7% are 1."""
    fit = MajorityVote().fit(judged(x=SKEWED, y=SKEWED, lazy=SKEWED * 0))
    assert advised(diagnose(fit, gold=gold_of(SKEWED), pairs=False))["lazy"] == "watch"


def test_few_right_of_many_labels_may_be_skill() -> None:
    """Of ten labels: half right is kept, one in ten is chance."""
    truth = np.arange(200) % 10
    rng = np.random.default_rng(1)
    half = np.where(rng.random(200) < 0.45, truth, rng.integers(0, 10, 200))
    chance = rng.integers(0, 10, 200)
    fit = MajorityVote().fit(judged("0,1,2,3,4,5,6,7,8,9", half=half, chance=chance, same=chance))
    found = diagnose(fit, gold=gold_of(truth, 200), pairs=False)
    assert advised(found) == {"half": "keep", "chance": "drop", "same": "drop"}


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
def test_the_beta_that_approximates_a_sum_of_betas(truths: int) -> None:
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


def test_with_one_truth_the_skill_is_zero() -> None:
    found = skill_of(with_counts(np.full((2, 1, 1), 9.0)))
    assert found.value.tolist() == [0.0, 0.0]
    assert found.p_chance.tolist() == [0.5, 0.5]
