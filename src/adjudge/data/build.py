"""From a table with text in it to integer-coded judgments and gold.

Columns are encoded by Arrow's hash tables, in parallel; rows are checked, grouped by item, and
never looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import coo_array

from adjudge.data.checks import bad_rows, need_columns, one_gold_each, scale_of
from adjudge.data.columns import (
    as_text,
    canonical_codes,
    named_columns,
    numbers,
    one_each,
    roles_of,
    taken_in,
    text_of,
)
from adjudge.data.faults import Coded
from adjudge.data.gold import Gold
from adjudge.data.judge_columns import (
    family_column,
    kind_column,
    split_by_version,
    without_strangers,
)
from adjudge.data.judgments import Judgments
from adjudge.data.labels import remark_scale, settle_labels
from adjudge.data.names import Codes, Names, encode, pair_names
from adjudge.data.scale import Scale, canonical
from adjudge.data.source import Source
from adjudge.data.times import times

_CODED = ("item", "topic", "document", "judge", "label", "gold")
_OF_JUDGES = ("family", "kind", "prompt", "version")


@dataclass(frozen=True, slots=True, eq=False)
class _Items:
    """The item of each row, and what is known of each item."""

    by_row: Codes  # (row,)
    names: Names  # (item,)
    topics: Names | None = None  # (topic,)
    topic: Codes | None = None  # (item,)
    documents: Names | None = None  # (item,)

    @property
    def topic_names(self) -> Names | None:  # (item,)
        """The name of each item's topic."""
        if self.topics is None or self.topic is None:
            return None
        return self.topics.take(pa.array(self.topic))


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
    rows = taken_in(table, place)
    where = without_strangers(roles_of(rows.column_names) if roles is None else dict(roles))
    need_columns(where, rows.column_names, place)
    if len(rows) == 0:
        raise place.error(None, "there are no judgments: the table has a header and no rows")
    coded = encode_columns(rows, where, place)
    if _look_odd(coded):
        from adjudge.data.oddities import settle_oddities

        coded, scale = settle_oddities(coded, where, place, scale)
    coded = settle_labels(coded, where, place, scale=scale, asked=asked)
    coded = one_gold_each(coded, where, place)
    if scale is None:
        scale = scale_of(coded, where, place)
        remark_scale(scale, where["label"], place)
    bad = bad_rows(coded, where, scale, place)
    if bad is not None:
        good = np.flatnonzero(~bad)
        if good.size == 0:
            raise place.error(None, f"every one of the {bad.size:,} rows is bad")
        coded = {role: compact(codes[good], names) for role, (codes, names) in coded.items()}
        rows = rows.take(pa.array(good))
        place.keep(good)
    coded = split_by_version(coded, where)
    items = items_of(coded, where, place)
    judgments = _group(rows, coded, where, scale, place, items)
    if fields:
        judgments = _with_fields(judgments, rows, items.by_row, fields)
    gold = _gold_column(coded, where, place, items) if "gold" in coded else None
    return judgments, gold


def load_judgments(
    table: Any, *, scale: Scale | None, source: Source, named: Mapping[str, str]
) -> Judgments:
    """Judgments from a program's table: columns as it names them, its categories in their order."""
    rows = taken_in(table, source)
    told = named_columns(named, rows.column_names, source.name)
    roles = roles_of(rows.column_names, named=told)
    if scale is None and "label" in roles:
        scale = _ordered_scale(rows[roles["label"]])
    asked = "label" in told
    if "label" in roles and not asked and len(rows.column_names) > len(roles):
        from adjudge.data.formats.second_questions import tell_label

        tell_label(rows, roles, source, rows.column_names)
    return load_table(rows, scale=scale, source=source, roles=roles, asked=asked)[0]


