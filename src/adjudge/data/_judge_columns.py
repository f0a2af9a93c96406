"""What a table says of its judges: their family, their kind, and under which prompt or version."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data._items import one_each
from adjudge.data.columns import letters_of
from adjudge.data.judgments import MODEL, PERSON
from adjudge.data.names import Coded, Codes, Names, as_names, encode
from adjudge.data.source import Source

_KINDS = {
    PERSON: ("person", "people", "human", "expert", "crowd", "worker", "annotator", "assessor"),
    MODEL: ("model", "llm", "machine", "ai", "bot", "automatic", "languagemodel"),
}


def without_strangers(where: dict[str, str]) -> dict[str, str]:
    """The roles without prompts and versions that stand beside no model: they are of other things.

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
            parted = _parted(coded["judge"], coded[role])
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


def _parted(judge: tuple[Codes, Names], part: tuple[Codes, Names]) -> tuple[Codes, Names] | None:
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


def kind_of_word(word: str) -> int | None:
    """Whether a word means a person or a model; None where it means neither."""
    letters = letters_of(word).rstrip("s")
    return next((kind for kind, words in _KINDS.items() if letters in words), None)


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
