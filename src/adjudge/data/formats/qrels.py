"""TREC relevance judgments (qrels): ``topic 0 document grade``, without a header."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.ratings import need_pairs, ratings
from adjudge.data.formats.spaced import (
    check_cells,
    check_rows,
    numbers_of,
    read_spaced,
)
from adjudge.data.formats.tables import write_rows
from adjudge.data.gold_table import gold_from_table
from adjudge.errors import BadData, shown

_NAMES = ("topic", "0", "document", "grade")


def _read(file: File, options: Options) -> Content:
    """Gold: the grade of each pair of topic and document."""
    table, source = read_spaced(file, options, _NAMES)
    _, wrong = numbers_of(table["grade"], whole=True)
    table = check_rows(
        table, source, [(wrong, "grade", lambda _, value: f"{shown(value)} is no whole number")]
    )
    roles = {"topic": "topic", "document": "document", "gold": "grade"}
    gold = gold_from_table(table, source=source, roles=roles, scale=options.truths)
    return Content(gold=gold, bad=source.skipped)


def _write(content: Content, file: IO[bytes]) -> None:
    """The labels, or else the gold, as qrels."""
    table = graded(content, "qrels")
    check_cells(table, ("topic", "document"), "qrels", r"\t\n\v\f\r ")
    columns = [table["topic"], pa.array(["0"] * len(table)), table["document"], table["grade"]]
    write_rows(pa.table(columns, names=list(_NAMES)), file, delimiter=" ")


def graded(content: Content, format_name: str) -> Any:
    """The labels, or else the gold, as a table of topic, document and a whole number as grade.

    A label that is a whole number is its own grade; the others have their place on an ordered
    scale.
    """
    table, column = content.labels, "label"
    if table is None and content.gold is not None:
        table, column = content.gold.to_table(), "gold"
    if table is None:
        raise BadData(f"{format_name} holds labels or gold, and there are none to write")
    need_pairs(table.column_names, format_name)
    unlabelled = pc.index(pc.is_null(table[column]), True).as_py()
    if unlabelled >= 0:
        raise BadData(
            f"item {shown(table['item'][unlabelled].as_py())} has no label; "
            f"{format_name} wants one for each",
            column=column,
            wanted="a label",
        )
    values = np.asarray(ratings(table[column], content.known_scale, format_name))
    partial = np.flatnonzero(values != np.rint(values))
    if partial.size:
        value = table[column][int(partial[0])].as_py()
        raise BadData(
            f"{format_name} wants whole numbers as grades, and label {shown(value)} is none",
            column=column,
            value=value,
            wanted="a whole number",
        )
    columns = {"topic": table["topic"], "document": table["document"]}
    return pa.table({**columns, "grade": pa.array(values.astype(np.int64))})


FORMATS = (
    Format(
        name="qrels",
        title="TREC qrels: topic 0 document grade",
        reads=("gold",),
        writes=("labels", "gold"),
        extension=".qrels",
        read=_read,
        write=_write,
    ),
)
