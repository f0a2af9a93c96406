"""Interactive charts in a real browser: drawn, in light and dark, and they ask nobody."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import expect

from adjudge.report import save
from adjudge.report.plots.judges import sensitivity_specificity

pytestmark = pytest.mark.slow

HOSTILE = "</script><img src=x onerror='window.hacked=1'>"
JUDGES = pa.table(
    {
        "judge": [HOSTILE, "ann"],
        "judgments": [90, 3],
        "specificity": [0.5, 0.25],
        "sensitivity": [0.75, 1.0],
    }
)


@pytest.fixture(scope="module")
def chart(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a chart."""
    path = tmp_path_factory.mktemp("chart") / "chart.html"
    save(sensitivity_specificity(JUDGES), path)
    return path.as_uri()


@pytest.mark.parametrize(
    ("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")]
)
def test_a_chart_is_drawn_with_tooltips(opened: Any, chart: str, scheme: str, paper: str) -> None:
    watched = opened(chart, scheme=scheme)
    page = watched.page
    expect(page.locator("#chart svg")).to_be_visible()
    colour = page.locator("#chart svg").evaluate("node => getComputedStyle(node).backgroundColor")
    assert colour == paper
    points = page.locator(".judges_marks path")
    expect(points).to_have_count(2)
    points.first.hover()
    expect(page.locator("#vg-tooltip-element")).to_contain_text(HOSTILE)
    assert page.evaluate("window.hacked") is None
    assert watched.said == []
    assert watched.asked == [chart]
