"""Delimited text without a header: judge, item and label in some order, or item and gold.

Get-Another-Label and many research folders have it. The label is the last
column; of the other two the one with fewer names is the judge, since judges judge many items.
Where the two are about as many, the user has to name the columns.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import content_of
from adjudge.data.formats.spaced import read_spaced
from adjudge.data.formats.tables import is_blank, judged_content
from adjudge.data.formats.wide import sample_rows
from adjudge.data.shapes import FEWEST_ROWS, MOST_LABELS, number_columns
from adjudge.data.source import Source
from adjudge.errors import Remedy, name_columns

_CLEAR = 1.25  # how many times more items than judges there have to be


def _fits(file: File) -> bool:
    """Recognise two or three columns, the last of few values; that of the first line repeats."""
    if file.kind != "delimited":
        return False
    if any(mark in file.first for mark in "\t,;|"):
        rows = sample_rows(file, file.delimiter)
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


def _read(file: File, options: Options) -> Content:
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
    if len(names) == 2 and options.wanted in (None, "gold", "labels"):
        roles = {"item": names[0], "gold": names[1]}
        gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
        source.remark("no header: column 1 is taken for the item, column 2 for its gold")
        return Content(gold=gold, bad=source.skipped)
    roles = _roles(table, source)
    content = judged_content(table, source, roles, options)
    told = ", ".join(f"{name} for the {role}" for role, name in roles.items())
    source.remark(f"no header: {told}, by how many different values they have")
    return content


def _roles(table: Any, source: Source) -> dict[str, str]:
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


FORMATS = (
    Format(
        name="headerless",
        title="text without a header: judge, item and label (Get-Another-Label), or item and gold",
        reads=("judgments", "gold"),
        extension=".txt",
        fits=_fits,
        read=_read,
    ),
)
