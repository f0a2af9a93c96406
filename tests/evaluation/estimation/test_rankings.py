"""Measures of runs as targets: expansions against the measure itself, judged@k."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from adjudge import Run
from adjudge.data.consensus import Consensus
from adjudge.evaluation.estimation._rankings import RankingTarget, by_kind, levels_of
from adjudge.evaluation.estimation._sampling import Sample, sample_of
from adjudge.evaluation.estimation.estimate import Plan
from adjudge.models.majority_vote import MajorityVote
from gold_panels import simulate_panel
from rankings import system

Panel = tuple[Consensus, np.ndarray, list[Run]]


@pytest.fixture(scope="module")
def panel() -> Panel:
    judgments, gold = simulate_panel(items=240)
    truth = gold.align(judgments)
    rng = np.random.default_rng(2)
    runs = [
        system(judgments, truth, quality, rng, name=n) for n, quality in (("a", 2.0), ("b", 1.0))
    ]
    return MajorityVote().fit(judgments), truth, runs


def ranked(panel: Panel, name: str, runs: int) -> RankingTarget:
    target = Plan().target(name, panel[0], panel[2][:runs])
    assert isinstance(target, RankingTarget)
    return target


@pytest.mark.parametrize("name", ["nDCG@10", "P@5", "AP", "Bpref", "RR", "R@10", "RBP(p=0.8)"])
def test_flips_are_the_measure_with_one_truth_changed(panel: Panel, name: str) -> None:
    target = ranked(panel, name, 2)
    truth = panel[1][target.item]
    found = target.measure.flips(target.pool, truth[None], target.sign)
    for member in (0, 7, 31, 100, 239):
        for k in range(3):
            changed = truth.copy()
            changed[member] = k
            values = target.measure.values(target.pool, changed[None])[0]  # (system, topic)
            expected = float(target.sign @ values[:, target.topics[member]])
            assert found[member, k] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["nDCG@10", "P@5", "AP", "Bpref"])
def test_what_is_known_of_all_items_is_the_measure(panel: Panel, name: str) -> None:
    target = ranked(panel, name, 2)
    truth = panel[1][target.item]
    found = target.expand(np.eye(3)[truth], None)
    values = target.measure.values(target.pool, truth[None])[0].mean(axis=1)
    assert found.value == pytest.approx(values[0] - values[1])
    assert found.rest == pytest.approx(0.0, abs=1e-15)
    assert found.of_topic is not None
    assert found.of_topic.sum() == pytest.approx(found.value)


def test_precision_is_a_sum_and_average_precision_is_not(panel: Panel) -> None:
    belief = panel[0].posterior * 0.7 + 0.1
    precision = ranked(panel, "P@5", 1)
    found = precision.expand(belief[precision.item], None)
    relevant = belief[precision.item][:, 1:].sum(axis=1)
    assert found.rest == pytest.approx(0.0, abs=1e-15)
    assert found.value == pytest.approx(float(relevant[precision.strata() == 1].sum()) / 5 / 12)
    average = ranked(panel, "AP", 1)
    assert average.expand(belief[average.item], None).rest > 0


TOPICS = 40


def simulated(spread: float, items: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Beliefs, topics, and truths that are apart from the beliefs by a level a topic."""
    random = np.random.default_rng(seed)
    topic = np.repeat(np.arange(TOPICS), items)
    belief = random.dirichlet([1, 1, 1], len(topic))
    p = belief * np.exp(spread * random.normal(size=(TOPICS, 3)))[topic]
    p /= p.sum(axis=1, keepdims=True)
    truth = (random.random(len(p))[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    return belief, topic, truth.astype(np.int16)


def test_topics_that_are_as_believed_have_no_levels() -> None:
    found = [levels_of(*simulated(0.0, 12, seed), TOPICS) for seed in range(10)]
    small = [0.0 if one is None else float(np.abs(one.mean).max()) for one in found]
    assert sum(one is None for one in found) >= 4
    assert np.median(small) < 0.1


def test_levels_are_the_most_probable_and_draws_spread_around_them() -> None:
    belief, topic, truth = simulated(1.0, 30, 3)
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
    belief, topic, truth = simulated(1.0, 20, 5)
    found = levels_of(belief, topic, truth, TOPICS + 1)
    assert found is not None
    assert found.mean[-1] == pytest.approx(np.zeros(3))
    assert np.diag(found.root[-1])[0] > np.diag(found.root[0])[0]


def levels_by_kind_made(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, Sample]:
    """Beliefs that are right of kind 0 and far too low of kind 1; gold of one item in four."""
    random = np.random.default_rng(seed)
    kind = np.repeat([0, 1], 400)
    belief = random.dirichlet([2, 2, 2], 800)
    p = belief * np.exp(np.outer(kind, [0.0, 1.0, 2.0]))
    p /= p.sum(axis=1, keepdims=True)
    truth = (random.random(800)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    at = np.arange(0, 800, 4)
    sample = sample_of(at, truth[at].astype(np.int16), 800, np.full(200, 0.25), None, "gold")
    return belief, kind, truth, sample


def test_gold_that_contradicts_beliefs_moves_them_all_the_way() -> None:
    belief = np.tile([1.0 - 2e-6, 1e-6, 1e-6], (400, 1))
    at = np.arange(0, 400, 2)
    truth = np.full(200, 2, dtype=np.int16)
    sample = sample_of(at, truth, 400, np.full(200, 0.5), None, "gold")
    found = by_kind(belief, np.zeros(400, dtype=np.int64), sample, folds=5, seed=0)
    assert (found[:, 2] > 0.9).all()


def test_each_kind_is_believed_to_be_what_its_gold_is() -> None:
    belief, kind, truth, sample = levels_by_kind_made()
    found = by_kind(belief, kind, sample, folds=5, seed=0)
    assert np.allclose(found.sum(axis=1), 1)
    for one in (0, 1):
        own = kind == one
        apart = [
            np.abs(p[own].mean(axis=0) - np.bincount(truth[own]) / 400) for p in (belief, found)
        ]
        assert apart[1].max() < 0.07
        if one == 1:
            assert apart[0].max() > 0.2


def test_a_gold_item_is_not_moved_by_its_own_gold() -> None:
    belief, kind, _, sample = levels_by_kind_made()
    before = by_kind(belief, kind, sample, folds=5, seed=0)
    other = sample.truth.copy()
    other[7] = (other[7] + 1) % 3
    changed = sample_of(sample.item, other, 800, sample.chance, None, "gold")
    after = by_kind(belief, kind, changed, folds=5, seed=0)
    assert np.array_equal(before[sample.item[7]], after[sample.item[7]])
    assert not np.allclose(before[kind == 0], after[kind == 0])
    assert np.allclose(before[kind == 1], after[kind == 1], atol=1e-9)
