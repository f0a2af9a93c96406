"""Judgments in another shape: fewer or more of them, other labels or families, or as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.columns import letters_of
from adjudge.data.names import Codes, Named, Names, as_names, keep_rows, look_up
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.errors import BadData, BadSetting, shown

if TYPE_CHECKING:
    from adjudge.data.comparisons import Comparisons
    from adjudge.data.gold import Gold
    from adjudge.data.judgments import Judgments

_KINDS = {
    0: (
        *("person", "people", "human", "expert", "crowd"),
        *("worker", "annotator", "annotation", "assessor"),
    ),
    1: ("model", "llm", "machine", "ai", "bot", "automatic", "languagemodel", "eval"),
}


_OF_JUDGMENTS = ("judge", "label", "time", "seconds")
_OF_ITEMS = ("items", "topic", "documents", "fields")
_OF_JUDGES = ("judges", "family", "kind")


def select(
    given: Judgments,
    judgments: NDArray[np.bool_] | None,  # (judgment,)
    items: NDArray[np.bool_] | None,  # (item,)
    *,
    keep_empty: bool,
) -> Judgments:
    """The judgments under both masks, without items and judges that are left with none."""
    chosen = np.ones(given.item_count, dtype=np.bool_) if items is None else items
    kept = np.repeat(chosen, given.counts_per_item)
    counts = np.where(chosen, given.counts_per_item, 0)
    if judgments is not None:
        kept &= judgments
        counts = np.bincount(given.item[kept], minlength=given.item_count)
    if not keep_empty:
        chosen = chosen & (counts > 0)
    found = {name: keep_rows(getattr(given, name), kept) for name in _OF_JUDGMENTS}
    found |= {name: keep_rows(getattr(given, name), chosen) for name in _OF_ITEMS}
    if not keep_empty:
        present = np.bincount(found["judge"], minlength=given.judge_count) > 0
        found |= {name: keep_rows(getattr(given, name), present) for name in _OF_JUDGES}
        found["judge"] = _renumber(found["judge"], present)
    if given.topics is not None and given.topic is not None:
        present = np.bincount(found["topic"], minlength=given.topic_count) > 0
        found |= {"topics": keep_rows(given.topics, present)}
        found["topic"] = _renumber(found["topic"], present)
    offsets = np.append(0, np.cumsum(counts[chosen])).astype(np.int64)
    return replace(given, offsets=offsets, **found)


def _renumber(codes: Codes, present: NDArray[np.bool_]) -> Codes:
    return (np.cumsum(present) - 1).astype(np.int32)[codes]


def drop_labels(given: Judgments, dropped: set[str]) -> Judgments:
    """The judgments that did not give any of the labels, on the scale without them."""
    strange = dropped - set(given.scale.labels)
    if strange:
        raise BadData(f"label {shown(min(strange))} is not on the scale {given.scale}")
    gone = np.array([label in dropped for label in given.scale.labels])
    left = given.select(judgments=~gone[given.label])
    return left.with_scale(
        Scale(
            labels=tuple(name for name in given.scale.labels if name not in dropped),
            ordinal=given.scale.ordinal,
            relevant=tuple(name for name in given.scale.relevant if name not in dropped),
            grades=tuple(np.array(given.scale.grades)[~gone].tolist())
            if given.scale.grades
            else (),
        )
    )


def code_families(names: Sequence[str | None]) -> tuple[Names, Codes]:
    """The families that are named once each, and the code of each judge's, -1 for none."""
    coded = pa.array(names, pa.large_string()).dictionary_encode()
    return as_names(coded.dictionary), np.asarray(pc.fill_null(coded.indices, -1), dtype=np.int32)


def name_families(given: Any, pattern: str) -> list[str | None]:
    """The family of each judge: what a pattern finds in their name, or its first group.

    A family whose name would be empty is named after its first judge. Judges in whose names the
    pattern finds nothing keep the family that they have.
    """
    judges = given.judges.to_pylist()
    names: list[str | None] = [None] * len(judges)
    if given.family is not None:
        known = [*given.families.to_pylist(), None]  # -1 is not a family
        names = [known[code] for code in given.family]
    unnamed = ""
    for judge, match in enumerate(_search_judges(given, "family", pattern)):
        name = None if match is None else match[1] if match.re.groups else match[0]
        if name is not None:
            unnamed = unnamed or ("" if name else judges[judge])
            names[judge] = name or unnamed
    return names


