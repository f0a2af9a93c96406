"""The columns of a table: which plays which role, and how each kind becomes codes or numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.scale import as_number
from adjudge.data.source import Source, count_of
from adjudge.data.synonyms import NAMED, NOT_A_LABEL, PAIR_SYNONYMS, SYNONYMS, Synonyms
from adjudge.errors import BadData, name_columns, shown

Columns = Callable[[list[str]], list[str]]  # which of the columns that are there to read
_NAMED = 4  # other names of a column, in a message
_NEVER_IDS = ("label", "gold")  # an id is neither: only the full name counts
_AFTER_A_PERSON = ("name", "email", "code", "number", "no", "hash", "uuid", "login", "key")


def letters_of(name: str) -> str:
    """A column's name by its letters alone, which is how it is compared."""
    return re.sub(r"[^a-z]", "", name.casefold())


def roles_of(
    columns: list[str],
    synonyms: Synonyms = SYNONYMS,
    named: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Which column plays which role: as ``named``, else by name or synonym, the first that fits.

    A column plays one role: where ``query_id`` is the topic already, the query is ``query``. Where
    nothing else is the item, an ``id`` next to a judge and a label is.
    """
    found: dict[str, str] = dict(named or {})
    full_names: dict[str, list[str]] = {}
    plain: dict[str, list[str]] = {}
    for column in columns:
        letters = letters_of(column)
        full_names.setdefault(letters, []).append(column)
        for name in {letters, letters.removesuffix("id")}:
            plain.setdefault(name, []).append(column)
    for role, names in synonyms.items():
        if role in found:
            continue
        known = full_names if role in _NEVER_IDS else plain
        column_name = next(
            (
                column
                for name in names
                for column in known.get(name, ())
                if column not in found.values()
            ),
            None,
        )
        if column_name is not None:
            found[role] = column_name
    if synonyms is SYNONYMS:
        if {"topic", "document"} <= found.keys() and "item" not in (named or {}):
            numbers = full_names.get("sample", ())  # of a judge's repeated judgments
            found = {role: name for role, name in found.items() if name not in numbers}
        _fill_in(found, columns, full_names)
    return found


def _fill_in(found: dict[str, str], columns: list[str], full_names: dict[str, list[str]]) -> None:
    """Fill the roles that a table must have and nothing else plays from less plain names.

    ``selected_answer`` ends in a word for the label, ``worker name`` is a judge by their name; but
    only where one column alone could be meant.
    """
    for role, fits in (("judge", _is_person), ("label", _is_answer)):
        if role not in found:
            likely = [c for c in columns if c not in found.values() and fits(words_of(c))]
            if len(likely) == 1:
                found[role] = likely[0]
    placed = "item" in found or "document" in found
    if not placed and {"judge", "label"} <= found.keys() and full_names.get("id"):
        found["item"] = full_names["id"][0]


def words_of(name: str) -> list[str]:
    """The words of a column's name: ``selectedAnswer`` and ``selected_answer`` have two."""
    return [word.casefold() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def _is_person(words: list[str]) -> bool:
    people = SYNONYMS["judge"]
    short = [word for word in words if word not in ("id", "ids")]
    if len(words) < 2 or not short:
        return False
    return short[-1] in people or (
        len(short) == 2 and short[0] in people and short[1] in _AFTER_A_PERSON
    )


def _is_answer(words: list[str]) -> bool:
    fits = len(words) > 1 and words[-1] in SYNONYMS["label"]
    return fits and not set(words) & set(NOT_A_LABEL)


def comparison_roles(columns: list[str]) -> dict[str, str]:
    """Which column plays which role; empty where the columns are not those of comparisons."""
    decided = {role: PAIR_SYNONYMS[role] for role in ("won", "lost")}
    paired = {role: names for role, names in PAIR_SYNONYMS.items() if role not in decided}
    found = roles_of(columns, paired) | roles_of(columns, decided)
    if {"left", "right", "outcome"} <= found.keys():
        return {role: name for role, name in found.items() if role not in decided}
    if decided.keys() <= found.keys() and not {"left", "right"} & found.keys():
        return {role: name for role, name in found.items() if role != "outcome"}
    return {}


def named_columns(given: Mapping[str, str], columns: list[str], source: str) -> dict[str, str]:
    """The columns that a person named by role, as the table spells them; or an error.

    A column without a name is named by its number, counted from 1. Several columns, separated by
    commas, name the item together.
    """
    found: dict[str, str] = {}
    for role, name in given.items():
        if role not in NAMED:
            raise BadData(
                f"there is no role {shown(role)}; expected one of {', '.join(NAMED)}", source=source
            )
        if role == "item" and "," in name and name not in columns:
            parts = [{"item": part.strip()} for part in name.split(",")]
            found[role] = ",".join(named_columns(p, columns, source)["item"] for p in parts)
            continue
        exact = [column for column in columns if column == name]
        loose = [column for column in columns if letters_of(column) == letters_of(name) != ""]
        place = f"column {name}"
        chosen = exact or ([place] if place in columns else []) or (loose[:1] if loose else [])
        if not chosen:
            raise BadData(
                f"there is no column {shown(name)} for the {role}; "
                f"the columns are {', '.join(columns)}",
                source=source,
                column=name,
            )
        found[role] = chosen[0]
    return found


def item_parts(named: Mapping[str, str], columns: Sequence[str]) -> list[str]:
    """The columns that are named as the item, where these are several."""
    item = named.get("item", "")
    return item.split(",") if "," in item and item not in columns else []


def join_item(table: Any, named: Mapping[str, str], place: Source) -> Any:
    """The table with a column of the item, where several columns are named as it together."""
    parts = item_parts(named, table.column_names)
    if not parts:
        return table
    texts = [text_of(table, part, place).cast(pa.large_string()) for part in parts]
    blank = [pc.fill_null(text, "") for text in texts]
    joined = pc.binary_join_element_wise(*blank, pa.scalar("/", pa.large_string()))
    distinct = pa.table(blank, names=[str(n) for n in range(len(blank))])
    if (
        len(distinct.group_by(distinct.column_names).aggregate([]))
        > pc.count_distinct(joined).as_py()
    ):
        problem = f"two items have one name where {', '.join(parts)} are joined by slashes"
        raise place.error(None, problem, code="ambiguous-item", value=parts)
    return table.append_column(named["item"], joined)


def need_columns(
    where: dict[str, str],
    columns: list[str],
    place: Source,
    roles: Sequence[str] = ("item", "judge", "label"),
    synonyms: Synonyms = SYNONYMS,
) -> None:
    """Refuse the first role without a column; topic and document, or one alone, serve as item."""
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    pair = {"topic", "document"} <= where.keys()
    for role in roles:
        if role in where or (role == "item" and pair):
            continue
        also = ", or topic and document" if role == "item" else ""
        names = ", ".join(synonyms[role][1 : 1 + _NAMED])
        raise place.error(
            None,
            f"expected a column {role!r} (or {names}, ...{also}); the columns are "
            f"{', '.join(columns) or 'none'}",
            column=role,
            code="missing-column",
            remedies=(name_columns(role),) if "judge" in roles else (),
        )


def text_of(rows: Any, name: str, place: Source) -> Any:
    """A column of a table as text, or an error where its kind cannot be."""
    try:
        return as_text(rows[name])
    except pa.ArrowException:
        raise place.error(
            None, f"holds {rows[name].type}; expected text or numbers", column=name
        ) from None


def as_text(column: Any) -> Any:
    """A column as text: whole numbers without a point, so that 3.0 from a table with gaps is 3."""
    kind = column.type
    if getattr(kind, "extension_name", "") == "arrow.uuid":  # before Arrow 18 there is no UuidType
        texts = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_dictionary(kind):
        value_type = kind.value_type
        if pa.types.is_string(value_type) or pa.types.is_large_string(value_type):
            return column
        return as_text(column.cast(value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        integers = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), 2.0**63))
        if pc.all(integers, min_count=0).as_py():
            return column.cast(pa.int64()).cast(pa.string())
        return column.cast(pa.string())
    return column.cast(pa.string())


def numbers(column: Any, place: Source, name: str, *, strict: bool = False) -> NDArray[np.float64]:
    """A column of numbers, NaN where there is none.

    What is not a number is left out with a note, or if ``strict`` an error.
    """
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = pc.utf8_trim_whitespace(column)
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, column.type), text)
        try:
            column = text.cast(pa.float64())
        except pa.ArrowInvalid:
            values = text.to_pylist()
            found = [None if v is None else as_number(v) for v in values]
            wrong = [r for r, v in enumerate(values) if v is not None and found[r] is None]
            value = values[wrong[0]] if wrong else None
            if wrong and strict:
                problem = f"{shown(value)} is not a number"
                raise place.error(wrong[0], problem, column=name, value=value) from None
            if wrong:
                many = count_of(len(wrong), "value", "is", "are")
                place.remark(f"column {name}: {many} left out, such as {shown(value)}: no number")
            return np.array([np.nan if v is None else v for v in found], dtype=np.float64)
    try:
        return np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if strict:
            raise place.error(None, f"it holds {column.type}, no numbers", column=name) from None
        place.remark(f"column {name} holds {column.type}, no numbers, and is left out")
        return np.full(len(column), np.nan)


