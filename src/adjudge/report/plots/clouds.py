"""Posterior clouds of sixteen judges: certainty grows with the number of judgments.

Figure 3 of B. Carpenter (2011), "A Hierarchical Bayesian Model of Crowdsourced Relevance Coding".
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.draws import Draws
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, spread_places
from adjudge.report.theme import LIGHT

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
                drawing.table(specificity=specificity, sensitivity=sensitivity),
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
    ends = drawing.table(specificity=[0, 1], sensitivity=[1, 0])
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
