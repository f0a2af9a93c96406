"""Rows of a table that are at fault, and in which words: looked for once something is wrong."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._items import canonical_codes, compact
from adjudge.data.names import Coded, Codes, Names
from adjudge.data.scale import MISSING, Scale, as_number, canonical
from adjudge.data.source import Fault, Source, count_of
from adjudge.errors import Remedy, name_columns, shown

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
        f"({', '.join(seen[:3])}); wanted labels of one kind"
    )
    remedies = [Remedy("labels")]
    if lost is not None:
        problem = f"{shown(lost)} beside numbers looks like a label that is missing"
        numbers = sorted({t for *_, t in found if as_number(t) is not None}, key=float)
        named = "<".join(numbers[:_LISTED]) + "<..." * (len(numbers) > _LISTED)
        remedies = [Remedy("labels", named), Remedy("skip-bad-rows")]
    raise place.error(
        int(np.argmax(coded[role][0] == code)),
        problem,
        column=where[role],
        value=lost or value,
        expected="labels of one kind",
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
                problem = f"there is no label; wanted one of {scale}"
                look(role, blank, problem, missing=True, code="missing-label", **more)
    if skip_bad and "item" in coded:
        for role in ("topic", "document"):
            if role in coded and where[role] != where["item"]:
                item, names = coded["item"]
                torn = _strays(item, coded[role][0], len(names))
                problem = f"another {role} than the item had before"
                faults.append(Fault(torn, where[role], partial(_same, problem)))
    return faults


def _same(problem: str, _: int) -> str:
    """The sentence that is the same for every row."""
    return problem


def _strays(
    item: NDArray[np.integer[Any]], value: Codes, items: int
) -> NDArray[np.bool_]:  # (row,)
    """The rows whose value is not the one that their item had first."""
    first = np.full(items + 1, -1, dtype=np.int64)
    known = np.flatnonzero((value >= 0) & (item >= 0))
    first[item[known[::-1]]] = value[known[::-1]]
    stray = np.zeros(len(item), dtype=np.bool_)
    stray[known] = first[item[known]] != value[known]
    return stray


_FLAGS = {"", "true", "false", "yes", "no", "0", "1"}


def without_flag(coded: Coded, where: dict[str, str], place: Source, scale: Scale | None) -> Coded:
    """Return the columns without gold that only marks rows, as true and false among other labels.

    Marks of 0 and 1 are told from gold where the labels are words.
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
    stray = _strays(key, value, int(key.max(initial=-1)) + 1)
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
