"""The charts of Liu and Wang's figures 3 to 7."""

from __future__ import annotations

from typing import Any

from adjudge.replications.truelabel import MODELS
from adjudge.simulation.panels import GRADES, PREVALENCE

_LABELS = ("1", "2", "3")


def _colours() -> Any:
    """One colour a model, the same in every figure."""
    import altair as alt

    from adjudge.report.theme import LIGHT

    shades = [LIGHT.blue, LIGHT.orange, LIGHT.green, LIGHT.purple]
    return alt.Color("model:N", title=None, scale=alt.Scale(domain=list(MODELS), range=shades))


def _lines(rows: list[dict[str, Any]], x: Any, title: str, name: str) -> Any:
    """Lines with bars of two standard errors to either side."""
    import altair as alt

    from adjudge.report.plots import drawing

    data = drawing.table(
        **{key: [row[key] for row in rows] for key in (x.shorthand.split(":")[0], "model", "mean")},
        low=[row["mean"] - 2 * row["error"] for row in rows],
        high=[row["mean"] + 2 * row["error"] for row in rows],
    )
    base = alt.Chart(data)
    whole = alt.Scale(zero=False, domainMax=1.0)
    scale = whole if "accuracy" in title else alt.Scale(zero=False)
    up = alt.Y("mean:Q", title=title, scale=scale)
    lines = base.mark_line(point=alt.OverlayMarkDef(size=24), strokeWidth=2).encode(
        x=x, y=up, color=_colours()
    )
    bars = base.mark_rule(strokeWidth=1.2).encode(
        x=x, y=alt.Y("low:Q", title=title), y2="high:Q", color=_colours()
    )
    return (bars + lines).properties(width=300, height=250, title=name)


def by_size(table: Any, title: str) -> Any:
    """Curves over the number of items, a panel for each judge where there are several."""
    import altair as alt

    rows = table.to_pylist()
    ticks = sorted({row["items"] for row in rows})
    x = alt.X(
        "items:Q",
        title="items",
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(values=ticks, grid=False, labelAngle=-45, labelOverlap=False),
    )
    names = list(dict.fromkeys(row["panel"] for row in rows))
    panels = [_lines([row for row in rows if row["panel"] == n], x, title, n) for n in names]
    return alt.hconcat(*panels).resolve_scale(y="shared") if len(panels) > 1 else panels[0]


def by_mode(table: Any) -> Any:
    """Curves over the judgments an item, memoryless beside memory."""
    import altair as alt

    rows = table.to_pylist()
    ticks = sorted({row["ratings"] for row in rows})
    x = alt.X(
        "ratings:Q",
        title="judgments an item",
        scale=alt.Scale(type="log", nice=False, padding=12),
        axis=alt.Axis(values=ticks, grid=False, format="d"),
    )
    names = list(dict.fromkeys(row["mode"] for row in rows))
    panels = [_lines([row for row in rows if row["mode"] == n], x, "accuracy", n) for n in names]
    return alt.hconcat(*panels).resolve_scale(y="shared")


def prevalence(table: Any) -> Any:
    """Bars of the prevalence found, one on the other, a panel for each model."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    sizes = list(dict.fromkeys(row["items"] for row in rows))
    shades = alt.Scale(domain=list(_LABELS), range=[LIGHT.red, LIGHT.yellow, LIGHT.sky])
    edges = drawing.table(at=[PREVALENCE[0], PREVALENCE[0] + PREVALENCE[1]])
    panels = []
    for model in MODELS:
        found = [row for row in rows if row["model"] == model]
        data = drawing.table(**{key: [row[key] for row in found] for key in found[0]})
        bars = (
            alt.Chart(data)
            .mark_bar()
            .encode(
                x=alt.X("items:N", sort=sizes, title="items", axis=alt.Axis(labelAngle=-60)),
                y=alt.Y("share:Q", title="prevalence", scale=alt.Scale(domain=[0, 1])),
                color=alt.Color("label:N", title="label", scale=shades),
                order=alt.Order("label:N", sort="ascending"),
            )
        )
        rules = alt.Chart(edges).mark_rule(color=LIGHT.ink, strokeDash=[4, 3]).encode(y="at:Q")
        panels.append((bars + rules).properties(width=180, height=200, title=model))
    return alt.hconcat(*panels)


def panel(table: Any) -> Any:
    """Items by judges, a colour for each grade."""
    import altair as alt

    from adjudge.report.plots import drawing

    data = drawing.table(
        item=table["item"],
        judge=table["judge"],
        grade=[GRADES[grade - 1] for grade in table["grade"].to_pylist()],
    )
    none = alt.Axis(labels=False, ticks=False, domain=False)
    return (
        alt.Chart(data)
        .mark_rect()
        .encode(
            x=alt.X("judge:O", title="judges, by mean grade; last: truth", axis=none),
            y=alt.Y("item:O", title="items, by mean grade", axis=none),
            color=alt.Color(
                "grade:N", sort=list(GRADES), title=None, scale=alt.Scale(scheme="viridis")
            ),
        )
        .properties(width=745, height=290)
    )


def matrices(table: Any) -> Any:
    """The mean matrices side by side, with the sd in each cell."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    panels = []
    for model in dict.fromkeys(row["model"] for row in rows):
        found = [row for row in rows if row["model"] == model]
        data = drawing.table(
            **{key: [row[key] for row in found] for key in ("truth", "label", "mean")},
            text=[f"{row['mean']:.2f}" for row in found],
            spread=[f"({row['sd']:.2f})" for row in found],
        )
        x = alt.X("label:N", sort=list(GRADES), title="label", axis=alt.Axis(labelAngle=0))
        y = alt.Y("truth:N", sort=list(GRADES), title="truth")
        base = alt.Chart(data).encode(x=x, y=y)
        squares = base.mark_rect().encode(
            color=alt.Color(
                "mean:Q", title=None, legend=None, scale=alt.Scale(scheme="blues", domain=[0, 1])
            )
        )
        ink = alt.condition("datum.mean > 0.55", alt.value(LIGHT.paper), alt.value(LIGHT.ink))
        mean = base.mark_text(dy=-7, fontSize=12).encode(text="text:N", color=ink)
        spread = base.mark_text(dy=8, fontSize=10).encode(text="spread:N", color=ink)
        panels.append((squares + mean + spread).properties(width=300, height=240, title=model))
    return alt.hconcat(*panels)
