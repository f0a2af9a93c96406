"""From a table with text in it to integer-coded judgments.

Columns are encoded by Arrow's hash tables, in parallel; rows are checked, grouped by item, and
never looked at again. What only some tables need (topics, gold, families, odd spellings, bad rows)
is in modules of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._instants import read_times
from adjudge.data._items import (
    Items,
    family_column,
    find_items,
    gold_column,
    kind_column,
    split_by_version,
    with_fields,
    without_strangers,
)
from adjudge.data.columns import (
    as_text,
    join_item,
    named_columns,
    need_columns,
    numbers,
    roles_of,
    take_in,
    text_of,
)
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Coded, Codes, encode
from adjudge.data.scale import MOST_LABELS, Scale, canonical
from adjudge.data.shapes import first_texts, is_wide, settle_shape
from adjudge.data.source import Source
from adjudge.errors import BadData, BadSetting, name_columns

if TYPE_CHECKING:
    from adjudge.data.formats.format import Options

_CODED = ("item", "topic", "document", "judge", "label", "gold")
_FEW = 100_000  # rows, for which it is not worth importing a library
_FEWEST = 10  # judgments from which something is said of all of them
_OF_JUDGES = ("family", "kind", "prompt", "version")


def load_table(
    table: Any,
    *,
    scale: Scale | None = None,
    source: str | Source = "table",
    roles: dict[str, str] | None = None,
    fields: tuple[str, ...] = (),
    asked: bool = False,
) -> tuple[Judgments, Gold | None]:
    """Judgments, and gold if a column holds it, from any table that Arrow can take in.

    ``roles`` names the column of each role where the header does not speak for itself; ``fields``
    are columns that describe the item and are carried along. ``asked``: a person named the column
    of the label, so that it is one however many there are.
    """
    place = source if isinstance(source, Source) else Source(source)
    rows = take_in(table, place)
    where = roles_of(rows.column_names) if roles is None else dict(roles)
    if where.keys() & {"prompt", "version"}:
        where = without_strangers(where)
    need_columns(where, rows.column_names, place)
    if len(rows) == 0:
        raise place.error(None, "there are no judgments: expected rows below the header")
    coded = _encode_columns(rows, where, place)
    odd = _look_odd(coded)
    if odd:
        from adjudge.data.labels import refuse_text
        from adjudge.data.oddities import settle_oddities

        if scale is None:
            texts = coded["label"][1].to_pylist()
            refuse_text(texts, len(rows), where["label"], place, asked=asked)
        coded, scale = settle_oddities(coded, where, place, scale)
    if not _are_digits(coded["label"][1].to_pylist()):
        from adjudge.data.labels import settle_labels

        coded = settle_labels(coded, where, place, scale=scale, asked=asked)
    if "gold" in coded:
        from adjudge.data._items import one_gold_each, without_flag

        coded = one_gold_each(without_flag(coded, where, place, scale), where, place)
    if scale is None:
        scale = _infer_scale(coded, where, place)
    if odd or not _are_good(coded, scale):
        from adjudge.data._items import leave_out_bad

        many = len(rows)
        coded, rows = leave_out_bad(coded, rows, where, scale, place)
        if not len(rows):
            raise place.error(None, f"every one of the {many:,} rows is bad")
    if coded.keys() & {"prompt", "version"}:
        coded = split_by_version(coded, where)
    items = find_items(coded, where, place)
    judgments = _group(rows, coded, where, scale, place, items)
    if fields:
        judgments = with_fields(judgments, rows, items.by_row, fields)
    if "gold" not in coded:
        return judgments, None
    return judgments, gold_column(coded, where, place, items)


def _are_digits(labels: Iterable[str]) -> bool:
    """Whether labels are single digits, about which nothing needs to be said."""
    return all(len(label) == 1 and "0" <= label <= "9" for label in labels)


def _encode_columns(rows: Any, where: dict[str, str], place: Source) -> Coded:
    """The coded columns, each in a thread of its own."""
    chosen = [role for role in (*_CODED, *_OF_JUDGES) if role in where]
    texts = {role: text_of(rows, where[role], place) for role in chosen}
    with ThreadPoolExecutor(max_workers=len(_CODED)) as pool:
        return dict(zip(texts, pool.map(encode, texts.values()), strict=True))


def _look_odd(coded: Coded) -> bool:
    """Whether ids or labels need a closer look: most are plain ids and whole numbers."""
    ids = [coded[role][1] for role in ("item", "topic", "document", "judge") if role in coded]
    words = pc.match_substring_regex(coded["label"][1], "[^0-9]")
    edge = r"^$|\x00|^[\s\pZ=\x{feff}]|[\s\pZ]$"  # also spaces that are not ASCII
    odd = edge + r"|E\+|^0\d"
    marks = (words, *(pc.match_substring_regex(names, odd) for names in ids))
    if any(pc.any(found).as_py() for found in marks):
        return True
    judges = coded["judge"][1]
    return bool(pc.count_distinct(pc.utf8_lower(judges)).as_py() < len(judges))


def _infer_scale(coded: Coded, where: dict[str, str], place: Source) -> Scale:
    """The scale that the labels and the gold suggest."""
    texts = coded["label"][1].to_pylist()
    if "gold" in coded:
        texts = texts + coded["gold"][1].to_pylist()
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise place.error(0, "there is no label in the column", column=where["label"])
    try:
        scale = Scale.infer(texts)
    except BadSetting:
        raise place.error(
            None,
            f"{len(set(texts)):,} different labels are more than the {MOST_LABELS:,} that can be",
            column=where["label"],
        ) from None
    except BadData:
        from adjudge.data._items import refuse_mixed

        refuse_mixed(coded, where, place)
    if scale.labels[-1] > "4" or not _are_digits(scale.labels):
        from adjudge.data.labels import remark_scale

        remark_scale(scale, where["label"], place)
    return scale


def _are_good(coded: Coded, scale: Scale) -> bool:
    """Whether every row of plain ids can be used; False if not certain."""
    if coded.keys() - {"item", "judge", "label"}:
        return False
    if any(int(codes.min(initial=0)) < 0 for codes, _ in coded.values()):
        return False
    known = set(scale.labels)
    return all(canonical(text) in known for text in coded["label"][1].to_pylist())


def _group(
    rows: Any,
    coded: Coded,
    where: dict[str, str],
    scale: Scale,
    place: Source,
    items: Items,
) -> Judgments:
    """Judgments from rows: sorted by item, rows of one item in the order they came."""
    judge, judges = coded["judge"]
    about: dict[str, Any] = {}
    if coded.keys() & {"family", "kind"}:
        about["families"], about["family"] = family_column(coded, where, place)
        about["kind"] = kind_column(coded, where, place)
    codes, names = coded["label"]
    known = {name: code for code, name in enumerate(scale.labels)}
    table = np.array([known[canonical(name)] for name in names.to_pylist()])
    label = table.astype(scale.label_dtype)[codes]
    if "time" in where:
        about["time"] = read_times(rows[where["time"]], place, where["time"])
    if "seconds" in where:
        about["seconds"] = numbers(rows[where["seconds"]], place, where["seconds"])
    offsets = _runs(items.by_row, len(items.names))
    if offsets is None:
        for name in about.keys() & {"time", "seconds"}:
            about[name] = about[name][np.argsort(items.by_row, kind="stable")]
        offsets, judge, label = _sort_by_item(items, judge, label)
    judgments = Judgments(
        scale=scale,
        items=items.names,
        judges=judges,
        offsets=offsets,
        judge=judge,
        label=label,
        topics=items.topics,
        topic=items.topic,
        documents=items.documents,
        types=_types_of(rows, where),
        **about,
    )
    if place.repeats:
        return judgments
    from adjudge.data._repeats import settle_repeats

    return settle_repeats(judgments, items.by_row, rows, where, place)


def _types_of(rows: Any, where: Mapping[str, str]) -> dict[str, str]:
    """Return the types of ids and labels that are numbers or flags, by role."""
    found = {}
    for role in ("item", "topic", "document", "judge", "label"):
        kind = rows.schema.field(where[role]).type if role in where else pa.null()
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            found[role] = str(kind)
    if "item" in where and where["item"] == where.get("document") and "document" in found:
        found["item"] = found["document"]
    return found


def _runs(item: Codes, count: int) -> NDArray[np.int64] | None:  # (item + 1,)
    """Where the rows of each item begin, None if they are not together in the items' order."""
    fresh = item[1:] != item[:-1]
    if np.count_nonzero(fresh) + 1 != count:
        return None
    begins = np.concatenate([[0], np.flatnonzero(fresh) + 1])
    if not np.array_equal(item[begins], np.arange(count)):
        return None
    return np.append(begins, item.size).astype(np.int64)


