"""What the rows of a table are about: items with topic and gold, judges with family and kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._reshaping import kind_of_word
from adjudge.data.columns import letters_of
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import Coded, Codes, Names, as_names, encode, pair_names
from adjudge.data.scale import MISSING, Scale, as_number, canonical
from adjudge.data.source import Fault, Source, count_of
from adjudge.errors import Remedy, name_columns, shown

_ITEM = (name_columns("item"),)  # where the item that was found cannot be one


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
        topic, _ = one_each(item, codes, topics, where["topic"], place, names, remedies=_ITEM)
    if "document" in coded and where["document"] != where["item"]:
        codes, every = coded["document"]
        chosen, _ = one_each(item, codes, every, where["document"], place, names, remedies=_ITEM)
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
            "expected a column item next to them",
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
    remedies: tuple[Remedy, ...] = (),
) -> tuple[Codes, NDArray[np.int64]]:  # (item,), (item,)
    """The one value each item has in a column, and the row that says it; two are an error."""
    first, stray = _strays(item, value, len(items))
    chosen = np.append(value, np.int32(-1))[first]
    wrong = np.flatnonzero(stray)
    if wrong.size:
        row = int(wrong[0])
        names = values if isinstance(values, tuple) else values.to_pylist()
        before = place.error(int(first[item[row]]), "").place.split(f"{place.name}, ", 1)[-1]
        raise place.error(
            row,
            f"{kind} {shown(items[int(item[row])].as_py())} has {column} "
            f"{shown(names[value[row]])} here but {shown(names[chosen[item[row]]])} at {before}; "
            "expected one",
            column=column,
            value=names[value[row]],
            expected=names[chosen[item[row]]],
            code="two-values",
            remedies=remedies,
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
    """The gold of a judgments table: one value per item, empty where it is not known."""
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
    """Return the roles without prompts and versions that no model is next to.

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
            parted = _split_judges(coded["judge"], coded[role])
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


def _split_judges(
    judge: tuple[Codes, Names], part: tuple[Codes, Names]
) -> tuple[Codes, Names] | None:
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


_LISTED = 5  # labels that are written out


def refuse_mixed(coded: Coded, where: dict[str, str], place: Source) -> NoReturn:
    """Name the first row whose label is of the other kind than the labels before it."""
    found = [
        (role, code, text)
        for role in ("label", "gold")
        if role in coded
        for code, text in enumerate(canonical(name) for name in coded[role][1].to_pylist())
        if text
    ]  # in order of first appearance
    numeric = as_number(found[0][2]) is not None
    at = next(n for n, (_, _, text) in enumerate(found) if (as_number(text) is None) is numeric)
    role, code, value = found[at]
    seen = list(dict.fromkeys(text for _, _, text in found[:at]))
    lost = next((text for text in (value, *seen) if text.casefold() in MISSING), None)
    kinds = ("text", "numbers") if numeric else ("a number", "text")
    problem = (
        f"{shown(value)} is {kinds[0]}, but the labels before it are {kinds[1]} "
        f"({', '.join(seen[:3])}); expected labels of one kind"
    )
    remedies = [Remedy("labels")]
    if lost is not None:
        problem = f"{shown(lost)} next to numbers looks like a label that is missing"
        numbers = sorted({t for *_, t in found if as_number(t) is not None}, key=float)
        named = "<".join(numbers[:_LISTED]) + "<..." * (len(numbers) > _LISTED)
        remedies = [Remedy("labels", named), Remedy("skip-bad-rows")]
    raise place.error(
        int(np.argmax(coded[role][0] == code)),
        problem,
        column=where[role],
        value=lost or value,
        code="missing-label" if lost else "mixed-labels",
        remedies=remedies,
    )


def leave_out_bad(
    coded: Coded, rows: Any, where: dict[str, str], scale: Scale | None, place: Source
) -> tuple[Coded, Any]:
    """The columns and the rows without those that cannot be used; or an error for the first."""
    good = place.sift(_list_faults(coded, where, scale, place.skip_bad))
    if good is None:
        return coded, rows
    coded = {role: compact(codes[good], names) for role, (codes, names) in coded.items()}
    return coded, rows.take(pa.array(good))


def id_faults(what: str, column: str | None, codes: Codes, names: Names) -> list[Fault]:
    """The rows whose id is missing, blank or has a NUL byte."""
    nul = np.append(np.asarray(pc.match_substring(names, "\0")), False)
    blank = np.append(np.asarray(pc.equal(pc.utf8_trim_whitespace(names), "")), True)
    found = []
    if nul.any():
        found.append(Fault(nul[codes], column, lambda _: "a NUL byte in an id"))
    if blank[:-1].any() or int(codes.min(initial=0)) < 0:
        found.append(Fault(blank[codes], column, lambda _: f"the {what} id is empty"))
    return found