_FAULTS = (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError)


def _as_arrow(table: Any, place: Source) -> pa.Table:
    """A table of any library, or a list of records, as an Arrow table.

    A column of several types, such as numbers and text, becomes text; one that Arrow has no type
    for is left out, with a note.
    """
    collect = getattr(table, "collect", None)
    if collect is not None and not hasattr(table, "__arrow_c_stream__"):  # Polars' LazyFrame
        table = collect()
    if isinstance(table, list) and table and all(isinstance(row, dict) for row in table):
        names = dict.fromkeys(name for row in table for name in row)
        table = {name: [row.get(name) for row in table] for name in names}
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        table = table.reset_index() if any(table.index.names) else table  # ids come first
        if not all(isinstance(name, str) for name in table.columns):
            table = table.set_axis([str(name) for name in table.columns], axis="columns")
    try:
        return pa.table(table)
    except _FAULTS as fault:
        reason = "; ".join(str(part) for part in fault.args)
    columns = _columns(table)
    if not columns or len({len(values) for _, values in columns}) != 1:
        raise place.error(
            None,
            f"this {type(table).__name__} cannot be read as a table ({reason}); expected columns "
            "of one length, as pandas, Polars, Arrow or a dict of lists have them",
        )
    found = [(name, _column(values)) for name, values in columns]
    for name in (name for name, column in found if column is None):
        place.remark(f"column {name} left out: Arrow has no type for its values")
    found = [(name, column) for name, column in found if column is not None]
    return pa.table([column for _, column in found], names=[name for name, _ in found])


