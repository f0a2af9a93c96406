"""Exports of crowdsourcing platforms: Mechanical Turk, Toloka; and crowd-kit's tables.

In a batch of Mechanical Turk and a pool of Toloka the item is the pair of topic and document where
the inputs are so named, else the HIT, the task, or all inputs joined. What the requester rejected
and rows without an answer are left out and counted in the notes. All inputs are carried along.
"""

from __future__ import annotations

import json
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.recognition import any_of, columns_are, header
from adjudge.data.formats.records import single
from adjudge.data.formats.spaced import check_rows
from adjudge.data.formats.tables import (
    Table,
    asked_questions,
    bare_name,
    choose_question,
    is_blank,
    is_word,
    with_column,
)
from adjudge.data.formats.writing import write_csv
from adjudge.data.names import as_names, encode
from adjudge.data.source import Fault, Source, count_of
from adjudge.errors import Remedy

_PACKED = "Answer.taskAnswers"  # JSON with all answers
_STATUS, _REJECT = "AssignmentStatus", "Reject"
_REJECTED = "rejected by the requester"


def _mturk_question(table: Any, source: Source, options: Options) -> tuple[Any, str]:
    """Choose the question, and add a column of its answers where there is none.

    Crowd HTML elements write a column per choice, or all answers as JSON in one cell. A requester
    who reviews offline writes into the column Reject before the status says so.
    """
    if {_STATUS, _REJECT} <= set(table.column_names):
        decided = is_word(table[_STATUS], "approved", "accepted")
        rejected = is_word(table[_STATUS], "rejected") | (~is_blank(table[_REJECT]) & ~decided)
        table = with_column(table, _STATUS, pc.if_else(pa.array(rejected), "rejected", ""))
    plain = [
        bare
        for name in table.column_names
        if (bare := bare_name(name, "Answer.*")) and name != _PACKED
    ]
    groups = _choices(table, plain)
    grouped = {f"{question}.{choice}" for question, names in groups.items() for choice in names}
    packed = _unpacked(table, source)
    found = [name for name in plain if name not in grouped] + list(groups) + sorted(packed)
    if len(found) > 1 and options.question is None and not groups and not packed:
        likely = asked_questions(table, "HITId", [f"Answer.{name}" for name in found])
        if len(likely) == 1:
            answer = bare_name(likely[0], "Answer.*")
            others = ", ".join(name for name in found if name != answer)
            source.remark(f"the label is {answer}; other answers: {others}", Remedy("question"))
            found = [answer]
    question = choose_question(found, options, source.name, "answer")
    if question in packed:
        table = table.append_column(f"Answer.{question}", packed[question])
    elif question in groups:
        table = _with_choice(table, source, question, groups[question])
    return table, question


def _choices(table: Any, names: list[str]) -> dict[str, list[str]]:
    """Return questions with a column per choice, ``Answer.<question>.<choice>``, true or false."""
    groups: dict[str, list[str]] = {}
    for name in names:
        question, dot, choice = name.rpartition(".")
        column = table[f"Answer.{name}"]
        if dot and question not in names:
            marked = bool((is_word(column, "true", "false") | is_blank(column)).all())
            groups.setdefault(question, []).append(choice if marked else "")
    return {q: choices for q, choices in groups.items() if len(choices) > 1 and all(choices)}


def _with_choice(table: Any, source: Source, question: str, choices: list[str]) -> Any:
    """Return the table with the choice that is true in each row; more than one is an error."""
    column = f"Answer.{question}"
    true = np.array([is_word(table[f"{column}.{choice}"], "true") for choice in choices])
    marks = np.array(choices)

    def describe(row: int) -> str:
        return f"expected one choice, got {', '.join(marks[true[:, row]])}"

    wrong = Fault(true.sum(axis=0) > 1, column, describe, code="not-one-label")
    chosen = pa.array(true.argmax(axis=0), mask=~true.any(axis=0))
    labels = pa.array(choices, pa.large_string()).take(chosen)
    return check_rows(table.append_column(column, labels), source, [wrong])