def _list_faults(
    coded: Coded, where: dict[str, str], scale: Scale | None, skip_bad: bool
) -> list[Fault]:
    faults: list[Fault] = []

    def look(role: str, flags: Any, problem: str, *, missing: bool = False, **more: Any) -> None:
        """Mark the rows of the names flagged, and those without a name if that is a fault."""
        codes, names = coded[role]
        flags = np.asarray(flags, dtype=np.bool_)
        if flags.any() or (missing and int(codes.min(initial=0)) < 0):
            rows = np.append(flags, missing)[codes]

            def value_of(row: int) -> str:
                return str(names[int(codes[row])]) if codes[row] >= 0 else ""

            def describe(row: int) -> str:
                return problem.replace("VALUE", shown(value_of(row).strip()))

            faults.append(Fault(rows, where[role], describe, value_of, **more))

    for role in ("item", "topic", "document", "judge"):
        if role in coded:
            faults += id_faults(role, where[role], *coded[role])
    if "label" in coded:
        look("label", pc.match_substring(coded["label"][1], "\0"), "a NUL byte in a label")
    for role in ("label", "gold"):
        if scale is not None and role in coded:
            texts = [canonical(text) for text in coded[role][1].to_pylist()]
            known = {"", *scale.labels}
            if role == "gold":
                votes = zip(scale.labels, scale.truth_of, strict=True)
                known = {"", *scale.truths, *(label for label, truth in votes if truth >= 0)}
            off = [text not in known for text in texts]
            more: dict[str, Any] = {"expected": str(scale)}
            look(role, off, f"VALUE is not on the scale {scale}", code="label-off-scale", **more)
            if role == "label":
                blank = [not text for text in texts]
                problem = f"there is no label; expected one of {scale}"
                look(role, blank, problem, missing=True, code="missing-label", **more)
    if skip_bad and "item" in coded:
        for role in ("topic", "document"):
            if role in coded and where[role] != where["item"]:
                item, names = coded["item"]
                torn = _strays(item, coded[role][0], len(names))[1]
                problem = f"another {role} than the item had before"
                faults.append(Fault(torn, where[role], partial(_same, problem)))
    return faults


def _same(problem: str, _: int) -> str:
    """The sentence that is the same for every row."""
    return problem


def _strays(
    item: NDArray[np.integer[Any]], value: Codes, items: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:  # (item,), (row,)
    """The first row with a value of each item, -1 for none, and the rows with another value."""
    first = np.full(items, -1, dtype=np.int64)
    known = np.flatnonzero((value >= 0) & (item >= 0))
    first[item[known[::-1]]] = known[::-1]
    stray = np.zeros(len(item), dtype=np.bool_)
    stray[known] = value[first[item[known]]] != value[known]
    return first, stray


_FLAGS = {"", "true", "false", "yes", "no", "0", "1"}


def without_flag(coded: Coded, where: dict[str, str], place: Source, scale: Scale | None) -> Coded:
    """Return the columns without gold that only marks rows, as true and false among other labels.

    Marks of 0 and 1 are not taken for gold where the labels are words.
    """
    golds = {text.strip().casefold() for text in coded["gold"][1].to_pylist()}
    names = coded["label"][1].to_pylist() if scale is None else scale.truths
    labels = {canonical(name).casefold() for name in names}
    words = all(as_number(label) is None for label in labels)
    if (
        not golds - {""}
        or not golds <= _FLAGS
        or golds & labels - {""}
        or not (words or golds.isdisjoint("01"))
    ):
        return coded
    if labels <= _FLAGS:  # the same truth in other words
        return coded
    place.remark(
        f"column {where['gold']} marks rows and holds no gold labels; it is not read as gold",
        name_columns("gold"),
    )
    return {role: column for role, column in coded.items() if role != "gold"}


def one_gold_each(coded: Coded, where: dict[str, str], place: Source) -> Coded:
    """The columns without the gold of items that have two, which is remarked."""
    if "gold" not in coded:
        return coded
    value = canonical_codes(*coded["gold"])[1]
    key = _item_keys(coded)
    _, stray = _strays(key, value, int(key.max(initial=-1)) + 1)
    if not stray.any():
        return coded
    items = np.unique(key[stray])
    torn = np.isin(key, items)
    first = place.error(int(np.argmax(torn & (value >= 0))), "").place
    place.remark(
        f"column {where['gold']}: {count_of(items.size, 'item')} with contradicting gold "
        f"({first.removeprefix(f'{place.name}, ')}); their gold is left out"
    )
    codes, names = coded["gold"]
    return {**coded, "gold": (np.where(torn, -1, codes).astype(np.int32), names)}


def _item_keys(coded: Coded) -> NDArray[np.int64]:  # (row,) -1 where it is not known
    """A number for the item of each row, close to how many items there are."""
    if "item" in coded:
        return coded["item"][0].astype(np.int64)
    topic, document = coded["topic"][0].astype(np.int64), coded["document"][0].astype(np.int64)
    pair = topic * max(len(coded["document"][1]), 1) + document
    keys = np.unique(pair, return_inverse=True)[1].astype(np.int64)
    return np.where((topic < 0) | (document < 0), -1, keys)
