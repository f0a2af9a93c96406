"""The sweep against a plain NumPy twin, and the written-out functions against NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge import Judgments, ThreadsEngine
from adjudge.engines.engine import Counts, Parameters
from adjudge.kernels import _vectors
from strategies import gold_for, judgments


def twin(table: Judgments, known: np.ndarray, parameters: Parameters, by_topic: bool):
    """Posterior, counts and likelihood by loops over items and judgments."""
    scale = table.scale
    truths, labels = len(scale.truths), len(scale.labels)
    posterior = np.zeros((table.item_count, truths))
    counts = np.zeros((table.judge_count, truths, labels))
    topics = table.topic_count if by_topic else 1
    classes = np.zeros((topics, truths))
    likelihood = 0.0
    for i in range(table.item_count):
        here = table.topic[i] if by_topic else 0
        joint = parameters.prevalence[here].copy()
        seen = range(table.offsets[i], table.offsets[i + 1])
        for m in seen:
            matrix = parameters.confusion[table.judge[m] % len(parameters.confusion)]
            joint = joint * matrix[:, table.label[m]]
        if known[i] >= 0:
            likelihood += np.log(joint[known[i]])
            posterior[i, known[i]] = 1
        else:
            likelihood += np.log(joint.sum())
            posterior[i] = joint / joint.sum()
        for m in seen:
            counts[table.judge[m], :, table.label[m]] += posterior[i]
        classes[here] += posterior[i]
    return posterior, Counts(classes=classes, confusion=counts, log_likelihood=likelihood)


@given(data=st.data())
def test_sweep_equals_its_numpy_twin(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    gold = data.draw(gold_for(table))
    by_topic = table.topics is not None and data.draw(st.booleans())
    shared = data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    truths, labels = len(table.scale.truths), len(table.scale.labels)
    judges = 1 if shared else table.judge_count
    parameters = Parameters(
        prevalence=rng.dirichlet(np.ones(truths), table.topic_count if by_topic else 1),
        confusion=rng.dirichlet(np.ones(labels), (judges, truths)),
    )
    known = np.full(table.item_count, -1, np.int16) if gold is None else gold.align(table)
    sweeps = ThreadsEngine().load(table, known, by_topic=by_topic, shared=shared)
    posterior, own = sweeps.posterior(parameters, own=True)
    expected, counts = twin(table, known, parameters, by_topic)
    assert posterior == pytest.approx(expected, abs=1e-9)
    assert own.confusion == pytest.approx(counts.confusion, abs=1e-7)
    assert own.classes == pytest.approx(counts.classes, abs=1e-7)
    assert own.log_likelihood == pytest.approx(counts.log_likelihood, abs=1e-6)
    swept = sweeps.expect(parameters)
    right = counts.confusion.sum(axis=0, keepdims=True) if shared else counts.confusion
    assert swept.confusion == pytest.approx(right, abs=1e-7)


@given(data=st.data())
def test_votes_equal_their_numpy_twin(data: st.DataObject) -> None:
    table = data.draw(judgments(fewer_truths=data.draw(st.booleans())))
    posterior, counts = ThreadsEngine().load(table).posterior(None, own=True)
    truths = len(table.scale.truths)
    for i in range(table.item_count):
        labels = table.label[table.offsets[i] : table.offsets[i + 1]]
        votes = np.array([table.scale.truth_of[label] for label in labels], dtype=int)
        share = np.bincount(votes[votes >= 0], minlength=truths).astype(float)
        expected = share / share.sum() if share.sum() else np.full(truths, 1 / truths)
        assert posterior[i] == pytest.approx(expected)
    assert counts.classes.sum() == pytest.approx(table.item_count)
    assert counts.confusion.sum() == pytest.approx(len(table))


def test_rates_of_zero_do_not_break_the_sweep() -> None:
    table = Judgments.from_table({"item": ["a", "a"], "judge": ["x", "y"], "label": [0, 1]})
    never = np.array([[[1.0, 0.0], [0.0, 1.0]]] * 2)
    parameters = Parameters(prevalence=np.array([[0.5, 0.5]]), confusion=never)
    posterior, counts = ThreadsEngine().load(table).posterior(parameters, own=True)
    assert posterior[0] == pytest.approx([0.5, 0.5])
    assert np.isfinite(counts.log_likelihood)


def test_exponentials_are_exact_to_the_last_digits() -> None:
    rng = np.random.default_rng(0)
    x = -np.concatenate([rng.exponential(20, 5000), [0.0, 1e-300, 699.9, 1e9]])
    bits, out = np.empty(x.size, np.int64), np.empty(x.size)
    _vectors.exponentials(x, bits, bits.view(np.float64), out, x.size)
    assert out[:-1] == pytest.approx(np.exp(x[:-1]), rel=1e-13)
    assert 0 < out[-1] < 1e-300


def test_items_of_many_judgments_do_not_overflow() -> None:
    many = 200_000
    table = Judgments.from_table(
        {
            "item": ["a"] * many,
            "judge": [f"j{n % 7}" for n in range(many)],
            "label": [0, 1] * (many // 2),
        }
    )
    sure = np.array([[[1 - 2.0**-40, 2.0**-40], [2.0**-40, 1 - 2.0**-40]]] * 7)
    parameters = Parameters(prevalence=np.array([[0.5, 0.5]]), confusion=sure)
    posterior, counts = ThreadsEngine().load(table).posterior(parameters, own=True)
    assert posterior[0].sum() == pytest.approx(1)
    assert counts.log_likelihood == pytest.approx(
        many / 2 * np.log(2.0**-40) + np.log(1.0), rel=1e-6
    )


@pytest.mark.parametrize("truths", [1, 9], ids=["one truth", "rows wider than a vector"])
def test_any_number_of_truths(truths: int) -> None:
    rng = np.random.default_rng(truths)
    rows = 600
    labels = [*range(truths), *rng.integers(truths, size=rows - truths)]
    table = Judgments.from_table(
        {
            "item": [f"i{n}" for n in rng.integers(150, size=rows)],
            "judge": [f"j{n}" for n in rng.integers(5, size=rows)],
            "label": labels,
        }
    )
    parameters = Parameters(
        prevalence=rng.dirichlet(np.ones(truths), 1),
        confusion=rng.dirichlet(np.ones(truths), (5, truths)),
    )
    known = np.full(table.item_count, -1, np.int16)
    posterior, counts = ThreadsEngine().load(table).posterior(parameters, own=True)
    expected, right = twin(table, known, parameters, by_topic=False)
    assert posterior == pytest.approx(expected, abs=1e-9)
    assert counts.confusion == pytest.approx(right.confusion, abs=1e-7)
    assert counts.classes == pytest.approx(right.classes, abs=1e-7)
    assert counts.log_likelihood == pytest.approx(right.log_likelihood, abs=1e-6)
