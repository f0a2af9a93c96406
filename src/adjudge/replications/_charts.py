"""Charts that several papers need: published beside obtained, and curves with their spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adjudge.replications.replication import Cell, PaperFigure, Table

_ROW = 22  # height of a row of dots


def beside(
    cells: Sequence[Cell],
    *,
    name: str,
    title: str,
    source: str,
    axis: str = "accuracy",
    columns: int = 3,
    caption: str = "",
) -> PaperFigure:
    """A figure of a table's cells: obtained as dots with two sd to either side, published as rings.

    Only cells with a published or an obtained value are drawn, a panel for each column.
    """
    heads = tuple(dict.fromkeys(cell.column for cell in cells))
    rows = tuple(dict.fromkeys(cell.row for cell in cells))

    def chart(table: Any) -> Any:
        import altair as alt

        panels = [_panel(table, head, rows, axis) for head in heads]
        return alt.concat(*panels, columns=columns).properties(
            title=alt.TitleParams(title, subtitle=["dots: obtained, ± 2 sd; rings: published"])
        )

    data = Table(name=name, title=title, source=source, cells=cells).to_table()
    return PaperFigure(
        name=name, title=title, source=source, data=data, chart=chart, caption=caption
    )


def _panel(table: Any, head: str, rows: Sequence[str], axis: str) -> Any:
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    found = [row for row in table.to_pylist() if row["column"] == head]
    data = drawing.table(
        row=[row["row"] for row in found],
        published=[row["published"] for row in found],
        obtained=[row["obtained"] for row in found],
        low=[row["obtained"] - 2 * row["sd"] for row in found],
        high=[row["obtained"] + 2 * row["sd"] for row in found],
    )
    place = alt.Y("row:N", sort=list(rows), title=None, axis=alt.Axis(labelLimit=260, grid=True))
    scale = alt.Scale(zero=False)
    base = alt.Chart(data)
    spread = base.mark_rule(color=LIGHT.blue, strokeWidth=2).encode(
        x=alt.X("low:Q", title=axis, scale=scale), x2="high:Q", y=place
    )
    dots = base.mark_circle(color=LIGHT.blue, size=45, opacity=1).encode(
        x=alt.X("obtained:Q", title=axis, scale=scale), y=place
    )
    rings = base.mark_point(color=LIGHT.orange, size=55, filled=False, strokeWidth=1.8).encode(
        x=alt.X("published:Q", title=axis, scale=scale), y=place
    )
    return (spread + dots + rings).properties(width=210, height=_ROW * len(rows), title=head)


def curves(
    table: Any,
    *,
    x: str,
    y: str,
    colour: str,
    title: str,
    sd: str | None = None,
    x_title: str | None = None,
    y_title: str | None = None,
    log: bool = False,
    width: int = 420,
    height: int = 280,
) -> Any:
    """A chart of lines, one for each value of a column, with a band of one sd where it is known."""
    import altair as alt

    from adjudge.report.plots import drawing

    rows = table.to_pylist()
    columns: dict[str, Any] = {key: [row[key] for row in rows] for key in (x, y, colour)}
    if sd is not None:
        columns["low"] = [row[y] - row[sd] for row in rows]
        columns["high"] = [row[y] + row[sd] for row in rows]
    names = list(dict.fromkeys(columns[colour]))
    base = alt.Chart(drawing.table(**columns))
    across = alt.X(
        f"{x}:Q",
        title=x_title or x,
        scale=alt.Scale(type="log") if log else alt.Scale(zero=False, nice=False),
    )
    shade = alt.Color(f"{colour}:N", sort=names, title=None, legend=alt.Legend(labelLimit=300))
    up = alt.Y(f"{y}:Q", title=y_title or y, scale=alt.Scale(zero=False))
    drawn = base.mark_line(point=alt.OverlayMarkDef(size=18), strokeWidth=2).encode(
        x=across, y=up, color=shade
    )
    if sd is not None:
        band = base.mark_area(opacity=0.15).encode(
            x=across, y=alt.Y("low:Q", title=y_title or y), y2="high:Q", color=shade
        )
        drawn = band + drawn
    return drawn.properties(title=title, width=width, height=height)


def error_lines(
    rows: Sequence[Mapping[str, Any]],
    x: Any,
    colour: Any,
    *,
    up: str,
    scale: Any,
    dots: int,
    **properties: Any,
) -> Any:
    """Lines of means, ``up`` being what they are of, with two standard errors to either side."""
    import altair as alt

    from adjudge.report.plots import drawing

    fields = [channel.shorthand.split(":")[0] for channel in (x, colour)]
    data = drawing.table(
        **{key: [row[key] for row in rows] for key in (*fields, "mean")},
        low=[row["mean"] - 2 * row["error"] for row in rows],
        high=[row["mean"] + 2 * row["error"] for row in rows],
    )
    base = alt.Chart(data)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=dots), strokeWidth=2).encode(
        x=x, y=alt.Y("mean:Q", title=up, scale=scale), color=colour
    )
    bars = base.mark_rule(strokeWidth=1.2).encode(
        x=x, y=alt.Y("low:Q", title=up), y2="high:Q", color=colour
    )
    return (bars + lines).properties(**properties)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A chart that was drawn in a part: its specification, data and all."""

    specification: dict[str, Any]

    def to_dict(self, **_: Any) -> dict[str, Any]:
        """The specification, as a chart of Altair gives it, whatever it is asked to check."""
        return self.specification
