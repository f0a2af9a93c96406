"""From a table with text in it to gold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._faults import leave_out_bad
from adjudge.data._items import canonical_codes, find_items, one_each
from adjudge.data.columns import as_text, roles_of, take_in, text_of
from adjudge.data.gold import Gold
from adjudge.data.names import Coded, as_names, encode
from adjudge.data.oddities import settle_oddities
from adjudge.data.scale import Scale, as_number
from adjudge.data.source import Source, count_of
from adjudge.errors import shown

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
    _need_gold_columns(where, rows.column_names, place)
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
    chosen, first = one_each(items.by_row, value, values, where["gold"], place, items.names)

    def of_item(role: str) -> Any:
        if role not in where:
            return None
        return _spread(as_text(rows[where[role]]).take(pa.array(first)))

    marks = of_item("honeypot")
    if marks is not None:
        marks = pc.is_in(pc.utf8_lower(marks), pa.array(["1", "true", "yes", "y"], marks.type))
    reasons = of_item("reason")
    drawn = {role: _numbers(of_item(role)) for role in _DRAWN}
    _check_drawn(drawn, where, items.names, place)
    if drawn["sampling"] is not None and _FILLED in rows.column_names:
        drawn["sampling"] *= np.asarray(rows[_FILLED])[first]
    return Gold(
        items=items.names,
        value=chosen,
        values=values,
        topics=items.topic_names,
        documents=items.documents,
        reasons=None if reasons is None else as_names(reasons),
        honeypot=None if marks is None else np.asarray(marks, dtype=np.bool_),
        sampling=drawn["sampling"],
        round=_whole(drawn["round"]),
        stratum=_whole(drawn["stratum"]),
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


def _spread(column: Any) -> Any:
    """A text column each of whose cells holds its text, not the place of it in a dictionary."""
    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """A column of text as numbers, NaN where there is none, infinite where it is no number."""
    if column is None:
        return None
    texts = ["" if text is None else text for text in column.to_pylist()]
    found = [as_number(text.strip()) for text in texts]
    strange = [np.inf if text.strip() else np.nan for text in texts]
    return np.array(
        [other if value is None else value for value, other in zip(found, strange, strict=True)]
    )


def _whole(numbers: NDArray[np.float64] | None) -> NDArray[np.int64] | None:
    """Numbers as whole ones, 1 where there is none."""
    return None if numbers is None else np.nan_to_num(numbers, nan=1.0).astype(np.int64)


def _check_drawn(
    drawn: dict[str, NDArray[np.float64] | None],
    where: dict[str, str],
    items: Any,
    place: Source,
) -> None:
    """Refuse a chance that is none, or a round or stratum that is no whole number from 1."""
    whole = "a whole number from 1"
    wanted = {"sampling": "a chance above 0, at most 1", "round": whole, "stratum": whole}
    bad = {}
    for role, numbers in drawn.items():
        if numbers is None:
            continue
        given = np.where(np.isnan(numbers), 1.0, numbers)
        if role == "sampling":
            bad[role] = (given <= 0) | (given > 1)
        else:
            bad[role] = (given < 1) | (given != np.floor(given)) | np.isinf(given)
    for role, wrong in bad.items():
        if wrong.any():
            item = items[int(np.argmax(wrong))].as_py()
            raise place.error(
                None,
                f"of item {shown(item)} is not what was wanted: {wanted[role]}",
                column=where[role],
                expected=wanted[role],
            )


def _need_gold_columns(where: dict[str, str], columns: list[str], place: Source) -> None:
    """Refuse a gold table without items or without gold; a label column serves as gold."""
    if "gold" not in where and "label" in where:
        where["gold"] = where["label"]
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    if "gold" in where and ("item" in where or {"topic", "document"} <= where.keys()):
        return
    wanted = "gold" if "gold" not in where else "item"
    raise place.error(
        None,
        f"no column {wanted!r}; the columns are {', '.join(columns)}; "
        "wanted item (or topic and document) and gold",
        column=wanted,
        expected=wanted,
    )
