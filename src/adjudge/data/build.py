"""From a table with text in it to integer-coded judgments and gold.

The one place where rows are checked. Columns are encoded by Arrow's hash tables, in parallel, and
every check runs on the few distinct values, not on the rows; only a complaint looks for its row.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import coo_array

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, Names, as_names, encode, pair_names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

# The columns a table may have, each with the names it goes by: letters only, "id" cut off.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "item": ("item", "task", "question", "unit", "example", "pair"),
    "topic": ("topic", "query", "q"),
    "document": ("document", "doc", "docno", "corpus"),
    "judge": (
        "judge",
        "worker",
        "annotator",
        "coder",
        "user",
        "performer",
        "assessor",
        "rater",
        "labeler",
        "labeller",
    ),
    "label": ("label", "answer", "rating", "response", "judgment", "judgement", "grade"),
    "gold": ("gold", "truth", "truelabel", "goldlabel", "expert"),
    "reason": ("reason", "why"),
    "honeypot": ("honeypot", "trap"),
    "time": ("time", "timestamp", "createdat", "submittedat"),
    "seconds": ("seconds", "duration", "leadtime", "worktimeinseconds"),
}


def roles_of(columns: list[str]) -> dict[str, str]:
    """Which column plays which role, by name or synonym; the first fitting name wins."""
    plain: dict[str, str] = {}
    for column in columns:
        letters = re.sub(r"[^a-z]", "", column.casefold())
        for name in {letters, letters.removesuffix("id")}:
            plain.setdefault(name, column)
    found = {}
    for role, names in SYNONYMS.items():
        column_name = next((plain[name] for name in names if name in plain), None)
        if column_name is not None:
            found[role] = column_name
    return found


def load_table(
    table: Any,
    *,
    scale: Scale | None = None,
    source: str | Source = "table",
    roles: dict[str, str] | None = None,
    fields: tuple[str, ...] = (),
) -> tuple[Judgments, Gold | None]:
    """Judgments, and gold if a column holds it, from any table that Arrow can take in.

    ``roles`` names the column of each role where the header does not speak for itself; ``fields``
    are columns that describe the item and are carried along.
    """
    place = source if isinstance(source, Source) else Source(source)
    rows = pa.table(table)
    where = roles_of(rows.column_names) if roles is None else dict(roles)
    _need_columns(where, rows.column_names, place)
    texts = {
        role: _as_text(rows[where[role]])
        for role in ("item", "topic", "document", "judge", "label", "gold")
        if role in where
    }
    with ThreadPoolExecutor(max_workers=4) as pool:
        coded = dict(zip(texts, pool.map(encode, texts.values()), strict=True))
    if len(rows) == 0:
        raise place.error(None, "there are no judgments: the table has a header and no rows")
    scale = _scale_of(coded, where, scale, place)
    bad = _bad_rows(coded, where, scale, place)
    good = None
    if bad is not None:
        good = np.flatnonzero(~bad)
        coded = {role: (codes[good], names) for role, (codes, names) in coded.items()}
        rows = rows.take(pa.array(good))
        place.row_of = good
        if good.size == 0:
            raise place.error(None, f"every one of the {bad.size:,} rows is bad")
    item, items, topics, topic, documents = _items_of(coded, where, place)
    judgments = _group(rows, coded, where, scale, place, item, items, topics, topic, documents)
    if fields:
        judgments = _with_fields(judgments, rows, item, fields)
    gold = _gold_column(coded, where, place, item, judgments) if "gold" in coded else None
    return judgments, gold


def gold_from_table(
    table: Any, *, source: str | Source = "gold", roles: dict[str, str] | None = None
) -> Gold:
    """Gold from a table with ``item`` (or ``topic`` and ``document``) and ``gold`` or ``label``."""
    place = source if isinstance(source, Source) else Source(source)
    rows = pa.table(table)
    where = roles_of(rows.column_names) if roles is None else dict(roles)
    if "gold" not in where and "label" in where:
        where["gold"] = where["label"]
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    if "gold" not in where or not ("item" in where or {"topic", "document"} <= where.keys()):
        wanted = "gold" if "gold" not in where else "item"
        raise place.error(
            None,
            f"no column {wanted!r}; the columns are {', '.join(rows.column_names)}; "
            "wanted item (or topic and document) and gold",
            column=wanted,
        )
    known = pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(_as_text(rows[where["gold"]])), ""), False)
    kept = np.flatnonzero(np.asarray(known))
    rows = rows.take(pa.array(kept))
    place.row_of = kept
    coded = {
        role: encode(_as_text(rows[where[role]]))
        for role in ("item", "topic", "document", "gold")
        if role in where
    }
    _bad_rows(coded, where, None, place)
    item, items, topics, topic, documents = _items_of(coded, where, place)
    values, value = _canonical_codes(*coded["gold"])
    chosen, first = _one_each(item, value, len(items), values, where["gold"], place, rows, items)
    honeypot = None
    if "honeypot" in where:
        marks = pc.utf8_lower(_as_text(rows[where["honeypot"]]).take(pa.array(first)))
        honeypot = np.asarray(pc.is_in(marks, pa.array(["1", "true", "yes", "y"])))
    return Gold(
        items=items,
        value=chosen,
        values=values,
        topics=None if topics is None or topic is None else topics.take(pa.array(topic)),
        documents=documents,
        reasons=as_names(_as_text(rows[where["reason"]]).take(pa.array(first)))
        if "reason" in where
        else None,
        honeypot=honeypot,
        source=place.name,
    )


def _need_columns(where: dict[str, str], columns: list[str], place: Source) -> None:
    """Complain of the first column that is missing, with those that are there."""
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    pair = {"topic", "document"} <= where.keys()
    for role in ("item", "judge", "label"):
        if role in where or (role == "item" and pair):
            continue
        also = " (or topic and document)" if role == "item" else ""
        raise place.error(
            None,
            f"no column {role!r}{also}; the columns are {', '.join(columns)}; "
            f"also accepted: {', '.join(SYNONYMS[role][1:])}",
            column=role,
            wanted=role,
        )


def _as_text(column: Any) -> Any:
    """A column as text: whole numbers without a point, so that 3.0 from a table with gaps is 3."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        value_type = kind.value_type
        if pa.types.is_string(value_type) or pa.types.is_large_string(value_type):
            return column
        return _as_text(column.cast(value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, kind), column)
        if pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py():
            return column.cast(pa.int64()).cast(pa.string())
        return column.cast(pa.string())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    return column.cast(pa.string())


