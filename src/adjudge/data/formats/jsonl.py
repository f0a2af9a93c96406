"""One JSON object a line as an Arrow table, fast, with every fault located.

Arrow reads the file in parallel and guesses types. Its guesses are wrong for ids: text that looks
like a date becomes a time, and whole numbers too large for 64 bits become floating point. Such
files, and those whose values change type from line to line, are read again with more care.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.json

from adjudge.data.columns import roles_of
from adjudge.data.formats.files import encoding_name, not_text, opened, reading
from adjudge.data.formats.format import Options
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

Columns = Callable[[list[str]], list[str]]  # which of the columns that are there to read
_IDS = ("item", "topic", "document", "judge")


def worth_reading(columns: list[str]) -> list[str]:
    """The columns that play a role; all if a role is vacant, so that an error can name them."""
    roles = roles_of(columns)
    placed = "item" in roles or "document" in roles
    whole = placed and ("gold" in roles or {"judge", "label"} <= roles.keys())
    return list(dict.fromkeys(roles.values())) if whole else columns


def json_keys(text: str) -> list[str]:
    """The keys of the first object of a file, for detection; none if it begins otherwise."""
    try:
        record, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return []
    return list(record) if isinstance(record, dict) else []


def read_jsonl(
    path: Path, options: Options, columns: Columns = worth_reading
) -> tuple[Any, Source]:
    """The chosen columns of a JSONL file, and the source that can name its lines."""
    source = Source(path.name, line_of=_Lines(path).line_of, skip_bad=options.skip_bad)
    with reading(path):
        table = _read_fast(path, columns) if encoding_name(options.encoding) == "utf-8" else None
        if table is None:
            table = _read_with_care(path, options, source, columns)
    return table, source


def _read_fast(path: Path, columns: Columns) -> Any | None:
    """The table as Arrow reads it, or None where Arrow cannot, or would change what is there."""
    try:
        table = pa.json.read_json(str(path))
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
            again = pa.json.read_json(str(path), parse_options=parsing)
            table = again.select(table.column_names)
        table.validate(full=True)
    except pa.ArrowInvalid:
        return None
    ids = [roles[role] for role in _IDS if role in roles]
    changed = any(pa.types.is_floating(table[name].type) for name in ids)
    nested = any(pa.types.is_nested(table[name].type) for name in roles.values())
    return None if changed or nested else table


def _read_with_care(path: Path, options: Options, source: Source, columns: Columns) -> Any:
    """Every value as the text it was; a line that is no plain object is a fault with its line."""
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    good: list[int] = []
    for number, text in _lines_of(path, options.encoding):
        lines.append(number)
        record, column, problem = _record(text)
        if problem:
            error = BadData(
                problem,
                source=path.name,
                line=number,
                column=column,
                value=text,
                wanted="one JSON object a line",
            )
            if not options.skip_bad:
                raise error
            source.note(len(lines) - 1, error)
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


def _lines_of(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Every line that is not blank, with its number."""
    with opened(path) as file:
        try:
            for number, line in enumerate(file, start=1):
                text = line.decode(encoding).removeprefix("\ufeff").strip()
                if text:
                    yield number, text
        except UnicodeDecodeError:
            raise not_text(path, encoding) from None


def _record(text: str) -> tuple[dict[str, Any], str | None, str]:
    """The object on a line; or the column and the words of what is wrong with it."""
    try:
        record = json.loads(text, parse_float=str)
    except json.JSONDecodeError as fault:
        where = f"{fault.msg} at character {fault.colno}"
        return {}, None, f"{shown(text)} is no JSON object ({where})"
    except (ValueError, RecursionError) as fault:
        return {}, None, f"{shown(text)} is no JSON object ({fault})"
    if not isinstance(record, dict):
        return {}, None, f"{shown(text)} is no JSON object"
    for name in _role_names(tuple(record)):
        if isinstance(record[name], list | dict):
            return {}, name, f"{shown(record[name])} is no single value; wanted text or a number"
    return record, None, ""


@cache
def _role_names(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(roles_of(list(names)).values())


def _text(value: Any) -> str | None:
    """A JSON value as text, spelt as Arrow spells it."""
    if value is None or isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else json.dumps(value)


class _Lines:
    """The line on which each JSON object starts, found only when there is a complaint."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def starts(self) -> list[int]:
        with opened(self.path) as file:
            text = file.read().decode("utf-8", "replace").removeprefix("\ufeff")
        decoder, line, place = json.JSONDecoder(), 1, 0
        starts: list[int] = []
        while True:
            start = place
            while start < len(text) and text[start].isspace():
                start += 1
            line += text.count("\n", place, start)
            if start == len(text):
                return starts
            starts.append(line)
            _, place = decoder.raw_decode(text, start)
            line += text.count("\n", start, place)

    def line_of(self, row: int) -> int:
        """The line of a record, counted from 0."""
        return self.starts[row]