def _ordered_scale(column: Any) -> Scale | None:
    """The scale of an ordered categorical column of words; numbers have their order anyway."""
    kind = column.type
    if not pa.types.is_dictionary(kind) or not kind.ordered or not column.num_chunks:
        return None
    words = as_text(column.chunk(0).dictionary)
    labels = [canonical(word) for word in words.to_pylist() if word is not None]
    if len(labels) < 2 or len(set(labels)) < len(labels) or not all(labels):
        return None
    return Scale(labels=tuple(labels), ordinal=True)


def encode_columns(rows: Any, where: dict[str, str], place: Source) -> Coded:
    """The coded columns, each in a thread of its own."""
    chosen = [role for role in (*_CODED, *_OF_JUDGES) if role in where]
    texts = {role: text_of(rows, where[role], place) for role in chosen}
    with ThreadPoolExecutor(max_workers=len(_CODED)) as pool:
        return dict(zip(texts, pool.map(encode, texts.values()), strict=True))


def _look_odd(coded: Coded) -> bool:
    """Whether ids or labels need a closer look: most are plain ids and whole numbers."""
    ids = [coded[role][1] for role in ("item", "topic", "document", "judge") if role in coded]
    words = pc.match_substring_regex(coded["label"][1], "[^0-9]")
    odd = r"^[\s=\x{feff}]|\s$|E\+|^0\d|\p{M}|(?i)^\W*(grand |sub)?(tot|sum|av|mean|(ins)?gesamt)"
    marks = (words, *(pc.match_substring_regex(names, odd) for names in ids))
    return any(pc.any(found).as_py() for found in marks)


def compact(codes: Codes, names: Names) -> tuple[Codes, Names]:
    """Codes and names without the names that no row uses any more; a code of -1 stays."""
    used = np.zeros(len(names) + 1, dtype=np.bool_)
    used[codes] = True
    used = used[:-1]
    if used.all():
        return codes, names
    renumbered = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
    return renumbered[codes], names.filter(pa.array(used))


def items_of(coded: Coded, where: dict[str, str], place: Source) -> _Items:
    """The item of each row: as named, or each distinct pair of topic and document."""
    if "item" not in coded:
        return _pairs(coded, place)
    item, names = coded["item"]
    topics = topic = documents = None
    if "topic" in coded:
        codes, topics = coded["topic"]
        topic, _ = one_each(item, codes, topics, where["topic"], place, names)
    if "document" in coded and where["document"] != where["item"]:
        codes, every = coded["document"]
        chosen, _ = one_each(item, codes, every, where["document"], place, names)
        documents = every.take(pa.array(chosen))
    return _Items(item, names, topics, topic, documents)


