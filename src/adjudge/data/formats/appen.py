"""Appen, once CrowdFlower and Figure Eight: the full report, and the aggregated report.

The full report has a row a judgment, and is read and written. The question is the column ``q`` that
has a column ``q_gold`` beside it, or the one named, or where no gold is there the one column that
differs within a unit; the unit is the item. Where several options could be chosen, each is a
question of its own. A tainted judgment, of a judge whom the platform stopped trusting, is no
judgment, nor is a row without an answer: both are left out and counted in the notes. A test
question that accepts several answers has no one truth, so it gives no gold, which is also noted;
``q_gold_reason`` says why the gold is what it is, and ``_golden`` marks honeypots. Dates are month
first, in UTC.

The aggregated report has a row an item, and is only written: from labels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data._instants import KIND, american, instants, seconds_between
from adjudge.data.build import load_table
from adjudge.data.formats._exports import (
    asked_questions,
    chosen_question,
    first_rows,
    is_blank,
    is_word,
    leave_out,
    pair_columns,
    with_reasons,
)
from adjudge.data.formats._multi_select import one_question_an_option
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.writing import write_csv
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names, look_up
from adjudge.data.source import Source, count_of

_ITEM, _JUDGE = "_unit_id", "_worker_id"
_OWN = (_ITEM, _JUDGE, "_created_at", "_started_at", "_tainted", "_golden")
_SURE = ":confidence"
_QUESTION = "label"  # what a written report calls its question


def _read(file: File, options: Options) -> Content:
    """The judgments of a full report, with the gold of its test questions."""
    table, source = read_delimited(file, options, spelt=_spelt, columns=_columns, guarded=True)
    questions = _asked(table.column_names)
    if not questions:
        inputs = [name for name in table.column_names if not name.startswith("_")]
        questions = asked_questions(table, _ITEM, inputs) or inputs
    if options.question is not None and options.question in table.column_names:
        questions.append(options.question)
    question = chosen_question(questions, options, source.name, "question", "a column for it")
    table, notes = leave_out(table, source, _reasons(table, question))
    table = _timed(table, source)
    table, several = _one_gold(table, f"{question}_gold")
    roles = _roles(table.column_names, question)
    asked = _asked(table.column_names)
    fields = [
        name
        for name in table.column_names
        if not name.startswith("_") and not _is_about(name, {*asked, question})
    ]
    table, roles, choices = one_question_an_option(table, source, roles, options, lines=True)
    judgments, gold = load_table(
        table,
        scale=options.scale,
        source=source,
        roles=roles,
        fields=() if choices else tuple(fields),
    )
    if gold is not None:
        gold = _described(gold, table, roles, question)
    return Content(
        judgments=judgments, gold=gold, bad=source.skipped, notes=notes + several, options=choices
    )


def _read_aggregated(file: File, options: Options) -> Content:
    """The aggregated answer of each unit, as gold."""
    table, source = read_delimited(file, options, spelt=_spelt, guarded=True)
    rated = [name.removesuffix(_SURE) for name in table.column_names if name.endswith(_SURE)]
    questions = [name for name in rated if name in table.column_names]
    question = chosen_question(questions, options, source.name, "question", f"a column *{_SURE}")
    known = {"topic": "topic", "document": "document"}
    roles = {"item": _ITEM, "gold": question}
    roles |= {part: name for part, name in known.items() if name in table.column_names}
    gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
    return Content(gold=gold, bad=source.skipped)


def _spelt(name: str) -> str:
    """A column's name as a report has it: what the platform adds to it is in small letters."""
    if name.startswith("_"):
        return name.lower()
    for end in ("_gold", "_gold_reason", _SURE):
        if name.lower().endswith(end):
            return name[: -len(end)] + end
    return name


def _columns(header: list[str]) -> list[str]:
    return [name for name in header if name in _OWN or not name.startswith("_")]


def _asked(columns: list[str]) -> list[str]:
    """The columns that have their gold beside them, and so are questions."""
    return [name for name in columns if f"{name}_gold" in columns]


