"""Rows of CSV, TSV and JSON Lines with their line numbers, whatever the columns are called."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, TypeVar

from adjudge.collect.importing._upload import ImportLimits, Upload
from adjudge.data.columns import roles_of
from adjudge.data.formats.delimited import Delimited, delimiter_of
from adjudge.data.formats.opening import File
from adjudge.data.synonyms import ITEM_SYNONYMS
from adjudge.errors import BadData, shown

_Row = tuple[int, dict[str, str]]
_Counted = TypeVar("_Counted")

_MARKS = "=+-@\t\r\n＝＋－＠"  # how formulas begin
_BRACKETS = 50_000  # in any text, however short

SHOWN = ("title", "text", "url", "image")


def find_roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which part in a table of items."""
    return roles_of(columns, ITEM_SYNONYMS)


def read_table(upload: Upload, limits: ImportLimits) -> tuple[list[str], Iterator[_Row]]:
    """The columns of a file and its rows, each with its line; no more of either than allowed."""
    file = upload.file()
    if not file.text.strip():
        raise BadData("there is nothing in the file", source=upload.name)
    _check_line_lengths(upload, limits)
    if upload.suffix in (".jsonl", ".ndjson") or file.kind == "jsonl":
        records = list(_count(json_lines(upload), upload, limits))
        columns = list(dict.fromkeys(name for _, record in records for name in record))
        _check_columns(columns, upload, limits)
        return columns, ((line, {k: words(v) for k, v in r.items()}) for line, r in records)
    shape = Delimited(file, _delimiter(file), strict=True)
    header = shape.header
    _check_columns(header, upload, limits)
    twice, times = next(iter(Counter(header).most_common(1)), ("", 0))
    if times > 1:
        raise BadData(f"the column {shown(twice)} is there twice", source=upload.name, line=1)
    return header, _count(_cells(shape), upload, limits)


def _check_columns(columns: list[str], upload: Upload, limits: ImportLimits) -> None:
    if len(columns) > limits.columns:
        message = f"there are {len(columns):,} columns; wanted at most {limits.columns:,}"
        raise BadData(message, source=upload.name, line=1)


def _count(rows: Iterator[_Counted], upload: Upload, limits: ImportLimits) -> Iterator[_Counted]:
    """The rows, up to as many as are allowed."""
    for count, row in enumerate(rows, start=1):
        if count > limits.rows + 1:  # of items one more would be told as items
            raise BadData(f"there are more than {limits.rows:,} rows", source=upload.name)
        yield row


def _delimiter(file: File) -> str:
    """A semicolon where there is no other mark in the header: some spreadsheets write it so."""
    plain = ";" in file.first and "," not in file.first and "\t" not in file.first
    return ";" if plain else delimiter_of(file)


def _cells(shape: Delimited) -> Iterator[_Row]:
    for line, cells in shape.records():
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(shape.header):
            raise BadData(
                f"{len(cells)} cells where the header has {len(shape.header)}",
                source=shape.file.name,
                line=line,
                expected=f"{len(shape.header)} cells",
            )
        yield line, {k: _free(v.strip()) for k, v in zip(shape.header, cells, strict=True)}


def _free(cell: str) -> str:
    """A cell without the apostrophe that our own exports put before a formula."""
    begins = cell.lstrip("'")[:1]
    return cell[1:] if cell[:1] == "'" and begins and begins in _MARKS else cell


def json_lines(upload: Upload) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, part in upload.file().lines():
        record = read_json_text(part, upload.name, line)
        if not isinstance(record, dict):
            raise BadData(
                f"{shown(record)} is no object; wanted one object a line",
                source=upload.name,
                line=line,
            )
        yield line, record


def read_json_text(text: str, source: str | None = None, line: int | None = None) -> Any:
    """What a text in JSON says; whatever is wrong with it is an error with its place."""
    # Each bracket becomes an object of a hundred bytes and more: three characters of text.
    brackets = text.count("{") + text.count("[")
    if brackets > max(_BRACKETS, len(text) // 30):
        message = f"holds {brackets:,} objects and lists; wanted fewer"
        raise BadData(message, source=source, line=line, expected="fewer")
    try:
        return json.loads(text)
    except RecursionError:
        raise BadData("is no JSON (nested too deep)", source=source, line=line) from None
    except ValueError as fault:  # also a number of thousands of digits
        reason = getattr(fault, "msg", "a number has too many digits")
        raise BadData(f"is no JSON ({reason})", source=source, line=line) from None


def words(value: Any) -> str:
    """A value of JSON as text: lists with ``|`` between their parts, null as nothing."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "|".join(words(part) for part in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()


def list_columns(columns: list[str]) -> str:
    """The names of columns as an error tells them: the first of many, long ones cut."""
    told = [name if len(name) <= 60 else f"{name[:57]}..." for name in columns[:30]]
    if len(columns) > 30:
        told.append(f"... ({len(columns):,} columns)")
    return ", ".join(told)


def _check_line_lengths(upload: Upload, limits: ImportLimits) -> None:
    """Refuse a line that is longer than a row of a table can be.

    Such a line is one cell, or millions, which a reader would take in without a pause.
    """
    body, at = upload.body, 0
    while len(body) - at > limits.line:
        window = (at, at + limits.line + 1)
        end = max(body.rfind(b"\n", *window), body.rfind(b"\r", *window))
        if end < 0:
            raise BadData(
                f"a line is longer than {limits.line:,} bytes; wanted shorter ones",
                source=upload.name,
                line=body.count(b"\n", 0, at) + 1,
            )
        at = end + 1
