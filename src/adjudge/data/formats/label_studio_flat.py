"""Label Studio's flat exports: CSV or TSV, and JSON-MIN, a row an annotation.

The data of the task and the answers stand side by side, so the question is the column named, else
the one column that differs within a task and repeats, or that is called as labels are. An answer in
JSON is unpacked: ``{"choices": ["a", "b"]}`` are two options, each then a question of its own.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from adjudge.data.build import load_table
from adjudge.data.columns import letters_of
from adjudge.data.formats._exports import asked_questions, chosen_question, is_blank, leave_out
from adjudge.data.formats._multi_select import one_question_an_option
from adjudge.data.formats._records import RecordRows, read_json
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.names import encode
from adjudge.data.source import Source
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import BadData, name_columns, shown

_OWN = (
    *("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement"),
    *("inner_id", "project", "file_upload", "total_annotations", "cancelled_annotations"),
)
_KINDS = ("choices", "rating", "number", "taxonomy", "selected", "pairwise")
_WANTED = "a column of answers"


def _read(file: File, options: Options) -> Content:
    """The judgments of a flat export."""
    table, source = _rows(file, options)
    names = [name for name in table.column_names if name not in _OWN]
    question = _question(table, names, options, source)
    table, notes = leave_out(table, source, {"no answer": is_blank(table[question])})
    at = table.column_names.index(question)
    table = table.set_column(at, question, _unpacked(table[question]))
    roles = {"item": "id", "judge": "annotator", "label": question}
    others = {"time": "created_at", "seconds": "lead_time"}
    roles |= {role: name for role, name in others.items() if name in table.column_names}
    table, roles, choices = one_question_an_option(table, source, roles, options)
    judgments, _ = load_table(table, scale=options.scale, source=source, roles=roles)
    return Content(judgments=judgments, bad=source.skipped, notes=notes, options=choices)


def _rows(file: File, options: Options) -> tuple[Any, Source]:
    if file.text.lstrip()[:1] != "[":
        return read_delimited(file, options, delimiter=delimiter_of(file))
    rows = RecordRows(file, options)
    for number, record in enumerate(read_json(file), start=1):
        if isinstance(record, dict):
            rows.add(f"record {number}", record)
        else:
            rows.fault(f"record {number}", f"{shown(record)} is no record; wanted an object")
    return rows.table("id", "annotator"), rows.source


def _question(table: Any, names: list[str], options: Options, source: Source) -> str:
    """The column of the answers."""
    if options.question is not None:
        return chosen_question(names, options, source.name, "column", _WANTED)
    called = [name for name in names if letters_of(name) in SYNONYMS["label"]]
    packed = [name for name in names if _holds_answers(table[name])]
    found = packed or asked_questions(table, "id", names) or called
    both = [name for name in found if name in called]
    found = both if len(both) == 1 else found
    if len(found) == 1:
        others = [name for name in names if name not in found]
        source.remark(
            f"the label is {found[0]}; other columns: {', '.join(others)}", name_columns("label")
        )
        return found[0]
    raise BadData(
        f"which column holds the answers is not clear: {', '.join(found or names)}",
        source=source.name,
        expected=_WANTED,
        code="unclear-label",
        remedies=(name_columns("label"),),
    )


def _holds_answers(column: Any) -> bool:
    """Whether a column holds answers in JSON."""
    _, names = encode(column)
    texts = [text for text in names.to_pylist() if text.strip()]
    return bool(texts) and all(_answer(text) is not None for text in texts)


def _unpacked(column: Any) -> Any:
    """A column of answers with those in JSON as plain labels, or as lists of options."""
    codes, names = encode(column)
    found = [_answer(text) for text in names.to_pylist()]
    listed = any(answer is not None and len(answer) > 1 for answer in found)
    texts = []
    for text, answer in zip(names.to_pylist(), found, strict=True):
        if listed:
            texts.append(json.dumps([text] if answer is None else answer, ensure_ascii=False))
        else:
            texts.append(text if answer is None else (answer or [""])[0])
    return pa.array(texts, pa.large_string()).take(pa.array(codes, mask=codes < 0))


def _answer(text: str) -> list[str] | None:
    """The labels of an answer in JSON; None where it is plain text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict):
        value = next((value[kind] for kind in _KINDS if kind in value), None)
    entries = value if isinstance(value, list) else [value]
    if isinstance(value, list) and value and isinstance(value[0], dict):
        entries = [entry.get(kind) for entry in value for kind in _KINDS if kind in entry]
    if not entries or any(isinstance(entry, dict | list) or entry is None for entry in entries):
        return None
    return [str(entry) for entry in entries]


FORMATS = (
    Format(
        name="label-studio-flat",
        title="Label Studio CSV, TSV and JSON-MIN: a row an annotation, a column a question",
        asks=True,
        reads=("judgments",),
        read=_read,
    ),
)
