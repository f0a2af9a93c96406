"""Ratings of documents as search tools have them: labels as numbers, topics as queries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data._gold_table import gold_from_table
from adjudge.data.build import load_table
from adjudge.data.formats._exports import left_out, without_repeats
from adjudge.data.formats._records import RecordRows
from adjudge.data.formats.format import Content, Options
from adjudge.data.names import as_names, encode, look_up
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, Remedy, shown


def ratings(labels: Any, scale: Scale | None, format_name: str) -> Any:
    """A column of labels as numbers: their grades, or what they are themselves.

    Without grades a number is itself, and a text its place on an ordered scale.
    A scale of two labels of which one is known to be relevant is ordered enough: 0 and 1.
    """
    codes, names = encode(labels)
    texts = names.to_pylist()
    if scale is not None and scale.grades and all(scale.label_code(text) >= 0 for text in texts):
        known = [scale.grades[scale.label_code(text)] for text in texts]
        return pa.array(known, pa.float64()).take(pa.array(codes))
    numbers = [as_number(text) for text in texts]
    ordered = scale is not None and (
        scale.ordinal or (len(scale.labels) == 2 and scale.relevant == scale.labels[1:])
    )
    if not all(number is not None and math.isfinite(number) for number in numbers):
        strange = next(
            text
            for text, number in zip(texts, numbers, strict=True)
            if number is None or not math.isfinite(number)
        )
        if scale is None or not ordered or any(scale.label_code(text) < 0 for text in texts):
            raise BadData(
                f"{format_name} rates with numbers, and label {shown(strange)} is none; "
                "wanted numbers, or an ordered scale",
                value=strange,
                expected="numbers",
                code="labels-not-numbers",
                remedies=(Remedy("labels", "bad<good"),),
            )
        numbers = [float(scale.label_code(text)) for text in texts]
    return pa.array(numbers, pa.float64()).take(pa.array(codes))


def need_pairs(columns: Iterable[str], format_name: str) -> None:
    """Raise an error where the items are not known to be pairs of topic and document."""
    known = set(columns)
    for name in ("topic", "document"):
        if name not in known:
            raise BadData(
                f"{format_name} wants a query and a document for each item, and the {name} "
                "of these is not known; wanted judgments read with topic and document",
                column=name,
                expected=name,
            )


def queries(topics: Any, texts: Any) -> Any:
    """The query of each topic, as its texts have it; a topic without a text is its own query."""
    if texts is None or not {"topic", "query"} <= set(texts.column_names):
        return as_names(topics)
    known = texts.filter(pc.and_(pc.is_valid(texts["topic"]), pc.is_valid(texts["query"])))
    where = look_up(topics, as_names(known["topic"]))
    found = as_names(known["query"]).take(pa.array(where, mask=where < 0))
    return pc.coalesce(found, as_names(topics))


def rated_content(rows: RecordRows, options: Options, names: tuple[str, str, str, str]) -> Content:
    """Ratings by topic, document, judge and label: judgments, or gold where there is one judge."""
    table = rows.table(*names)
    topic, document, judge, label = names
    table, again = without_repeats(table, rows.source)
    notes = (left_out(again, "rating", "repeated word for word"),) if again else ()
    roles = {"topic": topic, "document": document}
    several = len(set(rows.values(judge))) > 1
    if several or options.wanted == "judgments":
        judgments, _ = load_table(
            table,
            scale=options.scale,
            source=rows.source,
            roles={**roles, "judge": judge, "label": label},
        )
        return Content(judgments=judgments, bad=rows.source.skipped, notes=notes)
    gold = gold_from_table(
        table, source=rows.source, roles={**roles, "gold": label}, scale=options.truths
    )
    return Content(gold=gold, bad=rows.source.skipped, notes=notes)


def judge_name(name: str) -> str:
    """A file as the name of a judge: without folders and without its ending."""
    plain = PurePath(name).name
    for ending in (".gz", ".bz2", ".zip", ".txt", ".qrels", ".qrel", ".tsv", ".csv", ".json"):
        plain = plain.removesuffix(ending) or plain
    return plain


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
            expected="a label",
        )
    values = np.asarray(ratings(table[column], content.known_scale, format_name))
    partial = np.flatnonzero(values != np.rint(values))
    if partial.size:
        value = table[column][int(partial[0])].as_py()
        raise BadData(
            f"{format_name} wants whole numbers as grades, and label {shown(value)} is none",
            column=column,
            value=value,
            expected="a whole number",
        )
    columns = {"topic": table["topic"], "document": table["document"]}
    return pa.table({**columns, "grade": pa.array(values.astype(np.int64))})
