"""Which of a file's columns is the label, the topic and the document.

Platforms let a requester ask several questions of one item and name the inputs at will; adjudge
wants one question, and takes an input for topic or document only where its name says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjudge.data.columns import roles_of
from adjudge.data.formats.format import Options
from adjudge.data.formats.omissions import is_blank
from adjudge.data.names import encode
from adjudge.errors import BadData

_ADDRESSES = ("url", "documenturl", "docurl", "pageurl", "link")


def chosen_question(
    found: Iterable[str], options: Options, source: str, what: str, wanted: str
) -> str:
    """The question whose answers are the labels: the only one there is, or the one named.

    ``what`` is a question called in this format, and ``wanted`` what it looks like.
    """
    names = list(dict.fromkeys(found))
    if not names:
        raise BadData(f"there is no {what}; wanted {wanted}", source=source, wanted=wanted)
    listed = ", ".join(names)
    if options.question is None:
        if len(names) == 1:
            return names[0]
        raise BadData(
            f"there are {len(names)} {what}s ({listed}); wanted one, named with --question",
            source=source,
            wanted="one question",
        )
    name = options.question
    matches = [
        known for known in names if name == known or name.endswith((f".{known}", f":{known}"))
    ]
    if not matches:
        raise BadData(
            f"there is no {what} {name!r}; there is {listed}",
            source=source,
            value=name,
            wanted=f"one of {listed}",
        )
    return max(matches, key=len)


def asked_questions(table: Any, item: str, names: Iterable[str]) -> list[str]:
    """The columns that may be answers to a question: they differ within an item, and repeat.

    An input is the same in every row of an item. What hardly ever repeats is free text, and what
    is mostly empty a remark; where nothing else is left, all that differ are given.
    """
    items, _ = encode(table[item])
    varying, answers = [], []
    for name in names:
        codes, values = encode(table[name])
        blank = np.append(is_blank(values), True)[codes] if len(values) else np.ones(1, np.bool_)
        given = np.flatnonzero(~blank)
        if not given.size:
            continue
        pairs = np.unique(items[given].astype(np.int64) * (len(values) + 1) + codes[given])
        if len(pairs) == len(np.unique(items[given])):
            continue
        varying.append(name)
        distinct = len(np.unique(codes[given]))
        if 2 * given.size >= len(codes) and 2 * distinct < max(given.size, 4):
            answers.append(name)
    return answers or varying


def pair_columns(names: Iterable[str]) -> dict[str, str]:
    """Which inputs are the topic and the document, as far as their names say so plainly."""
    inputs = list(names)
    found = roles_of(inputs)
    pair: dict[str, str] = {role: found[role] for role in ("topic", "document") if role in found}
    if "document" not in pair:
        letters = {re.sub(r"[^a-z]", "", name.casefold()): name for name in reversed(inputs)}
        address = next((letters[word] for word in _ADDRESSES if word in letters), None)
        if address is not None:
            pair["document"] = address
    return pair
