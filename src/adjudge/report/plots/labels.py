"""Figures of labels: against the vote, against gold, and cell by cell.

``voted_relevance`` is figure 1 of B. Carpenter (2011), "A Hierarchical Bayesian Model of
Crowdsourced Relevance Coding"; ``judge_item_matrix`` and ``accuracy_by_ratings`` are figure 6 of
C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.source import count_of
from adjudge.evaluation.against_gold import CalibrationBins
from adjudge.report.plots import layout
from adjudge.report.plots.layout import add_title, size_of, tooltip, unit
from adjudge.report.theme import LIGHT

_CELLS = 15  # to a side
_PARTS = 8  # of the line
_JUDGES = 150  # columns of the matrix
_ITEMS = 60  # rows of the matrix
_LABELS = 12  # colours that can still be distinguished


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Voted:
    """The two estimates of each item that was judged and whose truth was not given."""

    voted: NDArray[np.float64]  # (judged,)
    estimated: NDArray[np.float64]  # (judged,)
    low: float
    high: float
    what: str


def estimate_both(consensus: Consensus) -> _Voted:
    """Both estimates: binary relevance, else the grade, else the share of the chosen label."""
    judgments, scale = consensus.judgments, consensus.scale
    truth = np.array(scale.truth_of)[judgments.label]  # (judgment,)
    item, relevant = judgments.item, scale.truth_relevant
    binary = relevant is not None and len(scale.truths) == 2
    graded = bool(scale.ordinal) or binary
    if relevant is not None and binary:
        worth, what = relevant.astype(np.float64), "relevance"
        low, high = 0.0, 1.0
    elif graded:
        worth, what = scale.truth_values, "grade"
        low, high = float(worth.min()), float(worth.max())
    else:
        worth, what, low, high = np.ones(len(scale.truths)), "share of the chosen label", 0.0, 1.0
    votes = truth >= 0
    value = np.where(votes, worth[truth], 0.0)
    if not graded:
        value = (truth == consensus.choice[item]).astype(np.float64)
    total = np.bincount(item, value, minlength=judgments.item_count)
    count = np.bincount(item[votes], minlength=judgments.item_count)
    seen = count > 0
    if consensus.known is not None:
        seen &= consensus.known < 0
    estimated = consensus.posterior @ worth if graded else consensus.probability
    return _Voted(
        voted=total[seen] / count[seen], estimated=estimated[seen], low=low, high=high, what=what
    )


def _mean_estimate(
    both: _Voted, parts: int = _PARTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (part,), (part,)
    """The mean vote and the mean estimate of the items in each part of the votes."""
    edges = np.linspace(both.low, both.high, parts + 1)[1:-1]
    part = np.searchsorted(edges, both.voted, side="right")
    items = np.bincount(part, minlength=parts)
    held = items > 0
    sums = [np.bincount(part, values, parts) for values in (both.voted, both.estimated)]
    return sums[0][held] / items[held], sums[1][held] / items[held]


def voted_relevance(consensus: Consensus) -> Any:
    """The chart: counts of items by vote and estimate, with the mean estimate of each vote.

    Items are counted in cells, so that the figure is as quick with a million as with a hundred.
    """
    both = estimate_both(consensus)
    edges = np.linspace(both.low, both.high + 1e-9, _CELLS + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    x, y = (
        np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _CELLS - 1)
        for values in (both.voted, both.estimated)
    )
    count = np.bincount(x * _CELLS + y, minlength=_CELLS * _CELLS)
    cell = np.flatnonzero(count)
    along, mean = _mean_estimate(both)
    margin = (both.high - both.low) * 0.03
    domain = alt.Scale(domain=[both.low - margin, both.high + margin], nice=False)
    across = alt.X("voted:Q", title=f"voted {both.what}", scale=domain)
    up = alt.Y("estimated:Q", title=f"estimated {both.what}", scale=domain)
    data = layout.table(
        voted=middle[cell // _CELLS], estimated=middle[cell % _CELLS], items=count[cell]
    )
    cells = (
        alt.Chart(data, name="cells")
        .mark_circle(color=LIGHT.blue, opacity=0.55, aria=False)
        .encode(
            x=across,
            y=up,
            size=size_of("items", "items", 4, 560),
            tooltip=tooltip(
                {name: name for name in ("voted", "estimated", "items")},
                {"voted": ".2f", "estimated": ".2f", "items": ","},
            ),
        )
    )
    ends = layout.table(voted=[both.low, both.high], estimated=[both.low, both.high])
    same = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    trend = alt.Chart(layout.table(voted=along, estimated=mean), name="trend")
    line = trend.mark_line(color=LIGHT.red, strokeWidth=2.5, aria=False)
    chart = cells + same.encode(x=across, y=up) + line.encode(x=across, y=up)
    return add_title(
        chart.properties(width=360, height=330),
        f"Voted against estimated {both.what}",
        f"{count_of(len(both.voted), 'item')} in cells; the line is the mean estimate of each "
        "vote, dashes are the vote itself",
    )


def calibration_plot(calibration: CalibrationBins, what: str = "label") -> Any:
    """The chart: confidence of each bin against its share right, with that share's interval."""
    table = calibration.to_table()
    rows = table.filter(table["items"].to_numpy() > 0)
    across = alt.X(**unit("confidence", f"probability given to the {what}"))
    up = alt.Y(**unit("share", "share that is right by gold"))
    shares = ("confidence", "share", "share_low", "share_high")
    data = layout.table(**{name: rows[name] for name in (*shares, "items")})
    base = alt.Chart(data).encode(x=across, y=up)
    line = base.mark_line(color=LIGHT.blue, aria=False)
    reach = (
        alt.Chart(data)
        .mark_rule(color=LIGHT.blue, opacity=0.5, aria=False)
        .encode(x=across, y=alt.Y("share_low:Q"), y2="share_high:Q")
    )
    titles = ("probability", "right", "at least (95%)", "at most (95%)")
    points = base.mark_circle(color=LIGHT.blue, opacity=0.85, aria=False).encode(
        size=size_of("items", "items", 25, 400),
        tooltip=tooltip(
            {**dict(zip(shares, titles, strict=True)), "items": "items"},
            {**dict.fromkeys(shares, ".2f"), "items": ","},
        ),
    )
    ends = layout.table(confidence=[0, 1], share=[0, 1])
    perfect = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    return add_title(
        (perfect.encode(x=across, y=up) + reach + line + points).properties(width=340, height=320),
        "Calibration",
        f"calibration error {calibration.shown:.3f}, bias corrected; lines are 95% intervals; "
        "below the dashes the probabilities are too high",
    )


