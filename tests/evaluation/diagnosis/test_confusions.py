"""Confusions, by hand from counts and by quantiles from draws; mistakes and what is common."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import beta

from adjudge import Consensus, Gold, HybridConfusion, Judgments, MajorityVote, Scale
from adjudge.evaluation.diagnosis._confusions import (
    average_judges,
    find_commonest,
    list_common_mistakes,
    list_mistakes,
    measure_confusions,
    pool_rates,
)
from adjudge.simulation import demo


@pytest.fixture(scope="module")
def by_hand() -> Consensus:
    """Every truth is gold: x calls 1 a 2 three times of four, y errs once, z never."""
    truth = [0, 0, 0, 1, 1, 1, 1, 2, 2]
    given = {
        "x": [0, 0, 0, 2, 2, 2, 1, 2, 2],
        "y": [0, 1, 0, 1, 1, 1, 1, 2, 2],
        "z": truth,
    }
    rows = [(f"i{n}", judge, label) for judge, labels in given.items() for n, label in
            enumerate(labels)]  # fmt: skip
    items, judges, labels = zip(*rows, strict=True)
    table = pa.table({"item": list(items), "judge": list(judges), "label": list(labels)})
    judgments = Judgments.from_table(table, scale=Scale.parse("0<1<2"))
    return MajorityVote().fit(judgments, Gold.of({f"i{n}": t for n, t in enumerate(truth)}))


def test_cells_are_betas_of_the_counts(by_hand: Consensus) -> None:
    found = measure_confusions(by_hand)
    # x on truth 1: no 0, one 1, three 2s; half a judgment more for each label.
    assert found.mean[0, 1] == pytest.approx([0.5 / 5.5, 1.5 / 5.5, 3.5 / 5.5])
    cell = beta(3.5, 2.0)
    assert found.low[0, 1, 2] == pytest.approx(cell.ppf(0.05))
    assert found.high[0, 1, 2] == pytest.approx(cell.ppf(0.95))
    assert found.sd[0, 1, 2] == pytest.approx(cell.std())
    assert found.mean.sum(axis=2) == pytest.approx(np.ones((3, 3)))


def test_mistakes_by_hand(by_hand: Consensus) -> None:
    found = measure_confusions(by_hand)
    rows = list_mistakes(by_hand, found).to_pylist()
    mistakes = [(row["judge"], row["truth"], row["label"], row["judgments"]) for row in rows]
    assert mistakes == [("x", "1", "2", 3.0), ("y", "0", "1", 1.0)]
    assert rows[0]["rate"] == pytest.approx(3.5 / 5.5)
    commonest = find_commonest(by_hand.counts, by_hand.scale)
    assert commonest.truth.tolist() == [1, 0, -1]
    assert commonest.label.tolist() == [2, 1, -1]
    common = list_common_mistakes(by_hand, commonest).to_pylist()
    assert [(row["truth"], row["label"], row["judges"], row["judgments"]) for row in common] == [
        ("1", "2", 1, 3.0),
        ("0", "1", 1, 1.0),
    ]
    assert common[0]["rate"] == pytest.approx(3.5 / 13.5)  # of 12 judgments of truth 1
    assert pool_rates(by_hand.counts).sum(axis=1) == pytest.approx(np.ones(3))


def test_population_is_the_mean_over_judges_with_enough(by_hand: Consensus) -> None:
    found = measure_confusions(by_hand)
    full = average_judges(by_hand, found, least=9)
    assert full.judges == 3
    assert full.mean == pytest.approx(found.mean.mean(axis=0))
    assert full.sd == pytest.approx(found.mean.std(axis=0))
    assert average_judges(by_hand, found, least=10).judges == 3  # none has: all are taken


def test_from_draws_they_are_quantiles() -> None:
    consensus = HybridConfusion(chains=2, warmup=50, draws=100, thin=1, seed=2).fit(
        demo().judgments
    )
    found = measure_confusions(consensus)
    assert consensus.draws is not None
    drawn = consensus.draws.confusion.reshape(-1, 40, 3, 3)
    assert found.mean is not None
    assert found.mean == pytest.approx(consensus.confusion)
    assert found.low == pytest.approx(np.quantile(drawn, 0.05, axis=0), abs=1e-6)
    assert found.high == pytest.approx(np.quantile(drawn, 0.95, axis=0), abs=1e-6)
    assert found.sd == pytest.approx(drawn.std(axis=0), abs=1e-5)
