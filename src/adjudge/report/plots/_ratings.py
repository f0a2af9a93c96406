"""Accuracy against the number of judgments an item has: what more judgments would buy.

Figures 6(b) and 6(c) of C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions".
"""

from __future__ import annotations

from typing import Any

import altair as alt

from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip


def accuracy_by_ratings(curve: Any) -> Any:
    """The chart from a table: method, ratings, accuracy, low, high."""
    columns = ("method", "ratings", "accuracy", "low", "high")
    data = drawing.table(**{name: curve[name] for name in columns})
    methods = list(dict.fromkeys(curve["method"].to_pylist()))
    x = alt.X(
        "ratings:Q",
        title="judgments an item, at most",
        scale=alt.Scale(nice=False, padding=12),
        axis=alt.Axis(values=sorted(set(curve["ratings"].to_pylist())), format="d"),
    )
    base = alt.Chart(data).encode(
        x=x,
        color=alt.Color("method:N", title=None, scale=alt.Scale(domain=methods)),
    )
    scale = alt.Scale(zero=False)
    told = tooltip(
        {"method": "method", "ratings": "judgments", "accuracy": "accuracy"},
        {"ratings": "d", "accuracy": ".3f"},
    )
    up = alt.Y("accuracy:Q", title="accuracy against gold", scale=scale)
    lines = base.mark_line(aria=False).encode(y=up)
    points = base.mark_point(filled=True, size=50, aria=False).encode(
        y=up,
        shape=alt.Shape("method:N", title=None, scale=alt.Scale(domain=methods)),
        tooltip=told,
    )
    bars = base.mark_rule(opacity=0.5, aria=False).encode(
        y=alt.Y("low:Q", scale=scale, title="accuracy against gold"), y2="high:Q"
    )
    return add_title(
        (bars + lines + points).properties(width=400, height=260),
        "Accuracy against the number of judgments",
        "each item keeps at most so many, drawn at random; bars are 95% intervals over gold items",
    )
