"""Plain judgments in JSON: a list of objects, by itself or under a key, a judgment each.

What is nested in an object goes by its path: ``{"user": {"id": 3}}`` has a column ``user.id``.
"""

from __future__ import annotations

from typing import Any

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.nesting import spelt_out
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import content_of
from adjudge.data.formats.records import RecordRows, read_json
from adjudge.errors import BadData, shown


def _read(file: File, options: Options) -> Content:
    """Judgments with gold, or gold alone, as a table of the same columns has them."""
    place, records = records_in(read_json(file), file.name)
    rows = RecordRows(file, options)
    for number, record in enumerate(records, start=1):
        where = f"{place} {number}"
        if not isinstance(record, dict):
            rows.fault(where, f"{shown(record)} is no object; wanted a judgment")
        else:
            rows.add(where, spelt_out(record))
    return content_of(rows.table(), rows.source, options)


def records_in(found: Any, name: str) -> tuple[str, list[Any]]:
    """The longest list of objects in JSON, and what to call one of them."""
    if isinstance(found, list):
        return "record", found
    lists = {
        key: value
        for key, value in (found.items() if isinstance(found, dict) else ())
        if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    if not lists:
        keys = ", ".join(found) if isinstance(found, dict) else "none"
        raise BadData(f"there is no list of objects; its keys are {keys}", source=name)
    key = max(lists, key=lambda key: len(lists[key]))
    return f"{key} entry", lists[key]


FORMATS = (
    Format(
        name="json",
        title="plain judgments, a JSON list of objects: item (or topic, document), judge, label",
        reads=("judgments", "gold"),
        extension=".json",
        read=_read,
    ),
)
