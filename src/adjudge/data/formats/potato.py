"""Potato: the annotation folder of a project, a folder a user, and its files one by one.

A user's state names for each instance the labels of each scheme; older releases write a line an
instance, ``annotated_instances.jsonl``, or a table with a column a label, ``scheme:::label``. The
scheme is the question: where there are several, the
one that never has two labels at once is taken, or the one named. A scheme of several labels at once
becomes a question for each label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from adjudge.data.build import load_table
from adjudge.data.formats._exports import chosen_question
from adjudge.data.formats._multi_select import one_question_an_option
from adjudge.data.formats._records import RecordRows, as_object, as_text, read_json, read_records
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.errors import BadData, Remedy

_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
_OFF = ("false", "0", "", "none", "null")

_Answer = tuple[str, str, str, str, str]  # place, user, instance, scheme, label


def _read(file: File, options: Options) -> Content:
    """The judgments of every user of a project, or of one whose file it is."""
    parts = [file]
    if file.is_folder:
        parts = file.files(*sorted(n for n in file.names if n.endswith((_STATE, _LINES))))
    answers = [answer for part in parts for answer in _answers(part)]
    schemes: dict[str, dict[tuple[str, str], list[str]]] = {}
    for _, user, instance, scheme, label in answers:
        schemes.setdefault(scheme, {}).setdefault((user, instance), []).append(label)
    if not schemes:
        raise BadData("there is no annotation in it", source=file.name)
    question = _question(schemes, options, file.name)
    rows = RecordRows(file, options)
    for (user, instance), labels in schemes[question].items():
        cells = {"instance": instance, "user": user, "label": json.dumps(labels)}
        rows.add(f"user {user}, instance {instance}", cells)
    if len(schemes) > 1:
        others = ", ".join(name for name in schemes if name != question)
        rows.source.remark(f"the label is {question}; other schemes: {others}", Remedy("question"))
    roles = {"item": "instance", "judge": "user", "label": "label"}
    table, roles, choices = one_question_an_option(
        rows.table("instance", "user", "label"), rows.source, roles, options
    )
    judgments, _ = load_table(table, scale=options.scale, source=rows.source, roles=roles)
    return Content(judgments=judgments, bad=rows.source.skipped, options=choices)


def _question(schemes: dict[str, Any], options: Options, source: str) -> str:
    """The scheme that is the label: the one named, or the only one of a single label at a time."""
    names = list(schemes)
    if options.question is None and len(names) > 1:
        single = [n for n in names if all(len(given) == 1 for given in schemes[n].values())]
        names = single if len(single) == 1 else names
    return chosen_question(names, options, source, "scheme", "annotations of a scheme")


def _answers(file: File) -> Iterator[_Answer]:
    """Every label in a file."""
    parts = PurePath(str(file.path)).parts
    above = parts[-2] if len(parts) > 1 else "user"
    if file.name.endswith(_LINES):
        for place, record in read_records(file, "instance"):
            given = as_object(as_object(record).get("label_annotations"))
            for scheme, labels in given.items():
                for name, value in as_object(labels).items():
                    label = _label(str(name), value)
                    if label is not None:
                        yield place, above, str(record.get("id")), str(scheme), label
        return
    if file.kind == "delimited":
        yield from _cells(file)
        return
    state = as_object(read_json(file))
    user = as_text(state.get("user_id")) or above
    for instance, entries in as_object(state.get("instance_id_to_label_to_value")).items():
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
                label = _label(str(entry[0].get("name")), entry[1])
                if label is not None:
                    scheme = str(entry[0].get("schema"))
                    yield f"instance {instance}", user, str(instance), scheme, label


def _cells(file: File) -> Iterator[_Answer]:
    """Every label in a table: a cell that is on, in a column named ``scheme:::label``."""
    table, source = read_delimited(file, Options())
    for at, row in enumerate(table.to_pylist()):
        user, instance = row.get("user"), row.get("instance_id")
        if not user or not instance:
            raise source.error(at, "the user or the instance is empty", expected="both")
        for column, value in row.items():
            scheme, apart, name = column.partition(":::")
            label = _label(name, value) if apart else None
            if label is not None:
                yield f"row {at + 1}", user, instance, scheme, label


def _label(name: str, value: object) -> str | None:
    """The label that an entry stands for: its name where it is on, its value where it has one."""
    text = (as_text(value) or "").strip()
    if text.casefold() in _OFF:
        return None
    if text.casefold() in ("true", "on", "1") or text == name:
        return name
    return text if name in ("text_box", "slider", "number", "likert", "None") else name


FORMATS = (
    Format(
        name="potato",
        title="Potato: a folder of users' annotations (user_state.json, annotated_instances.jsonl)",
        asks=True,
        reads=("judgments",),
        extension=".json",
        read=_read,
    ),
)
