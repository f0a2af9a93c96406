"""Adaptive closing, pure: posteriors, needs, order and what a fixed number would give."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.rules.adaptive import (
    Knowledge,
    needed_of,
    neutral,
    order_of,
    read_knowledge,
)
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.evaluation.stopping import Stopping, gain_of
from adjudge.models.registry import model
from adjudge.simulation import demo

FOUR = Scale(labels=("a", "b", "c", "d"))
TWO = Scale(labels=("yes", "no"))


def known(seed: int, *, judges: int = 3, truths: int = 3, labels: int = 4) -> Knowledge:
    """Something to know, drawn at random; judges have the ids 10, 20, ..."""
    rng = np.random.default_rng(seed)
    return Knowledge(
        prior=rng.dirichlet(np.ones(truths)),
        pooled=rng.dirichlet(np.ones(labels), size=truths),
        judges=10 * np.arange(1, judges + 1),
        confusion=rng.dirichlet(np.ones(labels), size=(judges, truths)),
    )


def clipped(rates: list[float]) -> list[float]:
    """Rates as the posterior takes them: no nought, so that nothing is ever certain."""
    raised = [max(rate, 1e-3) for rate in rates]
    return [rate / sum(raised) for rate in raised]


@given(
    st.integers(0, 1000),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from([10, 20, 30, 99]), st.integers(0, 3))),
)
def test_the_posterior_is_bayes_rule_worked_out_one_by_one(
    seed: int, judgments: list[tuple[int, int, int]]
) -> None:
    knowledge = known(seed)
    item, judge, label = np.array(judgments, dtype=np.int64).reshape(-1, 3).T
    found = knowledge.posterior_of(5, item, judge, label)
    prior = clipped(knowledge.prior.tolist())
    for place in range(5):
        joint = list(prior)
        for at, who, said in judgments:
            if at == place:
                rows = knowledge.pooled if who == 99 else knowledge.confusion[who // 10 - 1]
                joint = [p * clipped(rows[k].tolist())[said] for k, p in enumerate(joint)]
        expected = [p / sum(joint) for p in joint]
        assert found[place].tolist() == pytest.approx(expected, abs=1e-9)


def test_what_is_known_survives_json() -> None:
    knowledge = known(4)
    again = Knowledge.from_json(json.loads(json.dumps(knowledge.to_json())))
    assert again.confusion_of(20) == pytest.approx(knowledge.confusion[1], abs=1e-6)
    assert again.confusion_of(11) == pytest.approx(knowledge.pooled, abs=1e-6)
    assert again.prior == pytest.approx(knowledge.prior, abs=1e-6)
    nobody = Knowledge.from_json(json.loads(json.dumps(neutral(FOUR).to_json())))
    assert nobody.confusion.shape == (0, 4, 4)


def test_before_any_fit_judges_are_taken_to_be_right_in_seven_of_ten() -> None:
    nobody = np.array([7, 8])
    for scale, expected in ((FOUR, 0.49 / (0.49 + 3 * 0.01)), (TWO, 0.49 / (0.49 + 0.09))):
        both = neutral(scale).posterior_of(1, np.zeros(2, int), nobody, np.array([1, 1]))
        assert both[0, 1] == pytest.approx(expected)
        assert neutral(scale).pooled.sum(axis=1) == pytest.approx(1.0)
    graded = Scale(labels=("0", "1", "2", "?"), truths=("no", "yes"), truth_of=(0, 1, 1, -1))
    assert neutral(graded).pooled[1].tolist() == pytest.approx([0.15, 0.35, 0.35, 0.15])


def test_what_a_fit_knows_gives_the_labels_of_the_fit() -> None:
    """The posterior by hand and by the model differ by no more than the floor of rates."""
    made = demo()
    fit = model("dawid-skene").fit(made.judgments)
    ids = np.arange(made.judgments.judge_count)[::-1] + 5  # in another order than the fit has them
    knowledge = read_knowledge(fit, ids)
    given = made.judgments
    found = knowledge.posterior_of(given.item_count, given.item, ids[given.judge], given.label)
    assert np.abs(found - fit.posterior).max() < 0.05
    assert np.mean(found.argmax(axis=1) == fit.choice) > 0.99


def test_the_prior_is_that_of_work_and_not_of_gold() -> None:
    rng = np.random.default_rng(3)
    truth = np.concatenate([np.where(rng.random(60) < 0.9, 0, 1), np.repeat([0, 1, 2, 3], 10)])
    rows = [
        (f"judge {judge}", f"item {item}", FOUR.labels[label])
        for item, code in enumerate(truth)
        for judge in rng.choice(8, 4, replace=False)
        for label in [code if rng.random() < 0.85 else rng.integers(4)]
    ]
    columns = dict(zip(("judge", "item", "label"), map(list, zip(*rows, strict=True)), strict=True))
    gold = {f"item {item}": FOUR.labels[truth[item]] for item in range(60, 100)}
    answers = pa.table({"item": list(gold), "gold": list(gold.values())})
    judgments = Judgments.from_table(pa.table(columns), scale=FOUR)
    fit = model("dawid-skene").fit(judgments, Gold.from_table(answers))
    share = float(np.mean(truth[:60] == 0))
    assert fit.prevalence[0, 0] < share - 0.2, "a quarter of the gold has that label"
    prior = read_knowledge(fit, np.arange(judgments.judge_count)).prior
    assert prior.sum() == pytest.approx(1.0)
    assert prior[0] == pytest.approx(share, abs=0.05)


COUNTS = st.integers(0, 12)
RULES = st.builds(
    lambda least, more, sure: Stopping(least=least, most=least + more, sure=sure),
    st.integers(1, 4),
    st.integers(0, 5),
    st.floats(0.5, 1),
)


@settings(deadline=None)
@given(RULES, COUNTS, st.integers(0, 5), st.floats(0, 1), st.floats(0, 1))
def test_what_an_item_needs(
    rule: Stopping, trusted: int, leased: int, low: float, high: float
) -> None:
    low, high = sorted((low, high))

    def needs(trusted: int, leased: int, sure: float) -> int:
        return int(needed_of(rule, np.array([trusted]), np.array([leased]), np.array([sure]))[0])

    found = needs(trusted, leased, low)
    closed = bool(rule.closed(np.array([trusted]), np.array([low]))[0])
    assert found >= trusted + leased
    assert (needs(trusted, 0, low) == trusted) == closed, "closed as soon as nothing is out"
    assert found <= max(rule.most, trusted + leased), "never beyond the most"
    assert needs(trusted, leased, high) <= found, "surer never needs more"
    assert needs(trusted, leased + 1, low) >= found
    if not closed and leased <= 1 and trusted >= rule.least:
        assert found == trusted + 1, "one at a time"
    if trusted + leased < rule.least and not closed:
        assert found == rule.least


def test_the_order_is_that_of_evaluation_for_the_judge_at_hand() -> None:
    knowledge = known(3, truths=4)
    rng = np.random.default_rng(1)
    posterior = rng.dirichlet(np.ones(4), size=30)
    trusted = rng.integers(0, 6, size=30)
    rule = Stopping(least=2, most=5, sure=0.8)
    hers = knowledge.confusion_of(20)
    gain = gain_of(posterior, np.broadcast_to(hers, (30, *hers.shape)))
    assert gain_of(posterior, hers) == pytest.approx(gain)
    order = order_of(rule, trusted, posterior, hers)
    assert sorted(order.tolist()) == list(range(30))
    closed = rule.closed(trusted, posterior.max(axis=1))
    keys = [
        (closed[at], 0 if closed[at] else min(trusted[at], 2), 0 if closed[at] else -gain[at])
        for at in order
    ]
    assert keys == sorted(keys)
