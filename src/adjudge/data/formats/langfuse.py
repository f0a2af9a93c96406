"""Langfuse: scores of traces, from its API or exports, in JSON, JSON Lines or CSV.

The item is the trace, with the observation where there is one; the name of the score is the
question; the label is the value, by its text where it has one. A person is known by their id, an
evaluator by the source of its scores.
"""

from __future__ import annotations

from typing import Any

from adjudge.data.build import load_table
from adjudge.data.columns import letters_of
from adjudge.data.formats._exports import chosen_question
from adjudge.data.formats._records import RecordRows, as_text, read_json, read_records, records_in
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData

_JUDGES = ("authoruserid", "authorusername", "evaluator", "queueid")


def _read(file: File, options: Options) -> Content:
    """The scores of one name, as judgments of whoever gave them."""
    records = [
        {letters_of(key): value for key, value in r.items()} for r in _records(file, options)
    ]
    names = [as_text(record.get("name")) or "score" for record in records]
    question = chosen_question(names, options, file.name, "score", "scores with a name")
    rows, gone = RecordRows(file, options), 0
    for number, (record, name) in enumerate(zip(records, names, strict=True), start=1):
        if name != question:
            continue
        label = as_text(record.get("stringvalue")) or as_text(record.get("value"))
        if label is None or not label.strip():
            gone += 1
            continue
        parts = (as_text(record.get(key)) for key in ("traceid", "observationid", "sessionid"))
        item = "/".join(part for part in parts if part)
        judge = next((t for k in _JUDGES if (t := as_text(record.get(k)))), None)
        cells = {"item": item, "judge": judge or as_text(record.get("source")) or "unknown"}
        rows.add(f"score {number}", cells | {"label": label, "time": record.get("timestamp")})
    if gone:
        rows.source.remark(f"{gone:,} scores left out: no value")
    if not len(rows):
        raise BadData("there is no score with a value", source=file.name)
    table = rows.table("item", "judge", "label", "time")
    roles = {name: name for name in table.column_names}
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped)


def _records(file: File, options: Options) -> list[dict[str, Any]]:
    """The scores, whatever holds them."""
    begins = file.text.lstrip()[:1]
    if begins not in ("{", "["):
        table, _ = read_delimited(file, options, delimiter=delimiter_of(file))
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    found = [record for _, record in read_records(file, "score")]
    if len(found) == 1 and begins == "{" and "traceId" not in found[0]:
        found = records_in(read_json(file), file.name)[1]
    return [record for record in found if isinstance(record, dict)]


FORMATS = (
    Format(
        name="langfuse",
        title="Langfuse scores: traceId, name, value, source, authorUserId, in JSON or CSV",
        asks=True,
        reads=("judgments",),
        extension=".json",
        read=_read,
    ),
)