def _sort_by_item(
    items: Items,
    judge: Codes,  # (row,)
    label: NDArray[np.signedinteger],  # (row,)
) -> tuple[NDArray[np.int64], Codes, NDArray[np.signedinteger]]:
    """Offsets of the items, and judges and labels by item, those of one item as they came.

    A sparse matrix of items turns from coordinates to rows by a counting sort, several times
    faster than a general stable sort. That it is canonical is not true, but keeps a
    judge's second judgment of an item from being added to their first.
    """
    if label.size <= _FEW:
        order = np.argsort(items.by_row, kind="stable")
        counts = np.bincount(items.by_row, minlength=len(items.names))
        return np.append(0, np.cumsum(counts)), judge[order], label[order]
    from scipy.sparse import coo_array

    shape = (len(items.names), int(judge.max(initial=0)) + 1)
    matrix = coo_array((label, (items.by_row, judge)), shape=shape)
    matrix.has_canonical_format = True
    sorted_ = matrix.tocsr()
    return (
        sorted_.indptr.astype(np.int64),
        sorted_.indices.astype(np.int32, copy=False),
        sorted_.data,
    )


def load_judgments(table: Any, options: Options, source: Source) -> tuple[Judgments, Gold | None]:
    """Judgments and gold of a program's table: columns as it names them, categories in order."""
    rows, scale = take_in(table, source), options.scale
    named = named_columns(options.columns, rows.column_names, source.name)
    rows = join_item(rows, named, source)
    roles = roles_of(rows.column_names, named=named)
    cells = first_texts(rows)
    if options.are_wide or (not {"judge", "label"} <= roles.keys() and is_wide(cells)):
        rows, roles = settle_shape(rows, options, cells, source, named)
        return load_table(rows, scale=scale, source=source, roles=roles)
    if scale is None and "label" in roles:
        scale = _read_ordered_scale(rows[roles["label"]])
    asked = "label" in named
    if "label" in roles and not asked and len(rows.column_names) > len(roles):
        from adjudge.data._second_questions import tell_label

        tell_label(rows, roles, source, rows.column_names)
    judgments, gold = load_table(rows, scale=scale, source=source, roles=roles, asked=asked)
    remark_single(judgments, roles, source)
    return judgments, gold


def remark_single(judgments: Judgments, roles: Mapping[str, str], place: Source) -> None:
    """Note that each item has one judgment, as where its column numbers the rows."""
    several = len(judgments) >= _FEWEST and judgments.judge_count > 1
    if not several or len(judgments) > judgments.item_count:
        return
    column = roles.get("item", "")
    other = roles.get("document") if column != roles.get("document") else None
    number = f"; if {column} only numbers rows, name the item" if column else ""
    remedy = name_columns(item=other) if other and column else name_columns("item")
    place.remark(f"each item has one judgment, so judges have no item in common{number}", remedy)


def _read_ordered_scale(column: Any) -> Scale | None:
    """The scale of an ordered categorical column of words; numbers have their order anyway."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not kind.ordered or not column.num_chunks:
        return None
    words = as_text(column.chunk(0).dictionary)
    labels = [canonical(word) for word in words.to_pylist() if word is not None]
    if len(labels) < 2 or len(set(labels)) < len(labels) or not all(labels):
        return None
    return Scale(labels=tuple(labels), ordinal=True)