def _canonical_codes(codes: Codes, names: Names) -> tuple[tuple[str, ...], Codes]:
    """Distinct canonical labels and the code of each row, from the codes of the raw texts."""
    texts = [canonical(name) for name in names.to_pylist()]
    values = tuple(dict.fromkeys(text for text in texts if text))
    position = {text: code for code, text in enumerate(values)}
    table = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.int32)
    return values, table[codes]


def _scale_of(
    coded: dict[str, tuple[Codes, Names]],
    where: dict[str, str],
    scale: Scale | None,
    place: Source,
) -> Scale:
    """The scale given, or the one that the labels and the gold suggest."""
    if scale is not None:
        return scale
    texts = coded["label"][1].to_pylist()
    if "gold" in coded:
        texts = texts + coded["gold"][1].to_pylist()
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise place.error(0, "there is no label in the whole column", column=where["label"])
    try:
        return Scale.infer(texts)
    except BadData:
        return _mixed(coded, where, place)


def _mixed(
    coded: dict[str, tuple[Codes, Names]], where: dict[str, str], place: Source
) -> Scale:
    """Name the first row whose label is of the other kind than the labels before it."""
    codes, names = coded["label"]
    texts = [canonical(name) for name in names.to_pylist()]
    numeric = np.array([as_number(text) is not None for text in texts])
    column = where["label"]
    if numeric.all() or not numeric.any():
        codes, names = coded["gold"]
        column = where["gold"]
        kind = bool(numeric.any())
        texts_gold = [canonical(name) for name in names.to_pylist()]
        other = np.array([(as_number(text) is not None) != kind for text in texts_gold])
    else:
        kind = bool(numeric[codes[0]])
        texts_gold = texts
        other = numeric != kind
    row = int(np.argmax(np.append(other, False)[codes]))
    value = texts_gold[codes[row]]
    seen = [text for text in texts if (as_number(text) is not None) == kind][:3]
    raise place.error(
        row,
        f"{shown(value)} is {'text' if kind else 'a number'}, but the labels before it are "
        f"{'numbers' if kind else 'text'} ({', '.join(seen)}); wanted labels of one kind, or the "
        "scale named with --labels",
        column=column,
        value=value,
        wanted="labels of one kind",
    )


def _bad_rows(
    coded: dict[str, tuple[Codes, Names]],
    where: dict[str, str],
    scale: Scale | None,
    place: Source,
) -> NDArray[np.bool_] | None:
    """The rows that cannot be used, or an error for the first of them; None if all are good."""
    problems: list[tuple[NDArray[np.bool_], str, str]] = []
    for role in ("item", "topic", "document", "judge"):
        if role not in coded:
            continue
        codes, names = coded[role]
        blank = np.asarray(pc.equal(pc.utf8_trim_whitespace(names), ""), dtype=np.bool_)
        nul = np.asarray(pc.match_substring(names, "\0"), dtype=np.bool_)
        for flags, problem in ((blank, f"the {role} id is empty"), (nul, "a NUL byte in an id")):
            marked = np.append(flags, flags is blank)[codes]  # code -1 is null: empty
            if marked.any():
                problems.append((marked, where[role], problem))
    if scale is not None:
        for role in ("label", "gold"):
            if role in coded:
                marked = _off_scale(*coded[role], scale, role)
                if marked.any():
                    problems.append((marked, where[role], role))
    if not problems:
        return None
    bad = np.logical_or.reduce([marked for marked, _, _ in problems])
    for row in np.flatnonzero(bad):
        error = _row_error(int(row), problems, coded, scale, place)
        if not place.skip_bad:
            raise error
        place.note(int(row), error)
    return bad


