"""Which of a file's columns is the label, the topic and the document.

Platforms let a requester ask several questions of one item and name the inputs at will; adjudge
wants one question, and takes an input for topic or document only where its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.columns import roles_of
from adjudge.data.formats.format import Options
from adjudge.data.gold import Gold
from adjudge.data.names import as_names, encode, look_up, pair_names
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, Remedy


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


_ADDRESSES = ("url", "documenturl", "docurl", "pageurl", "link")


def chosen_question(
    found: Iterable[str], options: Options, source: str, what: str, wanted: str
) -> str:
    """The question whose answers are the labels: the only one there is, or the one named.

    ``what`` is a question called in this format, and ``wanted`` what it looks like.
    """
    names = list(dict.fromkeys(found))
    if not names:
        raise BadData(f"there is no {what}; wanted {wanted}", source=source, expected=wanted)
    listed = ", ".join(names)
    if options.question is None:
        if len(names) == 1:
            return names[0]
        raise BadData(
            f"there are {len(names)} {what}s ({listed}); wanted one",
            source=source,
            expected="one question",
            code="several-questions",
            remedies=(Remedy("question"),),
        )
    name = options.question
    matches = [
        known for known in names if name == known or name.endswith((f".{known}", f":{known}"))
    ]
    if not matches:
        raise BadData(
            f"there is no {what} {name!r}; there is {listed}",
            source=source,
            value=name,
            expected=f"one of {listed}",
        )
    return max(matches, key=len)


def asked_questions(table: Any, item: str, names: Iterable[str]) -> list[str]:
    """The columns that may be answers to a question: they differ within an item, and repeat.

    An input is the same in every row of an item. What hardly ever repeats is free text, and what
    is mostly empty a remark; where nothing else is left, all that differ are given.
    """
    items, _ = encode(table[item])
    varying, answers = [], []
    for name in names:
        codes, values = encode(table[name])
        blank = np.append(is_blank(values), True)[codes] if len(values) else np.ones(1, np.bool_)
        given = np.flatnonzero(~blank)
        if not given.size:
            continue
        pairs = np.unique(items[given].astype(np.int64) * (len(values) + 1) + codes[given])
        if len(pairs) == len(np.unique(items[given])):
            continue
        varying.append(name)
        distinct = len(np.unique(codes[given]))
        if 2 * given.size >= len(codes) and 2 * distinct < max(given.size, 4):
            answers.append(name)
    return answers or varying


def pair_columns(names: Iterable[str]) -> dict[str, str]:
    """Which inputs are the topic and the document, as far as their names say so plainly."""
    inputs = list(names)
    found = roles_of(inputs)
    pair: dict[str, str] = {role: found[role] for role in ("topic", "document") if role in found}
    if "document" not in pair:
        letters = {re.sub(r"[^a-z]", "", name.casefold()): name for name in reversed(inputs)}
        address = next((letters[word] for word in _ADDRESSES if word in letters), None)
        if address is not None:
            pair["document"] = address
    return pair
