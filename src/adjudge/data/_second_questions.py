"""Columns next to the label that may answer another question, named so that one can choose.

A table ``item, judge, relevance, fluency`` asks two questions and is read as one. What describes
the item, the judge or the label is none: it is the same wherever that is the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.columns import as_text, letters_of, roles_of, words_of
from adjudge.data.formats.opening import File, spelt_out
from adjudge.data.names import Codes, encode
from adjudge.data.scale import MISSING, as_number
from adjudge.data.source import Source
from adjudge.data.synonyms import NO_QUESTION, NOT_A_LABEL, SYNONYMS
from adjudge.errors import name_columns

_SAMPLE = 1_000  # rows in which a column shows whether it is worth a look
_ROWS = 200_000  # rows that decide
_VALUES = 12  # different answers that a question may have
_LENGTH = 40  # characters of an answer
_EVIDENCE = 4  # rows that repeat an item, a judge or a label before what they share is believed
_GRADE = 100  # the largest number that looks like a grade
_NOT_A_QUESTION = {*NOT_A_LABEL, *SYNONYMS["judge"], *NO_QUESTION}


def further_columns(file: File, columns: list[str]) -> list[str]:
    """The columns, of those that play no role, that may hold answers by the file's beginning."""
    sample = first_cells(file)
    return [name for name in columns if _may_ask(name) and _are_answers(sample.get(name, []))]


def tell_label(
    table: Any, roles: Mapping[str, str], place: Source, columns: Sequence[str] = ()
) -> None:
    """Note which column is the label where names do not say so, or others could be it too.

    ``columns`` are those of the file, of which the table may have only some. Of comparisons, the
    label is the outcome.
    """
    column = roles.get("outcome") or roles["label"]
    known = "outcome" in roles or letters_of(column) in SYNONYMS["label"]
    if "outcome" in roles:
        others = _other_outcomes(table, roles)
    else:
        others = (
            []
            if letters_of(column) == "label" or not known
            else _find_named_columns(columns, roles)
        )
        others += [name for name in _other_questions(table, roles) if name not in others]
        _refuse_gold(table, roles, others, place)
    if others:
        place.remark(
            f"column {column} is taken for the label, not {', '.join(others)}",
            name_columns(label=others[0]),
        )
    elif not known:
        place.remark(f"column {column} is taken for the label", name_columns("label"))


def _refuse_gold(
    table: Any, roles: Mapping[str, str], others: Sequence[str], place: Source
) -> None:
    """Ask which column is the label where the likely one never differs between judges."""
    found = [name for name in others if name in table.column_names]
    if not found or "judge" not in roles or not len(table):
        return
    item = _item_codes(table.slice(0, _ROWS), roles)
    same = [
        _varies(encode(as_text(table[name].slice(0, _ROWS)))[0], item)
        for name in (roles["label"], found[0])
    ]
    if same == [False, True]:
        column = roles["label"]
        raise place.error(
            None,
            f"all labels of an item are equal, as if they were its gold; {found[0]} differs",
            column=column,
            value=found[0],
            code="label-or-gold",
            remedies=[name_columns(label=found[0], gold=column), name_columns(label=column)],
        )


def _item_codes(rows: Any, roles: Mapping[str, str]) -> NDArray[np.int64]:  # (row,)
    """Return a number for the item of each row."""
    item = np.zeros(len(rows), dtype=np.int64)
    for role in ("item", "topic", "document"):
        if role in roles:
            codes, names = encode(as_text(rows[roles[role]]))
            item = np.unique(item * (len(names) + 1) + codes + 1, return_inverse=True)[1]
    return item


def _likely(table: Any, taken: set[str]) -> dict[str, list[str]]:
    """The first cells of the columns that may be a question and hold answers."""
    free = [name for name in table.column_names if name not in taken and _may_ask(name)]
    cells = {name: _texts(table[name].slice(0, _SAMPLE)) for name in free}
    return {name: given for name, given in cells.items() if given and _are_answers(given)}


def _other_outcomes(table: Any, roles: Mapping[str, str]) -> list[str]:
    """The columns of comparisons that have the values of the outcome."""
    known = _texts(table[roles["outcome"]].slice(0, _SAMPLE))
    likely = _likely(table, set(roles.values())).items()
    return [name for name, cells in likely if cells != known and _shared(cells, known)]


