"""Times in a column, as seconds since 1970."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.source import Source
from adjudge.errors import shown


def times(column: Any, place: Source, name: str) -> NDArray[np.float64]:
    """Times as seconds since 1970: timestamps, numbers, or ISO 8601 text."""
    if pa.types.is_timestamp(column.type):
        micro = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
        return np.asarray(pc.fill_null(pc.divide(micro.cast(pa.float64()), 1e6), np.nan))
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))
    text = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    for kind in _TIMES:
        try:
            return times(text.cast(kind), place, name)
        except pa.ArrowInvalid:
            continue
    seconds = np.full(len(text), np.nan)  # some with a zone and some without, or a fault
    for row, value in enumerate(text.to_pylist()):
        if value is not None:
            seconds[row] = _one_time(value, row, place, name)
    return seconds


_TIMES = (pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.float64())


def _one_time(value: str, row: int, place: Source, name: str) -> float:
    for kind in _TIMES:
        try:
            return float(times(pa.array([value]).cast(kind), place, name)[0])
        except pa.ArrowInvalid:
            continue
    raise place.error(
        row,
        f"{shown(value)} is no time; wanted ISO 8601 (2026-05-31T12:00:00) or seconds",
        column=name,
        value=value,
        wanted="a time",
    )
