"""Label Studio: the JSON export of tasks with their annotations, read and written.

The task is the item; the label is the answer to the one ``from_name`` that is a choice, a rating or
a number, or to the one named. An annotation marked as ground truth is gold and no judgment. A model
is a judge like any other: a prediction is its judgment, under the name of its ``model_version``.
Left out and counted in the notes are cancelled annotations, those without an answer to the
question, and predictions of a model without a name. The ``data`` of a task that fit into a cell are
carried along; topic and document are those so named.

Written labels are choices; a judge whose name is not a number is written as an e-mail address,
since Label Studio identifies people by one or the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import IO, Any

import numpy as np

from adjudge.data.formats._unknown import unknown
from adjudge.data.formats.format import Content, Format
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import written_items
from adjudge.data.formats.records import (
    Fault,
    LeftOut,
    Level,
    Records,
    Row,
    as_list,
    as_object,
    as_text,
    inputs_of,
    read_records,
)
from adjudge.data.judgments import Judgments
from adjudge.errors import shown

_KINDS = ("choices", "rating", "number")
_REGIONS = (
    *("rectanglelabels", "labels", "polygonlabels", "ellipselabels", "keypointlabels"),
    *("brushlabels", "hypertextlabels", "timeserieslabels", "paragraphlabels"),
)
_MARKS = ('"result"', '"completed_by"', '"from_name"', '"data"')


def _fits(file: File) -> bool:
    """Recognise annotations, and what Label Studio writes into them or next to them."""
    text = file.text
    return file.is_json and '"annotations"' in text and any(mark in text for mark in _MARKS)


def _tasks(file: File) -> list[Any]:
    """Return the tasks in a file."""
    tasks = [task for _, task in read_records(file, "")]
    if not any({"annotations", "predictions"} & as_object(task).keys() for task in tasks):
        raise unknown(file)
    return [
        task | {"id": number} if isinstance(task, dict) and task.get("id") is None else task
        for number, task in enumerate(tasks, start=1)
    ]


def _entries(task: Row) -> Iterator[tuple[str, Any]]:
    """Return the annotations and predictions of a task, with the kind of each."""
    for kind in ("annotation", "prediction"):
        yield from ((kind, entry) for entry in as_list(task.get(f"{kind}s")))


def _answers(entry: object) -> Iterator[tuple[str, Any]]:
    """Return the answers in an annotation that may be labels: question and value."""
    for result in map(as_object, as_list(as_object(entry).get("result"))):
        value = as_object(result.get("value"))
        kind = next((kind for kind in (*_KINDS, *_REGIONS) if kind in value), None)
        if kind is not None:
            yield str(result.get("from_name")), value[kind]


def _questions(task: Row) -> list[str]:
    return [question for _, entry in _entries(task) for question, _ in _answers(entry)]


def _rows(task: Row, question: str) -> Iterator[Row | LeftOut | Fault]:
    """Return the judgments and the gold of one task."""
    shared = {"item": task["id"]} | inputs_of(task.get("data"))
    counts = {"annotation": 0, "prediction": 0}
    for kind, entry in _entries(task):
        counts[kind] += 1
        place = f"{kind} {counts[kind]}"
        if not isinstance(entry, dict):
            problem = f"expected an object, got {shown(entry)}"
            yield Fault(problem, "not-an-object", entry, place)
        elif entry.get("was_cancelled"):
            yield LeftOut(kind, "cancelled")
        elif kind == "prediction" and not as_text(entry.get("model_version")):
            yield LeftOut(kind, "the model has no name")
        else:
            row = shared | {"place": place, "what": kind}
            yield _answered(entry, kind, question, row)


def _answered(entry: Row, kind: str, question: str, row: Row) -> Row | Fault:
    """Return the row of an annotation or a prediction: its one answer to the question."""
    values = [value for name, value in _answers(entry) if name == question]
    if len(values) > 1 and any(value != values[0] for value in values):  # not only more regions
        problem = f"expected one answer to {question!r}, got {len(values)}"
        return Fault(problem, "not-one-label", values, row["place"])
    label = values[0] if values else None
    if kind == "prediction":
        return row | {"judge": entry["model_version"], "label": label}
    if entry.get("ground_truth"):
        return row | {"gold": label}
    person = entry.get("completed_by")
    if isinstance(person, dict):
        person = person.get("email") or person.get("id")
    times = {"time": entry.get("created_at"), "seconds": entry.get("lead_time")}
    return row | {"judge": person, "label": label} | times


def _write(content: Content, file: IO[bytes]) -> None:
    """The judgments as annotations of their tasks, and the gold as ground truth."""
    content.first("label-studio", "judgments", "gold")
    judgments, gold = content.judgments, content.gold
    tasks: dict[str, dict[str, Any]] = {}
    number = iter(range(1, 1 << 62))
    if gold is not None:
        for row, truth in zip(gold.to_table().to_pylist(), gold.texts(), strict=True):
            data = {name: row[name] for name in ("topic", "document") if row.get(name) is not None}
            entry = {"id": next(number), "result": _result(truth), "ground_truth": True}
            entry["was_cancelled"] = False
            tasks[row["item"]] = _task(row["item"], data, [entry])
    if judgments is not None:
        for names, fields, places in written_items(judgments):
            item = names.pop("item")
            task = tasks.setdefault(item, _task(item, {}, []))
            task["data"] = fields | names or task["data"]
            entries = (_annotation(judgments, place) for place in places)
            task["annotations"] += [{"id": next(number)} | entry for entry in entries]
    file.write((json.dumps(list(tasks.values()), ensure_ascii=False) + "\n").encode())


def _task(item: str, data: dict[str, Any], entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": _id(item), "data": data or {"item": item}, "annotations": entries}


def _id(name: str) -> int | str:
    """A name as Label Studio's own whole number, where it is one."""
    return int(name) if name.isascii() and name.isdigit() and str(int(name)) == name else name


def _result(label: str) -> list[dict[str, Any]]:
    value = {"choices": [label]}
    return [{"from_name": "label", "to_name": "document", "type": "choices", "value": value}]


def _annotation(judgments: Judgments, place: int) -> dict[str, Any]:
    """Return one judgment as an annotation."""
    judge = judgments.judges[judgments.judge[place]].as_py()
    known = _id(judge)
    entry: dict[str, Any] = {
        "result": _result(judgments.scale.labels[judgments.label[place]]),
        "was_cancelled": False,
        "ground_truth": False,
        "completed_by": known if isinstance(known, int) else {"email": judge},
    }
    if judgments.time is not None and not np.isnan(judgments.time[place]):
        time = datetime.fromtimestamp(float(judgments.time[place]), UTC)
        entry["created_at"] = time.isoformat().replace("+00:00", "Z")
    if judgments.seconds is not None and not np.isnan(judgments.seconds[place]):
        entry["lead_time"] = float(judgments.seconds[place])
    return entry


FORMATS = (
    Format(
        name="label-studio",
        title="Label Studio JSON: tasks with annotations (and predictions) of choices or ratings",
        asks=True,
        reads=("judgments", "gold"),
        writes=("judgments", "gold"),
        extension=".json",
        fits=_fits,
        read=Records(levels=(Level("task"),), rows=_rows, questions=_questions, load=_tasks).read,
        write=_write,
    ),
)
