"""The columns of tables that are to be imported: what each is taken for, and what stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from adjudge.collect.importing.rows import assign, table
from adjudge.collect.importing.side_by_side import PAIR_PARTS
from adjudge.collect.importing.unpacking import unpack_all
from adjudge.collect.importing.upload import ImportLimits, Upload
from adjudge.errors import BadData

PARTS = ("query", "title", "text", "url", "image", "need", "category", "document", "topic", "name",
         "gold", "reason", "role", *PAIR_PARTS)  # fmt: skip
_TABLES = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class _FoundColumn:
    """A column, the part it plays (empty for none), and its first cells."""

    name: str
    part: str
    cells: tuple[str, ...]


def find_columns(
    files: Iterable[Upload], by_hand: Mapping[str, str], limits: ImportLimits
) -> list[_FoundColumn]:
    """The columns of every table among the files, each once; none of what is no table."""
    found: dict[str, _FoundColumn] = {}
    try:
        for upload in unpack_all(list(files), limits):
            if upload.suffix not in _TABLES:
                continue
            columns, rows = table(upload, limits)
            parts = {column: part for part, column in assign(columns, by_hand).items()}
            first = [cells for _, cells in islice(rows, 3)]
            for name in columns:
                cells = tuple(row.get(name, "")[:80] for row in first)
                found.setdefault(name, _FoundColumn(name, parts.get(name, ""), cells))
    except BadData:
        return []  # whatever reads them in earnest says what is wrong
    return list(found.values())
