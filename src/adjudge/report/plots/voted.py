"""Voted against estimated relevance: what the model makes of the votes.

Figure 1 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding".
Items are counted in cells, so that the figure is as quick with a million items as with a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.source import count_of
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip
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
            drawing.table(voted=middle[column], estimated=middle[row], items=count[cell]),
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
    ends = drawing.table(voted=[both.low, both.high], estimated=[both.low, both.high])
    same = alt.Chart(ends).mark_line(color=LIGHT.soft, strokeDash=[4, 4], aria=False)
    trend = alt.Chart(drawing.table(voted=along, estimated=mean), name="trend")
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
