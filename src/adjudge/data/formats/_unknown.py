"""The error for a file that no format fits: what is in it, and what to do next."""

from __future__ import annotations

import csv
import json

from adjudge.data.columns import roles_of
from adjudge.data.formats._shapes import answered_by
from adjudge.data.formats.opening import File
from adjudge.errors import BadData, Remedy, name_columns, shown

_NEXT = (name_columns("item", "judge", "label"), Remedy("format"))
_UNPACK = "; unpack it first, or pack it with gzip (.gz), bzip2 (.bz2) or zip"
_PACKED = (  # how a file begins, and what it is
    (b"\xfd7zXZ\0", f"packed with xz{_UNPACK}"),
    (b"\x28\xb5\x2f\xfd", f"packed with Zstandard{_UNPACK}"),
    (b"\x04\x22\x4d\x18", f"packed with LZ4{_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive{_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive{_UNPACK}"),
    (b"\x1f\x8b", "packed with gzip, but not called so; wanted a name that ends in .gz"),
    (b"BZh", "packed with bzip2, but not called so; wanted a name that ends in .bz2"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet or document of old Office; wanted text (save as CSV)"),
    (b"%PDF", "a PDF; wanted the table in it as CSV"),
)
_MOST = 40  # keys, and objects that have some
_DEPTH = 2  # points in the path to an object whose keys are told


def unknown(file: File) -> BadData:
    """The error for a file or folder that no format fits."""
    name = file.name or str(file.path)
    if file.is_folder:
        known = "a file, or a BEIR folder (qrels/*.tsv, corpus.jsonl, queries.jsonl)"
        return BadData(f"is a folder that no known format fits; wanted {known}", source=name)
    if not file.text.strip():
        return BadData("there is nothing in the file", source=name)
    packed = next((name for start, name in _PACKED if file.start.startswith(start)), None)
    if packed is not None:
        return BadData(f"is {packed}", source=name, expected="text, or Parquet")
    database = file.start.startswith(b"SQLite format 3")
    if database or file.start.startswith(b"ARROW1"):
        what = "a database of SQLite" if database else "an Arrow or Feather file"
        way = "in Python adjudge.fit takes a table of pandas, Polars or Arrow as it is"
        return BadData(f"is {what}; wanted Parquet or CSV; {way}", source=name, expected="a table")
    if "\0" in file.text:
        return BadData(
            "there are NUL bytes in the file; wanted text",
            source=name,
            code="bad-encoding",
            remedies=(Remedy("encoding", "utf-16"),),
        )
    if file.text.lstrip()[:1] in ("{", "["):
        return _unknown_json(file, name)
    below = _header_below(file)
    if below:
        return BadData(
            f"{shown(file.first.strip())} is no header, but line {below} looks like one; wanted "
            "the header first: leave out what stands before it",
            source=name,
            line=1,
            expected="a header",
        )
    columns = _columns(file.first, file.delimiter)
    person = answered_by(columns) or roles_of(columns).get("judge")
    if person is not None:
        return BadData(
            f"is a survey, it seems: a row is what one person ({person}) answered, a column a "
            "question; wanted a row an answer, such as 'item,judge,label' (in pandas: "
            f"table.melt(id_vars=[{person!r}], var_name='item', value_name='label')), without "
            "header rows below the first",
            source=name,
            expected="a row an answer",
        )
    found = f"; its columns are {', '.join(columns)}" if len(columns) > 1 else ""
    return BadData(
        f"no known format fits a file that begins {shown(file.first.strip())}; wanted a header "
        f"such as 'item,judge,label' (or topic and document){found}",
        source=name,
        line=1,
        expected="a known format",
        code="unknown-format",
        remedies=_NEXT,
    )


def _columns(line: str, delimiter: str) -> list[str]:
    """The cells of a line, as far as they could be a header."""
    cells = next(csv.reader([line], delimiter=delimiter), [])
    return [cell.strip() for cell in cells if cell.strip() and len(cell) < 60][:40]


def _header_below(file: File) -> int:
    """The line, from 2 to 20, that looks like the header of judgments; 0 if none does."""
    for number, line in enumerate(file.text.splitlines()[1:20], start=2):
        for mark in "\t;,|":
            roles = roles_of(_columns(line, mark)).keys()
            if {"judge", "label"} <= roles and ("item" in roles or "document" in roles):
                return number
    return 0


def _unknown_json(file: File, name: str) -> BadData:
    """The error for JSON: its keys, and those of what is in it."""
    found = _beginning(file)
    told = "; ".join(_keys(found)) or "it has no keys"
    return BadData(
        f"no known format fits this JSON: {told}; wanted records with item, judge and label",
        source=name,
        expected="a known format",
        code="unknown-format",
        remedies=_NEXT,
    )


def _keys(found: object, path: str = "") -> list[str]:
    """What keys there are, of records and of the objects in them, as far as one would read."""
    record, each = found, ""
    if isinstance(found, list):
        record = next((entry for entry in found if isinstance(entry, dict)), None)
        each = "each of "
    if not isinstance(record, dict) or not record or path.count(".") >= _DEPTH:
        return []
    keys = ", ".join(list(record)[:_MOST]) + (", ..." if len(record) > _MOST else "")
    told = [f"{each}{path!r} has {keys}" if path else f"its keys are {keys}"]
    for key, value in list(record.items())[:_MOST]:
        told += _keys(value, f"{path}.{key}" if path else key)
    return told[:_MOST]


def _beginning(file: File) -> object:
    """The JSON of a file; of a long one, the first object that is whole."""
    text = file.text.lstrip()
    for start in (0, text.find("{")):
        try:
            return json.JSONDecoder().raw_decode(text, max(start, 0))[0]
        except (ValueError, RecursionError):
            continue
    try:
        found: object = json.JSONDecoder().raw_decode(file.read_text().lstrip())[0]
    except (ValueError, RecursionError, BadData):
        return None
    return found
