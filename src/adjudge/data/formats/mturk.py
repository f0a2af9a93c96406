"""Mechanical Turk: the results of a batch, as the requester's page gives them in CSV.

The item is the pair of topic and document where the inputs are so named (``Input.query`` and
``Input.docno``, ``Input.url``, ...), else the HIT. The label is the one ``Answer.<question>``, or
the one named; answers of Crowd HTML elements are understood in both their forms, a column a choice
and ``Answer.taskAnswers``. A judgment that the requester rejected is no judgment, nor is a row
without an answer: both are left out and counted in the notes. ``Input.gold`` is gold. All inputs
are carried along as fields, without their prefix.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._instants import instants
from adjudge.data.build import load_table
from adjudge.data.formats._exports import (
    asked_questions,
    chosen_question,
    is_blank,
    is_word,
    keep_rows,
    leave_out,
    pair_columns,
)
from adjudge.data.formats._records import single
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.names import encode
from adjudge.data.source import Source
from adjudge.errors import Remedy

_WANTED = (
    "HITId",
    "WorkerId",
    "AssignmentStatus",
    "SubmitTime",
    "WorkTimeInSeconds",
    "Reject",
)
_GOLD = ("Input.gold", "Input.gold_label", "Input.true_label")
_JSON = "taskAnswers"


def _read(file: File, options: Options) -> Content:
    """The judgments of a batch, with gold where an input holds it."""
    table, source = read_delimited(file, options, spelt=_spelt, columns=_columns)
    table, question = _with_label(table, source, options)
    label = f"Answer.{question}"
    table, notes = leave_out(table, source, _reasons(table, label))
    if "SubmitTime" in table.column_names:
        place = table.column_names.index("SubmitTime")
        times = instants(table["SubmitTime"], source, "SubmitTime")
        table = table.set_column(place, "SubmitTime", times)
    inputs = [name for name in table.column_names if name.startswith("Input.")]
    judgments, gold = load_table(
        table,
        scale=options.scale,
        source=source,
        roles=_roles(table.column_names, label),
        fields=tuple(inputs),
    )
    if inputs:
        bare = [name.removeprefix("Input.") for name in inputs]
        judgments = replace(judgments, fields=judgments.fields.rename_columns(bare))
    return Content(judgments=judgments, gold=gold, bad=source.skipped, notes=notes)


def _spelt(name: str) -> str:
    """A column's name as a batch has it, of one that a program may have put in small letters."""
    for known in (*_WANTED, *_GOLD, f"Answer.{_JSON}"):
        if name.casefold() == known.casefold():
            return known
    for prefix in ("Input.", "Answer."):
        if name.casefold().startswith(prefix.casefold()):
            return prefix + name[len(prefix) :]
    return name


def _columns(header: list[str]) -> list[str]:
    return [name for name in header if name in _WANTED or name.startswith(("Input.", "Answer."))]


def _roles(columns: list[str], label: str) -> dict[str, str]:
    """Which column plays which role in a batch."""
    inputs = [name.removeprefix("Input.") for name in columns if name.startswith("Input.")]
    roles = {role: f"Input.{name}" for role, name in pair_columns(inputs).items()}
    if not {"topic", "document"} <= roles.keys():
        roles["item"] = "HITId"
    roles |= {"judge": "WorkerId", "label": label}
    for role, names in (
        ("time", ["SubmitTime"]),
        ("seconds", ["WorkTimeInSeconds"]),
        ("gold", _GOLD),
    ):
        found = next((name for name in names if name in columns), None)
        if found is not None:
            roles[role] = found
    return roles


def _reasons(table: Any, label: str) -> dict[str, Any]:
    """The rows that are no judgments, by reason.

    A requester who reviews offline writes why into the column Reject before the status says so.
    """
    rejected = np.zeros(len(table), dtype=np.bool_)
    decided = np.zeros(len(table), dtype=np.bool_)
    if "AssignmentStatus" in table.column_names:
        rejected |= is_word(table["AssignmentStatus"], "rejected")
        decided |= is_word(table["AssignmentStatus"], "approved", "accepted")
    if "Reject" in table.column_names:
        rejected |= ~is_blank(table["Reject"]) & ~decided
    return {"rejected by the requester": rejected, "no answer": is_blank(table[label])}


