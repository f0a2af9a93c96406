"""From a table with text in it to integer-coded comparisons.

Rows are checked once, here: two different items, an outcome that is one of the four. What a row
says of the outcome may be a word (left, model_a, tie) or the name of the item that won.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data._frames import take_in
from adjudge.data._judge_columns import family_column, kind_column
from adjudge.data.columns import comparison_roles, roles_of, text_of
from adjudge.data.comparisons import CANNOT_SAY, LEFT, RIGHT, TIE, Comparisons, outcome_named
from adjudge.data.names import Coded, Codes, Names, encode
from adjudge.data.source import Source
from adjudge.data.synonyms import PAIR_SYNONYMS
from adjudge.errors import BadData, shown

_WANTED = "left, right, tie, cannot say, or the name of one of the two"


def load_comparisons(
    table: Any,
    *,
    judge: str = "judge",
    source: str | Source = "table",
    roles: dict[str, str] | None = None,
) -> Comparisons:
    """Comparisons from any table that Arrow can take in.

    ``judge`` names the judge where no column does; ``roles`` names the column of each role where
    the header does not speak for itself.
    """
    place = source if isinstance(source, Source) else Source(source)
    rows = take_in(table, place)
    where = comparison_roles(rows.column_names) if roles is None else dict(roles)
    if not where:
        raise _missing(rows.column_names, place)
    if len(rows) == 0:
        raise place.error(None, "there are no comparisons: the table has a header and no rows")
    coded, items, outcome = _coded(rows, where, place, judge)
    bad = _bad_rows(coded, where, items, outcome, place)
    if bad is not None:
        good = np.flatnonzero(~bad)
        if good.size == 0:
            raise place.error(None, f"every one of the {bad.size:,} rows is bad")
        rows, outcome = rows.take(pa.array(good)), outcome[good]
        place.keep(good)
        coded, items, outcome = _coded(rows, where, place, judge)
    first = None
    if "won" in where:  # who stood on which side is not told
        first = np.full(len(outcome), -1, dtype=np.int8)
    elif "first" in coded:
        first = _sides(coded["first"], coded["left"][0], coded["right"][0], items)
    families, family = family_column(coded, where, place)
    topic, topics = coded.get("topic", (None, None))
    return Comparisons(
        items=items,
        judges=coded["judge"][1],
        left=coded["left"][0],
        right=coded["right"][0],
        judge=coded["judge"][0],
        outcome=outcome,
        topics=topics,
        topic=topic,
        first=first,
        families=families,
        family=family,
        kind=kind_column(coded, where, place),
    )


def _missing(columns: list[str], place: Source) -> BadData:
    found = roles_of(columns, PAIR_SYNONYMS)
    role = next((role for role in ("left", "right", "outcome") if role not in found), "left")
    name = "label" if role == "outcome" else role
    return place.error(
        None,
        f"no column {name!r}; the columns are {', '.join(columns)}; wanted left, right and label, "
        f"or winner and loser; also accepted: {', '.join(PAIR_SYNONYMS[role][1:])}",
        column=name,
        expected=name,
    )


def _coded(
    rows: Any, where: dict[str, str], place: Source, judge: str
) -> tuple[Coded, Names, NDArray[np.int8]]:
    """The columns as codes, the items that both sides share, and the outcome of each row."""
    sides = ("won", "lost") if "won" in where else ("left", "right")
    texts = [text_of(rows, where[side], place) for side in sides]
    plain = [text.cast(pa.large_string()) for text in texts]
    both = pa.chunked_array([chunk for text in plain for chunk in text.chunks], pa.large_string())
    codes, items = encode(both)
    many = len(rows)
    coded: Coded = {"left": (codes[:many], items), "right": (codes[many:], items)}
    for role in ("judge", "topic", "first", "family", "kind"):
        if role in where:
            coded[role] = encode(text_of(rows, where[role], place))
    if "judge" not in coded:
        name = pa.array([judge], pa.large_string())
        coded["judge"] = (np.zeros(many, dtype=np.int32), name)
    if "won" in where:
        return coded, items, np.full(many, LEFT, dtype=np.int8)
    said = encode(text_of(rows, where["outcome"], place))
    coded["outcome"] = said
    return coded, items, _sides(said, codes[:many], codes[many:], items, last=CANNOT_SAY)


def _sides(
    said: tuple[Codes, Names],
    left: Codes,
    right: Codes,
    items: Names,
    last: int = RIGHT,
) -> NDArray[np.int8]:  # (row,)
    """Which side, or outcome up to ``last``, each row names, by a word or the item; -1 if neither.

    Where each row that names a side names one of its two items, items are meant, whatever they are
    called. Else a word for one side that is the name of the item on the other is -2.
    """
    codes, names = said
    texts = names.to_pylist()
    word = np.array([outcome_named(text) for text in texts] + [-1], dtype=np.int8)
    word[word > last] = -1
    place = {name: code for code, name in enumerate(items.to_pylist())}
    item = np.array([place.get(text, -9) for text in texts] + [-9], dtype=np.int32)
    by_word, by_item = word[codes], item[codes]
    named = np.where(by_item == left, LEFT, np.where(by_item == right, RIGHT, -1)).astype(np.int8)
    found = np.where(named >= 0, named, by_word)
    if ((named >= 0) | (by_word >= TIE)).all():
        return found.astype(np.int8)
    return np.where((named >= 0) & (by_word >= 0) & (named != by_word), -2, found).astype(np.int8)


def _bad_rows(
    coded: Coded,
    where: dict[str, str],
    items: Names,
    outcome: NDArray[np.int8],
    place: Source,
) -> NDArray[np.bool_] | None:
    """The rows that cannot be used, or an error for the first of them; None if all are good."""
    left, right = coded["left"][0], coded["right"][0]
    names = [*items.to_pylist(), ""]
    blank = np.array([not name.strip() or "\0" in name for name in names])
    judges = [*coded["judge"][1].to_pylist(), ""]
    nobody = np.array([not name.strip() or "\0" in name for name in judges])[coded["judge"][0]]
    bad = blank[left] | blank[right] | nobody | (left == right) | (outcome < 0)
    if "topic" in coded:
        bad |= coded["topic"][0] < 0
    if not bad.any():
        return None
    for row in np.flatnonzero(bad):
        error = _row_error(int(row), coded, where, names, int(outcome[row]), place)
        if not place.skip_bad:
            raise error
        place.note(int(row), error)
    return np.asarray(bad, dtype=np.bool_)


def _row_error(
    row: int,
    coded: Coded,
    where: dict[str, str],
    names: list[str],
    outcome: int,
    place: Source,
) -> BadData:
    """The error for one bad row: its first problem, in the order of the columns."""
    sides = [where.get("won", where.get("left")), where.get("lost", where.get("right"))]
    pair = [names[coded[side][0][row]] for side in ("left", "right")]
    for column, name in zip(sides, pair, strict=True):
        if not name.strip() or "\0" in name:
            problem = "a NUL byte in an id" if "\0" in name else "the item id is empty"
            return place.error(row, problem, column=column, value=name, expected="an id")
    if pair[0] == pair[1]:
        problem = f"{shown(pair[0])} is compared with itself; wanted two items"
        return place.error(row, problem, column=sides[1], value=pair[1], expected="another item")
    if outcome < 0:
        codes, said = coded["outcome"]
        text = said[int(codes[row])].as_py() if codes[row] >= 0 else ""
        problem = f"{shown(text.strip())} is no outcome"
        if not text.strip():
            problem = "there is no outcome"
        elif outcome == -2:
            problem = f"{shown(text)} is a side here and the name of the item on the other"
        wanted = f"{_WANTED} ({shown(pair[0])}, {shown(pair[1])})"
        column = where["outcome"]
        return place.error(row, f"{problem}; wanted {wanted}", column=column, value=text)
    role = "judge" if coded["judge"][0][row] < 0 or "topic" not in coded else "topic"
    return place.error(row, f"the {role} id is empty", column=where.get(role), expected="an id")
