"""Which row of a table is at fault, in words: looked for only once something is wrong."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from adjudge.data.names import Codes, Names
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

Coded = dict[str, tuple[Codes, Names]]  # role: code of each row, names

_MISSING = frozenset({"nan", "na", "n/a", "null", "none", "#n/a", "<na>"})
_LISTED = 5  # labels that are written out


def mixed(coded: Coded, where: dict[str, str], place: Source) -> NoReturn:
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
    lost = [text for text in (value, *seen) if text.casefold() in _MISSING]
    if lost:
        numbers = sorted({t for t in texts if as_number(t) is not None}, key=float)
        named = "<".join(numbers[:_LISTED]) + ("<..." if len(numbers) > _LISTED else "")
        raise place.error(
            row,
            f"{shown(lost[0])} beside numbers looks like a label that is missing; "
            f"--labels '{named}' and --skip-bad-rows together leave such rows out",
            column=where[role],
            value=lost[0],
            wanted="labels of one kind",
        )
    raise place.error(
        row,
        f"{shown(value)} is {'text' if numeric else 'a number'}, but the labels before it are "
        f"{'numbers' if numeric else 'text'} ({', '.join(seen[:3])}); wanted labels of one kind, "
        "or the scale named with --labels",
        column=where[role],
        value=value,
        wanted="labels of one kind",
    )


def row_error(
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
    way_out = "" if place.skip_bad else "; --skip-bad-rows leaves out such rows"
    what = (
        f"{shown(text.strip())} is not on the scale {scale}"
        if text.strip()
        else (f"there is no {problem}; wanted one of {scale}{way_out}")
    )
    return place.error(row, what, column=column, value=text, wanted=str(scale))
