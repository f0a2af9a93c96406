from __future__ import annotations

import numpy as np

from adjudge import HybridConfusion
from adjudge.report import Results
from adjudge.report.plots.sampling import (
    _ranks_by_chain,
    likelihood_trace,
    parameters_of,
    rank_plot,
    trace_plot,
)
from adjudge.simulation import demo
from charts import spec_with_data


def test_ranks_of_chains_that_do_not_overlap() -> None:
    values = np.array([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]])
    assert _ranks_by_chain(values, bins=4).tolist() == [[2, 2, 0, 0], [0, 0, 2, 2]]


def test_ranks_of_chains_that_agree_are_flat() -> None:
    values = np.array([[0.0, 2.0, 4.0, 6.0], [1.0, 3.0, 5.0, 7.0]])
    assert _ranks_by_chain(values, bins=4).tolist() == [[1, 1, 1, 1], [1, 1, 1, 1]]


def test_the_hyper_parameters_are_looked_at(sampled: Results) -> None:
    draws = sampled.consensus.draws
    assert draws is not None
    names = ["phi_pi", "phi_0", "phi_1", "kappa_pi", "kappa_0", "kappa_1"]
    assert list(parameters_of(draws)) == names
    panels = spec_with_data(trace_plot(draws))["concat"]
    assert [panel["title"]["text"] for panel in panels] == names
    rows = panels[1]["data"]["values"]
    second = [row["value"] for row in rows if row["chain"] == 2]
    np.testing.assert_allclose(second, draws.hyper["phi_0"][1], atol=1e-4)
    assert len(spec_with_data(rank_plot(draws))["concat"]) == 6


def test_without_hyper_parameters_the_shares_of_the_truths() -> None:
    consensus = HybridConfusion(chains=1, warmup=10, draws=10, thin=1).fit(demo(3).judgments)
    assert consensus.draws is not None
    assert list(parameters_of(consensus.draws)) == ["share of 0", "share of 1", "share of 2"]


def test_steps_of_a_fit() -> None:
    rows = spec_with_data(likelihood_trace((-9.0, -5.0, -4.5)))["data"]["values"]
    assert rows == [
        {"step": 1, "value": -9.0},
        {"step": 2, "value": -5.0},
        {"step": 3, "value": -4.5},
    ]
