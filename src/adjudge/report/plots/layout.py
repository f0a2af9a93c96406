"""What figures have in common: data, titles, axes, tooltips, and colours of advice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

from adjudge.evaluation.diagnosis.advice import ADVICE
from adjudge.report.theme import LIGHT

_DIGITS = 4  # of a number in a chart: finer than any eye
_COLOURS = {"keep": LIGHT.blue, "train": LIGHT.orange, "watch": LIGHT.purple, "drop": LIGHT.red}
_SHAPES = {"keep": "circle", "train": "triangle-up", "watch": "square", "drop": "cross"}


class _SharedData(alt.InlineData):
    """Data that all copies of a chart share: Altair copies a chart at every step."""

    def __deepcopy__(self, memo: object) -> _SharedData:
        return self


def table(**columns: Any) -> alt.InlineData:
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
    array = np.asarray(values)
    if array.dtype.kind == "f":
        rounded = np.round(array.astype(np.float64), _DIGITS)
        return [None if value != value else value for value in rounded.tolist()]  # noqa: PLR0124
    return list(array.tolist() if array.dtype.kind in "iub" else values)


def add_title(chart: Any, title: str, *subtitle: str) -> Any:
    """The chart under a title and lines of explanation."""
    return chart.properties(title=alt.TitleParams(title, subtitle=list(subtitle)))


def panel(chart: Any, name: str, width: int, height: int, **title: Any) -> Any:
    """One of several small charts, under its name."""
    named = alt.TitleParams(name, fontSize=11, fontWeight="normal", **title)
    return chart.properties(width=width, height=height).properties(title=named)


def unit(field: str, title: str, **axis: Any) -> Any:
    """An x or y channel from 0 to 1, as keywords of either."""
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": alt.Scale(domain=[0, 1], nice=False),
        "axis": alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", **axis),
    }


def size_of(field: str, title: str, least: int, most: int, **legend: Any) -> Any:
    """A channel for counts, as the area of a mark."""
    return alt.Size(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(range=[least, most]),
        legend=alt.Legend(tickCount=3, **legend),
    )


def tooltip(fields: Mapping[str, str], formats: Mapping[str, str] | None = None) -> list[Any]:
    """The tooltip of a mark: fields with their titles, numbers with their formats."""
    shapes = formats or {}
    return [
        alt.Tooltip(field=name, title=title, type="quantitative", format=shapes[name])
        if name in shapes
        else alt.Tooltip(field=name, title=title, type="nominal")
        for name, title in fields.items()
    ]


def advice_channels(advice: Iterable[str], **colour: Any) -> dict[str, Any]:
    """The channels that show what to do about a judge: by colour and by shape."""
    given = set(advice)
    present = [name for name in ADVICE if name in given]
    colours = alt.Scale(domain=present, range=[_COLOURS[name] for name in present])
    shapes = alt.Scale(domain=present, range=[_SHAPES[name] for name in present])
    return {
        "color": alt.Color("advice:N", title="advice", scale=colours, **colour),
        "shape": alt.Shape("advice:N", title="advice", scale=shapes),
    }


def spread_places(count: int, limit: int) -> Any:
    """Places of so many entries, evenly spread over all there are."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).astype(np.int64))


def pick_label(names: list[str]) -> str:
    """Return an expression of Vega that gives each place its name."""
    return f"{json.dumps(names)}[datum.value]"


def shorten(name: str, room: int) -> str:
    """Return a name with its middle cut out if it is longer than there is room for."""
    return name if len(name) <= room else f"{name[: room - 4]}…{name[-3:]}"
