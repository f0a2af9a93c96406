"""Prodigy: a line of JSON for each example that somebody accepted, rejected or chose from.

Of a choice, the options accepted are the labels; otherwise ``answer`` is, accept or reject, and the
item is the example with the label it was shown with. What was ignored is no judgment. The judge is
``_annotator_id``, else ``_session_id``, else the file.
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


def _read(file: File, options: Options) -> Content:
    """The judgments of every annotator."""
    rows, gone = RecordRows(file, options), Counter[str]()
    records = read_records(file, "example")
    choices = any(isinstance(r, dict) and isinstance(r.get("accept"), list) for _, r in records)
    for place, record in records:
        if not isinstance(record, dict):
            rows.fault(place, f"{shown(record)} is no example; wanted an object")
            continue
        answer = record.get("answer")
        if answer == "ignore":
            gone["ignored"] += 1
            continue
        if choices and answer != "accept":
            gone["rejected, so nothing was chosen"] += 1
            continue
        label = json.dumps(_accepted(record)) if choices else as_text(answer)
        judge = record.get("_annotator_id") or record.get("_session_id") or judge_name(file.name)
        cells = {"item": _item(record, choices), "judge": judge, "label": label}
        rows.add(place, cells | {"time": record.get("_timestamp")})
    notes = tuple(left_out(count, "example", why) for why, count in gone.items())
    if not len(rows):
        raise BadData(f"there is no judgment: {'; '.join(notes)}", source=file.name)
    table = rows.table("item", "judge", "label")
    roles = {name: name for name in ("item", "judge", "label", "time")}
    table, roles, picked = one_question_an_option(table, rows.source, roles, options)
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped, notes=notes, options=picked)


def _item(record: dict[str, Any], choices: bool) -> str | None:
    """What was judged: the input of a choice, the task (input and label) of a yes or no."""
    keys = ("_input_hash", "_task_hash") if choices else ("_task_hash", "_input_hash")
    return next((text for key in (*keys, "id", "text") if (text := as_text(record.get(key)))), None)


def _accepted(record: dict[str, Any]) -> list[str]:
    """The options that were accepted, by their texts where these are as few as their ids."""
    given = record.get("accept")
    return [str(option) for option in given] if isinstance(given, list) else []


FORMATS = (
    Format(
        name="prodigy",
        title="Prodigy: examples with answer, accept, _session_id, one JSON object a line",
        reads=("judgments",),
        extension=".jsonl",
        read=_read,
    ),
)