def _unpacked(table: Any, source: Source) -> dict[str, Any]:
    """Return the answers in ``Answer.taskAnswers`` as one column per question."""
    if _PACKED not in table.column_names:
        return {}
    codes, names = encode(table[_PACKED])
    answers = []
    for code, text in enumerate(names.to_pylist()):
        try:
            answers.append(_answers(text))
        except ValueError as fault:
            row = int(np.argmax(codes == code))
            problem = f"expected JSON with answers ({fault})"
            raise source.error(row, problem, column=_PACKED, code="invalid-json") from None
    questions = dict.fromkeys(question for entry in answers for question in entry)
    where = pa.array(codes, mask=codes < 0)
    columns = {q: [entry.get(q) for entry in answers] for q in questions}
    return {q: pa.array(cells, pa.large_string()).take(where) for q, cells in columns.items()}


def _answers(text: str) -> dict[str, str | None]:
    """Return the answers of one assignment: a value, ``{"label": value}``, or true for a choice."""
    if not text.strip():
        return {}
    found = json.loads(text)
    found = found[0] if isinstance(found, list) and found else found
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return {str(question): _answer(value) for question, value in found.items()}


def _answer(value: object) -> str | None:
    if isinstance(value, dict):
        if set(value) == {"label"}:
            return _answer(value["label"])
        chosen = [str(choice) for choice, on in value.items() if on is True]
        return chosen[0] if len(chosen) == 1 else None
    return single(value)[0]


def _mturk_item(
    table: Any, _source: Source, roles: dict[str, str], _inputs: list[str]
) -> tuple[Any, str]:
    return table, "" if {"topic", "document"} <= roles.keys() else "HITId"


_MTURK = Table(
    roles={
        "judge": "WorkerId",
        "time": "SubmitTime",
        "seconds": "WorkTimeInSeconds",
        "gold": ("Input.gold", "Input.gold_label", "Input.true_label"),
    },
    answers="Answer.*",
    question="answer",
    inputs="Input.*",
    skips=((_STATUS, ("rejected",), _REJECTED),),
    prepare=_mturk_question,
    item=_mturk_item,
    known=("HITId", _REJECT, _PACKED),
)


def _toloka_item(
    table: Any, source: Source, roles: dict[str, str], inputs: list[str]
) -> tuple[Any, str]:
    """Return the column of the item: the task, the pair, or all inputs joined."""
    task = "ASSIGNMENT:task_id"
    if task in table.column_names and not is_blank(table[task]).all():
        return table, task
    if {"topic", "document"} <= roles.keys():
        return table, ""
    if not inputs:
        problem = f"no column {task} and no column INPUT:<field>"
        raise source.error(None, problem, column=task, code="missing-column")
    columns = [as_names(table[name]) for name in inputs]
    joined = pc.binary_join_element_wise(*columns, pa.scalar("/", pa.large_string()))
    tasks = table.select(inputs).group_by(inputs).aggregate([])
    if len(tasks) > pc.count_distinct(joined).as_py():
        problem = f"two tasks have inputs that are equal when joined; expected a column {task}"
        raise source.error(None, problem, column=task, code="missing-column")
    return table.append_column("INPUT", joined), "INPUT"


_TOLOKA_STATUS = "ASSIGNMENT:status"
_TOLOKA = Table(
    roles={"judge": "ASSIGNMENT:worker_id"},
    answers="OUTPUT:*",
    question="output",
    inputs="INPUT:*",
    gold="GOLDEN:*",
    reason="HINT:text",
    times=("ASSIGNMENT:started", "ASSIGNMENT:submitted"),
    skips=(
        (_TOLOKA_STATUS, ("rejected",), _REJECTED),
        (_TOLOKA_STATUS, ("skipped",), "skipped"),
        (_TOLOKA_STATUS, ("expired",), "not finished in time"),
        (_TOLOKA_STATUS, ("active",), "not finished yet"),
    ),
    honeypots=True,
    item=_toloka_item,
    known=("ASSIGNMENT:task_id",),
)

_CROWDKIT = Table(
    roles={"item": "task", "judge": "worker", "label": "label"},
    guarded=True,
)
_CROWDKIT_TRUTH = Table(
    roles={"item": "task", "gold": ("true_label", "label")},
    guarded=True,
)


def _read_crowdkit(file: File, options: Options) -> Content:
    """Read judgments, or truth as gold, by the header."""
    truth = options.kind in ("gold", "labels") and "worker" not in file.columns
    if truth or "true_label" in file.columns:
        return _CROWDKIT_TRUTH.read(file, options)
    return _CROWDKIT.read(file, options)