def _off_scale(codes: Codes, names: Names, scale: Scale, role: str) -> NDArray[np.bool_]:
    """Which rows hold a label (or a gold) that is not on the scale; no gold is no fault."""
    texts = names.to_pylist()
    if role == "label":
        off = [scale.label_code(text) < 0 for text in texts] + [True]
    else:
        off = [bool(text.strip()) and scale.truth_code(text) < 0 for text in texts] + [False]
    return np.array(off, dtype=np.bool_)[codes]


def _row_error(
    row: int,
    problems: list[tuple[NDArray[np.bool_], str, str]],
    coded: dict[str, tuple[Codes, Names]],
    scale: Scale | None,
    place: Source,
) -> BadData:
    """The error for one bad row: its first problem, in the order of the columns checked."""
    _, column, problem = next(entry for entry in problems if entry[0][row])
    if problem not in ("label", "gold"):
        return place.error(row, problem, column=column, value="", wanted="an id")
    codes, names = coded[problem]
    text = names[int(codes[row])].as_py() if codes[row] >= 0 else ""
    what = f"{shown(text.strip())} is not on the scale {scale}" if text.strip() else (
        f"there is no {problem}; wanted one of {scale}"
    )
    return place.error(row, what, column=column, value=text, wanted=str(scale))


def _items_of(
    coded: dict[str, tuple[Codes, Names]], where: dict[str, str], place: Source
) -> tuple[Codes, Names, Names | None, Codes | None, Names | None]:
    """Item codes by row, item names, and the topic and document of each item."""
    if "item" in coded:
        item, items = _compact(*coded["item"])
        topics = topic = documents = None
        if "topic" in coded:
            codes, topics = _compact(*coded["topic"])
            topic, _ = _one_each(
                item, codes, len(items), topics, where["topic"], place, None, items
            )
        if "document" in coded and where.get("document") != where.get("item"):
            codes, names = _compact(*coded["document"])
            chosen, _ = _one_each(
                item, codes, len(items), names, where["document"], place, None, items
            )
            documents = names.take(pa.array(chosen))
        return item, items, topics, topic, documents
    by_row, topics = _compact(*coded["topic"])
    document, names = _compact(*coded["document"])
    pair = by_row.astype(np.int64) * len(names) + document
    encoded = pa.array(pair).dictionary_encode()
    item = encoded.indices.to_numpy().astype(np.int32)
    key = encoded.dictionary.to_numpy()
    topic = (key // len(names)).astype(np.int32)
    documents = names.take(pa.array(key % len(names)))
    items = pair_names(topics.take(pa.array(topic)), documents)
    if pc.count_distinct(items).as_py() < len(items):
        raise place.error(
            None, "two pairs of topic and document give one item id; wanted a column item beside"
        )
    return item, items, topics, topic, documents


def _compact(codes: Codes, names: Names) -> tuple[Codes, Names]:
    """Codes and names without the names that no row uses any more."""
    used = np.zeros(len(names), dtype=np.bool_)
    used[codes] = True
    if used.all():
        return codes, names
    return (np.cumsum(used) - 1).astype(np.int32)[codes], names.filter(pa.array(used))


def _one_each(
    item: Codes,
    value: Codes,
    count: int,
    values: Any,
    column: str,
    place: Source,
    _rows: Any,
    items: Names,
) -> tuple[Codes, NDArray[np.int64]]:
    """The one value each item has in a column, and the row that says it; two values are an error."""
    first = np.full(count, -1, dtype=np.int64)
    known = np.flatnonzero(value >= 0)
    first[item[known[::-1]]] = known[::-1]
    chosen = np.where(first >= 0, np.append(value, -1)[first], -1).astype(np.int32)
    wrong = known[value[known] != chosen[item[known]]]
    if wrong.size:
        row = int(wrong[0])
        names = values if isinstance(values, tuple) else values.to_pylist()
        before = place.error(int(first[item[row]]), "").place.split(f"{place.name}, ", 1)[-1]
        raise place.error(
            row,
            f"item {shown(items[int(item[row])].as_py())} has {column} {shown(names[value[row]])} "
            f"here but {shown(names[chosen[item[row]]])} at {before}; wanted one",
            column=column,
            value=names[value[row]],
            wanted=names[chosen[item[row]]],
        )
    return chosen, first


def _group(
    rows: Any,
    coded: dict[str, tuple[Codes, Names]],
    where: dict[str, str],
    scale: Scale,
    place: Source,
    item: Codes,
    items: Names,
    topics: Names | None,
    topic: Codes | None,
    documents: Names | None,
) -> Judgments:
    """Judgments from rows: sorted by item, rows of one item in the order they came."""
    judge, judges = _compact(*coded["judge"])
    codes, names = coded["label"]
    table = np.array([scale.label_code(name) for name in names.to_pylist()])
    label = table.astype(scale.label_dtype)[codes]
    time = _times(rows[where["time"]], place, where["time"]) if "time" in where else None
    seconds = (
        _numbers(rows[where["seconds"]], place, where["seconds"]) if "seconds" in where else None
    )
    order = _order(item, len(items))
    counts = np.bincount(item, minlength=len(items))

    def sorted_by_item(values: Any) -> Any:
        return values if values is None or order is None else values[order]

    return Judgments(
        scale=scale,
        items=items,
        judges=judges,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        judge=sorted_by_item(judge),
        label=sorted_by_item(label),
        topics=topics,
        topic=topic,
        documents=documents,
        time=sorted_by_item(time),
        seconds=sorted_by_item(seconds),
    )


def _order(item: Codes, count: int) -> NDArray[np.int64] | None:
    """The stable order of rows by item, None if they are grouped already.

    A sparse matrix with a row an item and a column a table row turns from coordinates to rows by
    a counting sort, which is several times faster than a general stable sort.
    """
    if bool(np.all(item[1:] >= item[:-1])):
        return None
    rows = np.arange(item.size, dtype=np.int64)
    matrix = coo_array((np.ones(item.size, dtype=np.int8), (item, rows)), shape=(count, item.size))
    matrix.has_canonical_format = True
    return np.asarray(matrix.tocsr().indices)


def _times(column: Any, place: Source, name: str) -> NDArray[np.float64]:
    """Times as seconds since 1970: timestamps, numbers, or ISO 8601 text."""
    if pa.types.is_timestamp(column.type):
        micro = column.cast(pa.timestamp("us", tz=column.type.tz)).cast(pa.int64())
        return np.asarray(pc.fill_null(pc.divide(micro.cast(pa.float64()), 1e6), np.nan))
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))
    text = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    for kind in (pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.float64()):
        try:
            return _times(text.cast(kind), place, name)
        except pa.ArrowInvalid:
            continue
    for row, value in enumerate(text.to_pylist()):
        try:
            pa.array([value]).cast(pa.timestamp("us"))
        except pa.ArrowInvalid:
            raise place.error(
                row,
                f"{shown(value)} is no time; wanted ISO 8601 (2026-05-31T12:00:00) or seconds",
                column=name,
                value=value,
                wanted="a time",
            ) from None
    return np.full(len(text), np.nan)


