"""The error for a file that no format fits: what is in it, and what to do next."""

from __future__ import annotations

import csv
from contextlib import suppress

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.opening import File, decode
from adjudge.errors import BadData, Remedy, name_columns, shown

_CODE = "unknown-format"
_NEXT = (name_columns("item", "judge", "label"), Remedy("format"))
_UNPACK = "; unpack it first, or pack it with gzip (.gz), bzip2 (.bz2) or zip"
_KINDS = (  # how a file begins, and what it is
    (b"\xfd7zXZ\0", f"a file packed with xz{_UNPACK}"),
    (b"\x28\xb5\x2f\xfd", f"a file packed with Zstandard{_UNPACK}"),
    (b"\x04\x22\x4d\x18", f"a file packed with LZ4{_UNPACK}"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7-Zip archive{_UNPACK}"),
    (b"Rar!\x1a\x07", f"a RAR archive{_UNPACK}"),
    (b"\x1f\x8b", "a file packed with gzip; give it a name that ends in .gz"),
    (b"BZh", "a file packed with bzip2; give it a name that ends in .bz2"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet or document of old Office; save it as CSV"),
    (b"%PDF", "a PDF; save the table in it as CSV"),
    (b"SQLite format 3", "a database of SQLite; save the table as CSV or Parquet"),
    (b"\x89PNG", "a PNG picture; name the file of judgments"),
    (b"\xff\xd8\xff", "a JPEG picture; name the file of judgments"),
    (b"ARROW1", "an Arrow or Feather file; save it as Parquet"),
)
_RESPONDENTS = ("responseid", "respondent", "respondentid", "emailaddress", "username")
# Exports of adjudge's app that hold no judgments: their columns, and what they list.
_OWN_EXPORTS = (
    ({"judge", "arm", "kind", "channel"}, "judges"),
    ({"participant", "outcome", "pay_due", "action"}, "participants"),
    ({"topic", "query", "need", "category"}, "topics"),
    ({"item", "topic", "document", "query", "title", "url"}, "unjudged items"),
)
_MOST = 40  # keys, and objects that have some
_DEPTH = 2  # points in the path to an object whose keys are listed


def unknown(file: File) -> BadData:
    """Return the error for a file or folder that no format fits."""
    name = file.name or str(file.path)
    if file.is_folder:
        expected = "a file, or a BEIR folder (qrels/*.tsv, corpus.jsonl, queries.jsonl)"
        return BadData.at(name, _CODE, f"no known format fits this folder; expected {expected}")
    if not file.text.strip():
        return BadData("there is nothing in the file", source=name, code="empty-file")
    kind = next((kind for start, kind in _KINDS if file.start.startswith(start)), None)
    if kind is not None:
        return BadData.at(name, "not-text", f"expected text or Parquet, got {kind}")
    if "\0" in file.text:
        remedies = [Remedy("encoding", "utf-16")]
        problem = "expected text, got NUL bytes"
        return BadData.at(name, "bad-encoding", problem, remedies=remedies)
    if file.is_json:
        keys = "; ".join(_keys(_beginning(file))) or "it has no keys"
        problem = f"no known format fits this JSON: {keys}"
        return BadData.at(name, _CODE, problem, remedies=_NEXT)
    first = shown(file.first.strip())
    below = _header_below(file)
    if below:
        problem = f"expected the header first; line {below} looks like it, line 1 is {first}"
        return BadData.at(name, "header-not-first", problem, line=1)
    columns = _columns(file.first, file.delimiter)
    tagged = "topics" if file.text.startswith("<top>") else ""
    listed = next((what for own, what in _OWN_EXPORTS if own <= set(columns)), tagged)
    if listed:
        problem = f"this file lists {listed}; judgments are in the export 'judgments-csv'"
        return BadData.at(name, "not-judgments", problem, value=listed)
    person = answered_by(columns) or roles_of(columns).get("judge")
    if person is not None:
        return BadData.at(
            name,
            "survey",
            f"each row seems to be one {person} with a column per question or item; expected one "
            "row per answer, such as 'item,judge,label' (in pandas: "
            f"table.melt(id_vars=[{person!r}], var_name='item', value_name='label'))",
            remedies=[Remedy("transpose")],
        )
    if hint := _without_header(file):
        return hint
    found = f"has the columns {', '.join(columns)}" if len(columns) > 1 else f"begins {first}"
    return BadData.at(
        name,
        _CODE,
        f"the format is not known: the file {found}; expected a header such as 'item,judge,label' "
        f"(or topic and document){_lacks(columns)}",
        line=1,
        remedies=(*_NEXT, *([Remedy("judges-are"), Remedy("counts")] if len(columns) > 2 else ())),
    )


def _lacks(columns: list[str]) -> str:
    """Return which parts of a judgment no column names, as the end of a sentence."""
    roles = roles_of(columns)
    parts = {"item": {"item", "document"}, "judge": {"judge"}, "label": {"label"}}
    missing = [part for part, names in parts.items() if not names & roles.keys()]
    return f"; missing: {', '.join(missing)}" if columns and missing else ""


def _without_header(file: File) -> BadData | None:
    """Return the question which columns are which, where the first line is a row like others."""
    rows = file.rows
    if not rows:
        return None
    width = len(rows[0])
    rows = [row for row in rows if len(row) == width]
    if not 3 <= width <= 8 or len(rows) < 3:
        return None
    columns = [[row[at].strip() for row in rows] for at in range(width)]
    again = [at for at, cells in enumerate(columns) if cells[0] and cells[0] in cells[1:]]
    if len(again) < 2:
        return None
    counts = [len(set(cells)) for cells in columns]
    item = max(range(width), key=lambda at: counts[at])
    judge, *labels = [at for at in again if at != item] + [at for at in range(width) if at != item]
    label = next((at for at in labels if at not in (item, judge)), judge)
    places = {"item": str(item + 1), "judge": str(judge + 1), "label": str(label + 1)}
    return BadData.at(
        file.name,
        "no-header",
        f"there is no header: the first line, {shown(file.first.strip())}, is a row like others",
        line=1,
        value=places,
        remedies=[Remedy("header", False), name_columns(**places)],
    )


def answered_by(header: list[str]) -> str | None:
    """Return the column of a survey that says whose answers a row has."""
    return next((name for name in header if letters_of(name) in _RESPONDENTS), None)


def _columns(line: str, delimiter: str) -> list[str]:
    """Return the cells of a line that could be a header."""
    cells = next(csv.reader([line], delimiter=delimiter), [])
    return [cell.strip() for cell in cells if cell.strip() and len(cell) < 60][:40]


def _header_below(file: File) -> int:
    """Return the line, from 2 to 20, that looks like the header of judgments; 0 if none does."""
    for number, line in enumerate(file.text.splitlines()[1:20], start=2):
        for mark in "\t;,|":
            roles = roles_of(_columns(line, mark)).keys()
            if {"judge", "label"} <= roles and ("item" in roles or "document" in roles):
                return number
    return 0


def _keys(found: object, path: str = "") -> list[str]:
    """Return the keys of records and of the objects in them."""
    record, each = found, ""
    if isinstance(found, list):
        record = next((entry for entry in found if isinstance(entry, dict)), None)
        each = "each of "
    if not isinstance(record, dict) or not record or path.count(".") >= _DEPTH:
        return []
    keys = ", ".join(list(record)[:_MOST]) + (", ..." if len(record) > _MOST else "")
    described = [f"{each}{path!r} has {keys}" if path else f"its keys are {keys}"]
    for key, value in list(record.items())[:_MOST]:
        described += _keys(value, f"{path}.{key}" if path else key)
    return described[:_MOST]


def _beginning(file: File) -> object:
    """Return the JSON of a file; of a long one, the first complete object."""
    text = file.text.lstrip()
    found = decode(text) or decode(text, max(text.find("{"), 0))
    if found is None:
        with suppress(BadData):
            found = decode(file.read_text().lstrip())
    return None if found is None else found[0]