def _pairs(coded: Coded, place: Source) -> _Items:
    """Items from pairs of topic and document."""
    by_row, topics = coded["topic"]
    document, every = coded["document"]
    pair = by_row.astype(np.int64) * len(every) + document
    encoded = pa.array(pair).dictionary_encode()
    key = encoded.dictionary.to_numpy()
    topic = (key // len(every)).astype(np.int32)
    documents = every.take(pa.array(key % len(every)))
    names = pair_names(topics.take(pa.array(topic)), documents)
    if pc.count_distinct(names).as_py() < len(names):
        raise place.error(
            None,
            "two pairs of topic and document give one item id, since ids hold slashes; "
            "wanted a column item beside them",
        )
    item = encoded.indices.to_numpy().astype(np.int32)
    return _Items(item, names, topics, topic, documents)


def _group(
    rows: Any,
    coded: Coded,
    where: dict[str, str],
    scale: Scale,
    place: Source,
    items: _Items,
) -> Judgments:
    """Judgments from rows: sorted by item, rows of one item in the order they came."""
    judge, judges = coded["judge"]
    families, family = family_column(coded, where, place)
    codes, names = coded["label"]
    known = {name: code for code, name in enumerate(scale.labels)}
    table = np.array([known[canonical(name)] for name in names.to_pylist()])
    label = table.astype(scale.label_dtype)[codes]
    key = items.by_row.astype(np.int64) * len(judges) + judge
    ranked = np.sort(key)
    again = int(np.count_nonzero(ranked[1:] == ranked[:-1]))
    if again and not place.samples:
        from adjudge.data.oddities import remark_repeats

        remark_repeats(key, label, again, where, place)
    del key, ranked
    time = times(rows[where["time"]], place, where["time"]) if "time" in where else None
    seconds = None
    if "seconds" in where:
        seconds = numbers(rows[where["seconds"]], place, where["seconds"])
    offsets = _runs(items.by_row, len(items.names))
    if offsets is None:
        order = None if time is None and seconds is None else _order(items)
        time = time if time is None or order is None else time[order]
        seconds = seconds if seconds is None or order is None else seconds[order]
        offsets, judge, label = _sorted_by_item(items, judge, label)
    return Judgments(
        scale=scale,
        items=items.names,
        judges=judges,
        offsets=offsets,
        judge=judge,
        label=label,
        topics=items.topics,
        topic=items.topic,
        documents=items.documents,
        time=time,
        seconds=seconds,
        families=families,
        family=family,
        kind=kind_column(coded, where, place),
    )


def _runs(item: Codes, count: int) -> NDArray[np.int64] | None:  # (item + 1,)
    """Where the rows of each item begin, None if they do not stand together in the items' order."""
    fresh = item[1:] != item[:-1]
    if np.count_nonzero(fresh) + 1 != count:
        return None
    begins = np.concatenate([[0], np.flatnonzero(fresh) + 1])
    if not np.array_equal(item[begins], np.arange(count)):
        return None
    return np.append(begins, item.size).astype(np.int64)


def _sorted_by_item(
    items: _Items,
    judge: Codes,  # (row,)
    label: NDArray[np.signedinteger],  # (row,)
) -> tuple[NDArray[np.int64], Codes, NDArray[np.signedinteger]]:
    """Offsets of the items, and judges and labels by item, those of one item as they came.

    A sparse matrix with a row an item turns from coordinates to rows by a counting sort, which is
    several times faster than a general stable sort. That it is canonical is not true, but keeps a
    judge's second judgment of an item from being added to their first.
    """
    shape = (len(items.names), int(judge.max(initial=0)) + 1)
    matrix = coo_array((label, (items.by_row, judge)), shape=shape)
    matrix.has_canonical_format = True
    sorted_ = matrix.tocsr()
    return (
        sorted_.indptr.astype(np.int64),
        sorted_.indices.astype(np.int32, copy=False),
        sorted_.data,
    )


def _order(items: _Items) -> NDArray[np.int32]:
    """The rows by item, those of one item as they came."""
    rows = np.arange(items.by_row.size, dtype=np.int32)
    ones = np.ones(rows.size, dtype=np.int8)
    return _sorted_by_item(items, rows, ones)[1]


def _with_fields(
    judgments: Judgments, rows: Any, item: Codes, fields: tuple[str, ...]
) -> Judgments:
    """The judgments with the columns that describe each item, as its first row has them."""
    first = np.zeros(judgments.item_count, dtype=np.int64)
    first[item[::-1]] = np.arange(item.size)[::-1]
    return replace(judgments, fields=rows.select(list(fields)).take(pa.array(first)))


def _gold_column(coded: Coded, where: dict[str, str], place: Source, items: _Items) -> Gold | None:
    """The gold of a judgments table: one value an item, empty where it is not known."""
    values, value = canonical_codes(*coded["gold"])
    if not values:
        return None
    chosen, _ = one_each(items.by_row, value, values, where["gold"], place, items.names)
    known = chosen >= 0
    mask = pa.array(known)
    topics = items.topic_names
    return Gold(
        items=items.names.filter(mask),
        value=chosen[known],
        values=values,
        topics=None if topics is None else topics.filter(mask),
        documents=None if items.documents is None else items.documents.filter(mask),
        source=place.name,
    )