def _numbers(column: Any, place: Source, name: str) -> NDArray[np.float64]:
    """A column of numbers, NaN where there is none; text that is no number is an error."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        text = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
        try:
            column = text.cast(pa.float64())
        except pa.ArrowInvalid:
            values = text.to_pylist()
            row = next(r for r, v in enumerate(values) if v is not None and as_number(v) is None)
            raise place.error(
                row,
                f"{shown(values[row])} is no number",
                column=name,
                value=values[row],
                wanted="a number",
            ) from None
    return np.asarray(pc.fill_null(column.cast(pa.float64()), np.nan))


def _with_fields(
    judgments: Judgments, rows: Any, item: Codes, fields: tuple[str, ...]
) -> Judgments:
    """The judgments with the columns that describe each item, as its first row has them."""
    from dataclasses import replace

    first = np.zeros(judgments.item_count, dtype=np.int64)
    first[item[::-1]] = np.arange(item.size)[::-1]
    return replace(judgments, fields=rows.select(list(fields)).take(pa.array(first)))


def _gold_column(
    coded: dict[str, tuple[Codes, Names]],
    where: dict[str, str],
    place: Source,
    item: Codes,
    judgments: Judgments,
) -> Gold | None:
    """The gold of a judgments table: one value an item, empty where it is not known."""
    values, value = _canonical_codes(*coded["gold"])
    if not values:
        return None
    chosen, _ = _one_each(
        item, value, judgments.item_count, values, where["gold"], place, None, judgments.items
    )
    known = chosen >= 0
    if not known.any():
        return None
    mask = pa.array(known)
    topics = None
    if judgments.topics is not None and judgments.topic is not None:
        topics = judgments.topics.take(pa.array(judgments.topic[known]))
    return Gold(
        items=judgments.items.filter(mask),
        value=chosen[known],
        values=values,
        topics=topics,
        documents=None if judgments.documents is None else judgments.documents.filter(mask),
        source=place.name,
    )
