"""Toloka: the assignments of a pool, tab separated, with INPUT, OUTPUT, GOLDEN and ASSIGNMENT.

The item is the task where the export has its id, else the inputs: topic and document where they
are so named, else all their values joined by ``/``. Assignments that were rejected, skipped, not
finished in time or not finished yet are left out and counted in the notes, as are rows without an
answer. A task with a golden answer is a honeypot, and ``HINT:text`` the reason of its gold. Times
are UTC.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._instants import instants, seconds_between
from adjudge.data.build import load_table
from adjudge.data.formats._exports import (
    chosen_question,
    is_blank,
    is_word,
    leave_out,
    pair_columns,
    with_reasons,
)
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.names import as_names
from adjudge.data.source import Source

_TASK = "ASSIGNMENT:task_id"
_JUDGE = "ASSIGNMENT:worker_id"
_STATUS = "ASSIGNMENT:status"
_TIMES = ("ASSIGNMENT:started", "ASSIGNMENT:submitted")
_HINT = "HINT:text"
_INPUTS = "INPUT"  # the joined inputs, where they are the item


def _read(file: File, options: Options) -> Content:
    """The judgments of a pool, with the gold of its control tasks."""
    table, source = read_delimited(file, options, spelt=_spelt, columns=_columns)
    outputs = [_bare(name) for name in table.column_names if name.startswith("OUTPUT:")]
    question = chosen_question(outputs, options, source.name, "output", "a column OUTPUT:<field>")
    table, notes = leave_out(table, source, _reasons(table, f"OUTPUT:{question}"))
    table = _timed(table, source)
    inputs = [name for name in table.column_names if name.startswith("INPUT:")]
    table, roles = _roles(table, source, question, inputs)
    judgments, gold = load_table(
        table, scale=options.scale, source=source, roles=roles, fields=tuple(inputs)
    )
    if inputs:
        bare = [_bare(name) for name in inputs]
        judgments = replace(judgments, fields=judgments.fields.rename_columns(bare))
    if gold is not None:
        gold = replace(gold, honeypot=np.ones(len(gold), dtype=np.bool_))
        if _HINT in table.column_names:
            gold = with_reasons(gold, table, roles, _HINT)
    return Content(judgments=judgments, gold=gold, bad=source.skipped, notes=notes)


def _spelt(name: str) -> str:
    """A column's name as a pool has it, of one that a program may have put in another case."""
    prefix, colon, rest = name.partition(":")
    known = prefix.upper()
    return f"{known}:{rest.lower() if known in ('ASSIGNMENT', 'HINT') else rest}" if colon else name


def _bare(name: str) -> str:
    return name.partition(":")[2]


def _columns(header: list[str]) -> list[str]:
    chosen = (_TASK, _JUDGE, _STATUS, *_TIMES, _HINT)
    return [n for n in header if n in chosen or n.startswith(("INPUT:", "OUTPUT:", "GOLDEN:"))]


def _reasons(table: Any, label: str) -> dict[str, Any]:
    """The rows that are no judgments, by reason."""
    reasons = {}
    if _STATUS in table.column_names:
        for word, reason in (
            ("rejected", "rejected by the requester"),
            ("skipped", "skipped"),
            ("expired", "not finished in time"),
            ("active", "not finished yet"),
        ):
            reasons[reason] = is_word(table[_STATUS], word)
    return reasons | {"no answer": is_blank(table[label])}


def _timed(table: Any, source: Source) -> Any:
    """The table with its times read, and the seconds between start and end."""
    for name in _TIMES:
        if name in table.column_names:
            times = instants(table[name], source, name)
            place = table.column_names.index(name)
            table = table.set_column(place, name, times)
    if set(_TIMES) <= set(table.column_names):
        started, submitted = (table[name] for name in _TIMES)
        table = table.append_column("seconds", seconds_between(started, submitted))
    return table


def _roles(
    table: Any, source: Source, question: str, inputs: list[str]
) -> tuple[Any, dict[str, str]]:
    """Which column plays which role; the inputs joined are a new column where they are the item."""
    columns = table.column_names
    roles = {"judge": _JUDGE, "label": f"OUTPUT:{question}"}
    pair = pair_columns(_bare(name) for name in inputs)
    roles |= {role: f"INPUT:{name}" for role, name in pair.items()}
    if _TASK in columns and not is_blank(table[_TASK]).all():
        roles["item"] = _TASK
    elif len(pair) < 2:
        roles["item"] = _INPUTS
        table = table.append_column(_INPUTS, _joined(table, source, inputs))
    for role, names in (
        ("gold", [f"GOLDEN:{question}"]),
        ("time", _TIMES[::-1]),
        ("seconds", ["seconds"]),
    ):
        found = next((name for name in names if name in table.column_names), None)
        if found is not None:
            roles[role] = found
    return table, roles


def _joined(table: Any, source: Source, inputs: list[str]) -> Any:
    """The inputs of each row as one id; that two tasks get the same one is an error."""
    if not inputs:
        raise source.error(
            None, f"no column {_TASK} and no column INPUT:<field>; wanted what tells items apart"
        )
    columns = [as_names(table[name]) for name in inputs]
    joined = pc.binary_join_element_wise(*columns, pa.scalar("/", pa.large_string()))
    tasks = table.select(inputs).group_by(inputs).aggregate([])
    if len(tasks) > pc.count_distinct(joined).as_py():
        raise source.error(
            None, f"two tasks have inputs that read the same when joined; wanted a column {_TASK}"
        )
    return joined


FORMATS = (
    Format(
        name="toloka",
        title="Toloka assignments: INPUT:<x>, OUTPUT:<x>, GOLDEN:<x>, ASSIGNMENT:worker_id",
        asks=True,
        reads=("judgments", "gold"),
        extension=".tsv",
        read=_read,
    ),
)
