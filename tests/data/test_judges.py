"""Shares of judges and their intervals: against other computations of the same posterior."""

from __future__ import annotations

import copy
import pickle

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from scipy.stats import norm

import adjudge
from adjudge.data.judges import _COMMON, _OWN, Evidence, Judges, estimate_shares

COMMON, OWN = _COMMON**2, _OWN**2  # variances of errors in logit
Judge = tuple[float, float, float, float]  # hits and total without gold, hits and total on gold


def evidence(judges: list[Judge], *, compared: float = 1.0) -> Evidence:
    hits, total, gold_hits, gold_total = np.array(judges, dtype=np.float64).T
    return Evidence(
        hits=hits,
        total=total,
        compared=np.full(len(judges), compared),
        gold_hits=gold_hits,
        gold_total=gold_total,
    )


def estimate(judges: list[Judge], level: float = 0.0) -> NDArray[np.float64]:  # (3, judge)
    """The shares, and the low and high ends of their intervals."""
    return np.array(estimate_shares(evidence(judges), np.full(len(judges), level)))


def prior_of(judges: list[Judge], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The logit of each judge before gold, and the variance of its own error."""
    hits, total, _, _ = np.array(judges, dtype=np.float64).T
    centre = logit(hits / total) + level
    p = expit(centre)
    return centre, OWN + 1 / (total * p * (1 - p))


def test_without_gold_the_logit_is_normal() -> None:
    judges: list[Judge] = [(80, 100, 0, 0), (27, 30, 0, 0), (10, 40, 0, 0)]
    centre, own = prior_of(judges, 0.3)
    expected = expit(norm.ppf([[0.5], [0.05], [0.95]], centre, np.sqrt(own + COMMON)))
    assert estimate(judges, 0.3) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("gold", [(3, 5), (18, 20), (95, 100), (40, 100), (0, 8), (60, 60)])
def test_one_judge_has_the_posterior_that_integration_finds(gold: tuple[int, int]) -> None:
    judges: list[Judge] = [(80, 100, *gold)]
    (centre,), (own,) = prior_of(judges, 0.0)
    z = np.linspace(-8, 8, 20_001)
    log = gold[0] * log_expit(z) + (gold[1] - gold[0]) * log_expit(-z)
    log += norm.logpdf(z, centre, np.sqrt(own + COMMON))
    mass = np.cumsum(np.exp(log - log.max()))
    value, low, high = estimate(judges)[:, 0]
    assert value == pytest.approx(expit(z[log.argmax()]), abs=1e-3)
    ends = expit(z[np.searchsorted(mass, [0.05 * mass[-1], 0.95 * mass[-1]])])
    assert [low, high] == pytest.approx(ends, abs=0.012)  # a normal logit is not quite exact


def test_several_judges_have_the_maximum_that_a_search_finds() -> None:
    rng = np.random.default_rng(3)
    total, gold = rng.integers(20, 300, 12), rng.integers(0, 40, 12)
    share = rng.uniform(0.6, 0.9, 12)
    judges = list(zip(share * total, total, rng.binomial(gold, 0.6), gold, strict=True))
    centre, own = prior_of(judges, 0.2)

    def loss(z: NDArray[np.float64]) -> float:
        logits, common = z[:-1], z[-1]
        hits = np.array([judge[2] for judge in judges])
        likelihood = hits * log_expit(logits) + (gold - hits) * log_expit(-logits)
        errors = (logits - centre - common) ** 2 / own
        return float(-likelihood.sum() + errors.sum() / 2 + common**2 / COMMON / 2)

    best = minimize(loss, np.append(centre, 0.0))
    value, low, high = estimate(judges, 0.2)
    assert value == pytest.approx(expit(best.x[:-1]), abs=1e-3)
    step = 1e-3 * np.eye(len(best.x))
    hessian = [
        [
            sum(f * g * loss(best.x + f * a + g * b) for f in (1, -1) for g in (1, -1)) / 4e-6
            for b in step
        ]
        for a in step
    ]
    spread = np.sqrt(np.diag(np.linalg.inv(hessian))[:-1])
    assert (logit(high) - logit(low)) / 2 / norm.ppf(0.95) == pytest.approx(spread, rel=0.01)


def test_gold_of_others_lowers_a_judge_without_gold() -> None:
    """Forty judges of 90% by the model are right in 70% on gold."""
    judges: list[Judge] = [(900, 1000, 70, 100)] * 40 + [(900, 1000, 0, 0)]
    value, low, high = estimate(judges)
    assert value[0] == pytest.approx(0.7, abs=0.02)
    assert low[-1] < 0.7 < value[-1] < 0.8
    before = estimate([(900, 1000, 0, 0)])
    assert logit(high[-1]) - logit(low[-1]) < 0.9 * (logit(before[2, 0]) - logit(before[1, 0]))


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(1, 500), st.integers(0, 50)), min_size=1),
    st.floats(-2, 2),
)
def test_gold_as_expected_never_widens(
    judges: list[tuple[float, float, int]], level: float
) -> None:
    """Gold that agrees with the model moves nobody and narrows everybody's interval."""
    share = np.clip([one[0] for one in judges], 0.02, 0.98)
    expected = expit(logit(share) + level)
    few: list[Judge] = [
        (p * total, total, 0, 0) for p, (_, total, _) in zip(share, judges, strict=True)
    ]
    more: list[Judge] = [
        (hits, total, right * gold, gold)
        for (hits, total, _, _), right, (_, _, gold) in zip(few, expected, judges, strict=True)
    ]
    before, after = estimate(few, level), estimate(more, level)
    assert after[0] == pytest.approx(before[0], abs=1e-6)
    assert np.all(after[2] - after[1] <= before[2] - before[1] + 1e-9)


def test_nothing_is_known_about_a_judge_without_common_items() -> None:
    alone = evidence([(8, 10, 0, 0), (8, 10, 1, 2)], compared=0.0)
    assert alone.known.tolist() == [False, True]
    assert evidence([(0, 0, 0, 0), (1, 2, 0, 0)]).known.tolist() == [False, True]


def test_next_to_nothing_gives_the_widest_interval_without_a_warning() -> None:
    value, low, high = estimate([(1e-8, 1.1e-8, 0, 0), (8, 10, 0, 0)])
    assert (low[0], high[0]) == pytest.approx((0.0, 1.0))
    assert 0 < value[0] < 1


def test_judges_are_used_as_the_table_that_they_have() -> None:
    rows = {"item": ["a", "a", "b"], "judge": ["x", "y", "x"], "label": [1, 0, 1]}
    judges = adjudge.fit(rows).judges
    table = judges.to_table()
    assert isinstance(judges, Judges)
    assert isinstance(table, pa.Table)
    assert (len(judges), judges.num_rows, judges.column_names) == (2, 2, table.column_names)
    assert judges["judge"].to_pylist() == judges.column("judge").to_pylist() == ["x", "y"]
    assert pa.table(judges).equals(table)
    assert pl.DataFrame(judges).to_dicts() == table.to_pylist()
    assert duckdb.sql("select sum(judgments) from judges").fetchall() == [(3,)]
    for same in (table, judges, pickle.loads(pickle.dumps(judges)), copy.deepcopy(judges)):
        assert judges.equals(same)
    assert not judges.equals(table.slice(0, 1))
    with pytest.raises(AttributeError):
        judges.nothing  # noqa: B018
