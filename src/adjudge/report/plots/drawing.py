"""Data for a chart from columns."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode

_DIGITS = 4  # of a number in a chart: finer than any eye


class _SharedData(alt.InlineData):
    """Data that all copies of a chart share: Altair makes one at every step of its making."""

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
    array = np.asarray(values) if not isinstance(values, np.ndarray) else values
    if array.dtype.kind == "f":
        rounded = np.round(array.astype(np.float64), _DIGITS)
        return [None if value != value else value for value in rounded.tolist()]  # noqa: PLR0124
    if array.dtype.kind in "iub":
        return list(array.tolist())
    return list(values)
