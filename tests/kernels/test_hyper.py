"""The learnt prior: its density against SciPy, its slices against a posterior on a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.kernels import rates
from adjudge.kernels import rates as hyper


def strided(counts: np.ndarray) -> np.ndarray:
    """The same counts with gaps between them, as in the tables of the sampler."""
    return np.repeat(counts, 2, axis=1)[:, ::2]


def density(counts: np.ndarray, eta: np.ndarray, log_kappa: float) -> float:
    """The log posterior of (eta, log kappa), by sums of logs: log Gamma loses digits."""
    ratios = np.append(eta, 0.0)
    phi = np.exp(ratios - ratios.max())
    phi /= phi.sum()
    kappa = math.exp(log_kappa)

    def rising(a: float, column: np.ndarray) -> float:
        steps = np.arange(column.max(initial=0))
        above = len(column) - np.searchsorted(np.sort(column), steps, side="right")
        return math.fsum(above * np.log(a + steps))

    parts = [rising(kappa * share, counts[:, c]) for c, share in enumerate(phi)]
    likelihood = math.fsum([*parts, -rising(kappa, counts.sum(axis=1))])
    return float(likelihood + np.log(phi).sum() - 1.5 * log_kappa)


def log_density(eta: np.ndarray, log_kappa: float, *room: np.ndarray) -> float:
    return float(
        hyper._moved(len(eta), log_kappa, eta, 0.0, 0.0, *room, *hyper.make_log_workspace())
    )


@given(values=st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=128))
def test_logarithms_equal_numpys(values: list[float]) -> None:
    x, bits, out = hyper.make_log_workspace()
    x[: len(values)] = values
    hyper.logs(x, bits, out, len(values))
    assert out[: len(values)] == pytest.approx(np.log(values), rel=1e-15, abs=1e-16)


@given(data=st.data())
def test_density_is_the_formula(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    rows, columns = data.draw(st.integers(1, 300)), data.draw(st.integers(2, 5))
    most = data.draw(st.sampled_from([3, 200, 5000]))
    counts = rng.integers(0, most, (rows, columns)) * (rng.random((rows, columns)) < 0.7)
    phi, tails, large, reach = rates.workspace(rows, columns)
    hyper.summarise(strided(counts), tails, large, reach)
    eta, log_kappa = rng.normal(0, 2, columns - 1), rng.exponential(2)
    found = log_density(eta, log_kappa, phi, tails, large, reach)
    assert found == pytest.approx(density(counts, eta, log_kappa), rel=1e-10, abs=1e-8)


def test_kappa_below_one_is_impossible() -> None:
    counts = np.array([[1, 2], [0, 3]])
    phi, tails, large, reach = rates.workspace(2, 2)
    hyper.summarise(strided(counts), tails, large, reach)
    assert log_density(np.zeros(1), -0.01, phi, tails, large, reach) == -np.inf


def test_slices_draw_from_the_posterior_on_a_grid() -> None:
    rng = np.random.default_rng(1)
    counts = rng.multinomial(12, [0.3, 0.7], 15)
    grid_eta, grid_kappa = np.linspace(-4, 4, 81), np.linspace(0, 8, 121)
    logs = np.array([[density(counts, np.array([e]), k) for k in grid_kappa] for e in grid_eta])
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    phi_grid = 1 / (1 + np.exp(-grid_eta))
    expected_phi = (weight.sum(axis=1) * phi_grid).sum()
    expected_log_kappa = (weight.sum(axis=0) * grid_kappa).sum()
    spread = np.sqrt((weight.sum(axis=0) * (grid_kappa - expected_log_kappa) ** 2).sum())
    eta, kappa, width = np.zeros(1), np.array([5.0]), np.full(2, 0.7)
    room = rates.workspace(15, 2)
    draws = []
    given_counts = strided(counts)
    for _ in range(20_000):
        hyper.update(rng, given_counts, eta, kappa, width, *room)
        draws.append((room[0][0], np.log(kappa[0])))
    found = np.array(draws[500:])
    assert found[:, 0].mean() == pytest.approx(expected_phi, abs=0.004)
    assert found[:, 1].mean() == pytest.approx(expected_log_kappa, abs=0.06)
    assert found[:, 1].std() == pytest.approx(spread, rel=0.06)
    assert found[:, 1].min() >= 0


def test_without_counts_the_prior_is_drawn() -> None:
    rng = np.random.default_rng(2)
    counts = np.zeros((4, 3), dtype=np.int64)
    eta, kappa, width = np.zeros(2), np.array([2.0]), np.full(3, 0.7)
    room = rates.workspace(4, 3)
    draws = []
    given_counts = strided(counts)
    for _ in range(20_000):
        hyper.update(rng, given_counts, eta, kappa, width, *room)
        draws.append((*room[0], np.log(kappa[0])))
    found = np.array(draws)
    assert found[:, :3].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.02)
    assert found[:, 0].var() == pytest.approx(1 / 18, rel=0.1)  # of a flat Dirichlet of three
    assert found[:, 3].mean() == pytest.approx(1 / 1.5, rel=0.1)  # log of a Pareto is exponential
