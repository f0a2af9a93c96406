"""Shared parts of charts: inline data, titles, axes from 0 to 1, tooltips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

_DIGITS = 4  # of a number in a chart: finer than any eye


class _SharedData(alt.InlineData):
    """Data that all copies of a chart share: Altair makes one at every step of its making."""

    def __deepcopy__(self, memo: object) -> _SharedData:
        return self


def inline_data(**columns: Any) -> alt.InlineData:
    """Columns of equal length as the inline data of a chart; what is not a number is null."""
    lists = {name: _plain(values) for name, values in columns.items()}
    names = list(lists)
    rows = [dict(zip(names, row, strict=True)) for row in zip(*lists.values(), strict=True)]
    # Unchecked: rows are plain by now, and to check thousands of them takes seconds.
    with debug_mode(False):
        return _SharedData(values=rows)


def _plain(values: Any) -> list[Any]:
    """A column as plain values, numbers with few digits."""
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if array.dtype.kind == "f":
        rounded = np.round(array.astype(np.float64), _DIGITS)
        return [None if value != value else value for value in rounded.tolist()]  # noqa: PLR0124
    if array.dtype.kind in "iub":
        return list(array.tolist())
    return list(values)


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
