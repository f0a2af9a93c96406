"""Times as crowd platforms write them, turned into instants of UTC.

Known are ``Tue Mar 05 18:08:31 PST 2013`` (Mechanical Turk), ``3/5/2013 18:08:31`` (Appen, month
first), ``5.3.2013 18:08`` and ISO 8601. Dates with slashes are month first unless one of the column
can only be day first, which is told. A time without a zone is taken to be UTC. The names of zones
are those of the United States, which is what the platforms mean by them. What is no time is left
out with a word: a time is worth having, and no reason to refuse a file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.source import Source
from adjudge.errors import shown


def read_times(column: Any, place: Source, name: str) -> NDArray[np.float64]:
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
        return read_times(instants(text, place, name), place, name)


def _in_seconds(number: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers as seconds since 1970: some tools count milliseconds."""
    known = number[np.isfinite(number)]
    return number / 1000.0 if known.size and float(np.median(known)) > 1e11 else number


KIND = pa.timestamp("us", tz="UTC")

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_ZONES = {  # hours to add to UTC
    "UTC": 0,
    "GMT": 0,
    "EDT": -4,
    "EST": -5,
    "CDT": -5,
    "CST": -6,
    "MDT": -6,
    "MST": -7,
    "PDT": -7,
    "PST": -8,
    "AKDT": -8,
    "AKST": -9,
    "HST": -10,
}

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})"

_WORDS = (
    r"^(?:[A-Za-z]{3},? +)?(?P<month>[A-Za-z]{3}) +(?P<day>\d{1,2}) +"
    + _CLOCK
    + r":(?P<second>\d{2}) +(?P<zone>[A-Za-z]+) +(?P<year>\d{4})$"
)

_TAIL = (
    r"(?P<year>\d{4})(?:,? +"
    + _CLOCK
    + r"(?::(?P<second>\d{2})(?:[.]\d+)?)?(?: *(?P<half>[AaPp])[Mm])?(?: +(?P<zone>[A-Za-z]+))?)?$"
)

_SLASHES = r"^(?P<month>\d{1,2})/(?P<day>\d{1,2})/" + _TAIL

_DAY_FIRST = r"^(?P<day>\d{1,2})/(?P<month>\d{1,2})/" + _TAIL

_DOTS = r"^(?P<day>\d{1,2})[.](?P<month>\d{1,2})[.]" + _TAIL


def instants(column: Any, source: Source, name: str) -> Any:
    """A column of text as timestamps, null where it is blank or no time, which is remarked."""
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    text = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.large_string()), text)
    times = _iso(text)
    if times is None:
        times = pc.coalesce(_parts(text, _WORDS), _slashes(text, source, name), _parts(text, _DOTS))
        times = _leftovers(text, times)
    wrong = np.flatnonzero(np.asarray(pc.and_(pc.is_valid(text), pc.is_null(times))))
    if wrong.size:
        value = text[int(wrong[0])].as_py()
        many = f"{wrong.size:,} of its values {'is' if wrong.size == 1 else 'are'}"
        source.remark(f"column {name}: {many} no time, such as {shown(value)}, and left out")
    return times


def _slashes(text: Any, source: Source, name: str) -> Any:
    """Dates with slashes: month first, unless a date of the column has no such month."""
    american = _parts(text, _SLASHES)
    others = _parts(text, _DAY_FIRST)
    if others.null_count < american.null_count:
        source.remark(f"column {name}: dates are taken as day first, since some can be no other")
        return others
    return american


def seconds_between(start: Any, end: Any) -> Any:
    """How many seconds lie between two columns of times, null where they are not known."""
    micro = pc.subtract(end.cast(pa.int64()), start.cast(pa.int64())).cast(pa.float64())
    return pc.if_else(pc.less(micro, 0.0), pa.scalar(None, pa.float64()), pc.divide(micro, 1e6))


def american(times: Any) -> Any:
    """A column of times as ``3/5/2013 18:08:31``, month first, in UTC."""
    whole = times.cast(pa.timestamp("s", tz="UTC"), safe=False)
    day = [pc.cast(part(whole), pa.string()) for part in (pc.month, pc.day, pc.year)]
    clock = pc.strftime(whole, format="%H:%M:%S")
    return pc.binary_join_element_wise(pc.binary_join_element_wise(*day, "/"), clock, " ")


def _iso(text: Any) -> Any:
    """The column read as ISO 8601, or None if not all of it is."""
    for kind in (pa.timestamp("us"), KIND):
        try:
            return text.cast(kind).cast(KIND)
        except pa.ArrowInvalid:
            continue
    return None


def _parts(text: Any, pattern: str) -> Any:
    """The times of the cells that fit a pattern, null for the others."""
    found = pc.extract_regex(text, pattern)
    fits = np.asarray(pc.is_valid(found), dtype=np.bool_)
    names = [field.name for field in found.type]
    cells = {name: pc.fill_null(pc.struct_field(found, name), "") for name in names}
    half = pc.utf8_lower(cells["half"]) if "half" in cells else None
    month = pc.index_in(
        pc.utf8_lower(cells["month"]), value_set=pa.array(_MONTHS, pa.large_string())
    )
    number = {name: _whole(cells[name]) for name in ("day", "year", "hour", "minute", "second")}
    word = np.asarray(pc.fill_null(month, -1), dtype=np.int64) + 1
    number["month"] = np.where(word > 0, word, _whole(cells["month"]))
    if half is not None:
        noon = number["hour"] % 12 + 12 * np.asarray(pc.equal(half, "p"), dtype=np.int64)
        number["hour"] = np.where(np.asarray(pc.equal(half, "")), number["hour"], noon)
    zones = pa.array([*_ZONES, ""], pa.large_string())
    zone = np.asarray(
        pc.fill_null(pc.index_in(pc.utf8_upper(cells["zone"]), value_set=zones), -1), dtype=np.int64
    )
    offset = np.array([*_ZONES.values(), 0, 0], dtype=np.int64)[zone]
    micro, good = _utc(number, offset)
    return pa.array(micro, pa.int64(), mask=~(fits & good & (zone >= 0))).cast(KIND)


def _whole(cells: Any) -> NDArray[np.int64]:
    """Digits as numbers; 0 where there are none."""
    digits = pc.if_else(pc.match_substring_regex(cells, r"^\d+$"), cells, "0")
    return np.asarray(digits.cast(pa.int64()))


def _utc(
    number: dict[str, NDArray[np.int64]], offset: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Microseconds since 1970 in UTC, and which of the dates there are (no 30 February)."""
    month = ((number["year"] - 1970) * 12 + number["month"] - 1).astype("datetime64[M]")
    day = month.astype("datetime64[D]") + (number["day"] - 1)
    good = (number["month"] >= 1) & (number["month"] <= 12) & (day.astype("datetime64[M]") == month)
    good &= (number["hour"] < 24) & (number["minute"] < 60) & (number["second"] < 61)
    second = (number["hour"] - offset) * 3600 + number["minute"] * 60 + number["second"]
    return (day.astype(np.int64) * 86_400 + second) * 1_000_000, good


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
