"""One JSON object a line as an Arrow table, fast, with every fault located.

Arrow reads the file in parallel and guesses types. Its guesses are wrong for ids: text that looks
like a date becomes a time, and whole numbers too large for 64 bits become floating point. Such
files, those whose values change type from line to line, and those with objects in objects, which go
by their path (``judge.id``), are read again with more care.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from adjudge.data.columns import Columns, roles_of
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File, reading
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_IDS = ("item", "topic", "document", "judge")


def read_jsonl(file: File, options: Options, columns: Columns) -> tuple[Any, Source]:
    """Return the chosen columns of a JSONL file, and the source that can name its lines."""
    lines: list[int] = []  # found only when there is an error

    def line_of(row: int) -> int:
        if not lines:
            lines.extend(number for number, _ in file.lines())
        return lines[row]

    source = options.source(file.name, line_of=line_of)
    with reading(file.path):
        table = _read_fast(file, columns) if file.codec == "utf-8" else None
        if table is None:
            table = _read_with_care(file, source, columns)
    return table, source


def _read_fast(file: File, columns: Columns) -> Any | None:
    """The table as Arrow reads it, or None where Arrow cannot, or would change what is there."""
    try:
        table = pa.json.read_json(file.for_arrow)
        table = table.select(columns(table.column_names))
        roles = roles_of(table.column_names)
        dates = [
            name
            for role, name in roles.items()
            if role != "time" and pa.types.is_timestamp(table[name].type)
        ]
        if dates:
            schema = pa.schema([(name, pa.string()) for name in dates])
            parsing = pa.json.ParseOptions(explicit_schema=schema)
            again = pa.json.read_json(file.for_arrow, parse_options=parsing)
            table = again.select(table.column_names)
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    ids = [roles[role] for role in _IDS if role in roles]
    changed = any(pa.types.is_floating(table[name].type) for name in ids)
    nested = any(pa.types.is_nested(table[name].type) for name in roles.values())
    return None if changed or nested else table


def _read_with_care(file: File, source: Source, columns: Columns) -> Any:
    """Every value as the text it was; a line that is no plain object is a fault with its line."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    good: list[int] = []
    for number, line in file.lines():
        lines.append(number)
        text = line.strip()
        record, column, problem = _record(text)
        if problem:
            code = "invalid-json" if column is None else "not-one-value"
            error = BadData.at(file.name, code, problem, line=number, column=column, value=text)
            source.refuse(len(lines) - 1, error)
            continue
        good.append(len(lines) - 1)
        rows.append(record)
    source.line_of = lines.__getitem__
    if source.bad:
        source.keep(np.array(good, dtype=np.int64))
    names = columns(list(dict.fromkeys(name for record in rows for name in record)))
    cells = {
        name: pa.array([_text(record.get(name)) for record in rows], pa.large_string())
        for name in names
    }
    return pa.table(cells)


def _record(text: str) -> tuple[dict[str, Any], str | None, str]:
    """The object on a line; or the column and the words of what is wrong with it."""
    try:
        record = json.loads(text, parse_float=str)
    except (ValueError, RecursionError) as fault:  # also a number of thousands of digits
        return {}, None, f"expected a JSON object, got {shown(text)} ({fault})"
    if not isinstance(record, dict):
        return {}, None, f"expected a JSON object, got {shown(text)}"
    if any(isinstance(value, dict) for value in record.values()):
        record = spelt_out(record)
    for name in _role_names(tuple(record)):
        if isinstance(record[name], list | dict):
            return {}, name, f"expected text or a number, got {shown(record[name])}"
    return record, None, ""


@cache
def _role_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(roles_of(list(names)).values())


def _text(value: Any) -> str | None:
    """A JSON value as text, spelt as Arrow spells it."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


def spelt_out(record: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return an object whose nested objects are spelt out by their paths."""
    cells: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            cells |= spelt_out(value, f"{before}{key}.")
        else:
            cells[f"{before}{key}"] = value
    return cells
