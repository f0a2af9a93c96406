"""Plain judgments in JSON: a list of objects, by itself or under a key, a judgment each.

What is nested in an object goes by its path: ``{"user": {"id": 3}}`` has a column ``user.id``.
"""

from __future__ import annotations

from adjudge.data.formats._nesting import spelt_out
from adjudge.data.formats._records import RecordRows, read_json, records_in
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import content_of
from adjudge.errors import shown


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


FORMATS = (
    Format(
        name="json",
        title="plain judgments, a JSON list of objects: item (or topic, document), judge, label",
        reads=("judgments", "gold"),
        extension=".json",
        read=_read,
    ),
)
