"""Rows of a table that are at fault, and in which words: looked for once something is wrong."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._items import compact
from adjudge.data.names import Coded, Codes
from adjudge.data.scale import Scale, as_number, canonical
from adjudge.data.source import Source, count_of
from adjudge.errors import BadData, Remedy, shown

_MISSING = frozenset({"nan", "na", "n/a", "null", "none", "#n/a", "<na>"})
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
    row = int(np.argmax(coded[role][0] == code))
    seen = list(dict.fromkeys(text for _, _, text in found[:at]))
    lost = [text for text in (value, *seen) if text.casefold() in _MISSING]
    problem, error_code = f"{shown(value)} is {'text' if numeric else 'a number'}", "mixed-labels"
    problem += (
        f", but the labels before it are {'numbers' if numeric else 'text'} "
        f"({', '.join(seen[:3])}); wanted labels of one kind"
    )
    remedies: tuple[Remedy, ...] = (Remedy("labels"),)
    if lost:
        value, error_code = lost[0], "missing-label"
        problem = f"{shown(value)} beside numbers looks like a label that is missing"
        numbers = sorted({t for *_, t in found if as_number(t) is not None}, key=float)
        named = "<".join(numbers[:_LISTED]) + ("<..." if len(numbers) > _LISTED else "")
        remedies = (Remedy("labels", named), Remedy("skip-bad-rows"))
    raise place.error(
        row,
        problem,
        column=where[role],
        value=value,
        expected="labels of one kind",
        code=error_code,
        remedies=remedies,
    )


def _row_error(
    row: int,
    problems: list[tuple[NDArray[np.bool_], str, str]],
    coded: Coded,
    scale: Scale | None,
    place: Source,
) -> BadData:
    """The error for one bad row: its first problem, in the order of the columns checked."""
    _, column, problem = next(entry for entry in problems if entry[0][row])
    remedies = () if place.skip_bad else (Remedy("skip-bad-rows"),)
    if problem not in ("label", "gold"):
        return place.error(
            row,
            problem,
            column=column,
            value="",
            expected="an id",
            code="bad-id",
            remedies=remedies,
        )
    codes, names = coded[problem]
    text = names[int(codes[row])].as_py() if codes[row] >= 0 else ""
    return place.error(
        row,
        f"{shown(text.strip())} is not on the scale {scale}"
        if text.strip()
        else f"there is no {problem}; wanted one of {scale}",
        column=column,
        value=text,
        expected=str(scale),
        code="label-off-scale" if text.strip() else "missing-label",
        remedies=remedies,
    )


def leave_out_bad(
    coded: Coded, rows: Any, where: dict[str, str], scale: Scale | None, place: Source
) -> tuple[Coded, Any]:
    """The columns and the rows without those that cannot be used; or an error for the first."""
    bad = _bad_rows(coded, where, scale, place)
    if bad is None:
        return coded, rows
    good = np.flatnonzero(~bad)
    place.keep(good)
    coded = {role: compact(codes[good], names) for role, (codes, names) in coded.items()}
    return coded, rows.take(pa.array(good))


def _bad_rows(
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
            look(role, np.asarray(pc.match_substring(names, "\0")), False, "a NUL byte in an id")
            look(
                role,
                np.asarray(pc.equal(pc.utf8_trim_whitespace(names), "")),
                True,
                f"the {role} id is empty",
            )
    if "label" in coded:
        nul = pc.match_substring(coded["label"][1], "\0")
        look("label", np.asarray(nul), False, "a NUL byte in a label")
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
        error = _row_error(int(row), problems, coded, scale, place)
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
