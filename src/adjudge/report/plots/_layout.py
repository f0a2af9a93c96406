"""What figures have in common: a title, axes from 0 to 1, tooltips, and entries spread evenly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np


def add_title(chart: Any, title: str, *subtitle: str) -> Any:
    """The chart under a title and lines of explanation."""
    return chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))


def unit(field: str, title: str, **axis: Any) -> Any:
    """An x or y channel from 0 to 1, as keywords of either."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", **axis),
    }


def tooltip(fields: Mapping[str, str], formats: Mapping[str, str] | None = None) -> list[Any]:
    """What a reader is told of a mark: fields with their titles, numbers with their formats."""
    shapes = formats or {}
    return [
        alt.Tooltip(field=name, title=title, type="quantitative", format=shapes[name])
        if name in shapes
        else alt.Tooltip(field=name, title=title, type="nominal")
        for name, title in fields.items()
    ]


def spread_places(count: int, wanted: int) -> Any:
    """Places of so many entries, evenly spread over all there are."""
    return np.unique(np.linspace(0, count - 1, min(count, wanted)).astype(np.int64))
