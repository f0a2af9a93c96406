"""From a table with text in it to gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._items import canonical_codes, find_items, leave_out_bad, one_each
from adjudge.data.columns import as_text, need_columns, numbers, roles_of, take_in, text_of
from adjudge.data.gold import Gold
from adjudge.data.labels import codes_below, describe_codes
from adjudge.data.names import Coded, as_names, encode
from adjudge.data.oddities import settle_oddities
from adjudge.data.scale import Scale, as_number
from adjudge.data.source import Source, count_of
from adjudge.errors import Remedy, shown

_DRAWN = ("sampling", "round", "stratum")  # how gold was chosen
_FILLED = "share of rows with gold"  # a column added to rows of a sample that is filled in part


def gold_from_table(
    table: Any,
    *,
    source: str | Source = "gold",
    roles: dict[str, str] | None = None,
    scale: Scale | None = None,
) -> Gold:
    """Gold from a table with ``item`` (or ``topic`` and ``document``) and ``gold`` or ``label``.

    Gold fits any scale that has its values; with ``scale``, a row that is off it is a bad row.
    """
    place = source if isinstance(source, Source) else Source(source)
    rows = take_in(table, place)
    where = roles_of(rows.column_names) if roles is None else dict(roles)
    if "gold" not in where and "label" in where:
        where["gold"] = where["label"]
    need_columns(where, rows.column_names, place, ("item", "gold"))
    text = pc.utf8_trim_whitespace(_spread(text_of(rows, where["gold"], place)))
    filled = np.asarray(pc.fill_null(pc.not_equal(text, ""), False))
    if not filled.all():
        rows = _note_empty(rows, where, filled, place)
    kept = np.flatnonzero(filled)
    rows = rows.take(pa.array(kept))
    place.keep(kept)
    read: Coded = {
        role: encode(text_of(rows, where[role], place))
        for role in ("item", "topic", "document", "gold")
        if role in where
    }
    coded, _ = settle_oddities(read, where, place, scale)
    coded, rows = leave_out_bad(coded, rows, where, scale, place)
    items = find_items(coded, where, place)
    values, value = canonical_codes(*coded["gold"])
    _note_codes(values, where["gold"], scale, place)
    chosen, first = one_each(items.by_row, value, values, where["gold"], place, items.names)

    def of_item(role: str) -> Any:
        if role not in where:
            return None
        return _spread(as_text(rows[where[role]]).take(pa.array(first)))

    marks = of_item("honeypot")
    if marks is not None:
        marks = pc.is_in(pc.utf8_lower(marks), pa.array(["1", "true", "yes", "y"], marks.type))
    reasons = of_item("reason")
    drawn = _read_drawn(rows, where, first, items.names, place)
    if "sampling" in drawn and _FILLED in rows.column_names:
        drawn["sampling"] *= np.asarray(rows[_FILLED])[first]
    return Gold(
        items=items.names,
        value=chosen,
        values=values,
        topics=items.topic_names,
        documents=items.documents,
        reasons=None if reasons is None else as_names(reasons),
        honeypot=None if marks is None else np.asarray(marks, dtype=np.bool_),
        sampling=drawn.get("sampling"),
        round=drawn["round"].astype(np.int64) if "round" in drawn else None,
        stratum=drawn["stratum"].astype(np.int64) if "stratum" in drawn else None,
        source=place.name,
    )


def _note_empty(rows: Any, where: dict[str, str], filled: NDArray[np.bool_], place: Source) -> Any:
    """Count the rows of a gold table without gold; of a drawn sample, add the share with gold.

    The share is that of the row's round. Rows that were filled in at random were drawn with the
    inclusion probability times this share. Judgments and labels may have gold on some rows only:
    they need no note.
    """
    lacking = f"{int((~filled).sum()):,} of {count_of(len(rows), 'row')} without gold skipped"
    if "sampling" not in where or not filled.any():
        if not {"judge", "label"} & roles_of(rows.column_names).keys():
            place.remark(lacking)
        return rows
    rounds = np.zeros(len(rows), dtype=np.int32)
    if "round" in where:
        rounds = encode(text_of(rows, where["round"], place))[0] + 1  # 0 where there is none
    share = (np.bincount(rounds, filled) / np.maximum(np.bincount(rounds), 1))[rounds]
    place.remark(
        f"{lacking}; sampling probabilities scaled to the rows with gold, which assumes that rows "
        "were filled in from the top"
    )
    return rows.append_column(_FILLED, pa.array(share))


def _note_codes(values: Sequence[str], column: str, scale: Scale | None, place: Source) -> None:
    """Note gold below zero, which may be a code, unless it is on the scale or left out."""
    if scale is not None or any(as_number(value) is None for value in values) or not values:
        return
    found = Scale.infer(values)
    below = codes_below(found)
    if below and not set(below) <= set(place.dropped):
        note = f"column {column}: {describe_codes(below, found)}"
        place.remark(note, Remedy("drop-label", below))


def _spread(column: Any) -> Any:
    """A text column each of whose cells holds its text, not the place of it in a dictionary."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _read_drawn(
    rows: Any, where: dict[str, str], first: NDArray[np.int64], items: Any, place: Source
) -> dict[str, NDArray[np.float64]]:  # (item,)
    """How each item was chosen; an error for a probability or number that cannot be."""
    found = {}
    for role in (role for role in _DRAWN if role in where):
        given = numbers(text_of(rows, where[role], place), place, where[role], strict=True)[first]
        known = np.nan_to_num(given, nan=1.0)
        wrong, expected = (known < 1) | (known != np.floor(known)), "a whole number from 1"
        if role == "sampling":
            wrong, expected = (known <= 0) | (known > 1), "a probability above 0, at most 1"
        if wrong.any():
            item = items[int(np.argmax(wrong))].as_py()
            raise place.error(
                None, f"of item {shown(item)} is not as expected: {expected}", column=where[role]
            )
        found[role] = given if role == "sampling" else known
    return found
