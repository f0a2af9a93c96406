"""What a platform's export holds beside judgments: rows that are left out, and said so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.names import encode
from adjudge.data.source import Source, count_of


def keep_rows(table: Any, source: Source, kept: NDArray[np.bool_]) -> Any:  # (row,)
    """The rows under the mask, with the source told so that it still finds their lines."""
    if kept.all():
        return table
    rows = np.flatnonzero(kept)
    source.keep(rows)
    return table.take(pa.array(rows))


def leave_out(
    table: Any, source: Source, reasons: dict[str, NDArray[np.bool_]]
) -> tuple[Any, tuple[str, ...]]:
    """The rows that no reason speaks against, and a note for each reason that took some away.

    Reasons are asked in order: a row counts for the first that fits. That nothing is left is an
    error, since whoever reads a file of judgments wants some.
    """
    kept = np.ones(len(table), dtype=np.bool_)
    notes = []
    for reason, gone in reasons.items():
        count = int((kept & gone).sum())
        if count:
            notes.append(left_out(count, "row", reason))
        kept &= ~gone
    if len(table) and not kept.any():
        raise source.error(None, f"there is no judgment left: {'; '.join(notes)}")
    return keep_rows(table, source, kept), tuple(notes)


def without_repeats(table: Any, source: Source) -> tuple[Any, int]:
    """The table without rows that repeat an earlier one in every cell, and how many they were."""
    key = np.zeros(len(table), dtype=np.int64)
    for column in table.columns:
        codes, names = encode(column)
        key = np.unique(key * (len(names) + 1) + codes + 1, return_inverse=True)[1].astype(np.int64)
    first = np.unique(key, return_index=True)[1]
    kept = np.zeros(len(table), dtype=np.bool_)
    kept[first] = True
    return keep_rows(table, source, kept), int(len(table) - kept.sum())


def left_out(count: int, what: str, reason: str) -> str:
    """A note of what was left out: ``3 rows left out: rejected by the requester``."""
    return f"{count_of(count, what)} left out: {reason}"


def is_blank(column: Any) -> NDArray[np.bool_]:  # (row,)
    """Which cells hold nothing but white space."""
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    return np.asarray(pc.fill_null(pc.equal(trimmed, ""), True), dtype=np.bool_)


def is_word(column: Any, *words: str) -> NDArray[np.bool_]:  # (row,)
    """Which cells hold one of the words, in whatever case."""
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(column.cast(pa.large_string())))
    found = pc.is_in(lower, value_set=pa.array(words, pa.large_string()))
    return np.asarray(pc.fill_null(found, False), dtype=np.bool_)
