"""Tables known by their cells: a column a judge, matrices, rows without names."""

from __future__ import annotations

import csv
from collections.abc import Callable

from adjudge.data.columns import letters_of, roles_of
from adjudge.data.formats.opening import File
from adjudge.data.scale import as_number

NONE = ("", "na", "nan", "null", "none", "-", "?")  # cells of a wide table that hold no judgment
_LABELS = 12  # different values that the cells of judges may have
_RESPONDENTS = ("responseid", "respondent", "respondentid", "emailaddress", "username")
_ROWS = 3  # rows below which nothing can be told


def _sample_rows(file: File, delimiter: str, most: int = 300) -> list[list[str]]:
    """The first rows of a file, the header among them; the last may be cut off, and is left out."""
    lines = file.text.splitlines(keepends=True)
    if not file.whole:
        lines = lines[:-1]
    rows = csv.reader(lines[:most], delimiter=delimiter)
    try:
        return [cells for cells in rows if cells]
    except csv.Error:
        return []


def judge_columns(header: list[str], rows: list[list[str]]) -> list[str]:
    """The columns of a table that look like judges: they share one small set of values."""
    roles = roles_of(header)
    if {"gold", "sampling"} <= roles.keys():
        return []  # a sample of items to get gold labels for: rounds and strata are no judges
    if {"judge", "label"} <= roles.keys() and letters_of(roles["label"]) not in _numbered(header):
        return []
    numbered = _numbered(header)
    places = ("item", "topic", "document", "gold", "time")
    taken = {roles[role] for role in places if role in roles}
    taken -= {name for name in taken if letters_of(name) in numbered}  # Q1, Q2: one is no topic
    taken |= {header[0]} | {name for name in header if letters_of(name) in ("id", "index", "")}
    values: dict[str, set[str]] = {}
    for at, name in enumerate(header):
        cells = [row[at].strip() for row in rows if len(row) == len(header)]
        own = {cell for cell in cells if cell.casefold() not in NONE}
        if name not in taken and 0 < len(own) <= _LABELS and max(map(len, own)) < 40:
            values[name] = own
    alike = _alike(values)
    person = roles.get("judge")
    if person is not None and person not in alike and letters_of(person) not in numbered:
        return []  # the judge has a column of their own
    return alike


def answered_by(header: list[str]) -> str | None:
    """The column of a survey that says whose answers a row has: there a row is no item."""
    return next((name for name in header if letters_of(name) in _RESPONDENTS), None)


def _numbered(header: list[str]) -> set[str]:
    """Names that several columns share but for a number: ``annotator1``, ``annotator2``."""
    letters = [letters_of(name) for name in header]
    return {name for name in letters if letters.count(name) > 1}


def _alike(values: dict[str, set[str]]) -> list[str]:
    """The columns whose values are mostly those of the others; none if they are not of one kind."""
    alike = [
        name
        for name, own in values.items()
        if any(2 * len(own & other) >= len(own) for key, other in values.items() if key != name)
    ]
    every = set().union(*(values[name] for name in alike)) if alike else set()
    return alike if len(alike) > 1 and len(every) <= _LABELS else []


def _is_wide(file: File) -> bool:
    """A header, a column that names items, and columns that share one small set of values."""
    if file.kind != "delimited" or len(file.columns) < 3:
        return False
    rows = _sample_rows(file, file.delimiter)
    if len(rows) <= _ROWS or len(set(rows[0])) < len(rows[0]):
        return False
    header = [cell.strip() or f"column {at}" for at, cell in enumerate(rows[0], start=1)]
    judges = judge_columns(header, rows[1:])
    if not judges or len(judges) == len(header) or answered_by(header):
        return False
    cells = {cell for row in rows[1:] if len(row) == len(header) for cell in row}
    return not any(name in cells for name in judges)  # a header's names stand nowhere else


def _is_matrix(file: File) -> bool:
    """Rows of one width, all of whose cells are empty or from one small set of values."""
    if file.kind != "delimited" or file.delimiter not in file.first:
        return False
    rows = _sample_rows(file, file.delimiter)
    widths = {len(row) for row in rows}
    if len(rows) < _ROWS or len(widths) > 1 or max(widths) < 3:
        return False
    cells = [[cell.strip() for cell in row] for row in rows]
    values = {cell for row in cells for cell in row if cell}
    gaps = any(not cell for row in cells for cell in row)
    below = {cell for row in cells[1:] for cell in row}
    if not {cell for cell in cells[0] if cell} <= below:
        return False  # a header's names stand nowhere else
    # Three full columns of few values could as well be judge, item and label.
    return bool(values) and len(values) <= _LABELS and (gaps or max(widths) > 3)


def _is_headerless(file: File) -> bool:
    """Two or three columns, the last of few values, that of the first line again below it."""
    if file.kind != "delimited":
        return False
    plain = any(mark in file.first for mark in "\t,;|")
    if plain:
        rows = _sample_rows(file, file.delimiter)
    else:
        rows = [line.split() for line in file.text.splitlines()[:300] if line.split()]
    if rows and all(len(row) == 4 and not row[-1].strip() for row in rows):
        rows = [row[:-1] for row in rows]  # a delimiter at the end of every line
    if len(rows) < _ROWS or {len(row) for row in rows} not in ({2}, {3}) or not all(rows[0]):
        return False
    last = [row[-1].strip() for row in rows]
    values = set(last)
    repeated = last.count(last[0]) > 1 and (len(values) <= _LABELS or 4 * len(values) <= len(rows))
    others = [{row[at] for row in rows} for at in range(len(rows[0]) - 1)]
    return repeated and all(len(own) >= len(values) for own in others)


def _is_book(file: File) -> bool:
    """A header of query, docid and names, over cells that are numbers or empty."""
    lines = file.text.splitlines(keepends=True)
    rows = [cells for cells in csv.reader(lines[: 1 + 20], delimiter=file.delimiter) if cells]
    if len(rows[0]) < 3 or _is_plain_but_for_pairs(rows[0][2:]):
        return False
    whole = [cells for cells in rows[1:] if len(cells) == len(rows[0])]
    return all(not c.strip() or as_number(c.strip()) is not None for r in whole for c in r[2:])


def _is_plain_but_for_pairs(names: list[str]) -> bool:
    """Whether the columns after query and document are those of plain judgments or gold."""
    roles = roles_of(names)
    told = {"label", "gold"} & set(roles)
    return {"judge", "label"} <= set(roles) or (bool(told) and len(roles) == len(names))


SHAPES: dict[str, Callable[[File], bool]] = {
    "quepid-book": _is_book,
    "matrix": _is_matrix,
    "wide": _is_wide,
    "headerless": _is_headerless,
}


def number_columns(width: int) -> tuple[str, ...]:
    """The names of the columns of a file that has no header."""
    return tuple(f"column {place}" for place in range(1, width + 1))