def _is_about(name: str, questions: set[str]) -> bool:
    """Whether a column is an answer or the gold of a question, and so no input."""
    return name in questions or any(
        name in (f"{question}_gold", f"{question}_gold_reason") for question in questions
    )


def _reasons(table: Any, question: str) -> dict[str, Any]:
    reasons = {}
    if "_tainted" in table.column_names:
        reasons["tainted, of a judge who lost trust"] = is_word(table["_tainted"], "true", "1")
    return reasons | {"no answer": is_blank(table[question])}


def _timed(table: Any, source: Source) -> Any:
    """The table with its times read, and the seconds between start and end."""
    for name in ("_started_at", "_created_at"):
        if name in table.column_names:
            place = table.column_names.index(name)
            table = table.set_column(place, name, instants(table[name], source, name))
    if {"_started_at", "_created_at"} <= set(table.column_names):
        seconds = seconds_between(table["_started_at"], table["_created_at"])
        table = table.append_column("_seconds", seconds)
    return table


def _one_gold(table: Any, column: str) -> tuple[Any, tuple[str, ...]]:
    """The table without the gold of test questions that accept several answers, and a note."""
    if column not in table.column_names:
        return table, ()
    gold = table[column]
    several = pc.match_substring_regex(pc.utf8_trim_whitespace(gold), r"[\r\n]")
    if not pc.any(several).as_py():
        return table, ()
    units = pc.count_distinct(table[_ITEM].filter(several)).as_py()
    note = f"{count_of(units, 'test question')} without gold: several answers accepted"
    place = table.column_names.index(column)
    return table.set_column(place, column, pc.if_else(several, "", gold)), (note,)


def _roles(columns: list[str], question: str) -> dict[str, str]:
    """Which column plays which role in a full report."""
    inputs = [n for n in columns if not n.startswith("_") and not _is_about(n, {question})]
    roles = {"item": _ITEM, "judge": _JUDGE, "label": question} | pair_columns(inputs)
    others = {"time": "_created_at", "seconds": "_seconds", "gold": f"{question}_gold"}
    return roles | {role: name for role, name in others.items() if name in columns}


def _described(gold: Gold, table: Any, roles: dict[str, str], question: str) -> Gold:
    """The gold with its reasons, and with the units marked that were planted."""
    honeypot = np.ones(len(gold), dtype=np.bool_)
    if "_golden" in table.column_names:
        honeypot = is_word(table["_golden"], "true", "1")[first_rows(gold, table, roles)]
    gold = replace(gold, honeypot=honeypot)
    reason = f"{question}_gold_reason"
    return with_reasons(gold, table, roles, reason) if reason in table.column_names else gold


def _write_full(content: Content, file: IO[bytes]) -> None:
    """The judgments as a full report; what the platform alone knows stays empty."""
    judgments: Judgments = content.need("judgments", "appen")
    table = judgments.to_table()
    blank = pa.nulls(len(table), pa.string())
    created = table["time"].cast(KIND) if judgments.time is not None else pa.nulls(len(table), KIND)
    started = pa.nulls(len(table), KIND)
    if judgments.time is not None and judgments.seconds is not None:
        micro = (table["seconds"].to_numpy() * 1e6).round()
        spent = pa.array(np.where(np.isnan(micro), 0, micro).astype(np.int64), mask=np.isnan(micro))
        started = pc.subtract(created.cast(pa.int64()), spent).cast(KIND)
    gold, reason, golden = _gold_of(content.gold, table["item"])
    wrong = pc.and_(golden, pc.fill_null(pc.not_equal(gold, as_names(table["label"])), False))
    columns: dict[str, Any] = {
        _ITEM: table["item"],
        "_created_at": american(created),
        "_golden": golden.cast(pa.string()),
        "_id": pa.array(np.arange(1, len(table) + 1)),
        "_missed": pc.if_else(golden, wrong.cast(pa.string()), pa.scalar(None, pa.string())),
        "_started_at": american(started),
        "_tainted": pa.repeat(pa.scalar("false"), len(table)),
        "_channel": blank,
        "_trust": blank,
        _JUDGE: table["judge"],
        "_country": blank,
        "_region": blank,
        "_city": blank,
        "_ip": blank,
        _QUESTION: table["label"],
    }
    columns |= _inputs(judgments, table, pa.array(judgments.item), columns)
    columns |= {f"{_QUESTION}_gold": gold, f"{_QUESTION}_gold_reason": reason}
    write_csv(pa.table(columns), file, guard=True)