def family_pattern(names: Sequence[str]) -> str:
    """A pattern by which ``name_families`` makes one family of these judges alone."""
    return f"^(?:{'|'.join(map(re.escape, names))})()$"


def kind_of_word(word: str) -> int | None:
    """Whether a word means a person or a model; None where it means neither."""
    letters = letters_of(word).rstrip("s")
    return next((kind for kind, words in _KINDS.items() if letters in words), None)


def put_kind(given: Judgments, pattern: str, kind: str) -> Judgments:
    """The same judgments, with the judges that a pattern finds declared people or LLMs."""
    code = kind_of_word(kind)
    if code is None:
        raise BadSetting("kind", kind, "person or model")
    found = [match is not None for match in _search_judges(given, "kind", pattern)]
    before = np.full(given.judge_count, -1, np.int8) if given.kind is None else given.kind
    return replace(given, kind=np.where(found, np.int8(code), before))


def _search_judges(given: Named, setting: str, pattern: str) -> list[re.Match[str] | None]:
    """What a pattern finds in the name of each judge; an error where it finds nothing at all."""
    try:
        rule = re.compile(pattern)
    except re.error as fault:
        raise BadSetting(setting, pattern, f"a regular expression ({fault})") from None
    found = [rule.search(name) for name in given.judges.to_pylist()]
    if all(match is None for match in found):
        first = given.judges[0].as_py() if given.judge_count else ""
        raise BadSetting(
            setting, pattern, f"a pattern found in the name of a judge, such as {first!r}"
        )
    return found


def add_items(
    judgments: Judgments, items: Names, topics: Names | None, documents: Names | None
) -> Judgments:
    """The judgments with more items, which have none yet; known items are left alone."""
    new = pa.array(look_up(items, judgments.items) < 0)
    added = as_names(items).filter(new)
    if not len(added):
        return judgments

    def more(given: Names | None) -> Names:
        blank = pa.array([""] * len(added), pa.large_string())
        return blank if given is None else pc.fill_null(as_names(given).filter(new), "")

    all_topics, topic = judgments.topics, judgments.topic
    if all_topics is not None and topic is not None:
        given = more(topics)
        all_topics = as_names(pc.unique(pa.concat_arrays([all_topics, given])))
        topic = np.concatenate([topic, look_up(given, all_topics)])
    all_documents, fields = judgments.documents, judgments.fields
    if all_documents is not None:
        all_documents = pa.concat_arrays([all_documents, more(documents)])
    if fields is not None:
        empty = {name: pa.nulls(len(added), fields[name].type) for name in fields.column_names}
        fields = pa.concat_tables([fields, pa.table(empty)])
    last = np.full(len(added), judgments.offsets[-1], dtype=np.int64)
    return replace(
        judgments,
        items=pa.concat_arrays([judgments.items, added]),
        offsets=np.concatenate([judgments.offsets, last]),
        topics=all_topics,
        topic=topic,
        documents=all_documents,
        fields=fields,
    )


def tabulate(given: Judgments, *, coded: bool = False) -> Any:
    """One row per judgment: item, topic and document if known, judge, label, time, seconds.

    ``coded``: text columns are dictionaries, which take less memory.
    """

    def text(names: Any, codes: Any) -> Any:
        indices = pa.array(codes)
        return pa.DictionaryArray.from_arrays(indices, names) if coded else names.take(indices)

    columns: dict[str, Any] = {"item": text(given.items, given.item)}
    if given.topics is not None and given.topic is not None:
        columns["topic"] = text(given.topics, given.topic[given.item])
    if given.documents is not None:
        columns["document"] = text(given.documents, given.item)
    columns["judge"] = text(given.judges, given.judge)
    columns["label"] = text(pa.array(given.scale.labels, pa.large_string()), given.label)
    if given.time is not None:
        micro = np.rint(np.where(np.isnan(given.time), 0, given.time * 1e6)).astype(np.int64)
        columns["time"] = pa.array(micro, pa.timestamp("us", tz="UTC"), mask=np.isnan(given.time))
    if given.seconds is not None:
        columns["seconds"] = pa.array(given.seconds, mask=np.isnan(given.seconds))
    return pa.table(columns)


