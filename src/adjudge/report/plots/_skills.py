"""Accuracy of every judge against how many judgments they gave: do the busiest earn their keep."""

from __future__ import annotations

from typing import Any

import altair as alt

from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip
from adjudge.report.plots.rates import COLOURS, SHAPES, drawn_rows
from adjudge.report.theme import LIGHT

_NEEDED = ("accuracy",)
_CROWDED = 150  # judges beyond which intervals hide one another


def accuracy_by_judgments(judges: Any) -> Any:
    """The chart from a table of judges: judge, judgments, accuracy with its interval, advice."""
    rows = judges.take(drawn_rows(judges, *_NEEDED))
    columns = ("judge", "judgments", "accuracy", "accuracy_low", "accuracy_high")
    data: dict[str, Any] = {name: rows[name] for name in columns}
    advised = "advice" in judges.column_names
    data["advice"] = rows["advice"] if advised else ["judge"] * len(rows)
    present = (
        [name for name in ADVICE if name in set(data["advice"].to_pylist())] if advised else []
    )
    base = alt.Chart(drawing.table(**data)).encode(
        x=alt.X(
            "judgments:Q",
            title="judgments given",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(values=[10**power for power in range(8)], format="~s"),
        ),
    )
    if advised:
        colour = alt.Scale(domain=present, range=[COLOURS[name] for name in present])
        base = base.encode(
            color=alt.Color(
                "advice:N", title="advice", scale=colour, legend=alt.Legend(symbolOpacity=1)
            ),
        )
    up = alt.Scale(domain=[0, 1], nice=False)
    bars = base.mark_rule(opacity=0.18, aria=False).encode(
        y=alt.Y("accuracy_low:Q", scale=up, title="accuracy"), y2="accuracy_high:Q"
    )
    points = (
        base.properties(name="judges")
        .mark_point(filled=True, size=26, opacity=0.75, aria=False)
        .encode(
            y=alt.Y("accuracy:Q", scale=up, title="accuracy"),
            tooltip=tooltip(
                {name: name for name in ("judge", "judgments", "accuracy", "advice")},
                {"judgments": ",", "accuracy": ".2f"},
            ),
        )
    )
    if advised:
        shape = alt.Scale(domain=present, range=[SHAPES[name] for name in present])
        points = points.encode(shape=alt.Shape("advice:N", title="advice", scale=shape))
    else:
        bars = bars.encode(color=alt.value(LIGHT.blue))
        points = points.encode(color=alt.value(LIGHT.blue))
    crowded = len(rows) > _CROWDED
    return add_title(
        (points if crowded else bars + points).properties(width=400, height=300),
        "Accuracy of judges against how much they judged",
        count_of(len(rows), "judge") + ("" if crowded else ", with 90% intervals"),
    )
