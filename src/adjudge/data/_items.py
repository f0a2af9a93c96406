"""What the rows of a table are about: items with topic and gold, judges with family and kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._reshaping import kind_of_word
from adjudge.data.columns import letters_of
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Coded, Codes, Names, as_names, encode, pair_names
from adjudge.data.scale import canonical
from adjudge.data.source import Source
from adjudge.errors import shown


@dataclass(frozen=True, slots=True, eq=False)
class Items:
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


def find_items(coded: Coded, where: dict[str, str], place: Source) -> Items:
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
    return Items(item, names, topics, topic, documents)


def _pairs(coded: Coded, place: Source) -> Items:
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
    return Items(item, names, topics, topic, documents)


def one_each(
    item: Codes,  # (row,)
    value: Codes,  # (row,) -1 is none
    values: Any,
    column: str,
    place: Source,
    items: Names,
    *,
    kind: str = "item",
) -> tuple[Codes, NDArray[np.int64]]:  # (item,), (item,)
    """The one value each item has in a column, and the row that says it; two are an error."""
    first = np.full(len(items), -1, dtype=np.int64)
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
            f"{kind} {shown(items[int(item[row])].as_py())} has {column} "
            f"{shown(names[value[row]])} here but {shown(names[chosen[item[row]]])} at {before}; "
            "wanted one",
            column=column,
            value=names[value[row]],
            expected=names[chosen[item[row]]],
        )
    return chosen, first


def canonical_codes(codes: Codes, names: Names) -> tuple[tuple[str, ...], Codes]:
    """Distinct canonical labels and the code of each row, from the codes of the raw texts."""
    texts = [canonical(name) for name in names.to_pylist()]
    values = tuple(dict.fromkeys(text for text in texts if text))
    position = {text: code for code, text in enumerate(values)}
    table = np.array([position.get(text, -1) for text in texts] + [-1], dtype=np.int32)
    return values, table[codes]


def compact(codes: Codes, names: Names) -> tuple[Codes, Names]:
    """Codes and names without the names that no row uses any more; a code of -1 stays."""
    used = np.zeros(len(names) + 1, dtype=np.bool_)
    used[codes] = True
    used = used[:-1]
    if used.all():
        return codes, names
    renumbered = np.append(np.cumsum(used) - 1, -1).astype(np.int32)
    return renumbered[codes], names.filter(pa.array(used))


def with_fields(judgments: Judgments, rows: Any, item: Codes, fields: tuple[str, ...]) -> Judgments:
    """The judgments with the columns that describe each item, as its first row has them."""
    first = np.zeros(judgments.item_count, dtype=np.int64)
    first[item[::-1]] = np.arange(item.size)[::-1]
    return replace(judgments, fields=rows.select(list(fields)).take(pa.array(first)))


def gold_column(coded: Coded, where: dict[str, str], place: Source, items: Items) -> Gold | None:
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


def without_strangers(where: dict[str, str]) -> dict[str, str]:
    """The roles without prompts and versions that stand beside no model: they are of other things.

    Often they are long texts, which nobody should have to wait for.
    """
    named = [where[role] for role in ("judge", "family") if role in where]
    if any(letters_of(name).startswith("model") for name in named):
        return where
    return {role: name for role, name in where.items() if role not in ("prompt", "version")}


def split_by_version(coded: Coded, where: dict[str, str]) -> Coded:
    """The columns with a judge for each prompt and version of a model, all of them one family.

    Only for judges of whom the column has more than one value:
    ``some-model`` asked by prompts ``short`` and ``long`` becomes ``some-model/short`` and
    ``some-model/long``, of the family ``some-model``.
    """
    before, split = coded["judge"], False
    for role in ("prompt", "version"):
        if role in coded and not _describes_items(coded, role):
            parted = _parted(coded["judge"], coded[role])
            if parted is not None:
                coded, split = {**coded, "judge": parted}, True
    if split and "family" not in coded:
        where["family"] = where["judge"]
        coded = {**coded, "family": before}
    return coded


def _describes_items(coded: Coded, role: str) -> bool:
    """Whether a column is about items: a text of its own for most of them, such as what was asked.

    A prompt that a judge works by is shared by many items, or an item has several.
    """
    codes, names = coded[role]
    item = coded["item" if "item" in coded else "document"][0].astype(np.int64)
    pairs = np.unique(item * (len(names) + 1) + codes)
    items = np.unique(item).size
    return role == "prompt" and pairs.size == items and 2 * len(names) > items


def _parted(judge: tuple[Codes, Names], part: tuple[Codes, Names]) -> tuple[Codes, Names] | None:
    """Judges parted by a column where it varies within one; None where it never does."""
    codes, judges = judge
    values, texts = part
    texts = as_names(pc.utf8_trim_whitespace(texts))
    blank = np.append(np.asarray(pc.equal(texts, "")), True)
    value = np.where(blank[values], -1, values).astype(np.int64)
    width = len(texts) + 1
    key, first, inverse = np.unique(
        codes.astype(np.int64) * width + value + 1, return_index=True, return_inverse=True
    )
    owner, own = key // width, key % width - 1
    several = np.bincount(owner, minlength=len(judges))[owner] > 1
    if not (several & (own >= 0)).any():
        return None
    longer = pc.binary_join_element_wise(
        judges.take(pa.array(owner)),
        texts.take(pa.array(np.maximum(own, 0))),
        pa.scalar("/", pa.large_string()),
    )
    names = pc.if_else(pa.array(several & (own >= 0)), longer, judges.take(pa.array(owner)))
    order = np.argsort(first, kind="stable")  # names in order of first appearance, as elsewhere
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    code, distinct = encode(as_names(names).take(pa.array(order)))
    return code[place[inverse]].astype(np.int32), distinct


def family_column(
    coded: Coded, where: dict[str, str], place: Source
) -> tuple[Names | None, Codes | None]:
    """The families that a column names and that of each judge; one of a single judge says nothing.

    A judge in two families is an error.
    """
    if "family" not in coded:
        return None, None
    judge, judges = coded["judge"]
    codes, names = coded["family"]
    blank = np.asarray(pc.equal(pc.utf8_trim_whitespace(names), ""))
    value = np.where(blank[codes], -1, codes).astype(np.int32)
    chosen, _ = one_each(judge, value, names, where["family"], place, judges, kind="judge")
    return names, chosen


def kind_column(coded: Coded, where: dict[str, str], place: Source) -> NDArray[np.int8] | None:
    """Whether each judge is a person or a model, by a column that says so; None without one.

    A judge who is both is an error; words that are neither leave it open.
    """
    if "kind" not in coded:
        return None
    judge, judges = coded["judge"]
    codes, names = coded["kind"]
    found = [kind_of_word(name) for name in names.to_pylist()]
    value = np.array([*(-1 if kind is None else kind for kind in found), -1], np.int32)[codes]
    if not (value >= 0).any():
        return None
    said = ("person", "model")
    chosen, _ = one_each(judge, value, said, where["kind"], place, judges, kind="judge")
    return chosen.astype(np.int8)
