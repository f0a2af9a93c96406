"""Draws of the truth: joint where the model is sampled, each item's own where it is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, HierarchicalConfusion, HybridConfusion
from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.evaluation._pool import Unjudged, build_pool
from adjudge.evaluation.ranking._draws import (
    TruthDraws,
    choose_labels,
    has_one_source,
    is_judged,
)
from adjudge.simulation import Crowd, Population
from rankings import system

PEOPLE = Population.parse("dirichlet:100", judges=8)
SIMULATED = Crowd(
    items=120,
    population=PEOPLE,
    prevalence=(0.6, 0.4),
    topics=4,
    concentration=4,
    per_item=(1, 4),
).make(seed=2)
SAMPLED = HierarchicalConfusion(chains=2, warmup=200, draws=400, seed=1)


def draws_of(
    consensus: Consensus, *, count: int = 800, unjudged: Unjudged = "not-relevant", depth: int = 20
) -> TruthDraws:
    truth = SIMULATED.truth.codes(SIMULATED.judgments.scale)
    run = system(SIMULATED.judgments, truth, 1.0, np.random.default_rng(1), depth=depth)
    judged = is_judged(consensus.judgments, consensus.known)
    pool = build_pool(consensus.judgments, judged, [run], unjudged)
    return TruthDraws(consensus, pool, draws=count, seed=5)


@pytest.mark.parametrize("model", [SAMPLED, DawidSkene(), HybridConfusion(draws=200)])
def test_the_share_of_draws_is_the_posterior(model: object) -> None:
    consensus = model.fit(SIMULATED.judgments)  # type: ignore[attr-defined]
    draws = draws_of(consensus)
    shares = draws.block(0, 800).mean(axis=0)
    posterior = consensus.posterior[draws.pool.item, 1]
    # Four standard errors of a share of 800, and the chains' own error in a sampled model.
    assert np.abs(shares - posterior).max() < 4 * np.sqrt(0.25 / 800) + 0.02
    assert abs(shares.mean() - posterior.mean()) < 0.02


def test_draws_do_not_depend_on_blocks_or_on_the_runs() -> None:
    consensus = SAMPLED.fit(SIMULATED.judgments)
    draws = draws_of(consensus, count=40)
    full = draws.block(0, 40)
    parts = np.concatenate([draws.block(0, 7), draws.block(7, 40)])
    assert np.array_equal(full, parts)
    others = draws_of(consensus, count=40, depth=3)
    assert np.array_equal(others.block(0, 40), full)
    assert not np.array_equal(full[0], full[1])


def test_a_sampled_model_draws_items_together() -> None:
    """One judge alone judged everything: what she is worth moves all items at once."""
    one = Crowd(
        items=80, population=Population.parse("skilled:100", judges=1), topics=1, per_item=1
    )
    simulated = one.make(seed=4)
    truth = simulated.truth.codes(simulated.judgments.scale)
    run = system(simulated.judgments, truth, 1.0, np.random.default_rng(1))
    spread = {}
    for consensus in (SAMPLED.fit(simulated.judgments), DawidSkene().fit(simulated.judgments)):
        pool = build_pool(consensus.judgments, np.ones(80, dtype=np.bool_), [run])
        totals = TruthDraws(consensus, pool, draws=400).block(0, 400).sum(axis=1)
        alone = (consensus.posterior[:, 0] * consensus.posterior[:, 1]).sum()
        spread[consensus.draws is None] = totals.var() / max(alone, 1e-9)
    assert spread[False] > 3


def test_gold_is_certain() -> None:
    gold = Gold.of(
        {SIMULATED.judgments.items[0].as_py(): 1, SIMULATED.judgments.items[1].as_py(): 0}
    )
    for model in (SAMPLED, DawidSkene()):
        block = draws_of(model.fit(SIMULATED.judgments, gold), count=50).block(0, 50)
        assert block[:, 0].tolist() == [1] * 50
        assert block[:, 1].tolist() == [0] * 50


def test_unjudged_documents_are_as_relevant_as_their_topic() -> None:
    some = np.arange(120) % 3 > 0
    left = SIMULATED.judgments.select(items=some)
    hidden = SIMULATED.judgments.item_count - left.item_count
    assert hidden == 40
    for model in (SAMPLED, DawidSkene()):
        consensus = model.fit(left)
        draws = draws_of(consensus, count=600, unjudged="prevalence", depth=1000)
        block = draws.block(0, 600)
        extra = draws.pool.item < 0
        assert extra.sum() == hidden
        for topic in range(4):
            there = draws.pool.topic == topic
            judged = block[:, there & ~extra].mean()
            assert abs(block[:, there & extra].mean() - judged) < 0.06


def few(labels: list[str], judges: list[str], items: str) -> Judgments:
    scale = Scale(labels=("0", "1", "2", "?"), truths=("0", "1", "2"), truth_of=(0, 1, 2, -1))
    table = {"topic": ["7"] * len(labels), "document": list(items), "judge": judges}
    return Judgments.from_table(table | {"label": labels}, scale=scale)


def test_judgments_that_agree_are_the_labels_under_any_model() -> None:
    alone = few(["2", "0", "?", "1"], ["x", "x", "x", "y"], "abcd")
    agreed = few(["2", "0", "2", "0"], ["x", "x", "y", "y"], "abab")
    split = few(["2", "0", "2", "1"], ["x", "x", "y", "y"], "abab")
    for simulated, single, expected in (
        (alone, True, [2, 0, 0, 1]),
        (agreed, False, [2, 0]),
        (split, False, [1, 1]),
    ):
        fitted = DawidSkene().fit(simulated)
        doubtful = replace(fitted, choice=np.full(simulated.item_count, 1, dtype=np.int16))
        assert has_one_source(doubtful) is single
        assert choose_labels(doubtful, lowest=0).tolist() == expected
    checked = DawidSkene().fit(alone, Gold.of({alone.items[0].as_py(): "1"}))
    assert not has_one_source(checked)
    assert choose_labels(checked, lowest=0).tolist() == checked.choice.tolist()
