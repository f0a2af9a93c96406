"""Why the gold is what it is, where an export of judgments says so beside each judgment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.formats.omissions import is_blank
from adjudge.data.gold import Gold
from adjudge.data.names import as_names, encode, look_up, pair_names


def with_reasons(gold: Gold, table: Any, roles: dict[str, str], column: str) -> Gold:
    """The gold with the first reason that a column of the table of judgments has for each item."""
    given = ~is_blank(table[column])
    rows = first_rows(gold, table.filter(pa.array(given)), roles)
    texts = as_names(table[column].filter(pa.array(given)))
    reasons = texts.take(pa.array(rows, mask=rows < 0))
    if reasons.null_count == len(reasons):
        return gold
    return replace(gold, reasons=reasons.fill_null(""))


def first_rows(gold: Gold, table: Any, roles: dict[str, str]) -> NDArray[np.int64]:  # (gold,)
    """The first row of the table that is about each gold item, -1 where none is."""
    if "item" in roles:
        items = as_names(table[roles["item"]])
    else:
        items = pair_names(as_names(table[roles["topic"]]), as_names(table[roles["document"]]))
    codes, names = encode(items)
    first = np.full(len(names) + 1, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    first[-1] = -1
    return first[look_up(gold.items, names)]
