"""Ratings of documents as search tools have them: labels as numbers, topics as queries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.formats.format import Content
from adjudge.data.names import as_names, encode, look_up
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, Remedy, shown


def ratings(labels: Any, scale: Scale | None, format_name: str) -> Any:
    """Return a column of labels as numbers: their grades, or what they are themselves.

    Without grades a number is itself, and a text its place on an ordered scale. A scale of two
    labels of which the second is known to be relevant is ordered enough: 0 and 1.
    """
    codes, names = encode(labels)
    texts = names.to_pylist()
    on_scale = scale is not None and all(scale.label_code(text) >= 0 for text in texts)
    numbers = [as_number(text) for text in texts]
    strange = [t for t, n in zip(texts, numbers, strict=True) if n is None or not math.isfinite(n)]
    if scale is not None and on_scale and scale.grades:
        numbers = [scale.grades[scale.label_code(text)] for text in texts]
    elif strange:
        pair = scale is not None and len(scale.labels) == 2 and scale.relevant == scale.labels[1:]
        if scale is None or not on_scale or not (scale.ordinal or pair):
            expected = f"numbers, or labels on an ordered scale, for {format_name}"
            remedies = [Remedy("labels", "bad<good")]
            raise BadData.wrong(None, "labels-not-numbers", expected, strange[0], remedies=remedies)
        numbers = [float(scale.label_code(text)) for text in texts]
    return pa.array(numbers, pa.float64()).take(pa.array(codes))


def need_pairs(columns: Iterable[str], format_name: str) -> None:
    """Raise an error where the items are not known to be pairs of topic and document."""
    known = set(columns)
    for name in ("topic", "document"):
        if name not in known:
            problem = f"{format_name} needs a query and a document for each item"
            raise BadData.at(None, "missing-column", problem, column=name)


def queries(topics: Any, texts: Any) -> Any:
    """Return the query of each topic from its texts; a topic without a text is its own query."""
    if texts is None or not {"topic", "query"} <= set(texts.column_names):
        return as_names(topics)
    known = texts.filter(pc.and_(pc.is_valid(texts["topic"]), pc.is_valid(texts["query"])))
    where = look_up(topics, as_names(known["topic"]))
    found = as_names(known["query"]).take(pa.array(where, mask=where < 0))
    return pc.coalesce(found, as_names(topics))


def graded(content: Content, format_name: str) -> Any:
    """Return the labels, or else the gold, as a table of topic, document and grade.

    A label that is a whole number is its own grade; the others have their place on an ordered
    scale.
    """
    kind, table = content.first(format_name, "labels", "gold")
    column = "label" if kind == "labels" else "gold"
    table = table if kind == "labels" else table.to_table()
    need_pairs(table.column_names, format_name)
    unlabelled = pc.index(pc.is_null(table[column]), True).as_py()
    if unlabelled >= 0:
        item = table["item"][unlabelled].as_py()
        problem = f"{format_name} needs a label for each item, and item {shown(item)} has none"
        raise BadData.at(None, "missing-labels", problem, column=column, value=item)
    values = np.asarray(ratings(table[column], content.known_scale, format_name))
    partial = np.flatnonzero(values != np.rint(values))
    if partial.size:
        value = table[column][int(partial[0])].as_py()
        expected = f"a whole number as grade for {format_name}"
        raise BadData.wrong(None, "not-a-whole-number", expected, value, column=column)
    columns = {"topic": table["topic"], "document": table["document"]}
    return pa.table({**columns, "grade": pa.array(values.astype(np.int64))})
