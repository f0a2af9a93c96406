"""Text without a header, its cells set apart by blanks or tabs, as TREC's files are.

Such files are read whole and split by Arrow, so a line is a row and every fault has its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.names import encode
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

WHOLE = r"^-?[0-9]{1,18}$"
_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"

# The rows at fault, the column, what is wrong with a row (given its number and its cell).
Fault = tuple[NDArray[np.bool_], str, Callable[[int, Any], str]]


def is_whole(cell: str) -> bool:
    """Whether a cell is a whole number."""
    return re.match(WHOLE, cell) is not None


def is_number(cell: str) -> bool:
    """Whether a cell is a number."""
    return re.match(_NUMBER, cell) is not None


def read_spaced(
    file: File,
    options: Options,
    names: tuple[str, ...],
    *,
    lines: bool = False,
    comments: bool = False,
) -> tuple[Any, Source]:
    """A file of cells set apart by white space as a table of text columns, and its source.

    With ``lines`` the last column is the line of each row, a number. With ``comments`` a line that
    begins with ``#`` counts as blank.
    """
    texts = _lines(file.read_text())
    if comments and "#" in file.text:
        rows = pc.match_substring_regex(texts, r"^(\S+\s+){3}[-+0-9.eE]+$")  # an id may begin so
        texts = pc.if_else(pc.and_not(pc.starts_with(texts, "#"), rows), "", texts)
    numbers = np.flatnonzero(np.asarray(pc.not_equal(texts, "")))
    if numbers.size and numbers[-1] == numbers.size - 1:  # no blank line before the last
        texts = texts.slice(0, numbers.size)
    else:
        texts = texts.take(pa.array(numbers))
    cells = pc.ascii_split_whitespace(texts)
    source = Source(
        file.name,
        line_of=lambda row: int(numbers[row]) + 1,
        skip_bad=options.skip_bad,
        notes=options.notes,
    )
    if not len(cells):
        raise BadData("there is nothing in the file", source=file.name)
    counts = np.asarray(pc.list_value_length(cells))
    wrong = np.flatnonzero(counts != len(names))
    for row in wrong:
        fields = "field" if counts[row] == 1 else "fields"
        error = source.error(
            int(row),
            f"{counts[row]} {fields}; wanted {len(names)}: {' '.join(names)}",
            value=" ".join(cells[int(row)].as_py()),
            expected=f"{len(names)} fields",
        )
        if not options.skip_bad:
            raise error
        source.note(int(row), error)
    if wrong.size:
        good = np.flatnonzero(counts == len(names))
        if not good.size:
            raise BadData(f"every one of the {len(cells):,} rows is bad", source=file.name)
        cells = cells.take(pa.array(good))
        source.keep(good)
    flat = cells.flatten()
    starts = np.arange(len(cells), dtype=np.int64) * len(names)
    columns = {name: flat.take(pa.array(starts + at)) for at, name in enumerate(names)}
    if lines:
        rows = numbers if source.row_of is None else numbers[source.row_of]
        columns["line"] = pa.array(rows + 1)
    return pa.table(columns), source


def _lines(text: str) -> Any:
    """The lines of a text without the white space around them."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = pc.split_pattern(pa.array([text], pa.large_string()), "\n").flatten()
    return pc.ascii_trim_whitespace(lines)


def good_rows(table: Any, source: Source, faults: list[Fault]) -> NDArray[np.int64] | None:
    """The rows without fault, None if all are; the others are noted, or the first is an error."""
    if not any(marked.any() for marked, _, _ in faults):
        return None
    bad = np.logical_or.reduce([marked for marked, _, _ in faults])
    for row in np.flatnonzero(bad).tolist():
        _, column, problem = next(fault for fault in faults if fault[0][row])
        value = table[column][row].as_py()
        error = source.error(row, problem(row, value), column=column, value=value)
        if not source.skip_bad:
            raise error
        source.note(row, error)
    good = np.flatnonzero(~bad)
    if not good.size:
        raise BadData(f"every one of the {bad.size:,} rows is bad", source=source.name)
    source.keep(good)
    return good


def check_rows(table: Any, source: Source, faults: list[Fault]) -> Any:
    """The table without the rows at fault, which are noted; or the error for the first of them."""
    good = good_rows(table, source, faults)
    return table if good is None else table.take(pa.array(good))


def numbers_of(column: Any, *, whole: bool = False) -> tuple[Any, NDArray[np.bool_]]:
    """A text column as numbers, and which cells are no finite number, or no whole one."""
    fits = pc.fill_null(pc.match_substring_regex(column, WHOLE if whole else _NUMBER), False)
    text = pc.if_else(fits, column, "0")
    values = text.cast(pa.int64() if whole else pa.float64())
    return values, ~np.asarray(pc.and_(fits, pc.is_finite(values)), dtype=np.bool_)


def find_repeated(
    table: Any, columns: tuple[str, str]
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which rows repeat a pair that an earlier row has, and the first row of each pair."""
    first_codes, _ = encode(table[columns[0]])
    second_codes, names = encode(table[columns[1]])
    pair = first_codes.astype(np.int64) * max(len(names), 1) + second_codes
    coded = pa.array(pair).dictionary_encode()
    at = coded.indices.to_numpy()
    rows = np.arange(len(at), dtype=np.int64)
    first = np.empty(len(coded.dictionary), dtype=np.int64)
    first[at[::-1]] = rows[::-1]
    return first[at] != rows, first[at]


def repeated_fault(table: Any, source: Source) -> Fault:
    """The fault of rows whose topic and document an earlier row has already."""
    marked, first = find_repeated(table, ("topic", "document"))

    def problem(row: int, document: str) -> str:
        before = source.error(int(first[row]), "").line
        topic = table["topic"][row].as_py()
        return f"document {shown(document)} of topic {shown(topic)} is on line {before} already"

    return marked, "document", problem


def nul_fault(table: Any, column: str) -> Fault:
    """The fault of rows with a NUL byte in an id; empty ids there are none in such a file."""
    marked = np.asarray(pc.match_substring(table[column], "\0"), dtype=np.bool_)
    return marked, column, lambda _row, _value: "a NUL byte in an id"


def check_cells(table: Any, columns: tuple[str, ...], format_name: str, gaps: str) -> None:
    """Refuse a cell that is empty or holds what sets cells apart, where nothing is quoted."""
    for column in columns:
        cells = pc.fill_null(table[column], "")
        wrong = pc.or_(pc.match_substring_regex(cells, f"[{gaps}]"), pc.equal(cells, ""))
        row = pc.index(wrong, True).as_py()
        if row >= 0:
            value = cells[row].as_py()
            what = f"{shown(value)} has white space in it, which {format_name} cannot hold"
            raise BadData(
                what if value else "there is none", row=row + 1, column=column, value=value
            )
