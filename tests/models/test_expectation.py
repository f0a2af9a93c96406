"""Expectation-maximisation: the likelihood never falls, the stop is reported, answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import BadSetting, DawidSkene, HybridConfusion, Judgments, SingleConfusion
from adjudge.simulation import Crowd, Population
from strategies import gold_for, judgments


@pytest.mark.slow
@given(data=st.data())
def test_the_log_likelihood_never_falls(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    kind = data.draw(st.sampled_from([DawidSkene, SingleConfusion]))
    by_topic = table.topics is not None and data.draw(st.booleans())
    diagonal = data.draw(st.sampled_from([0.5, 1.0, 3.0, 30.0]))
    fit = kind(tolerance=0.0, iterations=30, by_topic=by_topic, diagonal=diagonal).fit(table, gold)
    assert np.all(np.diff(fit.trace) >= -1e-6)


@given(data=st.data())
def test_the_smoothed_objective_never_falls(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    by_topic = table.topics is not None and data.draw(st.booleans())
    model = HybridConfusion(
        method="em",
        tolerance=0.0,
        iterations=30,
        by_topic=by_topic,
        diagonal=data.draw(st.sampled_from([0.5, 3.0, 30.0])),
        concentration=data.draw(st.sampled_from([0.1, 1.0, 5.0])),
    )
    assert np.all(np.diff(model.fit(table, gold).trace) >= -1e-6)


def naive_dawid_skene(table: np.ndarray, truths: int, judges: int, sweeps: int) -> np.ndarray:
    """Dawid-Skene on a dense (item, judge) table of labels, written the textbook way."""
    items = table.shape[0]
    q = np.zeros((items, truths))
    for i in range(items):
        for j in range(judges):
            q[i, table[i, j]] += 1 / judges
    gamma = np.where(np.eye(truths, dtype=bool), 3.0, 1.0)
    theta = np.stack([q.T @ np.eye(truths)[table[:, j]] + gamma for j in range(judges)])
    theta /= theta.sum(axis=2, keepdims=True)
    pi = q.mean(axis=0)
    for _ in range(sweeps):
        log = np.log(pi) + sum(np.log(theta[j][:, table[:, j]]).T for j in range(judges))
        q = np.exp(log - log.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        pi = q.mean(axis=0)
        theta = np.stack([q.T @ np.eye(truths)[table[:, j]] for j in range(judges)])
        theta = np.maximum(theta / theta.sum(axis=2, keepdims=True), 2.0**-40)
    log = np.log(pi) + sum(np.log(theta[j][:, table[:, j]]).T for j in range(judges))
    q = np.exp(log - log.max(axis=1, keepdims=True))
    return q / q.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("truths", [2, 3, 5])
def test_dawid_skene_equals_a_textbook_version(truths: int) -> None:
    rng = np.random.default_rng(truths)
    judges, items = 4, 120
    truth = rng.integers(0, truths, items)
    right = rng.random((items, judges)) < [0.9, 0.8, 0.7, 0.5]
    table = np.where(right, truth[:, None], rng.integers(0, truths, (items, judges)))
    made = Judgments.from_table(
        {
            "item": np.repeat(np.arange(items), judges),
            "judge": np.tile(np.arange(judges), items),
            "label": table.ravel(),
        }
    )
    fit = DawidSkene(iterations=15, tolerance=0.0).fit(made)
    assert fit.posterior == pytest.approx(naive_dawid_skene(table, truths, judges, 15), abs=1e-5)


def test_recovers_the_simulated_judges() -> None:
    crowd = Crowd(items=5000, population=Population.parse("skilled(8,2):20"), per_item=10)
    made = crowd.make(seed=3)
    fit = DawidSkene().fit(made.judgments)
    order = [
        made.judgments.judges.to_pylist().index(name) for name in fit.judgments.judges.to_pylist()
    ]
    assert np.abs(fit.confusion - made.confusion[order]).mean() < 0.02
    assert (fit.choice == made.truth.align(made.judgments)).mean() > 0.97


def test_gold_reverses_an_adversarial_crowd() -> None:
    crowd = Crowd(items=600, population=Population.parse("adversary:7,skilled:3"), gold=0.2)
    made = crowd.make(seed=5)
    truth = made.truth.align(made.judgments)
    rest = made.gold.align(made.judgments) < 0
    alone = DawidSkene().fit(made.judgments).choice
    guided = DawidSkene().fit(made.judgments, made.gold).choice
    assert (alone == truth)[rest].mean() < 0.2
    assert (guided == truth)[rest].mean() > 0.9


def test_progress_is_reported_every_iteration() -> None:
    made = Crowd(items=50, population=Population.parse("skilled:5")).make(seed=1).judgments
    seen = []
    fit = DawidSkene(iterations=40).fit(made, progress=seen.append)
    assert [step.done for step in seen] == list(range(1, len(fit.trace) + 1))
    assert {step.total for step in seen} == {40}


def test_by_topic_needs_topics() -> None:
    table = Judgments.from_table({"item": ["a"], "judge": ["x"], "label": [1]})
    with pytest.raises(BadSetting, match="judgments with topics: these have none"):
        DawidSkene(by_topic=True).fit(table)
