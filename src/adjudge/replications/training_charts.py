"""The charts of the training-question replication."""

from __future__ import annotations

from typing import Any


def aggregate_chart(table: Any) -> Any:
    """Figure 2: aggregate accuracy by arm, obtained and published, above the baseline."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    data = drawing.table(
        arm=[row["arm"] for row in rows],
        obtained=[row["obtained"] for row in rows],
        low=[row["obtained"] - 2 * row["sd"] for row in rows],
        high=[min(1.0, row["obtained"] + 2 * row["sd"]) for row in rows],
        published=[row["published"] or float("nan") for row in rows],
        baseline=[row["baseline"] for row in rows],
    )
    x = alt.X("arm:N", title="arm", axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(zero=False)
    base = alt.Chart(data)
    rule = base.mark_rule(color=LIGHT.soft, strokeDash=[4, 3]).encode(
        y=alt.Y("mean(baseline):Q", title="accuracy", scale=scale)
    )
    spread = base.mark_rule(color=LIGHT.blue, strokeWidth=2).encode(
        x=x, y=alt.Y("low:Q", title="accuracy", scale=scale), y2="high:Q"
    )
    dots = base.mark_circle(color=LIGHT.blue, size=70, opacity=1).encode(x=x, y="obtained:Q")
    rings = base.mark_point(color=LIGHT.orange, size=80, filled=False, strokeWidth=2).encode(
        x=x, y="published:Q"
    )
    return (rule + spread + dots + rings).properties(width=340, height=260)


def strength_chart(table: Any) -> Any:
    """Aggregate accuracy by arm, a line for each crowd, a panel for each model."""
    import altair as alt

    from adjudge.report.plots import drawing

    rows = table.to_pylist()
    crowds = list(dict.fromkeys(row["crowd"] for row in rows))
    colour = alt.Color("crowd:N", sort=crowds, title=None, legend=alt.Legend(labelLimit=300))
    x = alt.X("arm:N", title="arm", axis=alt.Axis(labelAngle=0))
    panels = []
    for model in dict.fromkeys(row["model"] for row in rows):
        found = [row for row in rows if row["model"] == model]
        data = drawing.table(
            **{key: [row[key] for row in found] for key in ("crowd", "arm", "mean")},
            low=[row["mean"] - 2 * row["error"] for row in found],
            high=[row["mean"] + 2 * row["error"] for row in found],
        )
        up = alt.Y("mean:Q", title="accuracy", scale=alt.Scale(zero=False))
        base = alt.Chart(data)
        lines = base.mark_line(point=alt.OverlayMarkDef(size=28), strokeWidth=2).encode(
            x=x, y=up, color=colour
        )
        bars = base.mark_rule(strokeWidth=1.2).encode(
            x=x, y=alt.Y("low:Q", title="accuracy"), y2="high:Q", color=colour
        )
        panels.append((bars + lines).properties(width=260, height=260, title=model))
    return alt.hconcat(*panels).resolve_scale(y="shared")


def gap_chart(table: Any) -> Any:
    """How far the uniform arm is ahead of others, crowd by crowd."""
    import altair as alt

    from adjudge.report.plots import drawing
    from adjudge.report.theme import LIGHT

    rows = table.to_pylist()
    crowds = list(dict.fromkeys(row["crowd"] for row in rows))
    arms = list(dict.fromkeys(row["arm"] for row in rows))
    data = drawing.table(
        **{key: [row[key] for row in rows] for key in ("crowd", "arm", "gap")},
        low=[row["gap"] - 2 * row["error"] for row in rows],
        high=[row["gap"] + 2 * row["error"] for row in rows],
        zero=[0.0 for _ in rows],
    )
    colour = alt.Color("arm:N", sort=arms, title=None)
    title = "accuracy of arm 3 less that of another"
    y = alt.Y("crowd:N", sort=crowds, title=None, axis=alt.Axis(labelLimit=330, grid=True))
    apart = alt.YOffset("arm:N", sort=arms)
    base = alt.Chart(data)
    rule = base.mark_rule(color=LIGHT.soft, strokeDash=[4, 3]).encode(
        x=alt.X("mean(zero):Q", title=title)
    )
    bars = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title), x2="high:Q", y=y, yOffset=apart, color=colour
    )
    dots = base.mark_circle(size=60, opacity=1).encode(
        x=alt.X("gap:Q", title=title), y=y, yOffset=apart, color=colour
    )
    return (rule + bars + dots).properties(width=380, height=34 * len(crowds))
