"""Argilla: records flattened to one object each, in a JSON array or one object a line.

The label is the answer to the one question ``q``, or the one named: ``q.responses`` beside
``q.responses.users`` and ``q.responses.status``. Only submitted responses are judgments; drafts and
discarded ones are left out and counted in the notes. A suggestion is the judgment of a model, whose
name is ``q.suggestion.agent``; one that no agent signs is left out too. Fields and metadata that
fit into a cell are carried along; topic and document are those so named.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from adjudge.data.build import load_table
from adjudge.data.formats._exports import chosen_question, left_out, pair_columns
from adjudge.data.formats._records import RecordRows, as_text, read_records, scalars, single
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import shown

_OWN = ("id", "status", "_server_id", "inserted_at", "updated_at")
_JUDGE = "user"


def _read(file: File, options: Options) -> Content:
    """The judgments of people, and of the models that made suggestions."""
    records = read_records(file, "record")
    found = [q for _, record in records if isinstance(record, dict) for q in _questions(record)]
    question = chosen_question(found, options, file.name, "question", "a key <question>.responses")
    rows, gone = RecordRows(file, options), Counter[tuple[str, str]]()
    for place, record in records:
        if not isinstance(record, dict):
            rows.fault(place, f"{shown(record)} is no record; wanted an object")
        elif record.get("id") is None:
            rows.fault(place, "there is no id", wanted="an id")
        else:
            _gather(rows, gone, place, record, question)
    notes = tuple(left_out(count, *what) for what, count in gone.items())
    if not len(rows):
        raise rows.source.error(
            None, f"there is no judgment{': ' if notes else ''}{'; '.join(notes)}"
        )
    label = f"{question}.responses"
    table = rows.table("id", _JUDGE, label)
    fields = [name for name in table.column_names if name not in ("id", _JUDGE, label)]
    roles = {"item": "id", "judge": _JUDGE, "label": label} | pair_columns(fields)
    judgments, _ = load_table(
        table, scale=options.scale, source=rows.source, roles=roles, fields=tuple(fields)
    )
    return Content(judgments=judgments, bad=rows.source.skipped, notes=notes)


def _questions(record: dict[str, Any]) -> list[str]:
    """The questions that a record holds answers to."""
    ends = (".responses", ".suggestion")
    return [key.rpartition(".")[0] for key in record if key.endswith(ends)]


def _gather(
    rows: RecordRows,
    gone: Counter[tuple[str, str]],
    place: str,
    record: dict[str, Any],
    question: str,
) -> None:
    """The rows of one record: its responses, then its suggestion."""
    questions = _questions(record)
    inputs = {
        name: value
        for name, value in scalars(record).items()
        if name not in _OWN and not any(name.startswith(f"{q}.") for q in questions)
    }
    shared = {"id": record["id"]} | inputs

    def add(where: str, judge: object, value: object) -> None:
        label, problem = single(value)
        if problem:
            rows.fault(where, problem, value=value, wanted="one label")
        elif label is None:
            gone["response", "no answer"] += 1
        else:
            rows.add(where, shared | {_JUDGE: as_text(judge), f"{question}.responses": label})

    key = f"{question}.responses"
    answers, users = record.get(key) or [], record.get(f"{key}.users") or []
    statuses = record.get(f"{key}.status") or [None] * len(answers)
    if not all(isinstance(entries, list) for entries in (answers, users, statuses)):
        rows.fault(place, f"{key} holds no list", value=answers, wanted="lists")
        return
    if not len(answers) == len(users) == len(statuses):
        rows.fault(
            place,
            f"{len(answers)} in {key}, {len(users)} in {key}.users and {len(statuses)} in "
            f"{key}.status; wanted as many of each",
        )
        return
    for number, (value, user, status) in enumerate(zip(answers, users, statuses, strict=True), 1):
        if status not in (None, "submitted"):
            gone["response", f"{status}, not submitted"] += 1
        else:
            add(f"{place}, response {number}", user, value)
    suggestion = record.get(f"{question}.suggestion")
    agent = record.get(f"{question}.suggestion.agent")
    if suggestion is not None and agent is None:
        gone["suggestion", "no agent is named"] += 1
    elif suggestion is not None:
        add(f"{place}, suggestion", agent, suggestion)


FORMATS = (
    Format(
        name="argilla",
        title="Argilla records, flattened: <question>.responses, .users, .status, .suggestion",
        reads=("judgments",),
        extension=".json",
        read=_read,
    ),
)
