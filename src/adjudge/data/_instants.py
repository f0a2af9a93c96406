"""Times as crowd platforms write them, turned into instants of UTC.

Known are ``Tue Mar 05 18:08:31 PST 2013`` (Mechanical Turk), ``3/5/2013 18:08:31`` (Appen, month
first), ``5.3.2013 18:08`` and ISO 8601. Dates with slashes are month first unless one of the column
can only be day first, which is noted. A time without a zone is taken to be UTC. The names of zones
are those of the United States, which is what the platforms mean by them. What is not a time is left
out with a note: a time is worth having, and no reason to refuse a file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.source import Source
from adjudge.errors import shown


def read_times(column: Any, place: Source, name: str) -> NDArray[np.float64]:
    """Times as seconds since 1970: timestamps, numbers, ISO 8601 or other dates as text.

    What is not a time is left out with a note.
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
        place.remark(f"column {name} holds {kind}, not times, and is left out")
        return np.full(len(column), np.nan)
    text = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        return _in_seconds(np.asarray(pc.fill_null(text.cast(pa.float64()), np.nan)))
    except pa.ArrowInvalid:
        return read_times(instants(text, place, name), place, name)


def _in_seconds(number: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as seconds since 1970: some tools count milliseconds."""
    known = number[np.isfinite(number)]
    return number / 1000.0 if known.size and float(np.median(known)) > 1e11 else number


KIND = pa.timestamp("us", tz="UTC")

_HOURS = {"E": -5, "C": -6, "M": -7, "P": -8, "AK": -9}  # of standard time, to add to UTC
_ZONES = {"UTC": 0, "GMT": 0, "HST": -10} | {
    f"{zone}{season}T": hours + (season == "D") for zone, hours in _HOURS.items() for season in "SD"
}

_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
_WORDS = ("%a %b %d %H:%M:%S %Y", "%b %d %H:%M:%S %Y")
_MONTH_FIRST, _DAY_FIRST, _DOTS = "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y"


def instants(column: Any, source: Source, name: str) -> Any:
    """A column of text as timestamps, null where it is blank or no time, which is remarked."""
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    text = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)
    times = _iso(text)
    if times is None:
        plain, ahead = _split_zone(text)
        words = [_parsed(plain, form) for form in _WORDS]
        times = pc.coalesce(*words, _slashes(plain, source, name), _dates(plain, _DOTS))
        times = _leftovers(text, pc.subtract(times, ahead).cast(KIND))
    wrong = np.flatnonzero(np.asarray(pc.and_(pc.is_valid(text), pc.is_null(times))))
    if wrong.size:
        value = text[int(wrong[0])].as_py()
        many = f"{wrong.size:,} of its values {'is' if wrong.size == 1 else 'are'}"
        source.remark(f"column {name}: {many} no time, such as {shown(value)}, and left out")
    return times


def _slashes(text: Any, source: Source, name: str) -> Any:
    """Dates with slashes: month first, unless a date of the column has no such month."""
    american, others = _dates(text, _MONTH_FIRST), _dates(text, _DAY_FIRST)
    if others.null_count < american.null_count:
        source.remark(f"column {name}: dates are taken as day first, since some can be no other")
        return others
    return american


def seconds_between(start: Any, end: Any) -> Any:
    """How many seconds lie between two columns of times, null where they are not known."""
    micro = pc.subtract(end.cast(pa.int64()), start.cast(pa.int64())).cast(pa.float64())
    return pc.if_else(pc.less(micro, 0.0), pa.scalar(None, pa.float64()), pc.divide(micro, 1e6))


def _iso(text: Any) -> Any:
    """The column read as ISO 8601, or None if not all of it is."""
    for kind in (pa.timestamp("us"), KIND):
        try:
            return text.cast(kind).cast(KIND)
        except pa.ArrowInvalid:
            continue
    return None


def _split_zone(text: Any) -> tuple[Any, Any]:
    """The texts without the zone, commas and parts of seconds; how far each zone is ahead of UTC.

    A zone that is not known stays, so that its time is not read.
    """
    pattern = r" +(?P<zone>[A-Za-z]{3,4})(?P<year> +\d{4})?$"
    zone = pc.struct_field(pc.extract_regex(text, pattern), "zone")
    code = pc.index_in(pc.utf8_upper(zone), value_set=pa.array([*_ZONES], pa.large_string()))
    bare = pc.replace_substring_regex(text, pattern, r"\2")
    plain = pc.if_else(
        pc.fill_null(pc.is_in(code, pa.array(range(len(_ZONES)))), False), bare, text
    )
    plain = pc.replace_substring_regex(plain, r"(:\d{2})[.]\d+", r"\1")
    hours = pa.array([hours * 3600 for hours in _ZONES.values()], pa.duration("s")).take(code)
    return pc.replace_substring(plain, ",", " "), pc.fill_null(hours, timedelta())


def _parsed(text: Any, form: str) -> Any:
    return pc.strptime(text, format=form, unit="us", error_is_null=True)


def _dates(text: Any, form: str) -> Any:
    """The times of the cells that begin with a date of a form, null for the others."""
    times = pc.coalesce(*(_parsed(text, form + clock) for clock in _CLOCKS))
    # Arrow takes 30 February for 2 March, and years of two digits for those of the Romans.
    written, given = (
        pc.replace_substring_regex(date, r"\b0", "")
        for date in (pc.strftime(times, format=form), pc.replace_substring_regex(text, " .*", ""))
    )
    same = pc.equal(written.cast(pa.large_string()), given)
    return pc.if_else(same, times, pa.scalar(None, times.type))


def _leftovers(text: Any, times: Any) -> Any:
    """The times with those filled in that only Python's own reader of ISO 8601 takes."""
    left = np.flatnonzero(np.asarray(pc.and_(pc.is_valid(text), pc.is_null(times))))
    if not left.size:
        return times
    filled: list[Any] = [None] * len(text)
    for row in left:
        try:
            time = datetime.fromisoformat(text[int(row)].as_py())
        except ValueError:
            continue
        filled[row] = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    return pc.coalesce(times, pa.array(filled, KIND))
