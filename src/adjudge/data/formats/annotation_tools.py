"""Exports of annotation tools: doccano, Prodigy, Argilla, Potato, and Label Studio's flat ones.

A file of doccano or Prodigy is one person's where it names none. Where several options may be
chosen, each is a question of its own. Potato has a folder per user; a scheme is the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import (
    any_of,
    fields,
    header,
    holding,
    json_with,
)
from adjudge.data.formats.records import (
    FILE,
    Fault,
    LeftOut,
    Level,
    Records,
    Row,
    as_list,
    as_object,
    as_text,
    inputs_of,
    read_json,
    read_records,
    rows_of_json,
)
from adjudge.data.formats.tables import Table, asked_questions, choose_question, with_column
from adjudge.data.names import encode
from adjudge.data.source import Source
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import Remedy, name_columns

_LISTS = ("label", "labels", "cats", "category", "categories")


def _doccano_labels(record: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return the labels that each user gave a document; spans of text are not among them."""
    item = record.get("id", record.get("doc_id", record.get("text")))
    given: dict[Any, list[str]] = {}
    for entry in map(as_object, as_list(record.get("annotations"))):
        label = as_text(entry.get("label", entry.get("text")))
        if label is not None and "start_offset" not in entry:
            given.setdefault(entry.get("user"), []).append(label)
    for value in (record.get(key) for key in _LISTS):
        plain = [
            text
            for entry in (value if isinstance(value, list) else [value])
            if not isinstance(entry, list | dict) and (text := as_text(entry)) and text.strip()
        ]
        if plain and not given:
            given = {record.get("user"): plain}
    for judge, labels in given.items():
        yield {"item": item, "judge": judge, "label": labels}
    if not given:
        yield LeftOut("document", "no label")


def _doccano(file: File) -> bool:
    """Recognise documents with annotations by users, or with a list of labels and the text."""
    if not file.is_json:
        return False
    record = file.records[0] if file.records else {}
    if "annotations" in record:
        entries = as_list(record["annotations"])
        labels = [str(one) for one in entries if "user" not in as_object(one)]
        several = len(set(labels)) == len(labels)  # of votes, some repeat
        return (
            isinstance(record["annotations"], list)
            and several
            and all(map(_is_doccano, entries[:1]))
        )
    lists = json_with(r'"(label|labels|cats)"\s*:\s*\[')(file)
    given = [as_list(one.get(key)) for one in file.records for key in _LISTS]
    if any(len(set(map(str, own))) < len(own) for own in given):
        return False  # votes: no option is chosen twice
    return lists and {"id", "text"} <= record.keys() and "judge" not in roles_of(list(record))


def _is_doccano(entry: Any) -> bool:
    """Whether an annotation has a user, or a label and no name of its own for item or judge."""
    known = as_object(entry)
    other = {"item", "judge", "document"} & roles_of(list(known)).keys()
    return "user" in known or ("label" in known and not other)


def _prodigy_answers(record: Row, _: str) -> Iterator[Row | LeftOut]:
    """Return the options that were chosen, or else whether the example was accepted.

    The item of a choice is its input, that of yes or no the task: the input and a label.
    """
    choice = "accept" in record or "options" in record
    keys = ("_input_hash", "_task_hash") if choice else ("_task_hash", "_input_hash")
    item = next((text for key in (*keys, "id", "text") if (text := as_text(record.get(key)))), None)
    answer = record.get("answer")
    if answer == "ignore":
        yield LeftOut("example", "ignored")
    elif choice and answer != "accept":
        yield LeftOut("example", "rejected, so nothing was chosen")
    else:
        accepted = [str(option) for option in as_list(record.get("accept"))]
        yield {
            "item": item,
            "judge": record.get("_annotator_id") or record.get("_session_id"),
            "label": accepted if choice else answer,
            "time": record.get("_timestamp"),
        }


_ARGILLA_OWN = ("id", "status", "_server_id", "inserted_at", "updated_at")


def _argilla_questions(record: Row) -> list[str]:
    """Return the questions that a record has answers to."""
    ends = (".responses", ".suggestion")
    return [key.rpartition(".")[0] for key in record if key.endswith(ends)]


