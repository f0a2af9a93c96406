"""Checks on the rows of a table: what is missing, mixed or off the scale, and on which row.

Every check looks at the few distinct values first, and at the rows only where one of them is bad.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.faults import Coded, mixed, row_error
from adjudge.data.names import Codes, Names
from adjudge.data.scale import MOST_LABELS, Scale, canonical
from adjudge.data.source import Source, count_of
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import BadData, BadSetting


def need_columns(where: dict[str, str], columns: list[str], place: Source) -> None:
    """Refuse the first column that is missing, with those that are there."""
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    pair = {"topic", "document"} <= where.keys()
    for role in ("item", "judge", "label"):
        if role in where or (role == "item" and pair):
            continue
        also = " (or topic and document)" if role == "item" else ""
        raise place.error(
            None,
            f"no column {role!r}{also}; the columns are {', '.join(columns) or 'none'}; "
            f"also accepted: {', '.join(SYNONYMS[role][1:])}; or name it with --{role} COLUMN",
            column=role,
            wanted=role,
        )


def scale_of(coded: Coded, where: dict[str, str], place: Source) -> Scale:
    """The scale that the labels and the gold suggest."""
    texts = coded["label"][1].to_pylist()
    if "gold" in coded:
        texts = texts + coded["gold"][1].to_pylist()
    texts = [text for text in texts if text.strip()]
    if not texts:
        raise place.error(0, "there is no label in the whole column", column=where["label"])
    many = len(set(texts))
    try:
        return Scale.infer(texts)
    except BadSetting:
        raise place.error(
            None,
            f"{many:,} different labels are more than the {MOST_LABELS:,} that can be",
            column=where["label"],
            wanted=f"at most {MOST_LABELS:,} different labels, or numbers",
        ) from None
    except BadData:
        mixed(coded, where, place)


def one_gold_each(coded: Coded, where: dict[str, str], place: Source) -> Coded:
    """The columns without the gold of items that have two: it is optional, and told."""
    if "gold" not in coded:
        return coded
    codes, names = coded["gold"]
    values = {"": -1}
    table = [values.setdefault(canonical(name), len(values)) for name in names.to_pylist()]
    value = np.array([*table, -1], dtype=np.int64)[codes]
    key = _item_keys(coded)
    known = np.flatnonzero((value >= 0) & (key >= 0))
    if not known.size:
        return coded
    low = np.full(int(key.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(int(key.max()) + 1, -1)
    np.minimum.at(low, key[known], value[known])
    np.maximum.at(high, key[known], value[known])
    torn = low < high
    if not torn.any():
        return coded
    rows = known[torn[key[known]]]
    first = place.error(int(rows[0]), "").place.removeprefix(f"{place.name}, ")
    place.remark(
        f"column {where['gold']}: {count_of(int(torn.sum()), 'item')} with "
        f"contradicting gold ({first}); their gold is left out"
    )
    codes = codes.copy()
    codes[(key >= 0) & torn[np.maximum(key, 0)]] = -1
    return {**coded, "gold": (codes, names)}


def _item_keys(coded: Coded) -> NDArray[np.int64]:  # (row,) -1 where it is not known
    """A number for the item of each row, close to how many items there are."""
    if "item" in coded:
        return coded["item"][0].astype(np.int64)
    topic, document = coded["topic"][0].astype(np.int64), coded["document"][0].astype(np.int64)
    pair = topic * max(len(coded["document"][1]), 1) + document
    keys = np.unique(pair, return_inverse=True)[1].astype(np.int64)
    return np.where((topic < 0) | (document < 0), -1, keys)


def bad_rows(
    coded: Coded,
    where: dict[str, str],
    scale: Scale | None,
    place: Source,
) -> NDArray[np.bool_] | None:
    """The rows that cannot be used, or an error for the first of them; None if all are good."""
    problems: list[tuple[NDArray[np.bool_], str, str]] = []

    def look(role: str, flags: NDArray[np.bool_], missing: bool, problem: str) -> None:
        """Mark the rows of the names flagged, and those without a name where that is a fault."""
        codes, _ = coded[role]
        if flags.any() or (missing and int(codes.min(initial=0)) < 0):
            marked = np.append(flags, missing)[codes]
            if marked.any():
                problems.append((marked, where[role], problem))

    for role in ("item", "topic", "document", "judge"):
        if role in coded:
            names = coded[role][1]
            look(role, _flags(pc.match_substring(names, "\0")), False, "a NUL byte in an id")
            look(role, _blank(names), True, f"the {role} id is empty")
    if "label" in coded:
        nul = pc.match_substring(coded["label"][1], "\0")
        look("label", _flags(nul), False, "a NUL byte in a label")
    for role in ("label", "gold"):
        if scale is not None and role in coded:
            texts = coded[role][1].to_pylist()
            known = set(scale.labels)
            if role == "gold":
                pairs = zip(scale.labels, scale.truth_of, strict=True)
                known = {*scale.truths, *(label for label, truth in pairs if truth >= 0), ""}
            off = [canonical(text) not in known for text in texts]
            look(role, np.array(off, dtype=np.bool_), role == "label", role)
    if place.skip_bad and "item" in coded:
        for role in ("topic", "document"):
            if role in coded and where[role] != where["item"]:
                torn = _strays(coded["item"][0], coded[role][0], len(coded["item"][1]))
                if torn.any():
                    problems.append((torn, where[role], f"another {role} than the item had before"))
    if not problems:
        return None
    bad = np.logical_or.reduce([marked for marked, _, _ in problems])
    for row in np.flatnonzero(bad):
        error = row_error(int(row), problems, coded, scale, place)
        if not place.skip_bad:
            raise error
        place.note(int(row), error)
    return np.asarray(bad, dtype=np.bool_)


def _strays(item: Codes, value: Codes, items: int) -> NDArray[np.bool_]:  # (row,)
    """The rows whose value is not the one that their item had first."""
    first = np.full(items + 1, -1, dtype=np.int64)
    known = np.flatnonzero((value >= 0) & (item >= 0))
    first[item[known[::-1]]] = value[known[::-1]]
    stray = np.zeros(len(item), dtype=np.bool_)
    stray[known] = first[item[known]] != value[known]
    return stray


def _flags(marks: Any) -> NDArray[np.bool_]:
    return np.asarray(marks, dtype=np.bool_)


def _blank(names: Names) -> NDArray[np.bool_]:  # (name,)
    """Which names are empty or nothing but space; only those that begin so are looked through."""
    blank = np.zeros(len(names), dtype=np.bool_)
    _, offsets, data = names.buffers()
    begins = np.frombuffer(offsets, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
    letters = np.append(np.frombuffer(data or b"", dtype=np.uint8), np.uint8(0))
    first = letters[begins[:-1]]
    plain = (first > ord(" ")) & (first < 0x80) & (begins[1:] > begins[:-1])
    rest = np.flatnonzero(~plain)
    blank[rest] = _flags(pc.equal(pc.utf8_trim_whitespace(names.take(pa.array(rest))), ""))
    return blank
