"""Charts of judges: rates, posterior draws, confusion, and who gave which label.

Figures 2 and 3 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance
Coding"; figures 6(a) and 7 of C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.data.source import count_of
from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.report.plots.layout import add_title, inline_data, spread_places, tooltip, unit
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
    base = alt.Chart(inline_data(**columns), name="judges")
    points = base.mark_point(filled=True, opacity=0.6, aria=False).encode(**channels)
    ends = inline_data(specificity=[0, 1], sensitivity=[1, 0])
    chance = alt.Chart(ends).mark_line(color=LIGHT.ink, strokeDash=[5, 4], aria=False)
    word = alt.Chart(inline_data(specificity=[0.2], sensitivity=[0.8], word=["chance"]))
    named = word.mark_text(angle=42, dy=12, color=LIGHT.soft, fontSize=11, aria=False)
    chart = (
        chance.encode(x=across, y=up) + points + named.encode(x=across, y=up, text="word:N")
    ).properties(width=400, height=360)
    return add_title(
        chart,
        "Sensitivity against specificity",
        f"{count_of(len(rows), 'judge')}; on the dashed line a judge does no better than chance",
    )


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
    base = alt.Chart(inline_data(**data)).encode(
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


_PANELS = 16
_SIDE = 112
_NAME = 13  # letters of a judge's name that a panel has room for


def _chosen_judges(
    counts: NDArray[np.int64], wanted: int = _PANELS
) -> NDArray[np.int64]:  # (judge,) -> (chosen,)
    """Judges from the fewest to the most judgments, spaced evenly on a scale of ratios.

    The two busiest are always among them.
    """
    order = np.argsort(counts, kind="stable")
    order = order[counts[order] > 0]
    if len(order) <= wanted:
        return np.asarray(order)
    ratio = np.log(counts[order].astype(np.float64))
    goals = np.linspace(ratio[0], ratio[-1], wanted)[:-2]
    free = np.ones(len(order), dtype=np.bool_)
    free[-2:] = False
    for goal in goals:
        place = int(np.argmin(np.where(free, np.abs(ratio - goal), np.inf)))
        free[place] = False
    taken = ~free
    return np.asarray(order[taken])


def _rates_drawn(
    draws: Draws, judge: int, samples: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (sample,), (sample,)
    """Draws of one judge's specificity and sensitivity, spread over all chains."""
    stands = np.array(draws.scale.truth_of)
    drawn = draws.confusion[:, :, judge].reshape(-1, *draws.confusion.shape[3:])
    drawn = drawn[spread_places(len(drawn), samples)].astype(np.float64)
    rates = [drawn[:, truth, stands == truth].sum(axis=1) for truth in (0, 1)]
    return rates[0], rates[1]


def judge_clouds(consensus: Consensus, draws: Draws, *, samples: int = 300) -> Any:
    """The chart: a panel a judge, each point one draw of their specificity and sensitivity."""
    counts = consensus.judgments.counts_per_judge
    names = consensus.judgments.judges
    chosen = _chosen_judges(counts)
    columns = 4
    panels = []
    for place, judge in enumerate(chosen):
        specificity, sensitivity = _rates_drawn(draws, int(judge), samples)
        last = place >= len(chosen) - columns
        panels.append(
            _panel(
                inline_data(specificity=specificity, sensitivity=sensitivity),
                f"{_short(names[int(judge)].as_py())}  N = {counts[judge]:,}",
                across="specificity" if last else None,
                up="sensitivity" if place % columns == 0 else None,
            )
        )
    return add_title(
        alt.concat(*panels, columns=columns),
        "What is known of sixteen judges" if len(chosen) == _PANELS else "What is known of judges",
        f"{samples} draws of each; N is the number of judgments; dashes are chance",
    )


def _panel(data: alt.InlineData, title: str, *, across: str | None, up: str | None) -> Any:
    ends = inline_data(specificity=[0, 1], sensitivity=[1, 0])
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
    chance = alt.Chart(ends).mark_line(
        color=LIGHT.ink, strokeDash=[4, 3], strokeWidth=1, aria=False
    )
    return (
        (points.encode(x=x, y=y) + chance.encode(x=x, y=y))
        .properties(width=_SIDE, height=_SIDE)
        .properties(title=alt.TitleParams(title, fontSize=11, fontWeight="normal", offset=4))
    )


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 4]}…{name[-3:]}"


_Matrix = NDArray[np.float64]  # (truth, label)


