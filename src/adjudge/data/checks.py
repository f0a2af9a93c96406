"""Checks on the rows of a table: what is missing, mixed or off the scale, and on which row.

Every check looks at the few distinct values first, and at the rows only where one of them is bad.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.columns import SYNONYMS
from adjudge.data.names import Codes, Names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

Coded = dict[str, tuple[Codes, Names]]  # role: code of each row, names


def need_columns(where: dict[str, str], columns: list[str], place: Source) -> None:
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


def need_gold_columns(where: dict[str, str], columns: list[str], place: Source) -> None:
    """Complain of a gold table without items or without gold; a label column serves as gold."""
    if "gold" not in where and "label" in where:
        where["gold"] = where["label"]
    if "item" not in where and "document" in where and "topic" not in where:
        where["item"] = where["document"]
    if "gold" in where and ("item" in where or {"topic", "document"} <= where.keys()):
        return
    wanted = "gold" if "gold" not in where else "item"
    raise place.error(
        None,
        f"no column {wanted!r}; the columns are {', '.join(columns)}; "
        "wanted item (or topic and document) and gold",
        column=wanted,
        wanted=wanted,
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
        _mixed(coded, where, place)


def _mixed(coded: Coded, where: dict[str, str], place: Source) -> NoReturn:
    """Name the first row whose label is of the other kind than the labels before it."""
    kind = None
    seen: list[str] = []
    for role in ("label", "gold"):
        codes, names = coded[role]
        texts = [canonical(name) for name in names.to_pylist()]
        kinds = [-1 if not text else int(as_number(text) is not None) for text in texts]
        by_row = np.array([*kinds, -1])[codes]
        known = np.flatnonzero(by_row >= 0)
        if kind is None and known.size:
            kind = by_row[known[0]]
            seen = [text for text, other in zip(texts, kinds, strict=True) if other == kind]
        rows = known[by_row[known] != kind]
        if rows.size:
            break
    row, numeric = int(rows[0]), bool(kind)
    value = texts[codes[row]]
    if role == "label":  # names are in order of first appearance
        seen = [text for text in seen if texts.index(text) < codes[row]]
    raise place.error(
        row,
        f"{shown(value)} is {'text' if numeric else 'a number'}, but the labels before it are "
        f"{'numbers' if numeric else 'text'} ({', '.join(seen[:3])}); wanted labels of one kind, "
        "or the scale named with --labels",
        column=where[role],
        value=value,
        wanted="labels of one kind",
    )


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
        error = _row_error(int(row), problems, coded, scale, place)
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


def _row_error(
    row: int,
    problems: list[tuple[NDArray[np.bool_], str, str]],
    coded: Coded,
    scale: Scale | None,
    place: Source,
) -> BadData:
    """The error for one bad row: its first problem, in the order of the columns checked."""
    _, column, problem = next(entry for entry in problems if entry[0][row])
    if problem not in ("label", "gold"):
        return place.error(row, problem, column=column, value="", wanted="an id")
    codes, names = coded[problem]
    text = names[int(codes[row])].as_py() if codes[row] >= 0 else ""
    what = (
        f"{shown(text.strip())} is not on the scale {scale}"
        if text.strip()
        else (f"there is no {problem}; wanted one of {scale}")
    )
    return place.error(row, what, column=column, value=text, wanted=str(scale))
