"""Sensitivity against specificity of every judge, with the line of chance.

Figure 2 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding".
On the line a judge's label does not depend on the truth; below it they say the opposite of it.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip, unit
from adjudge.report.theme import LIGHT

COLOURS = {"keep": LIGHT.blue, "train": LIGHT.orange, "watch": LIGHT.purple, "drop": LIGHT.red}
SHAPES = {"keep": "circle", "train": "triangle-up", "watch": "square", "drop": "cross"}
NEEDED = ("specificity", "sensitivity")


def drawn_rows(judges: Any, *needed: str) -> NDArray[np.int64]:  # (drawn,)
    """The rows of a table of judges in the order in which they are drawn: busiest first.

    Judges without judgments, or without one of the columns needed, are left out.
    """
    counts = np.asarray(judges["judgments"].to_numpy(), dtype=np.int64)
    known = counts > 0
    for name in needed:
        known &= np.isfinite(judges[name].to_numpy().astype(np.float64))
    order = np.argsort(-counts, kind="stable")
    return np.asarray(order[known[order]], dtype=np.int64)


def sensitivity_specificity(judges: Any) -> Any:
    """The chart from a table of judges: judgments, specificity, sensitivity, advice if known."""
    rows = judges.take(drawn_rows(judges, *NEEDED))
    columns = {name: rows[name] for name in ("judge", "judgments", "specificity", "sensitivity")}
    advised = "advice" in judges.column_names
    if advised:
        columns["advice"] = rows["advice"]
    across = alt.X(**unit("specificity", "specificity: right on what is not relevant"))
    up = alt.Y(**unit("sensitivity", "sensitivity: right on what is relevant"))
    formats = {"judgments": ",", "specificity": ".2f", "sensitivity": ".2f"}
    channels: dict[str, Any] = {
        "x": across,
        "y": up,
        "size": alt.Size(
            "judgments:Q",
            title="judgments",
            scale=alt.Scale(range=[12, 300]),
            legend=alt.Legend(
                tickCount=3, symbolFillColor="transparent", symbolStrokeColor=LIGHT.soft
            ),
        ),
        "tooltip": tooltip({name: name for name in columns}, formats),
    }
    if not advised:
        channels["shape"] = alt.value("circle")
    else:
        present = [name for name in ADVICE if name in set(rows["advice"].to_pylist())]
        channels["color"] = alt.Color(
            "advice:N",
            title="advice",
            scale=alt.Scale(domain=present, range=[COLOURS[name] for name in present]),
        )
        channels["shape"] = alt.Shape(
            "advice:N",
            title="advice",
            scale=alt.Scale(domain=present, range=[SHAPES[name] for name in present]),
        )
    base = alt.Chart(drawing.table(**columns), name="judges")
    points = base.mark_point(filled=True, opacity=0.6, aria=False).encode(**channels)
    ends = drawing.table(specificity=[0, 1], sensitivity=[1, 0])
    chance = alt.Chart(ends).mark_line(color=LIGHT.ink, strokeDash=[5, 4], aria=False)
    word = alt.Chart(drawing.table(specificity=[0.2], sensitivity=[0.8], word=["chance"]))
    named = word.mark_text(angle=42, dy=12, color=LIGHT.soft, fontSize=11, aria=False)
    chart = (
        chance.encode(x=across, y=up) + points + named.encode(x=across, y=up, text="word:N")
    ).properties(width=400, height=360)
    return add_title(
        chart,
        "Sensitivity against specificity",
        f"{count_of(len(rows), 'judge')}; on the dashed line a judge does no better than chance",
    )
