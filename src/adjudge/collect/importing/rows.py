"""Rows of CSV, TSV and JSON Lines with their line numbers, whatever the columns are called."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adjudge.collect.importing.upload import Upload
from adjudge.data.columns import roles_of
from adjudge.data.formats.delimited import Delimited, delimiter_of
from adjudge.data.formats.opening import File
from adjudge.data.synonyms import ITEM_SYNONYMS
from adjudge.errors import BadData, shown

Row = tuple[int, dict[str, str]]

SHOWN = ("title", "text", "url", "image")


def roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which part in a table of items."""
    return roles_of(columns, ITEM_SYNONYMS)


def table(upload: Upload) -> tuple[list[str], Iterator[Row]]:
    """The columns of a file and its rows, each with its line."""
    file = upload.file()
    if not file.text.strip():
        raise BadData("there is nothing in the file", source=upload.name)
    if upload.suffix in (".jsonl", ".ndjson") or file.kind == "jsonl":
        records = list(json_lines(upload))
        columns = list(dict.fromkeys(name for _, record in records for name in record))
        return columns, ((line, {k: words(v) for k, v in r.items()}) for line, r in records)
    shape = Delimited(file, _delimiter(file), strict=True)
    header = shape.header
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise BadData(f"the column {shown(twice)} is there twice", source=upload.name, line=1)
    return header, _cells(shape)


def _delimiter(file: File) -> str:
    """A semicolon where there is no other mark in the header: some spreadsheets write it so."""
    plain = ";" in file.first and "," not in file.first and "\t" not in file.first
    return ";" if plain else delimiter_of(file)


def _cells(shape: Delimited) -> Iterator[Row]:
    for line, cells in shape.records():
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(shape.header):
            raise BadData(
                f"{len(cells)} cells where the header has {len(shape.header)}",
                source=shape.file.name,
                line=line,
                wanted=f"{len(shape.header)} cells",
            )
        yield line, {k: _free(v.strip()) for k, v in zip(shape.header, cells, strict=True)}


def _free(cell: str) -> str:
    """A cell without the apostrophe that our own exports put before a formula."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@" else cell


def json_lines(upload: Upload) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, part in upload.file().lines():
        try:
            record = json.loads(part)
        except (json.JSONDecodeError, RecursionError) as fault:
            reason = getattr(fault, "msg", "nested too deep")
            raise BadData(f"is no JSON ({reason})", source=upload.name, line=line) from None
        if not isinstance(record, dict):
            raise BadData(
                f"{shown(record)} is no object; wanted one object a line",
                source=upload.name,
                line=line,
            )
        yield line, record


def words(value: Any) -> str:
    """A value of JSON as text: lists with ``|`` between their parts, null as nothing."""
    if value is None:
        return ""
    if isinstance(value, list):
        return "|".join(words(part) for part in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).strip()
