"""Calibration: of the items given 80%, are about 80% right."""

from __future__ import annotations

from typing import Any

import altair as alt

from adjudge.evaluation.against_gold import CalibrationBins
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip, unit
from adjudge.report.theme import LIGHT


def calibration_plot(calibration: CalibrationBins, what: str = "label") -> Any:
    """The chart: confidence of each bin against its share right, with that share's interval."""
    table = calibration.to_table()
    rows = table.filter(table["items"].to_numpy() > 0)
    across = alt.X(**unit("confidence", f"probability given to the {what}"))
    up = alt.Y(**unit("share", "share that is right by gold"))
    shares = ("confidence", "share", "share_low", "share_high")
    data = drawing.table(**{name: rows[name] for name in (*shares, "items")})
    base = alt.Chart(data).encode(x=across, y=up)
    line = base.mark_line(color=LIGHT.blue, aria=False)
    reach = (
        alt.Chart(data)
        .mark_rule(color=LIGHT.blue, opacity=0.5, aria=False)
        .encode(x=across, y=alt.Y("share_low:Q"), y2="share_high:Q")
    )
    points = base.mark_circle(color=LIGHT.blue, opacity=0.85, aria=False).encode(
        size=alt.Size(
            "items:Q",
            title="items",
            scale=alt.Scale(range=[25, 400]),
            legend=alt.Legend(tickCount=3),
        ),
        tooltip=tooltip(
            {
                "confidence": "probability",
                "share": "right",
                "share_low": "at least (95%)",
                "share_high": "at most (95%)",
                "items": "items",
            },
            {**dict.fromkeys(shares, ".2f"), "items": ","},
        ),
    )
    ends = drawing.table(confidence=[0, 1], share=[0, 1])
    perfect = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    return add_title(
        (perfect.encode(x=across, y=up) + reach + line + points).properties(width=340, height=320),
        "Calibration",
        f"calibration error {calibration.shown:.3f}, bias corrected; lines are 95% intervals; "
        "below the dashes it is too sure",
    )
