"""Label Studio: the JSON export of tasks with their annotations, read and written.

The task is the item; the label is the answer to the one ``from_name`` that is a choice, a rating or
a number, or to the one named. An annotation marked as ground truth is gold and no judgment. A model
is a judge like any other: a prediction is its judgment, under the name of its ``model_version``.
Left out and counted in the notes are cancelled annotations, those without an answer to the
question, and predictions of a model without a name. The ``data`` of a task that fit into a cell are
carried along; topic and document are those so named.

Written labels are choices; a judge whose name is no number is written as an e-mail address, since
Label Studio knows people by one or the other.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import IO, Any

import numpy as np

from adjudge.data._gold_table import gold_from_table
from adjudge.data._instants import instants
from adjudge.data.build import load_table
from adjudge.data.formats._exports import chosen_question, left_out, pair_columns
from adjudge.data.formats._records import RecordRows, as_text, read_records, scalars, single
from adjudge.data.formats._unknown import unknown
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import Scale
from adjudge.errors import BadData, shown

_KINDS = ("choices", "rating", "number")
_REGIONS = (
    *("rectanglelabels", "labels", "polygonlabels", "ellipselabels", "keypointlabels"),
    *("brushlabels", "hypertextlabels", "timeserieslabels", "paragraphlabels"),
)
_ITEM, _JUDGE = "task.id", "completed_by"
_TIME, _SECONDS = "created_at", "lead_time"
_DATA = "data."


@dataclass(slots=True)
class _Gathered:
    """What the tasks of a file hold: judgments, gold, and what is neither."""

    question: str
    scale: Scale | None
    judgments: RecordRows
    gold: RecordRows
    gone: Counter[tuple[str, str]] = field(default_factory=Counter)


def _read(file: File, options: Options) -> Content:
    """The judgments of people and models, and the gold of annotations marked as ground truth."""
    tasks = read_records(file, "task")
    if not any(isinstance(t, dict) and {"annotations", "predictions"} & t.keys() for _, t in tasks):
        raise unknown(file)
    found = [name for _, task in tasks for name in _asked(task)]
    wanted = "a from_name with choices, a rating or a number"
    question = chosen_question(found, options, file.name, "question", wanted)
    gathered = _Gathered(
        question, options.scale, RecordRows(file, options), RecordRows(file, options)
    )
    for place, task in tasks:
        _gather(gathered, place, task)
    notes = tuple(left_out(count, *why) for why, count in gathered.gone.items())
    if not len(gathered.judgments) and not len(gathered.gold):
        end = f": {'; '.join(notes)}" if notes else ""
        raise gathered.judgments.source.error(None, f"there is no judgment{end}")
    gold = _gold(gathered) if len(gathered.gold) else None
    judgments = _judgments(gathered) if len(gathered.judgments) else None
    if gold is not None and judgments is not None:
        gold.codes(judgments.scale)  # refuses gold of another kind than the labels
    bad = gathered.judgments.source.skipped + gathered.gold.source.skipped
    return Content(judgments=judgments, gold=gold, bad=bad, notes=notes)


def _entries(task: object, name: str) -> list[Any]:
    """The annotations or predictions of a task; none where there is no such list."""
    entries = task.get(name) if isinstance(task, dict) else None
    return entries if isinstance(entries, list) else []


def _results(entry: object) -> Iterator[tuple[str, Any]]:
    """The answers of an annotation that may be labels: question and value."""
    results = entry.get("result") if isinstance(entry, dict) else None
    for result in results if isinstance(results, list) else []:
        value = result.get("value") if isinstance(result, dict) else None
        if isinstance(value, dict):
            kind = next((kind for kind in (*_KINDS, *_REGIONS) if kind in value), None)
            if kind is not None:
                yield str(result.get("from_name")), value[kind]


def _asked(task: object) -> Iterator[str]:
    for name in ("annotations", "predictions"):
        for entry in _entries(task, name):
            yield from (question for question, _ in _results(entry))


def _gather(gathered: _Gathered, place: str, task: object) -> None:
    """The judgments and the gold of one task."""
    if not isinstance(task, dict):
        gathered.judgments.fault(place, f"{shown(task)} is no task; wanted an object")
        return
    if task.get("id") is None:
        gathered.judgments.fault(place, "there is no id", wanted="an id")
        return
    data = {f"{_DATA}{name}": value for name, value in scalars(task.get("data")).items()}
    shared = {_ITEM: task["id"]} | data
    for number, entry in enumerate(_entries(task, "annotations"), start=1):
        _annotation(gathered, f"{place}, annotation {number}", entry, shared)
    for number, entry in enumerate(_entries(task, "predictions"), start=1):
        _prediction(gathered, f"{place}, prediction {number}", entry, shared)


def _annotation(gathered: _Gathered, place: str, entry: Any, shared: dict[str, Any]) -> None:
    if not isinstance(entry, dict):
        gathered.judgments.fault(place, f"{shown(entry)} is no annotation; wanted an object")
    elif entry.get("was_cancelled"):
        gathered.gone["annotation", "cancelled"] += 1
    elif entry.get("ground_truth"):
        label = _label(gathered, gathered.gold, place, entry, "annotation")
        scale = gathered.scale
        if label is not None and scale is not None and scale.truth_code(label) < 0:
            problem = f"gold {shown(label)} is not on the scale {scale}"
            gathered.gold.fault(place, problem, value=label, wanted=str(scale))
        elif label is not None:
            gathered.gold.add(place, shared | {gathered.question: label})
    else:
        label = _label(gathered, gathered.judgments, place, entry, "annotation")
        if label is not None:
            told = {
                _JUDGE: _person(entry.get("completed_by")),
                _TIME: entry.get("created_at"),
                _SECONDS: entry.get("lead_time"),
                gathered.question: label,
            }
            gathered.judgments.add(place, shared | told)


def _prediction(gathered: _Gathered, place: str, entry: Any, shared: dict[str, Any]) -> None:
    if not isinstance(entry, dict):
        gathered.judgments.fault(place, f"{shown(entry)} is no prediction; wanted an object")
    elif not as_text(entry.get("model_version")):
        gathered.gone["prediction", "the model has no name"] += 1
    else:
        label = _label(gathered, gathered.judgments, place, entry, "prediction")
        if label is not None:
            told = {_JUDGE: entry["model_version"], gathered.question: label}
            gathered.judgments.add(place, shared | told)


def _label(gathered: _Gathered, rows: RecordRows, place: str, entry: Any, what: str) -> str | None:
    """The one answer to the question; more than one is a fault, none is left out."""
    values = [value for question, value in _results(entry) if question == gathered.question]
    if len(values) > 1 and all(value == values[0] for value in values):
        values = values[:1]  # several regions of one label
    if len(values) > 1:
        problem = f"{len(values)} answers to {gathered.question!r} where one is wanted"
        rows.fault(place, problem, value=values, wanted="one answer")
        return None
    label, problem = single(values[0] if values else None)
    if problem:
        rows.fault(place, problem, value=values[0], wanted="one label")
    elif label is None:
        gathered.gone[what, "no answer"] += 1
    return label


def _person(who: object) -> str | None:
    """The name of whoever made an annotation: an id, or an object with e-mail address or id."""
    if isinstance(who, dict):
        return as_text(who.get("email") or who.get("id"))
    return as_text(who)


def _roles(columns: list[str], question: str) -> dict[str, str]:
    data = [name.removeprefix(_DATA) for name in columns if name.startswith(_DATA)]
    pair = {role: f"{_DATA}{name}" for role, name in pair_columns(data).items()}
    return {"item": _ITEM, "judge": _JUDGE, "label": question} | pair


def _judgments(gathered: _Gathered) -> Judgments:
    rows, question = gathered.judgments, gathered.question
    table, source = rows.table(_ITEM, _JUDGE, question, _TIME, _SECONDS), rows.source
    place = table.column_names.index(_TIME)
    table = table.set_column(place, _TIME, instants(table[_TIME], source, _TIME))
    fields = tuple(name for name in table.column_names if name.startswith(_DATA))
    roles = _roles(table.column_names, question) | {"time": _TIME, "seconds": _SECONDS}
    scale = gathered.scale or _scale(rows.values(question) + gathered.gold.values(question))
    judgments, _ = load_table(table, scale=scale, source=source, roles=roles, fields=fields)
    if fields:
        bare = [name.removeprefix(_DATA) for name in fields]
        judgments = replace(judgments, fields=judgments.fields.rename_columns(bare))
    return judgments


def _scale(texts: list[str]) -> Scale | None:
    """The scale of labels and gold together; None where they mix, which is said with a place."""
    try:
        return Scale.infer(texts)
    except BadData:
        return None


def _gold(gathered: _Gathered) -> Gold:
    table = gathered.gold.table(_ITEM, gathered.question)
    roles = _roles(table.column_names, gathered.question)
    roles = {role: name for role, name in roles.items() if role not in ("judge", "label")}
    roles["gold"] = gathered.question
    return gold_from_table(table, source=gathered.gold.source, roles=roles)


def _write(content: Content, file: IO[bytes]) -> None:
    """The judgments as annotations of their tasks, and the gold as ground truth."""
    judgments, gold = content.judgments, content.gold
    if judgments is None and gold is None:
        content.need("judgments", "label-studio")
    tasks: dict[str, dict[str, Any]] = {}
    number = iter(range(1, 1 << 62))
    if gold is not None:
        for row, truth in zip(gold.to_table().to_pylist(), gold.texts(), strict=True):
            data = {name: row[name] for name in ("topic", "document") if row.get(name) is not None}
            entry = {"id": next(number), "result": _result(truth), "ground_truth": True}
            entry["was_cancelled"] = False
            tasks[row["item"]] = _task(row["item"], data, [entry])
    if judgments is not None:
        for item, data, entries in _annotations(judgments):
            task = tasks.setdefault(item, _task(item, data, []))
            task["data"] = data or task["data"]
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


def _annotations(
    judgments: Judgments,
) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """The name, the data and the annotations of each item."""
    names, judges = judgments.items.to_pylist(), judgments.judges.to_pylist()
    topics = [] if judgments.topics is None else judgments.topics.to_pylist()
    documents = [] if judgments.documents is None else judgments.documents.to_pylist()
    fields = [] if judgments.fields is None else judgments.fields.to_pylist()
    for item, name in enumerate(names):
        data = {k: v for k, v in fields[item].items() if v is not None} if fields else {}
        if topics and judgments.topic is not None:
            data["topic"] = topics[judgments.topic[item]]
        if documents:
            data["document"] = documents[item]
        entries = []
        for place in range(int(judgments.offsets[item]), int(judgments.offsets[item + 1])):
            judge = judges[judgments.judge[place]]
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
            entries.append(entry)
        yield name, data, entries


FORMATS = (
    Format(
        name="label-studio",
        title="Label Studio JSON: tasks with annotations (and predictions) of choices or ratings",
        asks=True,
        reads=("judgments", "gold"),
        writes=("judgments", "gold"),
        extension=".json",
        read=_read,
        write=_write,
    ),
)
