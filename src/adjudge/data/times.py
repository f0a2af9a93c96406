"""Times in a column, as seconds since 1970: an optional column, which never stops a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.instants import KIND, instants
from adjudge.data.source import Source


def times(column: Any, place: Source, name: str) -> NDArray[np.float64]:
    """Times as seconds since 1970: timestamps, numbers, ISO 8601 or other dates as text.

    What is no time is left out with a word.
    """
    kind = column.type
    if pa.types.is_date(kind):
        column, kind = column.cast(KIND), KIND
    if pa.types.is_timestamp(kind):
        micro = column.cast(pa.timestamp("us", tz=kind.tz)).cast(pa.int64())
        return np.asarray(pc.fill_null(pc.divide(micro.cast(pa.float64()), 1e6), np.nan))
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        return _in_seconds(np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan)))
    if not pa.types.is_string(kind) and not pa.types.is_large_string(kind):
        place.remark(f"column {name} holds {kind}, no times, and is left out")
        return np.full(len(column), np.nan)
    text = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        return _in_seconds(np.asarray(pc.fill_null(text.cast(pa.float64()), np.nan)))
    except pa.ArrowInvalid:
        return times(instants(text, place, name), place, name)


def _in_seconds(number: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as seconds since 1970: some tools count milliseconds."""
    known = number[np.isfinite(number)]
    return number / 1000.0 if known.size and float(np.median(known)) > 1e11 else number
