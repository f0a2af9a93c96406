"""Items and gold in CSV, TSV or JSON Lines: one row an item."""

from __future__ import annotations

from collections.abc import Iterator

from adjudge.collect.importing.preview import Gathering
from adjudge.collect.importing.rows import (
    SHOWN,
    assign,
    list_columns,
    reason_columns,
    table,
    told_reasons,
)
from adjudge.collect.importing.side_by_side import holds_pairs, read_pairs
from adjudge.collect.importing.upload import Upload
from adjudge.errors import BadData

_Row = tuple[int, dict[str, str]]
_PARTS = ("name", "topic", "query", "need", "category", "document", *SHOWN)


def read(upload: Upload, gathering: Gathering) -> None:
    """The items of a file, their gold where there is a column for it, or gold alone."""
    columns, some = table(upload, gathering.limits)
    rows = _at_least_one(upload, some)
    found = assign(columns, gathering.columns)
    if holds_pairs(found):
        try:
            read_pairs(upload, gathering, columns, rows, found)
        except BadData as fault:  # the file cannot be read on from here
            gathering.add_fault(fault)
        return
    holds_items = any(part in found for part in SHOWN)
    _check(upload, columns, found, holds_items)
    told = reason_columns(columns)
    try:
        for line, cells in rows:
            parts = {part: cells.get(found[part], "") for part in _PARTS if part in found}
            query = parts.get("query") or parts.get("topic", "")
            topic = parts.get("topic") or (gathering.topic_of(query) if query else "")
            if holds_items and "name" not in found and "document" not in found:
                parts["document"] = parts.get("url") or gathering.make_document()
            name = parts.get("name") or _join(topic, parts.get("document", ""))
            if not name:
                wanted = "an item, or a topic and a document"
                wanted = wanted if query or "query" not in found else "a query"
                gathering.add_fault(f"wanted {wanted}", source=upload.name, line=line)
                continue
            parts |= {"name": name, "query": query, "topic": topic}
            if holds_items and gathering.add(parts, source=upload.name, line=line) is None:
                continue
            given = cells.get(found["gold"], "") if "gold" in found else ""
            if given:
                reasons = told_reasons(cells, told)
                gathering.add_gold(
                    name, given, source=upload.name, line=line, column=found["gold"],
                    reason=cells.get(found.get("reason", ""), ""),
                    reasons=reasons,
                    role=cells.get(found.get("role", ""), "").lower(),
                )  # fmt: skip
    except BadData as fault:  # the file cannot be read on from here
        gathering.add_fault(fault)


def _at_least_one(upload: Upload, rows: Iterator[_Row]) -> Iterator[_Row]:
    """The rows; none at all is a fault."""
    row = None
    for row in rows:
        yield row
    if row is None:
        raise BadData("there is no row below the header", source=upload.name, line=1)


def _join(topic: str, document: str) -> str:
    """The id of an item that has none of its own, ``topic/document``."""
    return f"{topic}/{document}" if topic and document else ""


def _check(upload: Upload, columns: list[str], found: dict[str, str], holds_items: bool) -> None:
    """Refuse a header that tells of neither items nor gold."""
    named = "name" in found or ("document" in found and ("topic" in found or "query" in found))
    told = list_columns(columns)
    if not named and not holds_items:
        raise BadData(
            f"the columns are {told}; wanted 'query' and one of {', '.join(SHOWN)}; or, of gold "
            "alone, 'item' and 'gold'",
            source=upload.name, line=1,
        )  # fmt: skip
    if not holds_items and "gold" not in found:
        raise BadData(
            f"the columns are {told}; wanted something to judge by ({', '.join(SHOWN)}), or gold",
            source=upload.name, line=1,
        )  # fmt: skip
    if holds_items and "query" not in found and "topic" not in found:
        raise BadData(f"the columns are {told}; wanted 'query'", source=upload.name, line=1)