def _find_named_columns(columns: Sequence[str], roles: Mapping[str, str]) -> list[str]:
    """The columns without a role that have a name of the label."""
    taken = set(roles.values())
    return [c for c in columns if c not in taken and letters_of(c) in SYNONYMS["label"]]


def _may_ask(name: str) -> bool:
    """Whether a column's name leaves it open that it holds answers."""
    words = words_of(name)
    return bool(words) and not set(words) & _NOT_A_QUESTION and words[-1] not in ("id", "ids")


def _are_answers(cells: Sequence[str]) -> bool:
    """Whether most cells are filled, with few short values."""
    given = [text for text in (cell.strip() for cell in cells) if text.casefold() not in MISSING]
    values = set(given)
    return (
        2 * len(given) >= len(cells)
        and 1 < len(values) <= _VALUES
        and (2 * len(values) <= len(given) or len(given) <= 2 * _EVIDENCE)
        and max(map(len, values)) < _LENGTH
    )


def _other_questions(table: Any, roles: Mapping[str, str]) -> list[str]:
    """The columns of a table of judgments that look like answers to another question."""
    places = [roles[role] for role in ("item", "topic", "document") if role in roles]
    if not places or "judge" not in roles or not len(table):
        return []
    taken = set(roles.values()) | set(roles_of(table.column_names).values())
    likely = _likely(table, taken)
    if not likely:
        return []
    rows = table.slice(0, _ROWS)
    item = _item_codes(rows, roles)
    judge, _ = encode(as_text(rows[roles["judge"]]))
    label, labels = encode(as_text(rows[roles["label"]]))
    found = []
    for name in likely:
        codes, values = encode(as_text(rows[name]))
        texts = values.to_pylist()
        blank = np.array([*(text.strip().casefold() in MISSING for text in texts), True])
        given = np.flatnonzero(~blank[codes])
        decided = [_varies(codes[given], by[given]) for by in (item, judge, label)]
        if False in decided or len(np.unique(codes[given])) > _VALUES:
            continue
        if decided[:2] == [True, True] or _alike(texts, labels.to_pylist()):
            found.append(name)
    return found


def _texts(column: Any) -> list[str]:
    """The cells of a column; none where it holds no text or numbers."""
    try:
        return ["" if cell is None else cell for cell in as_text(column).to_pylist()]
    except pa.ArrowException:
        return []


def _varies(value: Codes, by: NDArray[Any]) -> bool | None:
    """Whether values differ where ``by`` is the same; None where too few rows could show it."""
    groups = len(np.unique(by))
    if len(np.unique(by.astype(np.int64) * (int(value.max()) + 2) + value)) > groups:
        return True
    return False if len(value) - groups >= _EVIDENCE else None


def _plain(texts: Sequence[str]) -> set[str]:
    return {text.strip().casefold() for text in texts} - MISSING


def _shared(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether at least half of the values are labels too."""
    own = _plain(texts)
    return 2 * len(own & _plain(labels)) >= len(own)


def _alike(texts: Sequence[str], labels: Sequence[str]) -> bool:
    """Whether values are of the labels' kind: small numbers as they are, or mostly the same."""
    numbers = [as_number(text) for text in _plain(texts) | _plain(labels)]
    small = all(number is not None and abs(number) <= _GRADE for number in numbers)
    return small or _shared(texts, labels)


def first_cells(file: File) -> dict[str, list[str]]:
    """Return the first cells of each column of a table, be it delimited, JSON or Parquet."""
    if file.kind != "delimited":
        records = [spelt_out(record) for record in file.records]
        names = dict.fromkeys(name for record in records for name in record)
        cells = {name: [record.get(name) for record in records] for name in names}
        return {n: ["" if c is None else str(c) for c in given] for n, given in cells.items()}
    if not file.rows:
        return {}
    header = [cell.strip() or f"column {at}" for at, cell in enumerate(file.rows[0], start=1)]
    complete = [row for row in file.rows[1:] if len(row) == len(header)]
    return {name: [row[at] for row in complete] for at, name in enumerate(header)}