def _argilla_answers(record: Row, question: str) -> Iterator[Row | LeftOut | Fault]:
    """Return the submitted responses of people, and the suggestion of a model that is named."""
    if record.get("id") is None:
        yield Fault("there is no id", "missing-field")
        return
    begins = tuple(f"{name}." for name in _argilla_questions(record))
    inputs = inputs_of(record, lambda name: name in _ARGILLA_OWN or name.startswith(begins))
    shared = {"item": record["id"], "what": "response"} | inputs
    key = f"{question}.responses"
    answers, users = record.get(key) or [], record.get(f"{key}.users") or []
    statuses = record.get(f"{key}.status") or [None] * len(answers)
    if not all(isinstance(entries, list) for entries in (answers, users, statuses)):
        yield Fault(f"{key} is not a list", "not-a-list", answers)
        return
    if not len(answers) == len(users) == len(statuses):
        yield Fault(
            f"expected as many users and statuses as responses in {key}; got {len(answers)} "
            f"responses, {len(users)} users and {len(statuses)} statuses",
            "lists-differ",
        )
        return
    for number, (value, user, status) in enumerate(zip(answers, users, statuses, strict=True), 1):
        if status not in (None, "submitted"):
            yield LeftOut("response", f"{status}, not submitted")
        else:
            yield shared | {"judge": user, "label": value, "place": f"response {number}"}
    suggestion = record.get(f"{question}.suggestion")
    agent = record.get(f"{question}.suggestion.agent")
    if suggestion is not None and agent is None:
        yield LeftOut("suggestion", "no agent is named")
    elif suggestion is not None:
        yield shared | {"judge": agent, "label": suggestion, "place": "suggestion"}


_STATE, _LINES = "user_state.json", "annotated_instances.jsonl"
_OFF = ("false", "0", "", "none", "null")
_WITH_VALUE = ("text_box", "slider", "number", "likert", "None")
_POTATO = Records(
    levels=(Level("instance"),),
    roles={"item": ("instance",), "judge": ("user",), "label": ("label",)},
    several=True,
)


def _read_potato(file: File, options: Options) -> Content:
    """Read the annotations of every user of a project, or of one whose file it is.

    Where there are several schemes, the one that never has two labels at once is taken.
    """
    parts = [file]
    if file.is_folder:
        parts = file.files(*sorted(n for n in file.names if n.endswith((_STATE, _LINES))))
    schemes: dict[str, dict[tuple[str, str], list[str]]] = {}
    for part in parts:
        for user, instance, scheme, name, value in _potato_entries(part):
            label = _potato_label(name, value)
            if label is not None:
                schemes.setdefault(scheme, {}).setdefault((user, instance), []).append(label)
    single = [n for n in schemes if all(len(given) == 1 for given in schemes[n].values())]
    likely = single if len(single) == 1 and options.question is None else list(schemes)
    question = choose_question(likely, options, file.name, "scheme")
    if len(schemes) > 1:
        others = ", ".join(name for name in schemes if name != question)
        source = Source(file.name, notes=options.notes)
        note = f"the label is {question}; other schemes: {others}"
        source.remark(note, Remedy("question"))
    found = [
        {"user": user, "instance": instance, "label": labels}
        for (user, instance), labels in schemes[question].items()
    ]
    return _POTATO.content(found, file, options)


def _potato_entries(file: File) -> Iterator[tuple[str, str, str, str, object]]:
    """Return user, instance, scheme, name of the label and its value, from each kind of file."""
    parts = PurePath(str(file.path)).parts
    above = parts[-2] if len(parts) > 1 else "user"
    if file.kind == "delimited":
        yield from _potato_cells(file)
        return
    if file.name.endswith(_LINES):
        for _, record in read_records(file, ""):
            given = as_object(as_object(record).get("label_annotations"))
            for scheme, labels in given.items():
                for name, value in as_object(labels).items():
                    yield above, str(record.get("id")), str(scheme), str(name), value
        return
    state = as_object(read_json(file))
    user = as_text(state.get("user_id")) or above
    for instance, entries in as_object(state.get("instance_id_to_label_to_value")).items():
        for entry in as_list(entries):
            if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
                about = entry[0]
                yield user, instance, str(about.get("schema")), str(about.get("name")), entry[1]


def _potato_cells(file: File) -> Iterator[tuple[str, str, str, str, object]]:
    """Return the entries of a table with columns ``scheme:::label``."""
    table, source = read_delimited(file, Options())
    for at, row in enumerate(table.to_pylist()):
        if not row.get("user") or not row.get("instance_id"):
            raise source.error(at, "the user or the instance is empty", code="missing-id")
        for column, value in row.items():
            scheme, apart, name = column.partition(":::")
            if apart:
                yield row["user"], row["instance_id"], scheme, name, value


def _potato_label(name: str, value: object) -> str | None:
    """Return the label of an entry: its name where it is on, its value where it has one."""
    text = (as_text(value) or "").strip()
    if text.casefold() in _OFF:
        return None
    if text.casefold() in ("true", "on", "1") or text == name:
        return name
    return text if name in _WITH_VALUE else name


_FLAT_OWN = (
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"),
    *("inner_id", "project", "file_upload", "total_annotations", "cancelled_annotations"),
)
_ANSWERS = ("choices", "rating", "number", "taxonomy", "selected", "pairwise")


