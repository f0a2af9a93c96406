"""Charts of labels: voted against estimated, calibration, accuracy with fewer judgments.

Figure 1 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding";
figures 6(b) and 6(c) of C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.source import count_of
from adjudge.evaluation.against_gold import CalibrationBins
from adjudge.report.plots.layout import add_title, inline_data, tooltip, unit
from adjudge.report.theme import LIGHT

_CELLS = 15  # to a side
_PARTS = 8  # of the line


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
    stands = np.array(scale.truth_of)[judgments.label]  # (judgment,)
    item = judgments.item
    relevant = scale.truth_relevant
    graded = bool(scale.ordinal) or (relevant is not None and len(scale.truths) == 2)
    if len(scale.truths) == 2 and relevant is not None:
        worth, what = relevant.astype(np.float64), "relevance"
        low, high = 0.0, 1.0
    elif graded:
        worth, what = scale.truth_values, "grade"
        low, high = float(worth.min()), float(worth.max())
    else:
        worth, what, low, high = np.ones(len(scale.truths)), "share of the chosen label", 0.0, 1.0
    votes = stands >= 0
    value = np.where(votes, worth[stands], 0.0)
    if not graded:
        value = (stands == consensus.choice[item]).astype(np.float64)
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
    """The chart: counts of items by vote and estimate, with the mean estimate of each vote."""
    both = estimate_both(consensus)
    edges = np.linspace(both.low, both.high + 1e-9, _CELLS + 1)
    middle = (edges[:-1] + edges[1:]) / 2
    x = np.clip(np.searchsorted(edges, both.voted, side="right") - 1, 0, _CELLS - 1)
    y = np.clip(np.searchsorted(edges, both.estimated, side="right") - 1, 0, _CELLS - 1)
    count = np.bincount(x * _CELLS + y, minlength=_CELLS * _CELLS)
    cell = np.flatnonzero(count)
    column, row = cell // _CELLS, cell % _CELLS
    along, mean = _mean_estimate(both)
    margin = (both.high - both.low) * 0.03
    domain = alt.Scale(domain=[both.low - margin, both.high + margin], nice=False)
    across = alt.X("voted:Q", title=f"voted {both.what}", scale=domain)
    up = alt.Y("estimated:Q", title=f"estimated {both.what}", scale=domain)
    cells = (
        alt.Chart(
            inline_data(voted=middle[column], estimated=middle[row], items=count[cell]),
            name="cells",
        )
        .mark_circle(color=LIGHT.blue, opacity=0.55, aria=False)
        .encode(
            x=across,
            y=up,
            size=alt.Size(
                "items:Q",
                title="items",
                scale=alt.Scale(range=[4, 560]),
                legend=alt.Legend(tickCount=3),
            ),
            tooltip=tooltip(
                {"voted": "voted", "estimated": "estimated", "items": "items"},
                {"voted": ".2f", "estimated": ".2f", "items": ","},
            ),
        )
    )
    ends = inline_data(voted=[both.low, both.high], estimated=[both.low, both.high])
    same = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    trend = alt.Chart(inline_data(voted=along, estimated=mean), name="trend")
    line = trend.mark_line(color=LIGHT.red, strokeWidth=2.5, aria=False)
    chart = (cells + same.encode(x=across, y=up) + line.encode(x=across, y=up)).properties(
        width=360, height=330
    )
    return add_title(
        chart,
        f"Voted against estimated {both.what}",
        f"{count_of(len(both.voted), 'item')} in cells; the line is the mean estimate of each "
        f"vote, "
        "dashes are the vote itself",
    )


def calibration_plot(calibration: CalibrationBins, what: str = "label") -> Any:
    """The chart: confidence of each bin against its share right, with that share's interval."""
    table = calibration.to_table()
    rows = table.filter(table["items"].to_numpy() > 0)
    across = alt.X(**unit("confidence", f"probability given to the {what}"))
    up = alt.Y(**unit("share", "share that is right by gold"))
    shares = ("confidence", "share", "share_low", "share_high")
    data = inline_data(**{name: rows[name] for name in (*shares, "items")})
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
    ends = inline_data(confidence=[0, 1], share=[0, 1])
    perfect = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    return add_title(
        (perfect.encode(x=across, y=up) + reach + line + points).properties(width=340, height=320),
        "Calibration",
        f"calibration error {calibration.shown:.3f}, bias corrected; lines are 95% intervals; "
        "below the dashes it is too sure",
    )


def accuracy_by_ratings(curve: Any) -> Any:
    """The chart from a table: method, ratings, accuracy, low, high."""
    columns = ("method", "ratings", "accuracy", "low", "high")
    data = inline_data(**{name: curve[name] for name in columns})
    methods = list(dict.fromkeys(curve["method"].to_pylist()))
    x = alt.X(
        "ratings:Q",
        title="judgments an item, at most",
        scale=alt.Scale(nice=False, padding=12),
        axis=alt.Axis(values=sorted(set(curve["ratings"].to_pylist())), format="d"),
    )
    base = alt.Chart(data).encode(
        x=x,
        color=alt.Color("method:N", title=None, scale=alt.Scale(domain=methods)),
    )
    scale = alt.Scale(zero=False)
    told = tooltip(
        {"method": "method", "ratings": "judgments", "accuracy": "accuracy"},
        {"ratings": "d", "accuracy": ".3f"},
    )
    up = alt.Y("accuracy:Q", title="accuracy against gold", scale=scale)
    lines = base.mark_line(aria=False).encode(y=up)
    points = base.mark_point(filled=True, size=50, aria=False).encode(
        y=up,
        shape=alt.Shape("method:N", title=None, scale=alt.Scale(domain=methods)),
        tooltip=told,
    )
    bars = base.mark_rule(opacity=0.5, aria=False).encode(
        y=alt.Y("low:Q", scale=scale, title="accuracy against gold"), y2="high:Q"
    )
    return add_title(
        (bars + lines + points).properties(width=400, height=260),
        "Accuracy against the number of judgments",
        "each item keeps at most so many, drawn at random; bars are 95% intervals over gold items",
    )
