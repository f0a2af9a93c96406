"""Judgments in another shape: fewer of them, more items, other families, or as a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._judge_columns import kind_of_word
from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, Named, Names, as_names, look_up
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, shown


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
    judges, judge, family, kind = given.judges, given.judge[kept], given.family, given.kind
    if not keep_empty:
        present = np.bincount(judge, minlength=given.judge_count) > 0
        judge = (np.cumsum(present) - 1).astype(np.int32)[judge]
        judges = judges.filter(pa.array(present))
        family = None if family is None else family[present]
        kind = None if kind is None else kind[present]
    topics, topic = given.topics, given.topic
    if topics is not None and topic is not None:
        topic = topic[chosen]
        present = np.bincount(topic, minlength=len(topics)) > 0
        topic = (np.cumsum(present) - 1).astype(np.int32)[topic]
        topics = topics.filter(pa.array(present))
    mask = pa.array(chosen)
    return replace(
        given,
        items=given.items.filter(mask),
        judges=judges,
        family=family,
        kind=kind,
        offsets=np.concatenate([[0], np.cumsum(counts[chosen])]).astype(np.int64),
        judge=judge,
        label=given.label[kept],
        topics=topics,
        topic=topic,
        documents=None if given.documents is None else given.documents.filter(mask),
        time=None if given.time is None else given.time[kept],
        seconds=None if given.seconds is None else given.seconds[kept],
        fields=None if given.fields is None else given.fields.filter(mask),
    )


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


def put_on_scale(given: Judgments, scale: Scale) -> Judgments:
    """The same judgments on another scale that has every label they use."""
    table = np.array([scale.label_code(label) for label in given.scale.labels])
    used = np.bincount(given.label, minlength=len(table)) > 0
    missing = np.flatnonzero(used & (table < 0))
    if missing.size:
        name = given.scale.labels[int(missing[0])]
        raise BadData(f"label {shown(name)} is not on the scale {scale}", value=name)
    return replace(given, scale=scale, label=table.astype(scale.label_dtype)[given.label])


def put_into_families(given: Judgments, names: Sequence[str | None]) -> Judgments:
    """The same judgments, each judge with the family named for them, in their order."""
    if len(names) != given.judge_count:
        raise BadSetting("families", len(names), f"a name for each of {given.judge_count} judges")
    families, family = code_families(names)
    return replace(given, families=families, family=family)


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
        known = [*given.families.to_pylist(), None]  # -1 is no family
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