def _flat_question(table: Any, source: Source, options: Options) -> tuple[Any, str]:
    """Choose the column of the answers, and unpack those in JSON.

    The column is the one named, else the one with answers in JSON, the one that differs within a
    task and repeats, or the one that is called as labels are.
    """
    names = [name for name in table.column_names if name not in _FLAT_OWN]
    if options.question is not None:
        question = choose_question(names, options, source.name, "column")
    else:
        called = [name for name in names if letters_of(name) in SYNONYMS["label"]]
        packed = [name for name in names if _holds_answers(table[name])]
        found = packed or asked_questions(table, "id", names) or called
        both = [name for name in found if name in called]
        found = both if len(both) == 1 else found
        if len(found) != 1:
            problem = f"which column holds the answers is not clear: {', '.join(found or names)}"
            remedies = [name_columns("label")]
            raise source.error(None, problem, code="several-questions", remedies=remedies)
        question = found[0]
        others = ", ".join(name for name in names if name != question)
        source.remark(f"the label is {question}; other columns: {others}", name_columns("label"))
    return with_column(table, question, _unpacked(table[question])), question


def _holds_answers(column: Any) -> bool:
    """Whether a column holds answers in JSON."""
    texts = [text for text in encode(column)[1].to_pylist() if text.strip()]
    return bool(texts) and all(_flat_answer(text) is not None for text in texts)


def _unpacked(column: Any) -> Any:
    """Return a column of answers with those in JSON as plain labels, or as lists of options."""
    codes, names = encode(column)
    given = names.to_pylist()
    found = [_flat_answer(text) for text in given]
    if any(answer is not None and len(answer) > 1 for answer in found):
        texts = [
            json.dumps(a or [t], ensure_ascii=False) for t, a in zip(given, found, strict=True)
        ]
    else:
        texts = [t if a is None else (a or [""])[0] for t, a in zip(given, found, strict=True)]
    return pa.array(texts, pa.large_string()).take(pa.array(codes, mask=codes < 0))


def _flat_answer(text: str) -> list[str] | None:
    """Return the labels of an answer in JSON; None where it is plain text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict):
        value = next((value[kind] for kind in _ANSWERS if kind in value), None)
    entries = value if isinstance(value, list) else [value]
    if entries and isinstance(entries[0], dict):
        entries = [e.get(kind) for e in map(as_object, entries) for kind in _ANSWERS if kind in e]
    if not entries or any(isinstance(entry, dict | list) or entry is None for entry in entries):
        return None
    return [str(entry) for entry in entries]


_FLAT = Table(
    roles={
        "item": "id",
        "judge": "annotator",
        "time": "created_at",
        "seconds": "lead_time",
    },
    answers="*",
    choices="lists",
    prepare=_flat_question,
)


def _read_flat(file: File, options: Options) -> Content:
    """Read a flat export of Label Studio: a row per annotation, in CSV, TSV or JSON."""
    if not file.is_json:
        return _FLAT.read(file, options)
    rows = rows_of_json(file, options)
    return _FLAT.content(rows.table("id", "annotator"), rows.source, options)


_FLAT_COLUMNS = ("id", "annotator", "annotation_id")
POTATO = Format(
    "potato",
    "Potato: a folder of users' annotations (user_state.json, annotated_instances.jsonl)",
    fits=any_of(
        header("user", "instance_id", "*:::*"),
        holding(f"*{_STATE}"),
        holding(f"*{_LINES}"),
        json_with(r'"(instance_id_to_label_to_value|label_annotations)"\s*:'),
    ),
    asks=True,
    extension=".json",
    read=_read_potato,
)
FORMATS = (
    Format(
        "label-studio-flat",
        "Label Studio CSV, TSV and JSON-MIN: one row per annotation, one column per question",
        fits=any_of(
            header(*_FLAT_COLUMNS),
            lambda file: file.is_listed and set(_FLAT_COLUMNS) <= {*chain(*file.records[:1])},
        ),
        asks=True,
        read=_read_flat,
    ),
    Format(
        "doccano",
        "doccano: documents with annotations by users, or with a list of labels",
        fits=_doccano,
        extension=".jsonl",
        read=Records(
            levels=(Level("document"),), rows=_doccano_labels, judge=FILE, several=True
        ).read,
    ),
    Format(
        "prodigy",
        "Prodigy: examples with answer, accept, _session_id, one JSON object per line",
        fits=fields("_input_hash", "_task_hash", "answer"),
        extension=".jsonl",
        read=Records(
            levels=(Level("example"),), rows=_prodigy_answers, judge=FILE, several=True
        ).read,
    ),
    Format(
        "argilla",
        "Argilla records, flattened: <question>.responses, .users, .status, .suggestion",
        fits=json_with(r'"[^"\n]+\.(responses\.users|responses\.status|responses|suggestion)"\s*:'),
        extension=".json",
        read=Records(rows=_argilla_answers, questions=_argilla_questions).read,
    ),
)
