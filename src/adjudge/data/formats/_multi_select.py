"""Questions of which several options may be chosen: each option becomes a question of its own.

An item of a unit and an option, ``unit/option``, has the label 1 where a judge chose it, else 0.
Options stand in a cell as a JSON list, or one a line as CrowdFlower writes them. Where nobody ever
chose more than one, the option is the label.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Options
from adjudge.data.names import as_names, encode, pair_names
from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy

_ITEM, _LABEL = "unit/option", "chosen"
_KEPT = ("judge", "time", "seconds", "family", "kind", "prompt", "version")


def one_question_an_option(
    table: Any, source: Source, roles: dict[str, str], options: Options, *, lines: bool = False
) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    """The table with a row for each option, the roles in it, and the options; itself if single.

    Options are JSON lists, in every row; or with ``lines`` one a line. A question named that is one
    of the options is the only one asked.
    """
    label = roles.get("label")
    if label is None or "judge" not in roles or not _is_text(table[label]):
        return table, roles, ()
    codes, names = encode(table[label])
    texts = names.to_pylist()
    lists = [_one_a_line(text) if lines else _listed(text) for text in texts]
    picked = [chosen for chosen in lists if chosen is not None]
    if len(picked) < len(lists) or not any(picked):
        return table, roles, ()
    if all(len(chosen) <= 1 for chosen in picked):
        plain = pa.array([chosen[0] if chosen else "" for chosen in picked], pa.large_string())
        return _with_column(table, label, plain.take(pa.array(codes, mask=codes < 0))), roles, ()
    return _spread(table, source, roles, options, codes, picked)


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _listed(text: str) -> list[str] | None:
    """The options in a cell that is a JSON list; None where it is none."""
    stripped = text.strip()
    if not stripped:
        return []
    if not (stripped.startswith("[") and stripped.endswith("]")):
        return None
    try:
        found = json.loads(stripped)
    except ValueError:
        return None
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        return None
    return [entry.strip() for entry in found]


def _one_a_line(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _with_column(table: Any, name: str, column: Any) -> Any:
    return table.set_column(table.column_names.index(name), name, column)


def _spread(
    table: Any,
    source: Source,
    roles: dict[str, str],
    options: Options,
    codes: Any,
    picked: list[list[str]],
) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    every = tuple(sorted({option for chosen in picked for option in chosen if option}))
    if options.question in every:
        every = (str(options.question),)
    if len(table) * len(every) > 50_000_000:
        raise BadData(
            f"{len(every):,} options in {len(table):,} rows are too many to be questions each",
            source=source.name,
            code="several-questions",
            remedies=(Remedy("question"),),
        )
    where = {option: at for at, option in enumerate(every)}
    marks = np.zeros((len(picked) + 1, len(every)), dtype=np.int8)  # (label, option)
    for at, chosen in enumerate(picked):
        for option in chosen:
            if option in where:
                marks[at, where[option]] = 1
    given = np.flatnonzero(codes >= 0)
    rows = np.repeat(given, len(every))
    which = np.tile(np.arange(len(every)), len(given))
    source.keep(rows)
    units = _units(table, roles).take(pa.array(rows))
    names = pa.array(every, pa.large_string()).take(pa.array(which))
    marked = pa.array(["0", "1"]).take(pa.array(marks[codes[rows], which]))
    kept = [roles[role] for role in _KEPT if role in roles]
    columns = {name: table[name].take(pa.array(rows)) for name in dict.fromkeys(kept)}
    columns |= {_ITEM: pair_names(units, names), _LABEL: marked}
    source.remark(
        f"column {roles['label']}: several options may be chosen, so each of the {len(every)} is a "
        "question of its own: was it chosen (1) or not (0)"
    )
    told = {role: roles[role] for role in _KEPT if role in roles}
    return pa.table(columns), {**told, "item": _ITEM, "label": _LABEL}, every


def _units(table: Any, roles: dict[str, str]) -> Any:
    """The name of each row's item before it had options."""
    if "item" in roles:
        return as_names(pc.cast(table[roles["item"]], pa.large_string()))
    if "topic" in roles:
        return pair_names(table[roles["topic"]], table[roles["document"]])
    return as_names(pc.cast(table[roles["document"]], pa.large_string()))