def confusion_map(mean: _Matrix, sd: _Matrix, scale: Scale, whose: str) -> Any:
    """The chart: a heat map of means, with standard deviations."""
    truths, labels = scale.truths, scale.labels
    truth = np.repeat(np.arange(len(truths)), len(labels)).tolist()
    label = np.tile(np.arange(len(labels)), len(truths)).tolist()
    flat, spread = mean.reshape(-1), sd.reshape(-1)
    words = ["–" if not np.isfinite(value) else f"{value:.2f}" for value in flat]
    under = ["" if value != value else f"({value:.2f})" for value in spread]  # noqa: PLR0124
    data = inline_data(
        truth=[truths[code] for code in truth],
        label=[labels[code] for code in label],
        mean=flat,
        sd=spread,
        words=words,
        under=under,
    )
    x = alt.X("label:N", title="label given", sort=list(labels), axis=alt.Axis(labelAngle=0))
    y = alt.Y("truth:N", title="truth", sort=list(truths))
    base = alt.Chart(data).encode(x=x, y=y)
    cells = base.mark_rect(color=LIGHT.blue, stroke=LIGHT.line, aria=False).encode(
        fillOpacity=alt.FillOpacity(
            "mean:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, 0.62]), legend=None
        ),
        tooltip=tooltip(
            {"truth": "truth", "label": "label", "mean": "mean", "sd": "sd"},
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


_JUDGES = 150
_ITEMS = 60
_LABELS = 12  # colours that can still be told apart


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Block:
    """The judgments of some judges on some items, as cells of a picture."""

    judges: NDArray[np.int64]  # (column,) codes, from the lowest mean to the highest
    items: NDArray[np.int64]  # (row,) codes, likewise
    column: NDArray[np.int64]  # (cell,)
    row: NDArray[np.int64]  # (cell,)
    label: NDArray[np.int64]  # (cell,)


def _busiest_block(judgments: Judgments, judges: int = _JUDGES, items: int = _ITEMS) -> _Block:
    """The judges with most judgments, and the items that most of these judged."""
    item, judge = judgments.item, judgments.judge
    value = judgments.scale.values[judgments.label]
    chosen = _most(judgments.counts_per_judge, judges)
    kept = chosen[judge]
    counts = np.bincount(item[kept], minlength=judgments.item_count)
    kept &= _most(counts, items)[item]
    # A repeat stands in the same cell: the last one is seen.
    columns = _by_mean(judge[kept], value[kept], judgments.judge_count)
    rows = _by_mean(item[kept], value[kept], judgments.item_count)
    return _Block(
        judges=columns,
        items=rows,
        column=_places(columns, judgments.judge_count)[judge[kept]],
        row=_places(rows, judgments.item_count)[item[kept]],
        label=judgments.label[kept].astype(np.int64),
    )


def _most(counts: NDArray[np.int64], wanted: int) -> NDArray[np.bool_]:
    chosen = np.zeros(len(counts), dtype=np.bool_)
    chosen[np.argsort(-counts, kind="stable")[:wanted]] = True
    return chosen & (counts > 0)


def _by_mean(
    code: NDArray[Any], value: NDArray[np.float64], size: int
) -> NDArray[np.int64]:  # (present,)
    count = np.bincount(code, minlength=size)
    mean = np.bincount(code, value, size) / np.maximum(count, 1)
    present = np.flatnonzero(count)
    return np.asarray(present[np.argsort(mean[present], kind="stable")])


def _places(order: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    places = np.zeros(size, dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def judge_item_matrix(judgments: Judgments) -> Any:
    """The chart: a cell a judgment, coloured by its label."""
    block = _busiest_block(judgments)
    labels, names = judgments.scale.labels, judgments.judges
    colour: dict[str, Any] = {"domain": list(labels)} if len(labels) <= _LABELS else {}
    if judgments.scale.ordinal:
        colour["scheme"] = "viridis"
    data = inline_data(
        column=block.column,
        row=block.row,
        label=[labels[code] for code in block.label],
        judge=[names[int(block.judges[place])].as_py() for place in block.column],
        item=[judgments.items[int(block.items[place])].as_py() for place in block.row],
    )
    wide, high = max(len(block.judges), 1), max(len(block.items), 1)
    step = max(3, min(16, 460 // wide))
    chart = (
        alt.Chart(data, name="matrix")
        .mark_rect(aria=False)
        .encode(
            x=alt.X(
                "column:O", title="judges, by mean label", axis=alt.Axis(labels=False, ticks=False)
            ),
            y=alt.Y(
                "row:O", title="items, by mean label", axis=alt.Axis(labels=False, ticks=False)
            ),
            color=alt.Color("label:N", title="label", scale=alt.Scale(**colour)),
            tooltip=tooltip({"judge": "judge", "item": "item", "label": "label"}),
        )
        .properties(width=step * wide, height=max(3, min(12, 360 // high)) * high)
    )
    all_shown = wide == judgments.judge_count and high == judgments.item_count
    which = (
        f"{count_of(wide, 'judge')} and {count_of(high, 'item')}"
        if all_shown
        else f"{wide:,} of {count_of(judgments.judge_count, 'judge')}, and the {high:,} of "
        f"{count_of(judgments.item_count, 'item')} that the busiest judged most"
    )
    return add_title(chart, "Judges and items", which)
