"""Pairs in CSV, TSV or JSON Lines: one row a pair of results, to be judged beside each other.

``left`` and ``right`` name the two, and are their texts too where nothing else is told of them;
``left_title``, ``left_text``, ``left_url`` and ``left_image`` are what judges see of the left one.
Gold is ``left``, ``right`` or ``tie``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from adjudge.collect.importing.preview import Gathering
from adjudge.collect.importing.rows import SHOWN, list_columns, reason_columns, told_reasons
from adjudge.collect.importing.upload import Upload
from adjudge.collect.values.sides import LEFT, PAIR_SCALE, RIGHT
from adjudge.data.comparison_table import side_named
from adjudge.errors import BadData, shown

_SIDES = (LEFT, RIGHT)
PAIR_PARTS = tuple(f"{side}{part}" for side in _SIDES for part in ("", *(f"_{p}" for p in SHOWN)))
_QUERY = "Which of the two is better?"  # of pairs that come without a query
_LONGEST = 80  # characters of a text that is its own id


def holds_pairs(found: Mapping[str, str]) -> bool:
    """Whether the columns found are those of two results."""
    return all(any(part in found for part in PAIR_PARTS if part.startswith(s)) for s in _SIDES)


def read_pairs(
    upload: Upload,
    gathering: Gathering,
    columns: list[str],
    rows: Iterable[tuple[int, dict[str, str]]],
    found: Mapping[str, str],
) -> None:
    """The pairs of a file, and their gold where there is a column for it."""
    if gathering.scale is None:
        gathering.scale = PAIR_SCALE
    elif not {LEFT, RIGHT} <= set(gathering.scale.labels):
        message = (
            f"the columns are {list_columns(columns)}: pairs, and the labels are "
            f"{gathering.scale}; wanted the labels {PAIR_SCALE}"
        )
        raise BadData(message, source=upload.name, line=1)
    told = reason_columns(columns)
    for line, cells in rows:
        parts = {part: cells.get(column, "") for part, column in found.items()}
        query = parts.get("query") or parts.get("topic") or _QUERY
        topic = parts.get("topic") or gathering.topic_of(query)
        sides = {side: _side(parts, side) for side in _SIDES}
        left, right = sides[LEFT]["document"], sides[RIGHT]["document"]
        if not left or not right:
            side = RIGHT if left else LEFT
            gathering.add_fault(f"there is no {side} result", source=upload.name, line=line)
            continue
        if left == right:
            gathering.add_fault(
                f"{shown(left)} is beside itself; wanted two different results",
                source=upload.name, line=line, value=left,
            )  # fmt: skip
            continue
        name = parts.get("name") or f"{topic}/{left}/{right}"
        own = {part: parts.get(part, "") for part in ("need", "category")}
        item = {"name": name, "topic": topic, "query": query, **own, **sides[LEFT]}
        if gathering.add(item, source=upload.name, line=line, beside=sides[RIGHT]) is None:
            continue
        given = parts.get("gold", "")
        reasons = told_reasons(cells, told)
        if given:
            gathering.add_gold(
                name, "|".join(map(_outcome, given.split("|"))), source=upload.name, line=line,
                column=found["gold"], reason=parts.get("reason", ""),
                reasons={_outcome(label): text for label, text in reasons.items()},
                role=parts.get("role", "").lower(),
            )  # fmt: skip
    _tell_sides(gathering)


def _side(parts: Mapping[str, str], side: str) -> dict[str, str]:
    """What is told of one of the two, with the id it has or gets."""
    seen = {part: parts.get(f"{side}_{part}", "") for part in SHOWN}
    name = parts.get(side, "")
    if not any(seen.values()):
        seen["text"] = name
    return {"document": _id_of(name or seen["title"] or seen["text"] or seen["url"]), **seen}


def _id_of(text: str) -> str:
    """A short text as it is; a long one by its beginning and a mark of the whole."""
    if len(text) <= _LONGEST:
        return text
    mark = hashlib.blake2s(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{' '.join(text[: _LONGEST // 2].split())}... {mark}"


def _outcome(text: str) -> str:
    """The side that a word of gold names: ``A``, ``model_a`` or ``1`` is left."""
    return side_named(text) or text.strip()


def _tell_sides(gathering: Gathering) -> None:
    """Say where reasons speak of sides, which a judge may see the other way round."""
    told = [g for g in gathering.golds.values() if _names_side((g.reason, *g.reasons.values()))]
    if told:
        gathering.notes.append(
            f"The reason of {len(told):,} gold {'pair speaks' if len(told) == 1 else 'pairs speak'}"
            " of left or right. Each judge sees the sides by a coin of their own: name the results"
            " instead."
        )


def _names_side(texts: tuple[str, ...]) -> bool:
    return any(side in text.lower().split() for text in texts for side in _SIDES)
