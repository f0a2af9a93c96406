"""Rows of CSV, TSV and JSON Lines with their line numbers, whatever the columns are called."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from adjudge.collect.importing.upload import Upload
from adjudge.errors import BadData, shown

Row = tuple[int, dict[str, str]]

# What a column is called by others: letters only, "id" cut off.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "name": ("item", "unit", "task", "pair", "example"),
    "topic": ("topic", "queryid", "qid"),
    "query": ("query", "querytext", "search", "searchterm", "q"),
    "need": ("need", "informationneed", "narrative", "intent"),
    "category": ("category",),
    "document": ("document", "docid", "doc", "docno", "corpus", "product", "result"),
    "title": ("title", "producttitle", "documenttitle", "headline"),
    "text": (
        "text",
        "snippet",
        "body",
        "description",
        "productdescription",
        "contents",
        "abstract",
    ),
    "url": ("url", "link", "documenturl"),
    "image": ("image", "imageurl", "picture"),
    "gold": ("gold", "accepted", "goldlabel", "truth"),
    "reason": ("reason", "goldreason", "why"),
    "role": ("role", "goldrole"),
}
SHOWN = ("title", "text", "url", "image")


def roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which part, by name or synonym; an exact name comes before a synonym."""
    plain: dict[str, str] = {}
    for column in columns:
        letters = re.sub(r"[^a-z]", "", column.casefold())
        plain.setdefault(letters, column)
        if letters != "id":
            plain.setdefault(letters.removesuffix("id"), column)
    found: dict[str, str] = {}
    for role, names in SYNONYMS.items():
        column_name = next((plain[name] for name in names if name in plain), None)
        if column_name is not None and column_name not in found.values():
            found[role] = column_name
    return found


def table(upload: Upload) -> tuple[list[str], Iterator[Row]]:
    """The columns of a file and its rows, each with its line."""
    text = upload.text()
    if not text.strip():
        raise BadData("there is nothing in the file", source=upload.name)
    if upload.suffix in (".jsonl", ".ndjson") or text.lstrip()[:1] == "{":
        records = list(json_lines(upload))
        columns = list(dict.fromkeys(name for _, record in records for name in record))
        return columns, ((line, {k: words(v) for k, v in r.items()}) for line, r in records)
    first = text.split("\n", 1)[0]
    delimiter = "\t" if "\t" in first else ";" if ";" in first and "," not in first else ","
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True)
    header = [cell.strip() for cell in _next(reader, upload)]
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise BadData(f"the column {shown(twice)} is there twice", source=upload.name, line=1)
    return header, _cells(reader, header, upload)


def _next(reader: Any, upload: Upload) -> list[str]:
    try:
        row: list[str] = next(reader)
    except csv.Error as fault:
        raise BadData(f"is no CSV ({fault})", source=upload.name, line=reader.line_num) from None
    return row


def _cells(reader: Any, header: list[str], upload: Upload) -> Iterator[Row]:
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            raise BadData(f"is no CSV ({fault})", source=upload.name, line=line) from None
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) != len(header):
            raise BadData(
                f"{len(cells)} cells where the header has {len(header)}",
                source=upload.name,
                line=line,
                wanted=f"{len(header)} cells",
            )
        yield line, {k: _free(v.strip()) for k, v in zip(header, cells, strict=True)}


def _free(cell: str) -> str:
    """A cell without the apostrophe that our own exports put before a formula."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@" else cell


def json_lines(upload: Upload) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, part in enumerate(upload.text().split("\n"), start=1):
        if not part.strip():
            continue
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
