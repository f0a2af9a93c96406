"""Fitting a stack is fitting every run: compared with fits one by one."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.models.dawid_skene import DawidSkene
from adjudge.models.hybrid_confusion import HybridConfusion
from adjudge.models.majority_vote import MajorityVote
from adjudge.models.single_confusion import SingleConfusion
from adjudge.replications.truelabel import (
    DAWID_SKENE,
    HYBRID,
    SINGLE,
    VOTE,
    _as_one_judge,
    _Spectrum,
    _stack_runs,
)
from adjudge.simulation import three_judges

MADE = [three_judges(60, seed) for seed in (11, 12, 13)]
RUNS = [made.judgments for made in MADE]
STACK = _stack_runs(RUNS)


def test_a_stack_keeps_every_judgment() -> None:
    assert (STACK.item_count, STACK.judge_count, STACK.topic_count) == (180, 9, 3)
    rows = STACK.to_table().to_pylist()
    second = [row for row in rows if row["topic"] == "1"]
    for row, alone in zip(second, RUNS[1].to_table().to_pylist(), strict=True):
        assert row["item"] == f"1/{alone['item']}"
        assert row["judge"] == f"1/{alone['judge']}"
        assert row["label"] == alone["label"]


def test_one_judge_a_run() -> None:
    one = _as_one_judge(STACK)
    assert one.judges.to_pylist() == ["0", "1", "2"]
    np.testing.assert_array_equal(one.judge, np.repeat([0, 1, 2], 180))


@pytest.mark.parametrize(("model", "alone"), [(DAWID_SKENE, DawidSkene), (SINGLE, SingleConfusion)])
def test_em_on_a_stack_is_em_on_each_run(model: str, alone: type) -> None:
    fit = _Spectrum().fit(model, STACK)
    apart = [alone(tolerance=1e-6, iterations=3000).fit(run) for run in RUNS]
    together = sum(own.trace[-1] for own in apart)
    assert fit.consensus.trace[-1] == pytest.approx(together, rel=1e-3)
    for at, own in enumerate(apart):
        # Where each stops differs a little, and the likelihood is flat along some directions.
        matrices = np.broadcast_to(own.confusion, (3, 3, 3))
        np.testing.assert_allclose(fit.confusion(3)[at], matrices, atol=0.08)
        np.testing.assert_allclose(fit.consensus.prevalence[at], own.prevalence[0], atol=0.04)
        assert (fit.consensus.choice[60 * at : 60 * at + 60] == own.choice).mean() > 0.95


def test_the_sampler_on_a_stack_is_the_sampler_on_each_run() -> None:
    spectrum = _Spectrum(chains=2, warmup=200, draws=1000, thin=1)
    fit = spectrum.fit(HYBRID, STACK, diagonal=10.0)
    for at, run in enumerate(RUNS):
        own = HybridConfusion(diagonal=10.0, chains=2, warmup=200, draws=1000, thin=1).fit(run)
        np.testing.assert_allclose(fit.confusion(3)[at], own.confusion, atol=0.03)
        np.testing.assert_allclose(fit.consensus.prevalence[at], own.prevalence[0], atol=0.03)
        part = fit.consensus.posterior[60 * at : 60 * at + 60]
        np.testing.assert_allclose(part, own.posterior, atol=0.12)


def test_the_vote_counts_against_the_labels_it_chose() -> None:
    fit = _Spectrum(seed=4).fit(VOTE, STACK)
    np.testing.assert_array_equal(
        fit.consensus.choice, MajorityVote(by_topic=True, seed=4).fit(STACK).choice
    )
    chosen = fit.consensus.choice[:60]
    np.testing.assert_allclose(fit.consensus.prevalence[0], np.bincount(chosen, minlength=3) / 60)
    counts = np.zeros((3, 3, 3))
    np.add.at(counts, (RUNS[0].judge, chosen[RUNS[0].item], RUNS[0].label), 1)
    np.testing.assert_allclose(
        fit.confusion(3)[0], counts / counts.sum(axis=2, keepdims=True), atol=1e-12
    )


@pytest.mark.parametrize("model", [DAWID_SKENE, SINGLE, VOTE])
def test_memory_is_of_the_own_run(model: str) -> None:
    """Items of run 0 labelled after a fit of all runs are labelled as after a fit of run 0."""
    other = [three_judges(40, seed).judgments for seed in (21, 22, 23)]
    together = _Spectrum().fit(model, STACK).recall(_stack_runs(other))
    alone = _Spectrum().fit(model, _stack_runs(RUNS[:1])).recall(_stack_runs(other[:1]))
    assert (together[:40] == alone).mean() >= 0.95
