"""Tables of other libraries as Arrow tables, and judgments from a program's table.

A table is taken whole if Arrow takes it, else column by column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from adjudge.data.build import load_table
from adjudge.data.columns import as_text, named_columns, roles_of
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def _as_arrow(table: Any, place: Source) -> pa.Table:
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
        expected="a table",
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


def take_in(table: Any, place: Source) -> Any:
    """A table of any library as an Arrow table."""
    # An Arrow table is what it is: taken in again, all of it would be looked through.
    rows = table if isinstance(table, pa.Table) else _as_arrow(table, place)
    twice = [name for name, times in Counter(rows.column_names).items() if times > 1]
    if twice:
        raise place.error(
            None,
            f"two columns are called {shown(twice[0])}; wanted each name once",
            column=twice[0],
        )
    for at, kind in enumerate(rows.schema.types):
        if _is_view(kind):  # Polars' text, for which Arrow lacks many functions
            rows = rows.set_column(at, rows.column_names[at], _without_view(rows.column(at)))
    return rows


def _is_view(kind: Any) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string_view(value))


def _without_view(column: Any) -> Any:
    """A text column whose strings lie one after the other."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(pa.large_string())
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(pa.large_string()))
        for chunk in column.chunks
    ]
    kind = pa.dictionary(column.type.index_type, pa.large_string())
    return pa.chunked_array(chunks, kind)


def load_judgments(
    table: Any, *, scale: Scale | None, source: Source, named: Mapping[str, str]
) -> Judgments:
    """Judgments from a program's table: columns as it names them, its categories in their order."""
    rows = take_in(table, source)
    told = named_columns(named, rows.column_names, source.name)
    roles = roles_of(rows.column_names, named=told)
    if scale is None and "label" in roles:
        scale = _ordered_scale(rows[roles["label"]])
    asked = "label" in told
    if "label" in roles and not asked and len(rows.column_names) > len(roles):
        from adjudge.data._second_questions import tell_label

        tell_label(rows, roles, source, rows.column_names)
    return load_table(rows, scale=scale, source=source, roles=roles, asked=asked)[0]


def _ordered_scale(column: Any) -> Scale | None:
    """The scale of an ordered categorical column of words; numbers have their order anyway."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not kind.ordered or not column.num_chunks:
        return None
    words = as_text(column.chunk(0).dictionary)
    labels = [canonical(word) for word in words.to_pylist() if word is not None]
    if len(labels) < 2 or len(set(labels)) < len(labels) or not all(labels):
        return None
    return Scale(labels=tuple(labels), ordinal=True)
