"""Label Studio: the JSON export of tasks with their annotations.

The task is the item; the label is the answer to the one ``from_name`` that is a choice, a rating or
a number, or to the one named. An annotation marked as ground truth is gold and no judgment. A model
is a judge like any other: a prediction is its judgment, under the name of its ``model_version``.
Left out and counted in the notes are cancelled annotations, those without an answer to the
question, and predictions of a model without a name. The ``data`` of a task that fit into a cell are
carried along; topic and document are those so named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjudge.data.formats._unknown import unknown
from adjudge.data.formats.format import Format
from adjudge.data.formats.opening import File
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
            yield _read_answer(entry, kind, question, row)


def _read_answer(entry: Row, kind: str, question: str, row: Row) -> Row | Fault:
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


FORMATS = (
    Format(
        name="label-studio",
        title="Label Studio JSON: tasks with annotations (and predictions) of choices or ratings",
        asks=True,
        reads=("judgments", "gold"),
        extension=".json",
        fits=_fits,
        read=Records(levels=(Level("task"),), rows=_rows, questions=_questions, load=_tasks).read,
    ),
)
