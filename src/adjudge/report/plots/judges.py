"""Figures of judges: how good they are, what they mistake, and how much is known of them.

``sensitivity_specificity`` and ``judge_clouds`` are figures 2 and 3 of B. Carpenter (2011), "A
Hierarchical Bayesian Model of Crowdsourced Relevance Coding"; ``confusion_map`` is figure 7 of
C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions".
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.report.plots import layout
from adjudge.report.plots.layout import add_title, advice_channels, panel, tooltip, unit
from adjudge.report.theme import LIGHT

NEEDED = ("specificity", "sensitivity")
_PANELS = 16
_COLUMNS = 4
_SIDE = 112
_ROOM = 16  # judges of a forest plot
_KIND_NAMES = "{person: 'person', model: 'LLM judge'}[datum.label]"
_LONG = 22  # letters of their names
_NAME = 13  # letters of a judge's name that a panel has room for
_Matrix = NDArray[np.float64]  # (truth, label)


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
    """The chart from a table of judges: judgments, specificity, sensitivity, advice if known.

    On the line of chance a judge's label does not depend on the truth.
    """
    rows = judges.take(drawn_rows(judges, *NEEDED))
    columns = {name: rows[name] for name in ("judge", "judgments", "specificity", "sensitivity")}
    channels: dict[str, Any] = {"shape": alt.value("circle")}
    if "advice" in judges.column_names:
        columns["advice"] = rows["advice"]
        channels = advice_channels(rows["advice"].to_pylist())
    across = alt.X(**unit("specificity", "specificity: right on what is not relevant"))
    up = alt.Y(**unit("sensitivity", "sensitivity: right on what is relevant"))
    formats = {"judgments": ",", "specificity": ".2f", "sensitivity": ".2f"}
    outline = {"symbolFillColor": "transparent", "symbolStrokeColor": LIGHT.soft}
    points = (
        alt.Chart(layout.table(**columns), name="judges")
        .mark_point(filled=True, opacity=0.6, aria=False)
        .encode(
            x=across,
            y=up,
            size=layout.size_of("judgments", "judgments", 12, 300, **outline),
            tooltip=tooltip({name: name for name in columns}, formats),
            **channels,
        )
    )
    ends = layout.table(specificity=[0, 1], sensitivity=[1, 0])
    chance = alt.Chart(ends).mark_line(color=LIGHT.ink, strokeDash=[5, 4], aria=False)
    word = alt.Chart(layout.table(specificity=[0.2], sensitivity=[0.8], word=["chance"]))
    named = word.mark_text(angle=42, dy=12, color=LIGHT.soft, fontSize=11, aria=False)
    chart = chance.encode(x=across, y=up) + points + named.encode(x=across, y=up, text="word:N")
    return add_title(
        chart.properties(width=400, height=360),
        "Sensitivity against specificity",
        f"{count_of(len(rows), 'judge')}; on the dashed line a judge does no better than chance",
    )


def judge_intervals(
    judges: Any, least: int, *, kinds: list[str] | None = None, labels: float | None = None
) -> Any:
    """Draw a forest plot: the accuracy of each judge with its interval, worst first.

    It is measured on gold where a judge has ``least`` gold judgments, and by the consensus for the
    others. Of more judges than there is room for, the worst and the best are shown. ``kinds`` is
    what each judge is, where people and LLMs are known; ``labels`` is the accuracy of the labels.
    """
    rows = judges.take(drawn_rows(judges, "accuracy"))
    data = {name: np.array(rows[name].to_pylist(), dtype=object) for name in ("judge", "advice")}
    known = np.zeros(len(rows), dtype=np.bool_)
    if "gold_judgments" in rows.column_names:
        known = rows["gold_judgments"].to_numpy() >= least
    for name, gold in (("accuracy", "gold_accuracy"), ("low", "gold_low"), ("high", "gold_high")):
        plain = rows[name if name == "accuracy" else f"accuracy_{name}"].to_numpy()
        data[name] = np.where(known, rows[gold].to_numpy(), plain) if known.any() else plain
    data["measured"] = np.where(known, "on gold", "by the consensus")
    if kinds is not None:
        data["kind"] = np.array(kinds, dtype=object)[drawn_rows(judges, "accuracy")]
    order, half = np.argsort(data["accuracy"].astype(np.float64), kind="stable"), _ROOM // 2
    shown = order
    if len(order) > _ROOM:  # those whose accuracy is certain, not those with a single judgment
        surely_bad = np.argsort(data["high"].astype(np.float64), kind="stable")[:half]
        surely_good = np.argsort(-data["low"].astype(np.float64), kind="stable")[:half]
        shown = order[np.isin(order, [*surely_bad, *surely_good])]
    data = {name: values[shown] for name, values in data.items()}
    names = [layout.shorten(name, _LONG) for name in data["judge"].tolist()]
    ends = [*data["low"].tolist(), *data["high"].tolist(), *([] if labels is None else [labels])]
    domain = [np.floor(min(ends, default=0) * 10) / 10, np.ceil(max(ends, default=1) * 10) / 10]
    axis = alt.Axis(
        labelExpr=layout.pick_label(names),
        ticks=False,
        minExtent=130,
        labelLimit=140,
        labelPadding=8,
    )
    y = alt.Y("place:O", title=None, axis=axis)
    base = alt.Chart(layout.table(place=list(range(len(names))), **data)).encode(y=y)
    legend = alt.Legend(orient="top", title=None, symbolOpacity=1)
    channels = advice_channels(data["advice"].tolist(), legend=legend)
    if kinds is not None:
        channels["color"] = alt.Color(
            "kind:N",
            scale=alt.Scale(domain=["person", "model"], range=[LIGHT.green, LIGHT.blue]),
            legend=alt.Legend(orient="top", title=None, labelExpr=_KIND_NAMES),
        )
    x = alt.X("low:Q", title="accuracy", scale=alt.Scale(domain=domain, nice=False))
    bars = base.mark_rule(strokeWidth=3, opacity=0.35, aria=False).encode(
        x=x, x2="high:Q", color=channels["color"]
    )
    points = base.mark_point(size=45, opacity=1, aria=False).encode(
        x="accuracy:Q",
        fill=alt.Fill(
            field="advice" if kinds is None else "kind",
            type="nominal",
            scale=channels["color"]["scale"],
            legend=None,
        ),
        fillOpacity=alt.condition("datum.measured == 'on gold'", alt.value(1), alt.value(0)),
        tooltip=tooltip(
            {name: name for name in data}, {"accuracy": ".2f", "low": ".2f", "high": ".2f"}
        ),
        **channels,
    )
    which = f"the {half} worst and the {half} best" if len(shown) < len(order) else "worst first"
    basis = "on gold" if known.all() else "by the consensus"
    if known.any() and not known.all():
        basis = "on gold (filled) or by the consensus (hollow)"
    said = f"{count_of(len(order), 'judge')}, {which}; accuracy {basis}, 90% intervals"
    chart = bars + points
    if labels is not None:
        line = alt.Chart(layout.table(low=[labels]))
        chart += line.mark_rule(color=LIGHT.ink, strokeDash=[4, 4], aria=False).encode(x="low:Q")
        said += f"; dashes: the labels ({labels:.2f})"
    return add_title(chart.properties(width=360, height=max(60, 17 * len(names))), "Judges", said)


def confusion_map(mean: _Matrix, sd: _Matrix, scale: Scale, whose: str) -> Any:
    """The chart: the probability of each label given the truth, mean over judges with its sd."""
    truths, labels = scale.truths, scale.labels
    flat, spread = mean.reshape(-1), sd.reshape(-1)
    data = layout.table(
        truth=[truth for truth in truths for _ in labels],
        label=list(labels) * len(truths),
        mean=flat,
        sd=spread,
        words=["–" if not np.isfinite(value) else f"{value:.2f}" for value in flat],
        under=["" if np.isnan(value) else f"({value:.2f})" for value in spread],
    )
    x = alt.X("label:N", title="label given", sort=list(labels), axis=alt.Axis(labelAngle=0))
    y = alt.Y("truth:N", title="truth", sort=list(truths))
    base = alt.Chart(data).encode(x=x, y=y)
    cells = base.mark_rect(color=LIGHT.blue, stroke=LIGHT.line, aria=False).encode(
        fillOpacity=alt.FillOpacity(
            "mean:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, 0.62]), legend=None
        ),
        tooltip=tooltip(
            {name: name for name in ("truth", "label", "mean", "sd")},
            {"mean": ".3f", "sd": ".3f"},
        ),
    )
    means = base.mark_text(dy=-6, fontSize=12, color=LIGHT.ink, aria=False).encode(text="words:N")
    below = base.mark_text(dy=9, fontSize=10, color=LIGHT.ink, aria=False).encode(text="under:N")
    side = 56 if len(labels) <= 6 else 44
    chart = (cells + means + below).properties(width=side * len(labels), height=side * len(truths))
    return add_title(
        alt.concat(chart, columns=1),
        "Average confusion",
        f"{whose}:",
        "probability of each label given the truth, mean over judges (sd between judges)",
    )


def judge_clouds(consensus: Consensus, draws: Draws, *, samples: int = 300) -> Any:
    """The chart: a panel per judge, each point one draw of their specificity and sensitivity."""
    counts = consensus.judgments.counts_per_judge
    names = consensus.judgments.judges
    chosen = _choose_judges(counts)
    panels = []
    for place, judge in enumerate(chosen):
        specificity, sensitivity = _draw_rates(draws, int(judge), samples)
        cloud = _plot_cloud(
            layout.table(specificity=specificity, sensitivity=sensitivity),
            across="specificity" if place >= len(chosen) - _COLUMNS else None,
            up="sensitivity" if place % _COLUMNS == 0 else None,
        )
        name = f"{layout.shorten(names[int(judge)].as_py(), _NAME)}  N = {counts[judge]:,}"
        panels.append(panel(cloud, name, _SIDE, _SIDE, offset=4))
    return add_title(
        alt.concat(*panels, columns=_COLUMNS),
        "What is known of sixteen judges" if len(chosen) == _PANELS else "What is known of judges",
        f"{samples} draws of each; N is the number of judgments; dashes are chance",
    )


def _choose_judges(
    counts: NDArray[np.int64], panels: int = _PANELS
) -> NDArray[np.int64]:  # (judge,) -> (chosen,)
    """Judges from the fewest to the most judgments, spaced evenly on a scale of ratios.

    The two busiest are always among them.
    """
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    if len(order) <= panels:
        return np.asarray(order)
    ratio = np.log(counts[order].astype(np.float64))
    free = np.ones(len(order), dtype=np.bool_)
    free[-2:] = False
    for goal in np.linspace(ratio[0], ratio[-1], panels)[:-2]:
        free[int(np.argmin(np.where(free, np.abs(ratio - goal), np.inf)))] = False
    return np.asarray(order[~free])


def _draw_rates(
    draws: Draws, judge: int, samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (sample,), (sample,)
    """Draws of one judge's specificity and sensitivity, spread over all chains."""
    truth_of = np.array(draws.scale.truth_of)
    drawn = draws.confusion[:, :, judge].reshape(-1, *draws.confusion.shape[3:])
    drawn = drawn[layout.spread_places(len(drawn), samples)].astype(np.float64)
    rates = [drawn[:, truth, truth_of == truth].sum(axis=1) for truth in (0, 1)]
    return rates[0], rates[1]


def _plot_cloud(data: alt.InlineData, *, across: str | None, up: str | None) -> Any:
    x, y = (
        channel(
            f"{field}:Q",
            title=title,
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(values=[0, 0.5, 1], labels=title is not None, ticks=False),
        )
        for channel, field, title in ((alt.X, "specificity", across), (alt.Y, "sensitivity", up))
    )
    points = alt.Chart(data).mark_circle(color=LIGHT.blue, size=7, opacity=0.35, aria=False)
    chance = alt.Chart(layout.table(specificity=[0, 1], sensitivity=[1, 0])).mark_line(
        color=LIGHT.ink, strokeDash=[4, 3], strokeWidth=1, aria=False
    )
    return points.encode(x=x, y=y) + chance.encode(x=x, y=y)
