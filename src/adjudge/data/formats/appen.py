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

from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._instants import KIND, american
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.recognition import header
from adjudge.data.formats.tables import (
    Table,
    asked_questions,
    choose_question,
    with_column,
)
from adjudge.data.formats.writing import write_csv
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import as_names, look_up
from adjudge.data.source import Source, count_of

_ITEM, _JUDGE = "_unit_id", "_worker_id"
_SURE = ":confidence"
_QUESTION = "label"  # what a written report calls its question


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


def _aggregated_question(table: Any, source: Source, options: Options) -> tuple[Any, str]:
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
    prepare=_aggregated_question,
    known=(f"*{_SURE}",),
)


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
        **dict.fromkeys(("_channel", "_trust"), blank),
        _JUDGE: table["judge"],
        **dict.fromkeys(("_country", "_region", "_city", "_ip"), blank),
        _QUESTION: table["label"],
    }
    columns |= _input_columns(judgments, table, pa.array(judgments.item), columns)
    _write_report(columns, gold, reason, file)


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
    columns |= _input_columns(judgments, labels, where, columns)
    _write_report(columns, gold, reason, file)


def _write_report(columns: dict[str, Any], gold: Any, reason: Any, file: IO[bytes]) -> None:
    """Write the columns of a report, and the gold behind them."""
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


def _input_columns(
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
    last = judgments.to_table().group_by("item").aggregate([("time", "max")])
    found = look_up(items, last["item"])
    return american(last["time_max"].take(pa.array(found, mask=found < 0)).cast(KIND))


FORMATS = (
    Format(
        name="appen",
        title="Appen (CrowdFlower) full report: _unit_id, _worker_id, <question>, <question>_gold",
        asks=True,
        reads=("judgments", "gold"),
        writes=("judgments",),
        fits=header("_unit_id", "_worker_id"),
        read=_FULL.read,
        write=_write_full,
    ),
    Format(
        name="appen-aggregated",
        title="Appen (CrowdFlower) aggregated report: _unit_id, <question>, <question>:confidence",
        reads=("gold",),
        writes=("labels",),
        fits=header("_unit_id", "*:confidence"),
        read=_AGGREGATED.read,
        write=_write_aggregated,
    ),
)