def _with_label(table: Any, source: Source, options: Options) -> tuple[Any, str]:
    """The table with a column that holds the answers to the one question, and its name."""
    plain = [
        name.removeprefix("Answer.")
        for name in table.column_names
        if name.startswith("Answer.") and name != f"Answer.{_JSON}"
    ]
    groups = _choices(table, plain)
    grouped = {f"{question}.{choice}" for question, names in groups.items() for choice in names}
    packed = _unpacked(table, source)
    found = [name for name in plain if name not in grouped] + list(groups) + sorted(packed)
    if len(found) > 1 and options.question is None and not groups and not packed:
        likely = asked_questions(table, "HITId", [f"Answer.{name}" for name in found])
        answers = [name.removeprefix("Answer.") for name in likely]
        if len(answers) == 1:
            others = ", ".join(name for name in found if name not in answers)
            source.remark(f"the label is {answers[0]}; other answers: {others}", Remedy("question"))
            found = answers
    question = chosen_question(found, options, source.name, "answer", "a column Answer.<question>")
    if question in packed:
        return _appended(table, question, packed[question]), question
    if question in groups:
        chosen = _chosen(table, question, groups[question])
        table = _appended(table, question, chosen)
        return keep_rows(
            table, source, _one_choice(table, source, question, groups[question])
        ), question
    return table, question


def _appended(table: Any, question: str, column: Any) -> Any:
    return table.append_column(f"Answer.{question}", column)


def _choices(table: Any, names: list[str]) -> dict[str, list[str]]:
    """Questions answered by a column a choice, ``Answer.<question>.<choice>``, true or false."""
    groups: dict[str, list[str]] = {}
    for name in names:
        question, dot, choice = name.rpartition(".")
        if dot:
            groups.setdefault(question, []).append(choice)
    return {
        question: choices
        for question, choices in groups.items()
        if len(choices) > 1
        and question not in names
        and all(
            (is_word(column, "true", "false") | is_blank(column)).all()
            for column in (table[f"Answer.{question}.{choice}"] for choice in choices)
        )
    }


def _chosen(table: Any, question: str, choices: list[str]) -> Any:
    """The first choice that is true in each row, null where none is."""
    missing = pa.scalar(None, pa.large_string())
    return pc.coalesce(
        *(
            pc.if_else(
                pa.array(is_word(table[f"Answer.{question}.{choice}"], "true")),
                pa.scalar(choice, pa.large_string()),
                missing,
            )
            for choice in choices
        )
    )


def _one_choice(table: Any, source: Source, question: str, choices: list[str]) -> Any:
    """Which rows have at most one choice; more is an error, or noted."""
    true = np.array([is_word(table[f"Answer.{question}.{choice}"], "true") for choice in choices])
    wrong = true.sum(axis=0) > 1
    for row in np.flatnonzero(wrong):
        given = ", ".join(choice for choice, on in zip(choices, true[:, row], strict=True) if on)
        error = source.error(
            int(row), f"{given} are all true where one label is wanted", column=f"Answer.{question}"
        )
        if not source.skip_bad:
            raise error
        source.note(int(row), error)
    return ~wrong


def _unpacked(table: Any, source: Source) -> dict[str, Any]:
    """The answers in ``Answer.taskAnswers``, JSON in a cell, as one column a question."""
    column = f"Answer.{_JSON}"
    if column not in table.column_names:
        return {}
    codes, names = encode(table[column])
    answers = []
    for code, text in enumerate(names.to_pylist()):
        try:
            answers.append(_answers(text))
        except ValueError as fault:
            row = int(np.argmax(codes == code))
            raise source.error(row, f"is no JSON of answers ({fault})", column=column) from None
    questions = dict.fromkeys(question for entry in answers for question in entry)
    where = pa.array(codes, mask=codes < 0)
    return {
        question: pa.array([entry.get(question) for entry in answers], pa.large_string()).take(
            where
        )
        for question in questions
    }


def _answers(text: str) -> dict[str, str | None]:
    """The answers of one assignment: a value, ``{"label": value}``, or true for one choice."""
    if not text.strip():
        return {}
    found = json.loads(text)
    found = found[0] if isinstance(found, list) and found else found
    if not isinstance(found, dict):
        raise ValueError("no object of answers")
    return {str(question): _answer(value) for question, value in found.items()}


def _answer(value: object) -> str | None:
    if isinstance(value, dict):
        if set(value) == {"label"}:
            return _answer(value["label"])
        chosen = [str(choice) for choice, on in value.items() if on is True]
        return chosen[0] if len(chosen) == 1 else None
    return single(value)[0]


FORMATS = (
    Format(
        name="mturk",
        title="Mechanical Turk batch results: HITId, WorkerId, Input.<x>, Answer.<question>",
        asks=True,
        reads=("judgments", "gold"),
        read=_read,
    ),
)
