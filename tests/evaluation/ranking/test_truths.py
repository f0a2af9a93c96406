"""Draws of the truth: joint where the model is sampled, each item's own where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, HierarchicalConfusion, HybridConfusion
from adjudge.data.consensus import Consensus
from adjudge.evaluation._pool import Unjudged, build_pool
from adjudge.evaluation.ranking._truths import TruthDraws, is_judged
from adjudge.simulation import Crowd, Population
from rankings import system

PEOPLE = Population.parse("dirichlet:100", judges=8)
MADE = Crowd(
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
    truth = MADE.truth.codes(MADE.judgments.scale)
    run = system(MADE.judgments, truth, 1.0, np.random.default_rng(1), depth=depth)
    judged = is_judged(consensus.judgments, consensus.known)
    pool = build_pool(consensus.judgments, judged, [run], unjudged)
    return TruthDraws(consensus, pool, draws=count, seed=5)


@pytest.mark.parametrize("model", [SAMPLED, DawidSkene(), HybridConfusion(draws=200)])
def test_the_share_of_draws_is_the_posterior(model: object) -> None:
    consensus = model.fit(MADE.judgments)  # type: ignore[attr-defined]
    draws = draws_of(consensus)
    shares = draws.block(0, 800).mean(axis=0)
    posterior = consensus.posterior[draws.pool.item, 1]
    # Four standard errors of a share of 800, and the chains' own error in a sampled model.
    assert np.abs(shares - posterior).max() < 4 * np.sqrt(0.25 / 800) + 0.02
    assert abs(shares.mean() - posterior.mean()) < 0.02


def test_draws_do_not_depend_on_blocks_or_on_the_runs() -> None:
    consensus = SAMPLED.fit(MADE.judgments)
    draws = draws_of(consensus, count=40)
    whole = draws.block(0, 40)
    parts = np.concatenate([draws.block(0, 7), draws.block(7, 40)])
    assert np.array_equal(whole, parts)
    others = draws_of(consensus, count=40, depth=3)
    assert np.array_equal(others.block(0, 40), whole)
    assert not np.array_equal(whole[0], whole[1])


def test_a_sampled_model_draws_items_together() -> None:
    """One judge alone judged everything: what she is worth moves all items at once."""
    one = Crowd(
        items=80, population=Population.parse("skilled:100", judges=1), topics=1, per_item=1
    )
    made = one.make(seed=4)
    truth = made.truth.codes(made.judgments.scale)
    run = system(made.judgments, truth, 1.0, np.random.default_rng(1))
    spread = {}
    for consensus in (SAMPLED.fit(made.judgments), DawidSkene().fit(made.judgments)):
        pool = build_pool(consensus.judgments, np.ones(80, dtype=np.bool_), [run])
        totals = TruthDraws(consensus, pool, draws=400).block(0, 400).sum(axis=1)
        alone = (consensus.posterior[:, 0] * consensus.posterior[:, 1]).sum()
        spread[consensus.draws is None] = totals.var() / max(alone, 1e-9)
    assert spread[False] > 3


def test_gold_is_certain() -> None:
    gold = Gold.of({MADE.judgments.items[0].as_py(): 1, MADE.judgments.items[1].as_py(): 0})
    for model in (SAMPLED, DawidSkene()):
        block = draws_of(model.fit(MADE.judgments, gold), count=50).block(0, 50)
        assert block[:, 0].tolist() == [1] * 50
        assert block[:, 1].tolist() == [0] * 50


def test_unjudged_documents_are_as_relevant_as_their_topic() -> None:
    some = np.arange(120) % 3 > 0
    left = MADE.judgments.select(items=some)
    hidden = MADE.judgments.item_count - left.item_count
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


def test_labels_instead_of_draws() -> None:
    consensus = DawidSkene().fit(MADE.judgments)
    draws = draws_of(consensus)
    assert np.array_equal(draws.labels(0)[0], consensus.choice[draws.pool.item])
