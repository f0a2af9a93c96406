"""What Carpenter's paper says of its model, on its own data, in a small form."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.replications import hierarchical
from adjudge.replications._data import Split

pytestmark = pytest.mark.slow


def test_section_9_3_is_what_arithmetic_says() -> None:
    found = hierarchical._simulate(2, 400_000)
    # E[max(p, 1 - p)] = 3/4, and E[p^2] / E[p] = 2/3.
    assert np.mean(found["quantised"], axis=0) == pytest.approx([0.75, 0.75], abs=0.003)
    assert np.mean(found["fractional"], axis=0) == pytest.approx([2 / 3, 2 / 3], abs=0.003)


def test_the_statistic_of_1992() -> None:
    # Chains 0 2 and 1 3: variances 2 and 2, means 1 and 2: sqrt((1/2 * 2 + 1/2) / 2).
    values = np.array([[0.0, 2.0], [1.0, 3.0]])
    assert hierarchical._gelman_rubin(values) == pytest.approx(np.sqrt(0.75))
    same = np.random.default_rng(1).normal(size=(3, 4000))
    assert hierarchical._gelman_rubin(same) == pytest.approx(1.0, abs=0.002)
    assert hierarchical._gelman_rubin(same + np.array([[0.0], [1.0], [2.0]])) > 1.3


def test_topics_are_ranked_by_hand() -> None:
    truth = np.array([1, 0, 1, 0, 1, 1], dtype=np.int16)
    split = Split(None, np.arange(6), truth)
    topics = np.array(["1", "1", "1", "2", "2", "3"])
    score = np.array([0.9, 0.8, 0.1, 0.7, 0.6, 0.5])
    found = hierarchical._by_topic(split, list("abcdef"), topics, score)
    # Topic 1: relevant at places 1 and 3; topic 2: at place 2; topic 3 has one class alone.
    assert set(found) == {"1", "2"}
    assert found["1"]["AP"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["2"]["AP"] == pytest.approx(1 / 2)
    assert found["2"]["nDCG"] == pytest.approx(1 / np.log2(3))


def test_orderings(quick) -> None:
    result, holds = quick("hierarchical")
    assert holds["Estimated relevance rises with voted relevance, other than at the ends."]
    assert holds["Estimates are more extreme than votes."]
    assert holds["Specificity varies more between judges than sensitivity."]
    assert holds["Certainty grows with the number of judgments."]
    assert holds["Posterior means do well under squared error."]
    assert holds["Both models are more accurate than the vote, and gold helps."]
    runs, confusion, simulation, cost = result.tables
    found = {(cell.row, cell.column): cell.obtained for cell in runs.cells}
    one, two, three = tuple(hierarchical.RUNS)[:3]
    assert found[one, "accuracy"] == pytest.approx(0.69, abs=0.03)
    assert found[two, "AP"] == found[three, "AP"]
    assert found[three, "log loss"] < found[two, "log loss"]
    cells = {(cell.row, cell.column): cell.obtained for cell in confusion.cells}
    for run in hierarchical.RUNS:
        assert sum(cells[run, name] for name in ("TP", "FP", "FN", "TN")) == pytest.approx(1000)
        assert cells[run, "TP"] / 500 == pytest.approx(found[run, "recall"])
    assert simulation.cells[0].published == 0.75
    memory = {cell.row: cell.obtained for cell in cost.cells if cell.column == "memory, GB"}
    assert 0.05 < memory["unsupervised"] < 2.5
    names = [figure.name for figure in result.figures]
    assert names == ["figure-1", "figure-2", "figure-3", "figure-4", "topics"]
    clouds = result.figures[2].data
    assert len(set(clouds["judge"].to_pylist())) == 16  # as in the paper
    for figure in result.figures:
        assert "$schema" in figure.chart(figure.data).to_dict()
