"""The average confusion of the judges, with how far they differ.

Figure 7 of C. Liu and Y.-M. Wang (2012), "TrueLabel + Confusions": each cell is the mean over
judges of the probability of a label given a truth, and beneath it the standard deviation between
them.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale
from adjudge.report.plots import drawing
from adjudge.report.plots._layout import add_title, tooltip
from adjudge.report.theme import LIGHT

_Matrix = NDArray[np.float64]  # (truth, label)


def confusion_map(mean: _Matrix, sd: _Matrix, scale: Scale, whose: str) -> Any:
    """The chart: a heat map of means, with standard deviations."""
    truths, labels = scale.truths, scale.labels
    truth = np.repeat(np.arange(len(truths)), len(labels)).tolist()
    label = np.tile(np.arange(len(labels)), len(truths)).tolist()
    flat, spread = mean.reshape(-1), sd.reshape(-1)
    words = ["–" if not np.isfinite(value) else f"{value:.2f}" for value in flat]
    under = ["" if value != value else f"({value:.2f})" for value in spread]  # noqa: PLR0124
    data = drawing.table(
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
