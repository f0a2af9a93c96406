"""Label switching: found by hand, aligned in every part, and reported."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge import DawidSkene, Gold, HybridConfusion, Judgments, Scale, SingleConfusion
from adjudge.models._relabelling import order_of, separate
from papers.panels import three_judges
from papers.truelabel import stack_runs

SCALE = Scale(labels=("a", "b", "c"))


def table(rows: list[tuple[str, str, str, str]]) -> Judgments:
    item, judge, label, topic = zip(*rows, strict=True)
    data = {"item": item, "judge": judge, "label": label, "topic": topic}
    return Judgments.from_table(data, scale=SCALE)


def test_an_order_by_hand() -> None:
    judgments = table([("1", "x", "a", "t"), ("2", "y", "b", "t"), ("3", "y", "c", "t")])
    parts = separate(judgments, by_topic=False, topics=1)
    # Truth 0 has the labels of b, truth 1 of c, truth 2 of a: a is found at 2, b at 0, c at 1.
    counts = np.array([[[0, 9, 1], [1, 0, 8], [7, 1, 0]], [[0, 2, 0], [0, 0, 2], [2, 0, 0]]]) * 1.0
    order = order_of(counts, SCALE, parts)
    assert order is not None
    assert order.places.tolist() == [[2, 0, 1]]
    assert order.judges(counts)[0].tolist() == [[7, 1, 0], [0, 9, 1], [1, 0, 8]]
    assert order.items(np.array([[0.5, 0.3, 0.2]])).tolist() == [[0.2, 0.5, 0.3]]
    assert order.topics(np.array([[0.5, 0.3, 0.2]])).tolist() == [[0.2, 0.5, 0.3]]
    assert order_of(order.judges(counts), SCALE, parts) is None
    # Labels that are nearly as often another truth's are no reason to move anything.
    level = np.array([[[4, 4.4, 0], [4, 4, 0], [0, 0, 9.0]]] * 2) / 2
    assert order_of(level, SCALE, parts) is None


def test_unconnected_parts_are_separate() -> None:
    rows = [("1", "x", "a", "t"), ("2", "y", "b", "t"), ("3", "z", "c", "u"), ("4", "w", "c", "v")]
    parts = separate(table(rows), by_topic=True, topics=3)
    assert parts.count == 3
    assert parts.judge[0] == parts.judge[1] != parts.judge[2]
    joined = separate(table([*rows, ("4", "x", "a", "v")]), by_topic=True, topics=3)
    assert joined.count == 2
    assert joined.item.tolist() == [joined.topic[t] for t in (0, 0, 1, 2)]
    assert separate(table(rows), by_topic=False, topics=1).count == 1


@pytest.mark.parametrize(
    "model",
    [
        DawidSkene(by_topic=True, iterations=300),
        HybridConfusion(by_topic=True, method="em"),
        HybridConfusion(by_topic=True, chains=2, warmup=50, draws=50, thin=1),
    ],
    ids=["dawid-skene", "hybrid, em", "hybrid, gibbs"],
)
def test_no_run_keeps_switched_labels(model) -> None:
    runs = [three_judges(5, seed).judgments for seed in range(1, 61)]
    stack = stack_runs(runs)
    fit = model.fit(stack)
    parts = separate(stack, by_topic=True, topics=60)
    assert parts.count == 60
    given = np.zeros((60, 3, 3))  # (run, label, truth)
    np.add.at(given, (parts.item[stack.item], stack.label), fit.posterior[stack.item])
    for run in given:  # no other order of the truths agrees better with the labels
        for order in ((1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1)):
            assert np.trace(run) >= np.trace(run[:, order]) - 0.51
    assert np.allclose(fit.posterior.sum(axis=1), 1)
    if isinstance(model, DawidSkene):
        assert "label switching in" in " ".join(fit.notes)


@pytest.mark.slow
def test_one_fit_is_aligned_and_says_so() -> None:
    # From five items free matrices now and then end with truths in each other's places.
    switched = 0
    for seed in range(1, 121):
        run = three_judges(5, seed).judgments
        for model in (DawidSkene(), SingleConfusion()):
            fit = model.fit(run)
            said = [note for note in fit.notes if note.startswith("label switching: ")]
            switched += bool(said)
            counts = np.zeros((3, 3))
            np.add.at(counts, run.label, fit.posterior[run.item])
            assert np.trace(counts) >= np.trace(counts[:, [1, 0, 2]]) - 0.51
    assert switched > 3


def test_gold_fixes_the_order() -> None:
    rows = [(str(i), j, "a", "t") for i in range(6) for j in "xyz"]
    gold = Gold.of({str(i): "b" for i in range(5)})
    fit = DawidSkene().fit(table(rows), gold)
    assert not any("traded" in note for note in fit.notes)
    assert fit.labels["label"].to_pylist()[5] == "b"
