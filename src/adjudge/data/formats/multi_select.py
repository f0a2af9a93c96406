"""Questions of which several options may be chosen: each option becomes a question of its own.

An item of a unit and an option, ``unit/option``, has the label 1 where a judge chose it, else 0.
Options are in a cell as a JSON list, or one per line as CrowdFlower writes them. Where nobody ever
chose more than one, the option is the label.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Options
from adjudge.data.names import as_names, encode, pair_names
from adjudge.data.source import Source
from adjudge.errors import Remedy

_ITEM, _LABEL = "unit/option", "chosen"
_MOST = 50_000_000  # rows
_KEPT = ("judge", "time", "seconds", "family", "kind", "prompt", "version")


def split_options(
    table: Any,
    source: Source,
    roles: dict[str, str],
    options: Options,
    form: Literal["", "lists", "lines"] = "lists",
) -> tuple[Any, dict[str, str], tuple[str, ...]]:
    """Return the table with a row for each option, its roles, and the options; itself if single.

    Options are JSON lists in every row, or one per line. A question that is named and is one of the
    options is the only one asked.
    """
    label = roles.get("label")
    if label is None or "judge" not in roles or not _is_text(table[label]):
        return table, roles, ()
    codes, names = encode(table[label])
    read = _listed if form == "lists" else _one_per_line
    lists = [read(text) for text in names.to_pylist()]
    picked = [chosen for chosen in lists if chosen is not None]
    if len(picked) < len(lists) or not any(picked):
        return table, roles, ()
    if all(len(chosen) <= 1 for chosen in picked):
        plain = pa.array([chosen[0] if chosen else "" for chosen in picked], pa.large_string())
        column = plain.take(pa.array(codes, mask=codes < 0))
        return table.set_column(table.column_names.index(label), label, column), roles, ()
    every = tuple(sorted({option for chosen in picked for option in chosen if option}))
    if options.question in every:
        every = (str(options.question),)
    if len(table) * len(every) > _MOST:
        problem = f"{len(every):,} options in {len(table):,} rows are too many to be questions each"
        remedies = [Remedy("question")]
        raise source.error(None, problem, column=label, code="too-many-options", remedies=remedies)
    marks = np.array([[option in chosen for option in every] for chosen in picked])
    rows, which = (at.ravel() for at in np.indices((len(codes), len(every))))
    rows, which = rows[codes[rows] >= 0], which[codes[rows] >= 0]
    source.keep(rows)
    where = pa.array(rows)
    kept = {role: roles[role] for role in _KEPT if role in roles}
    columns = {name: table[name].take(where) for name in dict.fromkeys(kept.values())}
    chosen_option = pa.array(every, pa.large_string()).take(pa.array(which))
    columns[_ITEM] = pair_names(_units(table, roles).take(where), chosen_option)
    columns[_LABEL] = pa.array(["0", "1"]).take(pa.array(marks[codes[rows], which].astype(int)))
    source.remark(
        f"column {label}: several options may be chosen, so each of the {len(every)} is a "
        "question of its own: was it chosen (1) or not (0)"
    )
    return pa.table(columns), {**kept, "item": _ITEM, "label": _LABEL}, every


def _is_text(column: Any) -> bool:
    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _listed(text: str) -> list[str] | None:
    """Return the options in a cell that is a JSON list; None where it is not."""
    stripped = text.strip()
    if not stripped:
        return []
    try:
        found = json.loads(stripped) if stripped.startswith("[") else None
    except ValueError:
        return None
    if not isinstance(found, list) or not all(isinstance(entry, str) for entry in found):
        return None
    return [entry.strip() for entry in found]


def _one_per_line(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _units(table: Any, roles: dict[str, str]) -> Any:
    """Return the name of each row's item before it had options."""
    if "item" in roles:
        return as_names(pc.cast(table[roles["item"]], pa.large_string()))
    if "topic" in roles:
        return pair_names(table[roles["topic"]], table[roles["document"]])
    return as_names(pc.cast(table[roles["document"]], pa.large_string()))