def accuracy_by_ratings(curve: Any) -> Any:
    """The chart from a table of method, ratings, accuracy, low, high: what more would buy."""
    columns = ("method", "ratings", "accuracy", "low", "high")
    data = layout.table(**{name: curve[name] for name in columns})
    methods = alt.Scale(domain=list(dict.fromkeys(curve["method"].to_pylist())))
    x = alt.X(
        "ratings:Q",
        title="judgments per item, at most",
        scale=alt.Scale(nice=False, padding=12),
        axis=alt.Axis(values=sorted(set(curve["ratings"].to_pylist())), format="d"),
    )
    base = alt.Chart(data).encode(x=x, color=alt.Color("method:N", title=None, scale=methods))
    scale, title = alt.Scale(zero=False), "accuracy against gold"
    up = alt.Y("accuracy:Q", title=title, scale=scale)
    lines = base.mark_line(aria=False).encode(y=up)
    points = base.mark_point(filled=True, size=50, aria=False).encode(
        y=up,
        shape=alt.Shape("method:N", title=None, scale=methods),
        tooltip=tooltip(
            {"method": "method", "ratings": "judgments", "accuracy": "accuracy"},
            {"ratings": "d", "accuracy": ".3f"},
        ),
    )
    bars = base.mark_rule(opacity=0.5, aria=False).encode(
        y=alt.Y("low:Q", scale=scale, title=title), y2="high:Q"
    )
    return add_title(
        (bars + lines + points).properties(width=400, height=260),
        "Accuracy against the number of judgments",
        "items keep at most this many random judgments; bars are 95% intervals over gold items",
    )


def judge_item_matrix(judgments: Judgments, *, judges: int = _JUDGES, items: int = _ITEMS) -> Any:
    """The chart: a cell per judgment, coloured by its label; judges and items by their means.

    Of many judges and items the busiest are shown, since a picture has only so many cells.
    """
    item, judge = judgments.item, judgments.judge
    kept = _most(judgments.counts_per_judge, judges)[judge]
    kept &= _most(np.bincount(item[kept], minlength=judgments.item_count), items)[item]
    item, judge, label = item[kept], judge[kept], judgments.label[kept]
    value = judgments.scale.values[label]
    across, column = _order_by_mean(judge, value, judgments.judge_count)
    down, row = _order_by_mean(item, value, judgments.item_count)
    labels = judgments.scale.labels
    colour: dict[str, Any] = {"domain": list(labels)} if len(labels) <= _LABELS else {}
    if judgments.scale.ordinal:
        colour["scheme"] = "viridis"
    # A repeat is in the same cell: the last one is seen.
    data = layout.table(
        column=column,
        row=row,
        label=[labels[code] for code in label],
        judge=judgments.judges.take(judge),
        item=judgments.items.take(item),
    )
    wide, high = max(len(across), 1), max(len(down), 1)
    step = max(3, min(16, 460 // wide))
    axis = alt.Axis(labels=False, ticks=False)
    chart = (
        alt.Chart(data, name="matrix")
        .mark_rect(aria=False)
        .encode(
            x=alt.X("column:O", title="judges, by mean label", axis=axis),
            y=alt.Y("row:O", title="items, by mean label", axis=axis),
            color=alt.Color("label:N", title="label", scale=alt.Scale(**colour)),
            tooltip=tooltip({name: name for name in ("judge", "item", "label")}),
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


def _most(counts: NDArray[np.int64], limit: int) -> NDArray[np.bool_]:
    """Which entries have the highest counts."""
    chosen = np.zeros(len(counts), dtype=np.bool_)
    chosen[np.argsort(-counts, kind="stable")[:limit]] = True
    return chosen & (counts > 0)


def _order_by_mean(
    code: NDArray[Any], value: NDArray[np.float64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (present,), (cell,)
    """The codes that are present by their means, lowest first, and the place of each cell."""
    count = np.bincount(code, minlength=size)
    mean = np.bincount(code, value, size) / np.maximum(count, 1)
    present = np.flatnonzero(count)
    order = present[np.argsort(mean[present], kind="stable")]
    places = np.zeros(size, dtype=np.int64)
    places[order] = np.arange(len(order))
    return order, places[code]
