"""The drawing sweep against the expectation sweep, and its random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from adjudge import Judgments, ThreadsEngine
from adjudge.engines import threads as sampling
from adjudge.engines.engine import Parameters
from adjudge.kernels import gibbs
from adjudge.models._gibbs import _log_ratios
from strategies import gold_for, judgments


def sampler_for(table: Judgments, known=None, by_topic=False, seed=0, chains=1):
    pivot = np.zeros(table.item_count, dtype=np.int16)
    return ThreadsEngine().sampler(
        table, known, by_topic=by_topic, seed=seed, chains=chains, pivot=pivot
    )


def random_parameters(table: Judgments, by_topic: bool, seed: int) -> Parameters:
    rng = np.random.default_rng(seed)
    truths, labels = len(table.scale.truths), len(table.scale.labels)
    return Parameters(
        prevalence=rng.dirichlet(np.ones(truths), table.topic_count if by_topic else 1),
        confusion=rng.dirichlet(np.ones(labels), (table.judge_count, truths)),
    )


@given(data=st.data())
def test_draws_keep_the_posteriors_of_the_expectation_sweep(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    known = None if gold is None else gold.align(table)
    by_topic = table.topics is not None and data.draw(st.booleans())
    parameters = random_parameters(table, by_topic, data.draw(st.integers(0, 9999)))
    prior = _log_ratios(parameters.prevalence)
    ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
    sampler = sampler_for(table, known, by_topic)
    tally = sampler.draw(0, 5, prior, ratio, 1.0)
    sweeps = ThreadsEngine().load(table, known, by_topic=by_topic)
    posterior, _ = sweeps.posterior(parameters, own=True)
    assert sampler.mean(0) == pytest.approx(posterior, abs=1e-9)
    assert tally.counts.sum() == len(table)
    assert tally.counts.sum(axis=(1, 2)).tolist() == table.counts_per_judge.tolist()
    assert tally.classes.sum() == table.item_count
    assert tally.switch.sum() == table.item_count
    sampler.draw(0, 5, prior, ratio, -1.0)
    assert sampler.mean(0) == pytest.approx(0, abs=1e-12)


@given(data=st.data())
def test_counts_that_are_brought_up_to_date_equal_counts_from_nothing(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    known = None if gold is None else gold.align(table)
    by_topic = table.topics is not None and data.draw(st.booleans())
    sampler = sampler_for(table, known, by_topic, seed=data.draw(st.integers(0, 99)))
    truths = len(table.scale.truths)
    if data.draw(st.booleans()):  # or else from the pivot
        sampler.start(0, np.full(table.item_count, truths - 1, dtype=np.int16))
    for iteration in range(4):
        parameters = random_parameters(table, by_topic, iteration)
        prior = _log_ratios(parameters.prevalence)
        ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
        tally = sampler.draw(0, iteration, prior, ratio, 0.0)
    drawn = np.empty(table.item_count, dtype=np.int64)
    drawn[sampler.order.number] = sampler.now[0].last
    counts = np.zeros_like(tally.counts)
    np.add.at(counts, (table.judge, table.label, drawn[table.item]), 1)
    assert np.array_equal(tally.counts, counts)
    classes = np.zeros_like(tally.classes)
    np.add.at(classes, (table.topic if by_topic else np.zeros_like(drawn), drawn), 1)
    assert np.array_equal(tally.classes, classes)
    assert np.array_equal(tally.switch[0], np.bincount(drawn, minlength=truths))
    if known is not None:
        assert np.array_equal(drawn[known >= 0], known[known >= 0])


def test_judgments_in_their_own_order_give_the_same_draws(monkeypatch) -> None:
    """Where they are too many to sort, they are swept as they are."""
    rng = np.random.default_rng(5)
    rows = {"item": rng.integers(0, 900, 4000), "judge": rng.integers(0, 30, 4000)}
    for labels in (2, 4):
        table = Judgments.from_table(rows | {"label": rng.integers(0, labels, 4000)})
        parameters = random_parameters(table, False, labels)
        prior = _log_ratios(parameters.prevalence)
        ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
        found = []
        for most in (sampling._SORTED, 100):
            monkeypatch.setattr(sampling, "_SORTED", most)
            sampler = sampler_for(table, seed=3)
            tally = sampler.draw(0, 1, prior, ratio, 1.0)
            found.append((tally.counts, sampler.mean(0)))
        monkeypatch.undo()
        assert np.array_equal(found[0][0], found[1][0])
        assert np.array_equal(found[0][1], found[1][1])


def test_a_tally_is_the_callers_to_keep() -> None:
    table = Judgments.from_table({"item": list("abc"), "judge": list("xxy"), "label": [0, 1, 1]})
    parameters = random_parameters(table, False, 3)
    prior = _log_ratios(parameters.prevalence)
    ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
    sampler = sampler_for(table)
    first = sampler.draw(0, 0, prior, ratio, 0.0)
    before = first.counts.copy()
    assert any(
        not np.array_equal(sampler.draw(0, n, prior, ratio, 0.0).counts, before)
        for n in range(1, 50)
    )
    assert np.array_equal(first.counts, before)


def test_small_probabilities_are_not_lost() -> None:
    """A truth of probability 10^-30 has that posterior, not 0: logarithms of it are finite."""
    table = Judgments.from_table({"item": list("ab"), "judge": list("xx"), "label": [0, 1]})
    sampler = sampler_for(table)
    ratio = np.array([-70, 70], dtype=np.int64) * 2**40
    sampler.draw(0, 0, np.zeros(1, dtype=np.int64), ratio, 1.0)
    mean = sampler.mean(0)
    assert mean[0] == pytest.approx([1, np.exp(-70)], rel=1e-12)
    assert mean[1] == pytest.approx([np.exp(-70), 1], rel=1e-12)


def test_draws_have_the_frequencies_of_the_posterior() -> None:
    table = Judgments.from_table(
        {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": [0, 2, 1]}
    )
    parameters = random_parameters(table, False, 3)
    posterior, _ = ThreadsEngine().load(table).posterior(parameters, own=True)
    prior = _log_ratios(parameters.prevalence)
    ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
    sampler = sampler_for(table, seed=11)
    drawn = sum(sampler.draw(0, n, prior, ratio, 0.0).classes for n in range(20_000))[0]
    assert drawn / 40_000 == pytest.approx(posterior.mean(axis=0), abs=0.008)


def test_a_draw_depends_on_seed_chain_iteration_and_item_alone() -> None:
    rng = np.random.default_rng(0)
    table = Judgments.from_table(
        {
            "item": np.sort(rng.integers(0, 400, 3000)),
            "judge": rng.integers(0, 20, 3000),
            "label": rng.integers(0, 3, 3000),
        }
    )
    parameters = random_parameters(table, False, 1)
    prior = _log_ratios(parameters.prevalence)
    ratio = _log_ratios(parameters.confusion.transpose(0, 2, 1))
    one = sampler_for(table, seed=1, chains=3).draw(2, 7, prior, ratio, 0.0)
    same = sampler_for(table, seed=1, chains=4).draw(2, 7, prior, ratio, 0.0)
    assert np.array_equal(one.counts, same.counts)
    for seed, chain, iteration in ((2, 2, 7), (1, 1, 7), (1, 2, 8)):
        other = sampler_for(table, seed=seed, chains=3).draw(chain, iteration, prior, ratio, 0.0)
        assert not np.array_equal(one.counts, other.counts)


def test_keys_are_all_different_and_numbers_uniform() -> None:
    keys = {
        int(gibbs.key_of(seed, chain, iteration))
        for seed in range(12)
        for chain in range(12)
        for iteration in range(200)
    }
    assert len(keys) == 12 * 12 * 200
    unit = np.array([key / 2**64 for key in keys])
    assert kstest(unit, "uniform").pvalue > 0.001