def _write_crowdkit(content: Content, file: IO[bytes]) -> None:
    """Write the labels as truth, if there are any; else the judgments; else the gold as truth."""
    kind, part = content.first("crowd-kit", "labels", "judgments", "gold")
    table = part if kind == "labels" else part.to_table()
    column = "gold" if kind == "gold" else "label"
    table = table.select(["item", *(["judge"] if kind == "judgments" else []), column])
    names = ["task", "worker", "label"] if table.num_columns == 3 else ["task", "true_label"]
    write_csv(pa.table(table.columns, names=names), file, guard=True)


FORMATS = (
    Format(
        name="mturk",
        title="Mechanical Turk batch results: HITId, WorkerId, Input.<x>, Answer.<question>",
        asks=True,
        reads=("judgments", "gold"),
        fits=header("hitid", "workerid", "answer.*"),
        read=_MTURK.read,
    ),
    Format(
        name="toloka",
        title="Toloka assignments: INPUT:<x>, OUTPUT:<x>, GOLDEN:<x>, ASSIGNMENT:worker_id",
        asks=True,
        reads=("judgments", "gold"),
        extension=".tsv",
        fits=header("assignment:worker_id", "output:*"),
        read=_TOLOKA.read,
    ),
)
CROWDKIT = Format(
    name="crowd-kit",
    title="crowd-kit: task,worker,label; truth task,true_label",
    reads=("judgments", "gold"),
    writes=("judgments", "labels", "gold"),
    fits=any_of(
        columns_are("task", "worker", "label"),
        columns_are("task", "true_label"),
        columns_are("task", "label"),
    ),
    read=_read_crowdkit,
    write=_write_crowdkit,
)


_ITEM, _JUDGE = "_unit_id", "_worker_id"
_SURE = ":confidence"


def _question(table: Any, source: Source, options: Options) -> tuple[Any, str]:
    """Choose the question, and leave out the gold of test questions with several answers."""
    names = table.column_names
    questions = [name for name in names if f"{name}_gold" in names]
    if not questions:
        inputs = [name for name in names if not name.startswith("_")]
        questions = asked_questions(table, _ITEM, inputs) or inputs
    if options.question in names:
        questions.append(str(options.question))
    question = choose_question(questions, options, source.name, "question")
    gold = f"{question}_gold"
    if gold in names:
        several = pc.match_substring_regex(pc.utf8_trim_whitespace(table[gold]), r"[\r\n]")
        units = pc.count_distinct(table[_ITEM].filter(several)).as_py()
        if units:
            what = count_of(units, "test question")
            source.remark(f"{what} without gold: several answers accepted")
            table = with_column(table, gold, pc.if_else(several, "", table[gold]))
    return table, question


def _inputs(columns: list[str], question: str) -> list[str]:
    """Return the columns that are neither the platform's, nor a question or about one."""
    asked = {question, *(name for name in columns if f"{name}_gold" in columns)}
    about = {f"{name}{end}" for name in asked for end in ("", "_gold", "_gold_reason")}
    return [name for name in columns if not name.startswith("_") and name not in about]


def _choose_aggregated_question(table: Any, source: Source, options: Options) -> tuple[Any, str]:
    """Choose the question among the columns that have their confidence next to them."""
    names = table.column_names
    found = [name for name in names if f"{name}{_SURE}" in names]
    return table, choose_question(found, options, source.name, "question")


_FULL = Table(
    roles={"item": _ITEM, "judge": _JUDGE},
    answers="*",
    inputs=_inputs,
    gold="*_gold",
    reason="*_gold_reason",
    times=("_started_at", "_created_at"),
    skips=(("_tainted", ("true", "1"), "tainted, of a judge who lost trust"),),
    honeypots=True,
    planted="_golden",
    choices="lines",
    guarded=True,
    prepare=_question,
)
_AGGREGATED = Table(
    roles={"item": _ITEM, "topic": "topic", "document": "document"},
    gold="*",
    guarded=True,
    prepare=_choose_aggregated_question,
    known=(f"*{_SURE}",),
)


APPEN = (
    Format(
        name="appen",
        title="Appen (CrowdFlower) full report: _unit_id, _worker_id, <question>, <question>_gold",
        asks=True,
        reads=("judgments", "gold"),
        fits=header("_unit_id", "_worker_id"),
        read=_FULL.read,
    ),
    Format(
        name="appen-aggregated",
        title="Appen (CrowdFlower) aggregated report: _unit_id, <question>, <question>:confidence",
        reads=("gold",),
        fits=header("_unit_id", "*:confidence"),
        read=_AGGREGATED.read,
    ),
)
