"""Tables of other libraries as Arrow tables: whole if Arrow takes them, else column by column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from adjudge.data.source import Source
from adjudge.errors import BadData

_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def as_arrow(table: Any, place: Source) -> pa.Table:
    """A table of any library, or a list of records, as an Arrow table.

    A column of several types, such as numbers beside text, becomes text; one that Arrow has no type
    for is left out, with a word.
    """
    collect = getattr(table, "collect", None)
    if collect is not None and not hasattr(table, "__arrow_c_stream__"):  # Polars' LazyFrame
        table = collect()
    if isinstance(table, list) and table and all(isinstance(row, dict) for row in table):
        names = dict.fromkeys(name for row in table for name in row)
        table = {name: [row.get(name) for row in table] for name in names}
    try:
        return pa.table(table)
    except _FAULTS as fault:
        reason = "; ".join(str(part) for part in fault.args)
    columns = _columns(table)
    if not columns or len({len(values) for _, values in columns}) != 1:
        raise _refused(table, reason, place)
    found: dict[str, Any] = {}
    for name, values in columns:
        if name in found:
            raise place.error(None, f"two columns are called {name!r}; wanted each name once")
        column = _column(values)
        if column is None:
            place.remark(f"column {name} left out: Arrow has no type for its values")
        else:
            found[name] = column
    return pa.table(found)


def _refused(table: Any, reason: str, place: Source) -> BadData:
    return place.error(
        None,
        f"this {type(table).__name__} cannot be read as a table ({reason}); wanted columns item, "
        "judge and label of one length, as pandas, Polars, Arrow or a dict of lists have them",
        wanted="a table",
    )


def _columns(table: Any) -> list[tuple[str, Sequence[Any]]]:
    """The columns of a dict or a frame, by name; none where it is neither."""
    if isinstance(table, dict):
        held = list(table.items())
    elif hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas, and what is like it
        table = table.reset_index() if any(table.index.names) else table
        held = [(name, table.iloc[:, at]) for at, name in enumerate(table.columns)]
    else:
        return []
    return [(str(name), values) for name, values in held if hasattr(values, "__len__")]


def _column(values: Sequence[Any]) -> Any:
    """Values as an Arrow array: as they are, or as text; None where neither can be."""
    try:
        return pa.array(values)
    except _FAULTS:
        pass
    try:
        return pa.array([_text(value) for value in values], pa.string())
    except _FAULTS:
        return None


def _text(value: Any) -> str | None:
    """A value as text, whole numbers without a point; None and NaN are none."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float) or type(value).__module__ in ("numpy", "decimal"):
        return str(value)
    raise TypeError(type(value).__name__)
