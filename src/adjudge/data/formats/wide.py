"""Wide tables: a row per item, a column per judge; an empty cell is not a judgment.

With a header, names that are judges' (``annotator_1``) are judges, and counts of votes that add up
are votes; any other table whose columns share one small set of values is asked about. Without a
header it is a matrix as MACE takes it: every column a judge, every row an item, by their number.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data._second_questions import first_cells
from adjudge.data.columns import named_columns
from adjudge.data.formats._unknown import answered_by
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import content_of
from adjudge.data.formats.spaced import read_spaced
from adjudge.data.formats.tables import is_blank, judged_content
from adjudge.data.shapes import (
    FEWEST_ROWS,
    MOST_LABELS,
    is_wide,
    number_columns,
    read_by_judge,
    settle_shape,
)
from adjudge.data.source import Source
from adjudge.errors import Remedy, name_columns


def _is_wide(file: File) -> bool:
    """Recognise columns of judges or counts, or several that share one small set of values."""
    if file.is_folder or not file.start:
        return False
    cells = first_cells(file)
    if not is_wide(cells) or answered_by(list(cells)):
        return False
    return not {cell for given in cells.values() for cell in given}.issuperset(cells)


def _is_matrix(file: File) -> bool:
    """Recognise rows of one width whose cells are empty or from one small set of values."""
    if file.kind != "delimited" or file.delimiter not in file.first:
        return False
    rows = file.rows
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
    from adjudge.data.formats.plain import read_every

    table, source = read_every(file, options)
    named = named_columns(options.columns, table.column_names, source.name)
    table, roles = settle_shape(table, options, first_cells(file), source, named)
    return judged_content(table, source, roles, options)


def _read_matrix(file: File, options: Options) -> Content:
    """Read the judgments of a matrix without names."""
    names = number_columns(len(file.cells(file.delimiter)))
    table, source = read_delimited(file, options, delimiter=file.delimiter, names=tuple(names))
    if not options.are_wide and len(table) < len(names):
        raise source.error(
            None,
            f"{len(table)} rows and {len(names)} columns without a header: it is not clear whether "
            "a row is an item and a column a judge, or the other way around",
            code="unclear-columns",
            remedies=[Remedy("transpose"), Remedy("judges-are", "*")],
        )
    if not options.transpose:
        table = table.rename_columns([str(place) for place in range(1, len(names) + 1)])
        items = pa.array([str(row) for row in range(1, len(table) + 1)], pa.large_string())
        named = table.append_column("item", items)
        source.remark(
            "a matrix without names: one row per item, one column per judge, named by their numbers"
        )
        table, roles = read_by_judge(named, table.column_names, {"item": "item"}, source)
    else:
        table, roles = settle_shape(table, options, {}, source, {})
    return judged_content(table, source, roles, options)


FORMATS = (
    Format(
        name="matrix",
        title="a matrix without a header, as MACE takes it: one row per item, one column per judge",
        fits=_is_matrix,
        read=_read_matrix,
    ),
    Format(
        name="wide",
        title="a wide table: one row per item, one column per judge",
        reads=("judgments", "gold"),
        fits=_is_wide,
        read=_read_wide,
    ),
)


_CLEAR = 1.25  # how many times more items than judges there have to be


def _is_headerless(file: File) -> bool:
    """Recognise two or three columns, the last of few values; that of the first line repeats."""
    if file.kind != "delimited":
        return False
    if any(mark in file.first for mark in "\t,;|"):
        rows = file.rows
    else:
        rows = [line.split() for line in file.text.splitlines()[:300] if line.split()]
    if rows and all(len(row) == 4 and not row[-1].strip() for row in rows):
        rows = [row[:-1] for row in rows]  # a delimiter at the end of every line
    if len(rows) < FEWEST_ROWS or {len(row) for row in rows} not in ({2}, {3}) or not all(rows[0]):
        return False
    last = [row[-1].strip() for row in rows]
    values = set(last)
    few = len(values) <= MOST_LABELS or 4 * len(values) <= len(rows)
    others = [{row[at] for row in rows} for at in range(len(rows[0]) - 1)]
    return last.count(last[0]) > 1 and few and all(len(own) >= len(values) for own in others)


def _read_headerless(file: File, options: Options) -> Content:
    """Read judgments of three columns, gold of two; others by the columns that the user names."""
    if file.delimiter == "," and "," not in file.first:
        table, source = read_spaced(file, options, tuple(number_columns(len(file.first.split()))))
    else:
        names = tuple(number_columns(len(file.cells(file.delimiter))))
        table, source = read_delimited(file, options, delimiter=file.delimiter, names=names)
    if len(table.column_names) == 4 and is_blank(table[table.column_names[-1]]).all():
        table = table.select(table.column_names[:-1])  # a delimiter at the end of every line
    if options.columns:
        return content_of(table, source, options)
    names = tuple(table.column_names)
    if len(names) == 2 and options.kind in (None, "gold", "labels"):
        roles = {"item": names[0], "gold": names[1]}
        gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
        source.remark("no header: column 1 is taken for the item, column 2 for its gold")
        return Content(gold=gold, bad=source.skipped)
    roles = _headerless_roles(table, source)
    content = judged_content(table, source, roles, options)
    listed = ", ".join(f"{name} for the {role}" for role, name in roles.items())
    source.remark(f"no header: {listed}, by how many different values they have")
    return content


def _headerless_roles(table: Any, source: Source) -> dict[str, str]:
    """Which of three columns is the judge, the item and the label."""
    names = table.column_names
    counts = {name: pc.count_distinct(table[name]).as_py() for name in names}
    if len(names) == 3:
        first, second, label = names
        few, many = sorted((first, second), key=lambda name: counts[name])
        clear = counts[many] >= _CLEAR * counts[few]
        if 1 < counts[label] <= counts[few] and clear:
            return {"judge": few, "item": many, "label": label}
    listed = ", ".join(f"{name} ({count:,} values)" for name, count in counts.items())
    problem = f"there is no header, and which column is item, judge and label is unclear: {listed}"
    remedies = [Remedy("header", False), name_columns(item="1", judge="2", label="3")]
    raise source.error(None, problem, value=counts, code="unclear-columns", remedies=remedies)


HEADERLESS = (
    Format(
        name="headerless",
        title="text without a header: judge, item and label (Get-Another-Label), or item and gold",
        reads=("judgments", "gold"),
        extension=".txt",
        fits=_is_headerless,
        read=_read_headerless,
    ),
)
