"""Fitting a stack is fitting every run: compared with fits one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjudge import DawidSkene, HybridConfusion, MajorityVote, SingleConfusion
from papers.panels import monitoring_panel, three_judges
from papers.truelabel import (
    DAWID_SKENE,
    HYBRID,
    SINGLE,
    VOTE,
    as_one_judge,
    confusion,
    draw_ratings,
    fit,
    predict,
    stack_runs,
)

RUNS = [three_judges(60, seed).judgments for seed in (11, 12, 13)]
STACK = stack_runs(RUNS)
SAMPLER: dict[str, Any] = {"chains": 2, "warmup": 200, "draws": 1000, "thin": 1, "seed": 0}


def test_a_stack_keeps_every_judgment() -> None:
    assert (STACK.item_count, STACK.judge_count, STACK.topic_count) == (180, 9, 3)
    second = [row for row in STACK.to_table().to_pylist() if row["topic"] == "1"]
    for row, alone in zip(second, RUNS[1].to_table().to_pylist(), strict=True):
        assert row["item"] == f"1/{alone['item']}"
        assert row["judge"] == f"1/{alone['judge']}"
        assert row["label"] == alone["label"]
    one = as_one_judge(STACK)
    assert one.judges.to_pylist() == ["0", "1", "2"]
    np.testing.assert_array_equal(one.judge, np.repeat([0, 1, 2], 180))


@pytest.mark.parametrize(("model", "alone"), [(DAWID_SKENE, DawidSkene), (SINGLE, SingleConfusion)])
def test_em_on_a_stack_is_em_on_each_run(model: str, alone: Any) -> None:
    fitted = fit(model, STACK, SAMPLER)
    apart = [alone(tolerance=1e-6, iterations=3000).fit(run) for run in RUNS]
    assert fitted.trace[-1] == pytest.approx(sum(own.trace[-1] for own in apart), rel=1e-3)
    for at, own in enumerate(apart):
        # Where each stops differs a little, and the likelihood is flat along some directions.
        matrices = np.broadcast_to(own.confusion, (3, 3, 3))
        np.testing.assert_allclose(confusion(model, fitted, 3)[at], matrices, atol=0.08)
        np.testing.assert_allclose(fitted.prevalence[at], own.prevalence[0], atol=0.04)
        assert (fitted.choice[60 * at : 60 * at + 60] == own.choice).mean() > 0.95


def test_the_sampler_on_a_stack_is_the_sampler_on_each_run() -> None:
    fitted = fit(HYBRID, STACK, SAMPLER, diagonal=10.0)
    for at, run in enumerate(RUNS):
        own = HybridConfusion(diagonal=10.0, **SAMPLER).fit(run)
        np.testing.assert_allclose(confusion(HYBRID, fitted, 3)[at], own.confusion, atol=0.03)
        np.testing.assert_allclose(fitted.prevalence[at], own.prevalence[0], atol=0.03)
        part = fitted.posterior[60 * at : 60 * at + 60]
        np.testing.assert_allclose(part, own.posterior, atol=0.12)


def test_the_vote_counts_against_the_labels_it_chose() -> None:
    fitted = fit(VOTE, STACK, {**SAMPLER, "seed": 4})
    voted = MajorityVote(by_topic=True, seed=4).fit(STACK)
    np.testing.assert_array_equal(fitted.choice, voted.choice)
    chosen = fitted.choice[:60]
    np.testing.assert_allclose(fitted.prevalence[0], np.bincount(chosen, minlength=3) / 60)
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (RUNS[0].judge, chosen[RUNS[0].item], RUNS[0].label), 1)
    shares = counts / counts.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(confusion(VOTE, fitted, 3)[0], shares, atol=1e-12)


@pytest.mark.parametrize("model", [DAWID_SKENE, SINGLE, VOTE])
def test_memory_is_of_the_own_run(model: str) -> None:
    """Items of run 0 get the same labels after a fit of all runs as after a fit of run 0."""
    other = [three_judges(40, seed).judgments for seed in (21, 22, 23)]
    first = stack_runs(RUNS[:1])
    together = predict(model, fit(model, STACK, SAMPLER), stack_runs(other))
    alone = predict(model, fit(model, first, SAMPLER), stack_runs(other[:1]))
    assert (together[:40] == alone).mean() >= 0.95


def test_ratings_are_drawn_at_random() -> None:
    judgments, _ = monitoring_panel(1)
    kept = draw_ratings(judgments, 7, np.random.default_rng(0))
    np.testing.assert_array_equal(np.bincount(judgments.item[kept]), np.full(48, 7))
    assert (kept != draw_ratings(judgments, 7, np.random.default_rng(1))).any()
    assert draw_ratings(judgments, 1000, np.random.default_rng(0)).all()
    # Every judgment is as likely as another: the first of an item is kept 7 times in about 125.
    share = np.mean([draw_ratings(judgments, 7, np.random.default_rng(s))[0] for s in range(600)])
    assert share == pytest.approx(7 / judgments.counts_per_item[0], abs=0.03)
