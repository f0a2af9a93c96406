"""The consensus table, one row an item, in CSV, JSONL or Parquet.

``item,topic,document,label,probability,p_<label>...,judgments,entropy,rank,fallback``; topic and
document only where they are known. CSV is for people too, so what a spreadsheet would run as a
formula is disarmed there, and armed again on reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._gold_table import gold_from_table
from adjudge.data.columns import text_of
from adjudge.data.formats._spaced import Fault, good_rows, numbers_of
from adjudge.data.formats.format import Content, Format, Options
from adjudge.data.formats.opening import File
from adjudge.data.formats.plain import read_rows
from adjudge.data.formats.writing import write_table
from adjudge.data.names import as_names, encode
from adjudge.data.scale import Scale
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_TEXTS = ("item", "topic", "document", "label")
_WHOLE = ("judgments", "rank")
_ENDS = ("judgments", "entropy", "rank", "fallback")


def _read(file: File, options: Options) -> Content:
    """The labels, typed, and the scale of their truths; the labels as gold where it is wanted."""
    table, source = read_rows(file, options, columns=list)
    for name in ("item", "label"):
        if name not in table.column_names:
            raise source.error(
                None,
                f"no column {name!r}; the columns are {', '.join(table.column_names)}",
                column=name,
                expected=name,
            )
    labels = _typed(table, source)
    gold = None
    if options.wanted == "gold":
        roles = {name: name for name in _TEXTS[:3] if name in labels.column_names}
        roles["gold"] = "label"
        gold = gold_from_table(labels, source=source, roles=roles, scale=options.truths)
    scale = options.scale or _scale_of_labels(labels)
    return Content(labels=labels, gold=gold, scale=scale, bad=source.skipped)


def _typed(table: Any, source: Source) -> Any:
    """The table with ids and label as text, numbers as numbers, fallback as true or false.

    Columns of other names stay as they are.
    """
    columns: dict[str, Any] = {}
    faults: list[Fault] = []
    for name in table.column_names:
        column = table[name]
        if name in _TEXTS:
            columns[name] = as_names(text_of(table, name, source))
        elif name in _WHOLE or name == "entropy" or _is_share(name):
            columns[name], wrong = _numbers(_scalars(table, name, source), name)
            faults.append((wrong, name, _no_number(name)))
        elif name == "fallback":
            columns[name], wrong = _flags(text_of(table, name, source))
            faults.append((wrong, name, lambda _, value: f"{shown(value)} is no true or false"))
        else:
            columns[name] = column
    typed = pa.table(columns)
    if not len(typed):
        raise source.error(None, "there are no labels: the table has a header and no rows")
    good = good_rows(table, source, [*_item_faults(typed["item"], source), *faults])
    return typed if good is None else typed.take(pa.array(good))


def _is_share(name: str) -> bool:
    return name == "probability" or name.startswith("p_")


def _scalars(table: Any, name: str, source: Source) -> Any:
    """A column as numbers if it has them, else as text."""
    kind = table[name].type
    numeric = pa.types.is_floating(kind) or pa.types.is_integer(kind)
    return table[name] if numeric else text_of(table, name, source)


def _numbers(column: Any, name: str) -> tuple[Any, NDArray[np.bool_]]:
    """A column as numbers, null where it is empty, and which cells do not fit."""
    whole = name in _WHOLE
    if not _is_text(column.type):
        values = column.cast(pa.float64())
        wrong = np.asarray(pc.fill_null(pc.invert(pc.is_finite(values)), False), dtype=np.bool_)
        if whole:
            wrong |= np.asarray(pc.fill_null(pc.not_equal(values, pc.round(values)), False))
            values = pc.if_else(pa.array(wrong), 0.0, values).cast(pa.int64())
    else:
        text = pc.fill_null(column, "")
        absent = pc.equal(pc.utf8_trim_whitespace(text), "")
        values, wrong = numbers_of(text, whole=whole)
        values = pc.if_else(absent, pa.scalar(None, values.type), values)
        wrong &= ~np.asarray(absent, dtype=np.bool_)
    if not whole and _is_share(name):
        off = pc.or_(pc.less(values, 0.0), pc.greater(values, 1.0 + 1e-9))
        wrong |= np.asarray(pc.fill_null(off, False), dtype=np.bool_)
    return values, wrong


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _no_number(name: str) -> Callable[[int, Any], str]:
    kind = "a whole number" if name in _WHOLE else "a number"
    if _is_share(name):
        kind = "a number from 0 to 1"
    return lambda _, value: f"{shown(value)} is not {kind}"


def _flags(column: Any) -> tuple[Any, NDArray[np.bool_]]:
    """A column as true and false, null where it is empty, and which cells are neither."""
    text = pc.utf8_lower(pc.utf8_trim_whitespace(pc.fill_null(column, "")))
    yes = pc.is_in(text, pa.array(["true", "1"], text.type))
    no = pc.is_in(text, pa.array(["false", "0"], text.type))
    absent = pc.equal(text, "")
    values = pc.if_else(absent, pa.scalar(None, pa.bool_()), yes)
    return values, ~np.asarray(pc.or_(pc.or_(yes, no), absent), dtype=np.bool_)


def _item_faults(items: Any, source: Source) -> list[Fault]:
    """Items without an id, and items that are there twice."""
    codes, names = encode(items)
    blank = np.asarray(pc.equal(pc.utf8_trim_whitespace(names), ""), dtype=np.bool_)
    first = np.zeros(len(names) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    again = first[codes] != np.arange(len(codes))

    def twice(row: int, item: str) -> str:
        before = source.error(int(first[codes[row]]), "").place.removeprefix(f"{source.name}, ")
        return f"item {shown(item)} is there already, at {before}"

    return [
        (np.append(blank, True)[codes], "item", lambda _row, _item: "the item id is empty"),
        (again, "item", twice),
    ]


def _scale_of_labels(labels: Any) -> Scale | None:
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
        read=_read,
        write=_write(extension),
    )
    for name, text, extension in (
        ("consensus", "comma separated", ".csv"),
        ("consensus-jsonl", "one JSON object a line", ".jsonl"),
        ("consensus-parquet", "Apache Parquet", ".parquet"),
    )
)
