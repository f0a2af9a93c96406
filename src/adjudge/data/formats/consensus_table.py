"""The consensus table, one row per item, in CSV, JSONL or Parquet.

``item,topic,document,label,probability,p_<label>...,judgments,entropy,rank,fallback``; topic and
document only where they are known. CSV is for people too, so what a spreadsheet would run as a
formula is disarmed there, and armed again on reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.columns import text_of
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import read_rows
from adjudge.data.formats.recognition import columns_of
from adjudge.data.formats.spaced import cell_fault, check_rows, repeated_fault, typed_numbers
from adjudge.data.formats.tables import is_blank, is_word, need_columns
from adjudge.data.formats.writing import write_table
from adjudge.data.names import as_names
from adjudge.data.scale import Scale
from adjudge.data.source import Fault, Source
from adjudge.errors import BadData

_TEXTS = ("item", "topic", "document", "label")
_INTEGERS = ("judgments", "rank")
_ENDS = ("judgments", "entropy", "rank", "fallback")


def _read(file: File, options: Options) -> Content:
    """Read the labels, typed, and the scale of their truths; also as gold if gold is asked for."""
    table, source = read_rows(file, options, columns=list)
    need_columns(table.column_names, source, "item", "label")
    labels = _set_types(table, source)
    gold = None
    if options.kind == "gold":
        roles = {name: name for name in _TEXTS[:3] if name in labels.column_names}
        roles["gold"] = "label"
        gold = gold_from_table(labels, source=source, roles=roles, scale=options.truths)
    scale = options.scale or scale_of_labels(labels)
    return Content(labels=labels, gold=gold, scale=scale, bad=source.skipped)


def _set_types(table: Any, source: Source) -> Any:
    """Return the table with ids and label as text, numbers as numbers, fallback as truth values.

    Columns of other names stay as they are.
    """
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    for name in table.column_names:
        if name in _TEXTS:
            columns[name] = as_names(text_of(table, name, source))
        elif name in _INTEGERS or name in ("entropy", "probability") or name.startswith("p_"):
            columns[name], fault = _numbers(text_of(table, name, source), name)
            faults.append(fault)
        elif name == "fallback":
            columns[name], fault = _flags(text_of(table, name, source))
            faults.append(fault)
        else:
            columns[name] = table[name]
    typed = pa.table(columns)
    if not len(typed):
        raise source.error(None, "there are no labels: the table has no rows", code="no-rows")
    blank = cell_fault(table, is_blank(typed["item"]), "item", "an item id", "missing-id")
    return check_rows(typed, source, [blank, repeated_fault(typed, source, "item"), *faults])


def _numbers(column: Any, name: str) -> tuple[Any, Fault]:
    """Return a column as numbers, null where it is empty, and which cells do not fit."""
    cells = pa.table({name: column})
    if name in _INTEGERS:
        return typed_numbers(cells, name, "a whole number", integer=True, absent="")
    if name == "entropy":
        return typed_numbers(cells, name, absent="")
    return typed_numbers(cells, name, "a number from 0 to 1", least=0.0, most=1 + 1e-9, absent="")


def _flags(column: Any) -> tuple[Any, Fault]:
    """Return a column as true and false, null where it is empty, and which cells are neither."""
    yes, no, blank = is_word(column, "true", "1"), is_word(column, "false", "0"), is_blank(column)
    cells = pa.table({"fallback": column})
    odd = ~(yes | no | blank)
    fault = cell_fault(cells, odd, "fallback", "true or false", "not-true-or-false")
    return pa.array(yes, mask=blank), fault


def scale_of_labels(labels: Any) -> Scale | None:
    """The scale that a consensus table speaks of: the truths of its ``p_`` columns, in their order.

    Without such columns, the labels that are there; None if there is none.
    """
    truths = tuple(name[2:] for name in labels.column_names if name.startswith("p_"))
    named = bool(truths)
    if not named:
        truths = tuple(pc.unique(labels["label"].drop_null()).to_pylist())
        if not truths:
            return None
    try:
        inferred = Scale.infer(truths)
    except BadData:  # numbers and text, of which a table made elsewhere may well consist
        return Scale(labels=truths)
    if inferred.ordinal or not named:
        return inferred
    return Scale(labels=truths, relevant=inferred.relevant)


def _fits(file: File) -> bool:
    """Recognise a table with item, label and probability, and without a judge."""
    columns = set(columns_of(file))
    return {"item", "label", "probability"} <= columns and "judge" not in columns


def _table_of(content: Content) -> Any:
    """The labels with their columns in the order of the format, any others behind."""
    labels = content.need("labels", "consensus")
    shares = [name for name in labels.column_names if name.startswith("p_")]
    known = [*_TEXTS, "probability", *shares, *_ENDS]
    names = [name for name in known if name in labels.column_names]
    others = [name for name in labels.column_names if name not in known]
    return labels.select(names + others)


def _write(extension: str) -> Callable[[Content, IO[bytes]], None]:
    return lambda content, file: write_table(_table_of(content), file, extension, guard=True)


FORMATS = tuple(
    Format(
        name=name,
        title=f"consensus table, {text}: item, label, probability, p_<label>, rank, ...",
        reads=("labels", "gold"),
        writes=("labels",),
        extension=extension,
        fits=_fits if name == "consensus" else None,
        read=_read,
        write=_write(extension),
    )
    for name, text, extension in (
        ("consensus", "comma separated", ".csv"),
        ("consensus-jsonl", "one JSON object per line", ".jsonl"),
        ("consensus-parquet", "Apache Parquet", ".parquet"),
    )
)