def put_into_bins(
    judgments: Judgments, bins: int, golds: tuple[Gold | None, ...] = ()
) -> tuple[Judgments, tuple[Gold | None, ...]]:
    """Numeric labels as so many grades of equal width, each by the number in its middle."""
    if bins < 2:
        raise BadSetting("bin", bins, "at least 2 grades")
    numbers = [as_number(label) for label in judgments.scale.labels]
    if any(number is None for number in numbers):
        raise BadSetting("bin", bins, f"labels that are numbers, not {judgments.scale}")
    known = np.array(numbers, dtype=np.float64)
    low, width = float(known.min()), float(np.ptp(known)) / bins or 1.0
    names = [canonical(round(low + width * (place + 0.5), 6)) for place in range(bins)]

    def place_of(values: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.clip(((values - low) / width).astype(np.int64), 0, bins - 1)

    scale = Scale.parse("<".join(names))
    grade = place_of(known).astype(scale.label_dtype)
    made = replace(judgments, scale=scale, label=grade[judgments.label])

    def put(gold: Gold) -> Gold:
        grades = (names[at] for at in place_of(_numbers(gold)))
        return gold.relabel(dict(zip(gold.values, grades, strict=True)))

    return made, tuple(None if gold is None else put(gold) for gold in golds)


def _numbers(gold: Gold) -> NDArray[np.float64]:
    """The values of gold, which have to be numbers too."""
    found = [as_number(value) for value in gold.values]
    for value, number in zip(gold.values, found, strict=True):
        if number is None:
            raise BadData(
                f"gold {shown(value)} is not a number, and the labels to put into grades are",
                source=gold.source,
                value=value,
            )
    return np.array(found, dtype=np.float64)


def join_judgments(parts: Sequence[Judgments], *, scale: Scale | None = None) -> Judgments:
    """All judgments of the parts: items and judges of one name are one.

    The scale is the first part's if it has every label, else the one that all labels suggest. What
    only some parts know (topics, documents, times) is empty for the items of the others.
    """
    from adjudge.data.judgments import Judgments

    if not parts:
        raise BadSetting("parts", parts, "at least one part")
    chosen = scale if scale is not None else _scale(parts)
    parts = [part.with_scale(chosen) for part in parts]
    items, item_codes = join_names([part.items for part in parts])
    judges, judge_codes = join_names([part.judges for part in parts])
    item = np.concatenate(
        [codes[part.item] for part, codes in zip(parts, item_codes, strict=True)]
    ).astype(np.int64)
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(items))
    topics, topic = _topics(parts, items, item_codes)
    families, family = join_families(parts, len(judges), judge_codes)

    def of_judgments(name: str) -> NDArray[np.float64] | None:  # (judgment,)
        values = [getattr(part, name) for part in parts]
        if all(value is None for value in values):
            return None
        filled = [
            np.full(len(part), np.nan) if value is None else value
            for part, value in zip(parts, values, strict=True)
        ]
        return np.asarray(np.concatenate(filled)[order])

    return Judgments(
        scale=chosen,
        items=items,
        judges=judges,
        offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        judge=np.concatenate(
            [codes[part.judge] for part, codes in zip(parts, judge_codes, strict=True)]
        ).astype(np.int32)[order],
        label=np.concatenate([part.label for part in parts])[order],
        topics=topics,
        topic=topic,
        documents=_documents(parts, item_codes, len(items)),
        time=of_judgments("time"),
        seconds=of_judgments("seconds"),
        fields=_fields(parts, item_codes, len(items)),
        families=families,
        family=family,
        kind=join_kinds(parts, len(judges), judge_codes),
        types=parts[0].types if all(part.types == parts[0].types for part in parts) else {},
    )


def _scale(parts: Sequence[Judgments]) -> Scale:
    """The scale of the first part if every label is on it, else that of all labels."""
    first = parts[0].scale
    labels = dict.fromkeys(label for part in parts for label in part.scale.labels)
    if set(labels) <= set(first.labels):
        return first
    return Scale.infer(labels)


