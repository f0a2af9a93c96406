"""Labels as the numbers that search tools rate documents with, and topics as their queries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from adjudge.data.names import as_names, encode, look_up
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, shown


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
                "wanted numbers, or an ordered scale such as --labels 'bad<good'",
                value=strange,
                wanted="numbers",
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
                wanted=name,
            )


def queries(topics: Any, texts: Any) -> Any:
    """The query of each topic, as its texts have it; a topic without a text is its own query."""
    if texts is None or not {"topic", "query"} <= set(texts.column_names):
        return as_names(topics)
    known = texts.filter(pc.and_(pc.is_valid(texts["topic"]), pc.is_valid(texts["query"])))
    where = look_up(topics, as_names(known["topic"]))
    found = as_names(known["query"]).take(pa.array(where, mask=where < 0))
    return pc.coalesce(found, as_names(topics))
