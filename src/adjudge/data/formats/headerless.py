"""Delimited text without a header: judge, item and label in some order, or item and gold.

So Get-Another-Label has it (judge, item, label), and many a research folder. The label is the last
column; of the other two the one with fewer names is the judge, since judges judge many items.
Where the two are about as many, the user has to name the columns by their numbers.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.formats._exports import is_blank
from adjudge.data.formats._shapes import number_columns
from adjudge.data.formats.delimited import read_delimited
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import content_of
from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy, name_columns

_CLEAR = 1.25  # how many times more items than judges there have to be


def _read(file: File, options: Options) -> Content:
    """Judgments of three columns, gold of two; others by the columns that a person names."""
    if file.delimiter == "," and "," not in file.first:
        table, source = _by_blanks(file, options)
    else:
        names = number_columns(len(file.cells(file.delimiter)))
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
    judgments, _ = load_table(table, scale=options.scale, source=source, roles=roles)
    told = ", ".join(f"{name} for the {role}" for role, name in roles.items())
    source.remark(f"no header: {told}, by how many different values they have")
    return Content(judgments=judgments, bad=source.skipped)


def _by_blanks(file: File, options: Options) -> tuple[Any, Source]:
    """Cells set apart by blanks."""
    from adjudge.data.formats._spaced import read_spaced

    return read_spaced(file, options, number_columns(len(file.first.split())))


def _roles(table: Any, source: Source) -> dict[str, str]:
    """Which of three columns is the judge, the item and the label."""
    names = table.column_names
    counts = {name: pc.count_distinct(table[name]).as_py() for name in names}
    told = ", ".join(f"{name} ({count:,} values)" for name, count in counts.items())
    if len(names) == 3:
        first, second, label = names
        few, many = sorted((first, second), key=lambda name: counts[name])
        clear = counts[many] >= _CLEAR * counts[few]
        if 1 < counts[label] <= counts[few] and clear:
            return {"judge": few, "item": many, "label": label}
    raise BadData(
        f"there is no header, and which column is the item, the judge and the label is not clear: "
        f"{told}",
        source=source.name,
        expected="columns named",
        code="unclear-columns",
        remedies=(Remedy("header", False), name_columns(item="1", judge="2", label="3")),
    )


FORMATS = (
    Format(
        name="headerless",
        title="text without a header: judge, item and label (Get-Another-Label), or item and gold",
        reads=("judgments", "gold"),
        extension=".txt",
        read=_read,
    ),
)
