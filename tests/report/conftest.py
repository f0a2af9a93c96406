"""Results to be shown: a made crowd on binary labels, sampled; and graded labels, by EM."""

from __future__ import annotations

import pytest

from adjudge import HierarchicalRelevance, HybridConfusion
from adjudge.report import Results, gather, report_html
from adjudge.simulation import demo


@pytest.fixture(scope="session")
def sampled() -> Results:
    """Binary labels with topics, gold and draws."""
    made = demo(3)
    gold = made.gold.collapse(made.judgments.scale)
    model = HierarchicalRelevance(chains=2, warmup=60, draws=60)
    return gather(model.fit(made.judgments.collapse()), gold=gold)


@pytest.fixture(scope="session")
def fitted() -> Results:
    """Graded labels without gold or draws."""
    return gather(HybridConfusion(method="em").fit(demo(3).judgments))


@pytest.fixture(scope="session")
def fitted_page(fitted: Results) -> str:
    """The report of them."""
    return report_html(fitted)
