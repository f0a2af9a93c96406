"""doccano: documents with the labels that people gave them, in JSON Lines, JSON or CSV.

Older exports list the annotations of a document with their users; newer ones have a file a person,
so that the file is the judge, with a list of labels a document. Where a document may have several
labels, each is a question of its own. Spans of text are no judgments of a document.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from adjudge.data.build import load_table
from adjudge.data.formats._exports import left_out
from adjudge.data.formats._multi_select import one_question_an_option
from adjudge.data.formats._ratings import judge_name
from adjudge.data.formats._records import RecordRows, as_text, read_records
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData, shown

_LISTS = ("label", "labels", "cats", "category", "categories")


def _read(file: File, options: Options) -> Content:
    """The judgments of every user, or of the one whose file it is."""
    rows, gone = RecordRows(file, options), Counter[str]()
    person = judge_name(file.name)
    for place, record in read_records(file, "document"):
        if not isinstance(record, dict):
            rows.fault(place, f"{shown(record)} is no document; wanted an object")
            continue
        item = record.get("id", record.get("doc_id", record.get("text")))
        given = _given(record, person)
        if not given:
            gone["no label"] += 1
        for judge, labels in given.items():
            rows.add(place, {"id": item, "user": judge, "label": _cell(labels)})
    notes = tuple(left_out(count, "document", why) for why, count in gone.items())
    if not len(rows):
        raise BadData(f"there is no judgment: {'; '.join(notes)}", source=file.name)
    roles = {"item": "id", "judge": "user", "label": "label"}
    table, roles, choices = one_question_an_option(
        rows.table("id", "user", "label"), rows.source, roles, options
    )
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped, notes=notes, options=choices)


def _given(record: dict[str, Any], person: str) -> dict[str, list[str]]:
    """The labels that each user gave a document."""
    found: dict[str, list[str]] = {}
    entries = record.get("annotations")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and "start_offset" not in entry:
            label = as_text(entry.get("label", entry.get("text")))
            if label is not None:
                found.setdefault(as_text(entry.get("user")) or person, []).append(label)
    if found:
        return found
    for key in _LISTS:
        value = record.get(key)
        labels = value if isinstance(value, list) else [value]
        plain = [
            text
            for entry in labels
            if not isinstance(entry, list | dict)
            and (text := as_text(entry)) is not None
            and text.strip()
        ]
        if plain:
            return {as_text(record.get("user")) or person: plain}
    return {}


def _cell(labels: list[str]) -> str:
    return json.dumps(labels, ensure_ascii=False)


FORMATS = (
    Format(
        name="doccano",
        title="doccano: documents with annotations by users, or with a list of labels",
        reads=("judgments",),
        extension=".jsonl",
        read=_read,
    ),
)
