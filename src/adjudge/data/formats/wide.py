"""Wide tables: a row an item, a column a judge, a cell a judgment, an empty cell none.

With a header, the first column that names the item does so and the columns that share one small set
of values are the judges, whose names are told. Without a header it is a matrix as MACE takes it:
every column a judge, every row an item, both by their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data._second_questions import further_columns
from adjudge.data.build import load_table
from adjudge.data.columns import named_columns, roles_of
from adjudge.data.formats._exports import is_blank
from adjudge.data.formats._shapes import NONE, judge_columns, number_columns
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.gold import Gold
from adjudge.data.labels import remark_scale
from adjudge.data.names import as_names
from adjudge.data.scale import Scale
from adjudge.data.source import Source
from adjudge.errors import BadData


def _read_wide(file: File, options: Options) -> Content:
    """The judgments of a wide table with a header."""
    table, source = read_delimited(file, options, delimiter=delimiter_of(file), guarded=True)
    told = named_columns(options.columns, table.column_names, source.name)
    roles = roles_of(table.column_names, named=told)
    rows = [list(row.values()) for row in table.slice(0, 500).to_pylist()]
    judges = judge_columns(table.column_names, rows)
    if not judges:
        raise BadData(
            f"no columns look like judges of one item; the columns are "
            f"{', '.join(table.column_names)}",
            source=source.name,
        )
    where = _place(roles, table.column_names, judges)
    table = table.filter(
        pa.array(~np.logical_or.reduce([is_blank(table[c]) for c in where.values()]))
    )
    places = {role: as_names(table[name]) for role, name in where.items()}
    listed = ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else "")
    free = [c for c in table.column_names[1:] if c not in (*judges, *roles.values())]
    others = further_columns(file, free)
    rest = f", not {', '.join(others)}" if others else ""
    source.remark(f"a wide table: a column a judge ({len(judges)}: {listed}){rest}")
    cells = [table[name] for name in judges]
    gold = None
    if "gold" in roles and roles["gold"] not in judges:
        gold = gold_from_table(table, source=source, roles={**where, "gold": roles["gold"]})
    return _content(cells, judges, places, source, options, gold)


def _place(roles: dict[str, str], columns: list[str], judges: list[str]) -> dict[str, str]:
    """Which columns name the item."""
    if {"topic", "document"} <= roles.keys() and "item" not in roles:
        return {role: roles[role] for role in ("topic", "document")}
    own = roles.get("item") or roles.get("document")
    if own is None or own in judges:
        own = next(name for name in columns if name not in judges)
    return {"item": own}


def _read_matrix(file: File, options: Options) -> Content:
    """The judgments of a matrix without names."""
    names = number_columns(len(file.cells(file.delimiter)))
    table, source = read_delimited(file, options, delimiter=file.delimiter, names=names)
    items = pa.array([str(row) for row in range(1, len(table) + 1)], pa.large_string())
    source.remark("a matrix without names: a row an item, a column a judge, by their numbers")
    judges = [str(place) for place in range(1, len(names) + 1)]
    return _content([table[name] for name in names], judges, {"item": items}, source, options, None)


def _content(
    cells: list[Any],
    judges: list[str],
    places: dict[str, Any],
    source: Source,
    options: Options,
    gold: Gold | None,
) -> Content:
    """Judgments from columns, one a judge."""
    none = pa.array(NONE, pa.large_string())
    given = []
    for column in cells:
        low = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.large_string())))
        blank = np.asarray(pc.fill_null(pc.is_in(low, value_set=none), True), dtype=np.bool_)
        given.append(np.flatnonzero(~blank))
    rows = np.concatenate(given)
    if not rows.size:
        raise source.error(None, "there is no judgment in this table")
    judge = np.repeat(np.arange(len(given)), [len(part) for part in given])
    labels = pa.concat_arrays(
        [as_names(c).take(pa.array(part)) for c, part in zip(cells, given, strict=True)]
    )
    order = np.argsort(rows, kind="stable")
    source.keep(rows[order])
    columns = {role: names.take(pa.array(rows[order])) for role, names in places.items()}
    columns["judge"] = pa.array(judges, pa.large_string()).take(pa.array(judge[order]))
    columns["label"] = labels.take(pa.array(order))
    scale = options.scale
    if scale is None and gold is not None:
        scale = _scale(labels, gold)
        if scale is not None:
            remark_scale(scale, "label", source)
    roles = {name: name for name in columns}
    judgments, _ = load_table(pa.table(columns), scale=scale, source=source, roles=roles)
    return Content(judgments=judgments, gold=gold, bad=source.skipped)


def _scale(labels: Any, gold: Gold) -> Scale | None:
    try:
        return Scale.infer([*pc.unique(labels).to_pylist(), *gold.values])
    except BadData:
        return None


FORMATS = (
    Format(
        name="wide",
        title="a wide table: a row an item, a column a judge",
        reads=("judgments", "gold"),
        read=_read_wide,
    ),
    Format(
        name="matrix",
        title="a matrix without a header, as MACE takes it: a row an item, a column a judge",
        reads=("judgments",),
        read=_read_matrix,
    ),
)
