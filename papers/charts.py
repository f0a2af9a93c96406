"""Charts that several papers use."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from adjudge.report.theme import LIGHT

alt.data_transformers.disable_max_rows()


def published_and_obtained(cells: Any, axis: str = "accuracy", rule: float | None = None) -> Any:
    """One panel per column of a table: obtained as dots with two sd, published as rings.

    ``rule`` draws a vertical line.
    """
    cells = cells.assign(low=cells.obtained - 2 * cells.sd, high=cells.obtained + 2 * cells.sd)
    rows = list(dict.fromkeys(cells.row))
    y = alt.Y("row:N", sort=rows, title=None, axis=alt.Axis(labelLimit=260, grid=True))

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", title=axis, scale=alt.Scale(zero=False))

    panels = []
    for column in dict.fromkeys(cells.column):
        base = alt.Chart(cells[cells.column == column]).encode(y=y)
        spread = base.mark_rule(color=LIGHT.blue, strokeWidth=2).encode(x=x("low"), x2="high:Q")
        dots = base.mark_circle(color=LIGHT.blue, size=45, opacity=1).encode(x=x("obtained"))
        rings = base.mark_point(color=LIGHT.orange, size=55, strokeWidth=1.8)
        layers = spread + dots + rings.encode(x=x("published"))
        if rule is not None:
            line = alt.Chart(pd.DataFrame({"at": [rule]})).mark_rule(color=LIGHT.soft)
            layers = line.encode(x=x("at")) + layers
        panels.append(layers.properties(width=210, height=22 * len(rows), title=column))
    title = alt.TitleParams("dots: obtained, ± 2 sd; rings: published", fontWeight="normal")
    return alt.concat(*panels, columns=2).properties(title=title)


def curves(
    data: Any,
    x: Any,
    colour: Any,
    *,
    y: str,
    panel: str | None = None,
    band: bool = False,
    top: float | None = None,
) -> Any:
    """Lines of ``mean`` with ± ``spread``, as bars or as a band, one panel per value of a column.

    ``top`` ends the y axis.
    """
    data = data.assign(low=data["mean"] - data.spread, high=data["mean"] + data.spread)
    scale = alt.Scale(zero=False) if top is None else alt.Scale(zero=False, domainMax=top)
    panels = []
    for name in dict.fromkeys(data[panel]) if panel else [""]:
        base = alt.Chart(data[data[panel] == name] if panel else data).encode(x=x, color=colour)
        low = alt.Y("low:Q", title=y, scale=scale)
        bars = base.mark_area(opacity=0.15) if band else base.mark_rule(strokeWidth=1.2)
        lines = base.mark_line(point=alt.OverlayMarkDef(size=24), strokeWidth=2)
        both = bars.encode(y=low, y2="high:Q") + lines.encode(y=alt.Y("mean:Q", title=y))
        panels.append(both.properties(width=280, height=260, title=name))
    return alt.hconcat(*panels).resolve_scale(y="shared") if len(panels) > 1 else panels[0]
