"""Wide tables: a row per item, a column per judge; an empty cell is no judgment.

With a header, the first column that names the item does so and the columns that share one small set
of values are the judges, which a note names. Without a header it is a matrix as MACE takes it:
every column a judge, every row an item, both by their number.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data._second_questions import further_columns
from adjudge.data.columns import letters_of, named_columns, roles_of
from adjudge.data.formats._unknown import answered_by
from adjudge.data.formats.delimited import delimiter_of, read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.tables import is_blank, is_word, judged_content, scale_of
from adjudge.data.gold import Gold
from adjudge.data.labels import remark_scale
from adjudge.data.names import as_names
from adjudge.data.source import Source
from adjudge.errors import name_columns

NONE = ("", "na", "nan", "null", "none", "-", "?")  # cells that hold no judgment
MOST_LABELS = 12  # different values that the cells of judges may have
FEWEST_ROWS = 3  # rows below which nothing can be concluded
_WIDTH = 40  # letters of a label


def sample_rows(file: File, delimiter: str, most: int = 300) -> list[list[str]]:
    """Return the first rows of a file without the last, which may be cut off; blank ones left out.

    The header is the first.
    """
    lines = file.text.splitlines(keepends=True)
    if not file.whole:
        lines = lines[:-1]
    try:
        return [cells for cells in csv.reader(lines[:most], delimiter=delimiter) if cells]
    except csv.Error:
        return []


def number_columns(width: int) -> tuple[str, ...]:
    """Return the names of the columns of a file that has no header."""
    return tuple(f"column {place}" for place in range(1, width + 1))


def judge_columns(header: list[str], rows: list[list[str]]) -> list[str]:
    """Return the columns of a table that look like judges: they share one small set of values."""
    roles = roles_of(header)
    letters = [letters_of(name) for name in header]
    numbered = {name for name in letters if letters.count(name) > 1}  # annotator1, annotator2
    sample = {"gold", "sampling"} <= roles.keys()  # of items to get gold for
    if sample or (
        {"judge", "label"} <= roles.keys() and letters_of(roles["label"]) not in numbered
    ):
        return []
    places = ("item", "topic", "document", "gold", "time")
    taken = {roles[role] for role in places if role in roles}
    taken = {name for name in taken if letters_of(name) not in numbered} | {header[0]}
    values: dict[str, set[str]] = {}
    for at, name in enumerate(header):
        cells = {row[at].strip() for row in rows if len(row) == len(header)}
        own = {cell for cell in cells if cell.casefold() not in NONE}
        free = name not in taken and letters_of(name) not in ("id", "index", "")
        if free and 0 < len(own) <= MOST_LABELS and max(map(len, own)) < _WIDTH:
            values[name] = own
    judges = _alike(values)
    person = roles.get("judge")
    has_own = person is not None and person not in judges and letters_of(person) not in numbered
    return [] if has_own else judges


def _alike(values: dict[str, set[str]]) -> list[str]:
    """Return the columns whose values are mostly those of others; none if they differ in kind."""
    alike = [
        name
        for name, own in values.items()
        if any(2 * len(own & other) >= len(own) for key, other in values.items() if key != name)
    ]
    every = set().union(*(values[name] for name in alike)) if alike else set()
    return alike if len(alike) > 1 and len(every) <= MOST_LABELS else []


def _is_wide(file: File) -> bool:
    """Recognise a column that names items, and columns that share one small set of values."""
    if file.kind != "delimited" or len(file.columns) < 3:
        return False
    rows = sample_rows(file, file.delimiter)
    if len(rows) <= FEWEST_ROWS or len(set(rows[0])) < len(rows[0]):
        return False
    header = [cell.strip() or f"column {at}" for at, cell in enumerate(rows[0], start=1)]
    judges = judge_columns(header, rows[1:])
    if not judges or len(judges) == len(header) or answered_by(header):
        return False
    cells = {cell for row in rows[1:] if len(row) == len(header) for cell in row}
    return not any(name in cells for name in judges)  # a header's names are nowhere else


def _is_matrix(file: File) -> bool:
    """Recognise rows of one width whose cells are empty or from one small set of values."""
    if file.kind != "delimited" or file.delimiter not in file.first:
        return False
    rows = sample_rows(file, file.delimiter)
    widths = {len(row) for row in rows}
    if len(rows) < FEWEST_ROWS or len(widths) > 1 or max(widths) < 3:
        return False
    cells = [[cell.strip() for cell in row] for row in rows]
    values = {cell for row in cells for cell in row} - {""}
    gaps = any(not cell for row in cells for cell in row)
    if not set(cells[0]) - {""} <= {cell for row in cells[1:] for cell in row}:
        return False  # a header's names are nowhere else
    # Three full columns of few values could as well be judge, item and label.
    return bool(values) and len(values) <= MOST_LABELS and (gaps or max(widths) > 3)


def _read_wide(file: File, options: Options) -> Content:
    """Read the judgments of a wide table with a header."""
    table, source = read_delimited(file, options, delimiter=delimiter_of(file), guarded=True)
    columns = table.column_names
    roles = roles_of(columns, named=named_columns(options.columns, columns, source.name))
    judges = judge_columns(columns, [list(row.values()) for row in table[:500].to_pylist()])
    if not judges:
        problem = f"no columns look like judges of one item; the columns are {', '.join(columns)}"
        remedies = [name_columns("item", "judge", "label")]
        raise source.error(None, problem, code="unclear-columns", remedies=remedies)
    where = _places(roles, columns, judges)
    blank = np.logical_or.reduce([is_blank(table[name]) for name in where.values()])
    table = table.filter(pa.array(~blank))
    listed = ", ".join(judges[:8]) + (", ..." if len(judges) > 8 else "")
    free = [c for c in columns[1:] if c not in (*judges, *roles.values())]
    others = further_columns(file, free)
    rest = f", not {', '.join(others)}" if others else ""
    source.remark(f"a wide table: a column a judge ({len(judges)}: {listed}){rest}")
    gold = None
    if "gold" in roles and roles["gold"] not in judges:
        gold = gold_from_table(table, source=source, roles={**where, "gold": roles["gold"]})
    places = {role: as_names(table[name]) for role, name in where.items()}
    return _content([table[name] for name in judges], judges, places, source, options, gold)


def _places(roles: dict[str, str], columns: list[str], judges: list[str]) -> dict[str, str]:
    """Return which columns name the item."""
    if {"topic", "document"} <= roles.keys() and "item" not in roles:
        return {role: roles[role] for role in ("topic", "document")}
    own = roles.get("item") or roles.get("document")
    if own is None or own in judges:
        own = next(name for name in columns if name not in judges)
    return {"item": own}


def _read_matrix(file: File, options: Options) -> Content:
    """Read the judgments of a matrix without names."""
    names = number_columns(len(file.cells(file.delimiter)))
    table, source = read_delimited(file, options, delimiter=file.delimiter, names=names)
    items = pa.array([str(row) for row in range(1, len(table) + 1)], pa.large_string())
    source.remark("a matrix without names: a row an item, a column a judge, by their numbers")
    judges = [str(place) for place in range(1, len(names) + 1)]
    return _content(table.columns, judges, {"item": items}, source, options, None)


def one_row_per_cell(
    cells: Sequence[Any], judges: list[str], places: dict[str, Any], source: Source
) -> Any:
    """Return a table with a row for each cell that holds a judgment, in the order of the rows."""
    given = [np.flatnonzero(~is_word(column.fill_null(""), *NONE)) for column in cells]
    rows = np.concatenate([*given, np.empty(0, dtype=np.int64)])
    if not rows.size:
        raise source.error(None, "there is no judgment in this table", code="no-judgments")
    judge = np.repeat(np.arange(len(given)), [len(part) for part in given])
    order = np.argsort(rows, kind="stable")
    source.keep(rows[order])
    labels = [as_names(c).take(pa.array(part)) for c, part in zip(cells, given, strict=True)]
    columns = {role: names.take(pa.array(rows[order])) for role, names in places.items()}
    columns["judge"] = pa.array(judges, pa.large_string()).take(pa.array(judge[order]))
    columns["label"] = pa.concat_arrays(labels).take(pa.array(order))
    return pa.table(columns)


def _content(
    cells: list[Any],
    judges: list[str],
    places: dict[str, Any],
    source: Source,
    options: Options,
    gold: Gold | None,
) -> Content:
    """Return the judgments in columns, one per judge, on a scale that the gold is on too."""
    table = one_row_per_cell(cells, judges, places, source)
    if options.scale is None and gold is not None:
        scale = scale_of([*pc.unique(table["label"]).to_pylist(), *gold.values])
        if scale is not None:
            options = replace(options, scale=scale)
            remark_scale(scale, "label", source)
    roles = {name: name for name in table.column_names}
    return replace(judged_content(table, source, roles, options), gold=gold)


FORMATS = (
    Format(
        name="matrix",
        title="a matrix without a header, as MACE takes it: a row an item, a column a judge",
        reads=("judgments",),
        fits=_is_matrix,
        read=_read_matrix,
    ),
    Format(
        name="wide",
        title="a wide table: a row an item, a column a judge",
        reads=("judgments", "gold"),
        fits=_is_wide,
        read=_read_wide,
    ),
)
