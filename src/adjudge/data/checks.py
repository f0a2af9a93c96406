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
from adjudge.data.names import Names
from adjudge.data.scale import Scale
from adjudge.data.source import Source
from adjudge.data.synonyms import SYNONYMS
from adjudge.errors import BadData


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
            f"no column {role!r}{also}; the columns are {', '.join(columns)}; "
            f"also accepted: {', '.join(SYNONYMS[role][1:])}",
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
    try:
        return Scale.infer(texts)
    except BadData:
        mixed(coded, where, place)


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
            code = scale.label_code if role == "label" else scale.truth_code
            off = [code(text) < 0 and (role == "label" or text.strip() != "") for text in texts]
            look(role, np.array(off, dtype=np.bool_), role == "label", role)
    if not problems:
        return None
    bad = np.logical_or.reduce([marked for marked, _, _ in problems])
    for row in np.flatnonzero(bad):
        error = row_error(int(row), problems, coded, scale, place)
        if not place.skip_bad:
            raise error
        place.note(int(row), error)
    return np.asarray(bad, dtype=np.bool_)


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