def join_names(names: Sequence[Names]) -> tuple[Names, list[Codes]]:
    """The distinct names in order of appearance, and the code of each part's names among them."""
    every = as_names(pc.unique(pa.concat_arrays([as_names(part) for part in names])))
    return every, [look_up(part, every) for part in names]


def _known(
    parts: Sequence[Judgments], codes: Sequence[Codes], name: str
) -> tuple[list[Judgments], NDArray[np.int64]] | None:
    """The parts that know something of items, and the item of each of their rows."""
    pairs = [pair for pair in zip(parts, codes, strict=True) if getattr(pair[0], name) is not None]
    if not pairs:
        return None
    return [part for part, _ in pairs], np.concatenate([code for _, code in pairs]).astype(np.int64)


def _rows_of(codes: NDArray[np.int64], count: int) -> Any:  # (item,)
    """The row where each item is first, null where it is nowhere."""
    first = np.full(count, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return pa.array(first, mask=first < 0)


def _topics(
    parts: Sequence[Judgments], items: Names, codes: Sequence[Codes]
) -> tuple[Names | None, Codes | None]:
    """The topic of each item, where a part knows it; two topics of one item are an error."""
    known = _known(parts, codes, "topics")
    if known is None:
        return None, None
    some, rows = known
    spelt = pa.concat_arrays([as_names(part.topics).take(pa.array(part.topic)) for part in some])
    found = spelt.take(_rows_of(rows, len(items)))
    other = pc.not_equal(spelt, found.take(pa.array(rows)))
    if pc.any(other).as_py():
        row = pc.index(other, value=True).as_py()
        two = sorted([spelt[row].as_py(), found[int(rows[row])].as_py()])
        raise BadData(
            f"item {shown(items[int(rows[row])].as_py())} has two topics, "
            f"{shown(two[0])} and {shown(two[1])}",
            column="topic",
            value=two[1],
        )
    found = pc.fill_null(found, "")
    topics = as_names(pc.unique(found))
    return topics, look_up(found, topics)


def _documents(parts: Sequence[Judgments], codes: Sequence[Codes], count: int) -> Names | None:
    """The document of each item, where a part knows it."""
    known = _known(parts, codes, "documents")
    if known is None:
        return None
    spelt = pa.concat_arrays([as_names(part.documents) for part in known[0]])
    return pc.fill_null(spelt.take(_rows_of(known[1], count)), "")


def _fields(parts: Sequence[Judgments], codes: Sequence[Codes], count: int) -> Any:
    """What describes each item, where a part knows it."""
    known = _known(parts, codes, "fields")
    if known is None:
        return None
    every = pa.concat_tables([part.fields for part in known[0]], promote_options="permissive")
    return every.take(_rows_of(known[1], count))


def join_families(
    parts: Sequence[Judgments | Comparisons], judges: int, codes: Sequence[Codes]
) -> tuple[Names | None, Codes | None]:
    """The family of each judge: as declared by the first part that declares one."""
    declared = [part.families for part in parts if part.families is not None]
    if not declared:
        return None, None
    families, recoded = join_names(declared)
    tables = iter(recoded)
    given = [
        None if part.family is None else np.append(next(tables), -1)[part.family] for part in parts
    ]
    return families, _join_codes(given, judges, codes, np.int32)


def join_kinds(
    parts: Sequence[Judgments | Comparisons], judges: int, codes: Sequence[Codes]
) -> NDArray[np.int8] | None:  # (judge,)
    """The kind of each judge: as declared by the first part that declares one."""
    if all(part.kind is None for part in parts):
        return None
    return np.asarray(_join_codes([part.kind for part in parts], judges, codes, np.int8))


def _join_codes(
    given: Sequence[Any], judges: int, codes: Sequence[Codes], kind: Any
) -> Any:  # (judge,)
    """The first code that a part gives each judge, -1 where none does."""
    found = np.full(judges, -1, dtype=kind)
    for own, code in zip(reversed(given), reversed(codes), strict=True):
        if own is not None:
            found[code[own >= 0]] = own[own >= 0]
    return found