def _write_aggregated(content: Content, file: IO[bytes]) -> None:
    """The labels as an aggregated report; confidence is the probability of the label."""
    labels = content.need("labels", "appen-aggregated")
    blank = pa.nulls(len(labels), pa.string())
    gold, reason, golden = _gold_of(content.gold, labels["item"])

    def known(name: str) -> Any:
        return labels[name] if name in labels.column_names else blank

    columns: dict[str, Any] = {
        _ITEM: labels["item"],
        "_golden": golden.cast(pa.string()),
        "_unit_state": pc.if_else(golden, "golden", "finalized"),
        "_trusted_judgments": known("judgments"),
        "_last_judgment_at": _last_times(content.judgments, labels["item"]),
        _QUESTION: labels["label"],
        f"{_QUESTION}:confidence": known("probability"),
    }
    judgments = content.judgments
    where = None
    if judgments is not None and judgments.fields is not None:
        codes = look_up(labels["item"], judgments.items)
        where = pa.array(codes, mask=codes < 0)
    columns |= _inputs(judgments, labels, where, columns)
    columns |= {f"{_QUESTION}_gold": gold, f"{_QUESTION}_gold_reason": reason}
    write_csv(pa.table(columns), file, guard=True)


def _gold_of(gold: Gold | None, items: Any) -> tuple[Any, Any, Any]:
    """The gold, its reason and the honeypot mark of each of the items."""
    missing = pa.nulls(len(items), pa.large_string())
    if gold is None:
        return missing, missing, pa.repeat(pa.scalar(False), len(items))
    found = look_up(items, gold.items)
    where = pa.array(found, mask=found < 0)
    values = pa.array(gold.texts(), pa.large_string()).take(where)
    reasons = missing if gold.reasons is None else as_names(gold.reasons).take(where)
    marks = np.ones(len(gold), dtype=np.bool_) if gold.honeypot is None else gold.honeypot
    return values, reasons, pa.array(np.append(marks, False)[found])


def _inputs(
    judgments: Judgments | None, table: Any, where: Any, taken: dict[str, Any]
) -> dict[str, Any]:
    """Topic, document and fields of each row, but for names that the report needs itself."""
    inputs = {name: table[name] for name in ("topic", "document") if name in table.column_names}
    if judgments is not None and judgments.fields is not None and where is not None:
        reserved = {*taken, *inputs, f"{_QUESTION}_gold", f"{_QUESTION}_gold_reason"}
        for name in judgments.fields.column_names:
            if name not in reserved and not name.startswith("_"):
                inputs[name] = judgments.fields[name].take(where)
    return inputs


def _last_times(judgments: Judgments | None, items: Any) -> Any:
    """When each item was judged last, as the platform writes dates."""
    if judgments is None or judgments.time is None:
        return pa.nulls(len(items), pa.string())
    last = np.full(judgments.item_count + 1, -np.inf)
    known = ~np.isnan(judgments.time)
    np.maximum.at(last, judgments.item[known], judgments.time[known])
    times = last[look_up(items, judgments.items)]
    unknown = np.isinf(times)
    micro = np.where(unknown, 0, times * 1e6).astype(np.int64)
    return american(pa.array(micro, pa.int64(), mask=unknown).cast(KIND))


FORMATS = (
    Format(
        name="appen",
        title="Appen (CrowdFlower) full report: _unit_id, _worker_id, <question>, <question>_gold",
        asks=True,
        reads=("judgments", "gold"),
        writes=("judgments",),
        read=_read,
        write=_write_full,
    ),
    Format(
        name="appen-aggregated",
        title="Appen (CrowdFlower) aggregated report: _unit_id, <question>, <question>:confidence",
        reads=("gold",),
        writes=("labels",),
        read=_read_aggregated,
        write=_write_aggregated,
    ),
)