def _columns(table: Any) -> list[tuple[str, Sequence[Any]]]:
    """The columns of a dict or a frame, by name; none where it is neither."""
    if isinstance(table, dict):
        held = list(table.items())
    elif hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas, and what is like it
        held = [(name, table.iloc[:, at]) for at, name in enumerate(table.columns)]
    else:
        return []
    return [(str(name), values) for name, values in held if hasattr(values, "__len__")]


def _column(values: Sequence[Any]) -> Any:
    """Values as an Arrow array: as they are, or as text; None where neither can be."""
    try:
        return pa.array(values)
    except _FAULTS:
        pass
    try:
        return pa.array([_text(value) for value in values], pa.string())
    except _FAULTS:
        return None


def _text(value: Any) -> str | None:
    """A value as text, whole numbers without a point; None and NaN are none."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float) or type(value).__module__ in ("numpy", "decimal"):
        return str(value)
    raise TypeError(type(value).__name__)


def take_in(table: Any, place: Source) -> Any:
    """A table of any library as an Arrow table."""
    # An Arrow table is what it is: taken in again, all of it would be looked through.
    rows = table if isinstance(table, pa.Table) else _as_arrow(table, place)
    twice = [name for name, times in Counter(rows.column_names).items() if times > 1]
    if twice:
        raise place.error(
            None,
            f"two columns are called {shown(twice[0])}; expected each name once",
            column=twice[0],
        )
    for at, kind in enumerate(rows.schema.types):
        if _is_view(kind):  # Polars' text and bytes, for which Arrow lacks many functions
            rows = rows.set_column(at, rows.column_names[at], _copy_view(rows.column(at)))
    return rows


def _is_view(kind: Any) -> bool:
    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string_view(value) or pa.types.is_binary_view(value))


def _copy_view(column: Any) -> Any:
    """A column whose texts or bytes lie one after the other."""
    if pa.types.is_binary_view(column.type):
        return column.cast(pa.large_binary())
    if pa.types.is_dictionary(column.type):
        return column.cast(pa.dictionary(column.type.index_type, pa.large_string()))
    return column.cast(pa.large_string())
