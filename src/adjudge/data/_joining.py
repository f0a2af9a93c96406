"""Judgments put together: this week's after last week's, one judge's file after another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes, Names, as_names, look_up
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, shown


def join_judgments(parts: Sequence[Judgments], *, scale: Scale | None = None) -> Judgments:
    """All judgments of the parts: items and judges of one name are one.

    The scale is the first part's if it has every label, else the one that all labels suggest. What
    only some parts know (topics, documents, times) is empty for the items of the others.
    """
    if not parts:
        raise BadSetting("parts", parts, "at least one part")
    chosen = scale if scale is not None else _scale(parts)
    parts = [part.with_scale(chosen) for part in parts]
    items, item_codes = _together([part.items for part in parts])
    judges, judge_codes = _together([part.judges for part in parts])
    item = np.concatenate(
        [codes[part.item] for part, codes in zip(parts, item_codes, strict=True)]
    ).astype(np.int64)
    order = np.argsort(item, kind="stable")
    counts = np.bincount(item, minlength=len(items))
    topics, topic = _topics(parts, items, item_codes)
    families, family = _families(parts, len(judges), judge_codes)

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
        kind=_kinds(parts, len(judges), judge_codes),
    )


def _scale(parts: Sequence[Judgments]) -> Scale:
    """The scale of the first part if every label is on it, else that of all labels."""
    first = parts[0].scale
    labels = dict.fromkeys(label for part in parts for label in part.scale.labels)
    if set(labels) <= set(first.labels):
        return first
    return Scale.infer(labels)


def _together(names: Sequence[Names]) -> tuple[Names, list[Codes]]:
    """The distinct names in order of appearance, and the code of each part's names among them."""
    every = as_names(pc.unique(pa.concat_arrays([as_names(part) for part in names])))
    return every, [look_up(part, every) for part in names]


def _topics(
    parts: Sequence[Judgments], items: Names, codes: Sequence[Codes]
) -> tuple[Names | None, Codes | None]:
    """The topic of each item, where a part knows it; two topics of one item are an error."""
    known = [place for place, part in enumerate(parts) if part.topics is not None]
    if not known:
        return None, None
    spelt = pa.concat_arrays([_topic_names(parts[place]) for place in known])
    rows = np.concatenate([codes[place] for place in known])
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
            expected="one topic an item",
        )
    found = pc.fill_null(found, "")
    topics = as_names(pc.unique(found))
    return topics, look_up(found, topics)


def _rows_of(codes: NDArray[np.integer[Any]], count: int) -> Any:  # (item,)
    """The row where each item first stands, null where it does in none."""
    first = np.full(count, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return pa.array(first, mask=first < 0)


def _topic_names(part: Judgments) -> Names:  # (item,)
    topics: Any = part.topics
    return as_names(topics.take(pa.array(part.topic)))


def _documents(parts: Sequence[Judgments], codes: Sequence[Codes], count: int) -> Names | None:
    """The document of each item, where a part knows it."""
    known = [place for place, part in enumerate(parts) if part.documents is not None]
    if not known:
        return None
    spelt = pa.concat_arrays([as_names(parts[place].documents) for place in known])
    rows = _rows_of(np.concatenate([codes[place] for place in known]), count)
    return pc.fill_null(spelt.take(rows), "")


def _fields(parts: Sequence[Judgments], codes: Sequence[Codes], count: int) -> Any:
    """What describes each item, where a part knows it."""
    known = [place for place, part in enumerate(parts) if part.fields is not None]
    if not known:
        return None
    every = pa.concat_tables([parts[p].fields for p in known], promote_options="permissive")
    return every.take(_rows_of(np.concatenate([codes[place] for place in known]), count))


def _families(
    parts: Sequence[Judgments], judges: int, codes: Sequence[Codes]
) -> tuple[Names | None, Codes | None]:
    """The family of each judge: as declared by the first part that declares one."""
    if all(part.families is None for part in parts):
        return None, None
    families = as_names(
        pc.unique(pa.concat_arrays([p.families for p in parts if p.families is not None]))
    )
    family = np.full(judges, -1, dtype=np.int32)
    for part, code in zip(reversed(parts), reversed(codes), strict=True):
        if part.families is not None and part.family is not None:
            given = np.append(look_up(part.families, families), -1)[part.family]
            family[code[given >= 0]] = given[given >= 0]
    return families, family


def _kinds(
    parts: Sequence[Judgments], judges: int, codes: Sequence[Codes]
) -> NDArray[np.int8] | None:  # (judge,)
    if all(part.kind is None for part in parts):
        return None
    kind = np.full(judges, -1, dtype=np.int8)
    for part, code in zip(reversed(parts), reversed(codes), strict=True):
        if part.kind is not None:
            kind[code[part.kind >= 0]] = part.kind[part.kind >= 0]
    return kind
