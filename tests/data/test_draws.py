"""R-hat of the warnings against ArviZ's and by hand."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import given
from hypothesis import strategies as st

from adjudge import HierarchicalRelevance, MajorityVote
from adjudge.data.draws import rank_r_hat
from adjudge.errors import BadSetting
from adjudge.simulation import Crowd, Population


@given(data=st.data())
def test_r_hat_equals_arviz(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    shape = (data.draw(st.integers(2, 5)), data.draw(st.integers(4, 80)))
    values = rng.normal(size=shape) + data.draw(st.floats(0, 3)) * np.arange(shape[0])[:, None]
    if data.draw(st.booleans()):
        values = np.cumsum(values, axis=1)
    if data.draw(st.booleans()):
        values = np.round(values)  # ties
        values[0, 0] += 0.5  # something moves
    known = float(array_stats.rhat(values, chain_axis=0, draw_axis=1))
    if np.isfinite(known):
        assert rank_r_hat(values) == pytest.approx(known, rel=1e-12)


def test_chains_apart_and_chains_that_do_not_move() -> None:
    apart = np.array([[0.0, 0.1, 0.2, 0.3], [5.0, 5.1, 5.2, 5.3]])
    assert rank_r_hat(apart) > 2
    stuck = np.array([[0.0] * 6, [1.0] * 6])
    assert rank_r_hat(stuck) == np.inf
    two_values = np.array([[0.0, 1.0] * 4, [1.0, 0.0] * 4])  # all as far from the median
    assert rank_r_hat(two_values) == 1.0


def test_warnings_name_what_diagnostics_find() -> None:
    crowd = Crowd(items=200, population=Population.parse("two-coin:15"), topics=3).make(seed=4)
    draws = HierarchicalRelevance(chains=3, warmup=0, draws=10).fit(crowd.judgments).draws
    high = {row["name"]: row["r_hat"] for row in draws.diagnostics() if row["r_hat"] > 1.01}
    worst = sorted(high, key=lambda name: -high[name])
    named = ", ".join(f"{name} {high[name]:.3f}" for name in worst[:4])
    assert len(high) > 4
    assert draws.warnings() == (
        f"R-hat above 1.01 for {named} and {len(high) - 4} more: the chains do not agree yet; "
        "draw more, or let them warm up longer",
    )
    alone = HierarchicalRelevance(chains=1, warmup=0, draws=10).fit(crowd.judgments)
    assert alone.draws.warnings() == ()


@pytest.mark.slow
def test_a_fit_does_without_arviz() -> None:
    """It takes a second to import, and memory."""
    code = """
import sys
from adjudge import HierarchicalRelevance
from adjudge.simulation import Crowd, Population
crowd = Crowd(items=50, population=Population.parse("two-coin:9")).make()
HierarchicalRelevance(chains=2, warmup=5, draws=10).fit(crowd.judgments)
print(sorted({"arviz_stats", "xarray", "arviz"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.filterwarnings("ignore::FutureWarning")  # ArviZ greets with one, once a day
@pytest.mark.slow
def test_arviz_summarises_every_variable() -> None:
    """Also where not every draw of prevalence and confusion was kept."""
    import arviz

    crowd = Crowd(items=50, population=Population.parse("two-coin:9")).make()
    fitted = HierarchicalRelevance(chains=2, warmup=5, draws=40).fit(crowd.judgments).draws
    assert fitted is not None
    thinned = replace(
        fitted,
        prevalence=fitted.prevalence[:, ::4],
        confusion=fitted.confusion[:, ::4],
        stride=4,
    )
    for draws in (fitted, thinned):
        data = draws.to_arviz()
        table = arviz.summary(data)
        assert {f"prevalence[all, {truth}]" for truth in draws.scale.truths} <= set(table.index)
        expected = draws.prevalence[:, :, 0, 1].mean()
        assert table.loc["prevalence[all, 1]", "mean"] == pytest.approx(expected, abs=0.006)
        names = [name for name in table.index if name.startswith("confusion")]
        assert len(names) == draws.confusion[0, 0].size
    assert data["posterior_hyper"].sizes["draw"] == 40  # of those thinned
    assert data["posterior"].sizes["draw"] == 10


def test_a_model_that_does_not_draw_has_nothing_for_arviz() -> None:
    crowd = Crowd(items=4, population=Population.parse("two-coin:9")).make(seed=1)
    fitted = MajorityVote().fit(crowd.judgments)
    with pytest.raises(BadSetting, check=lambda fault: fault.setting == "draws"):
        fitted.to_arviz()
