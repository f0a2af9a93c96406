"""Text without a header, its cells separated by blanks or tabs, as in TREC's files.

Such files are read in one piece and split by Arrow, so a line is a row and every fault has its
line.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File
from adjudge.data.names import encode
from adjudge.data.source import Fault, Source
from adjudge.errors import BadData, shown

INTEGER = r"^-?[0-9]{1,18}$"
_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$"


def is_whole(cell: str) -> bool:
    """Whether a cell is a whole number."""
    return re.match(INTEGER, cell) is not None


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
    """Return a file of cells separated by white space as a table of text columns, and its source.

    With ``lines`` the last column is the line of each row, a number. With ``comments`` a line that
    begins with ``#`` counts as blank.
    """
    text = re.sub(r"\r\n?", "\n", file.read_text())
    split = pc.split_pattern(pa.array([text], pa.large_string()), "\n").flatten()
    texts = pc.ascii_trim_whitespace(split)
    if comments and "#" in file.text:
        rows = pc.match_substring_regex(texts, r"^(\S+\s+){3}[-+0-9.eE]+$")  # an id may begin so
        texts = pc.if_else(pc.and_not(pc.starts_with(texts, "#"), rows), "", texts)
    numbers = np.flatnonzero(np.asarray(pc.not_equal(texts, "")))
    cells = pc.ascii_split_whitespace(texts.take(pa.array(numbers)))
    source = options.source(file.name, line_of=lambda row: int(numbers[row]) + 1)
    if not len(cells):
        raise BadData("there is nothing in the file", source=file.name, code="empty-file")
    counts = np.asarray(pc.list_value_length(cells))
    good = counts == len(names)
    widths = f"{len(names)} fields ({' '.join(names)})"
    fault = Fault(
        ~good,
        None,
        lambda row: f"expected {widths}, got {counts[row]}",
        lambda row: " ".join(cells[row].as_py()),
        widths,
        "wrong-width",
    )
    rows = pa.table({"cells": cells, "line": pa.array(numbers + 1)})
    rows = check_rows(rows, source, [fault])
    cells = rows["cells"].combine_chunks()
    flat = cells.flatten()
    starts = np.arange(len(cells), dtype=np.int64) * len(names)
    columns = {name: flat.take(pa.array(starts + at)) for at, name in enumerate(names)}
    if lines:
        columns["line"] = rows["line"]
    return pa.table(columns), source


def cell_fault(table: Any, rows: NDArray[np.bool_], column: str, expected: str, code: str) -> Fault:
    """Return the fault of rows whose cell in a column is not what was expected."""

    def value_of(row: int) -> object:
        return table[column][row].as_py()

    def describe(row: int) -> str:
        return f"expected {expected}, got {shown(value_of(row))}"

    return Fault(rows, column, describe, value_of, expected, code)


def check_rows(table: Any, source: Source, faults: list[Fault]) -> Any:
    """Return the table without the rows at fault, which are noted; or raise for the first."""
    good = source.sift(faults)
    if good is None:
        return table
    if not len(good):
        problem = f"every one of the {len(table):,} rows is bad"
        raise BadData.at(source.name, "no-good-rows", problem)
    return table.take(pa.array(good))


def numbers_of(column: Any, *, integer: bool = False) -> tuple[Any, NDArray[np.bool_]]:
    """Return a text column as numbers, and which cells are not finite numbers, or not integers."""
    fits = pc.fill_null(pc.match_substring_regex(column, INTEGER if integer else _NUMBER), False)
    text = pc.if_else(fits, column, "0")
    values = text.cast(pa.int64() if integer else pa.float64())
    return values, ~np.asarray(pc.and_(fits, pc.is_finite(values)), dtype=np.bool_)


def typed_numbers(
    table: Any,
    column: str,
    expected: str = "a number",
    code: str = "not-a-number",
    *,
    integer: bool = False,
    least: float = -np.inf,
    most: float = np.inf,
    absent: str | None = None,
) -> tuple[Any, Fault]:
    """Return a text column as numbers, null where it is absent, and the fault of other cells."""
    text = pc.utf8_trim_whitespace(pc.fill_null(table[column].cast(pa.large_string()), ""))
    given = np.asarray(pc.not_equal(text, absent if absent is not None else "\0"), dtype=np.bool_)
    values, wrong = numbers_of(text, integer=integer)
    number = values.to_numpy()
    wrong |= (number < least) | (number > most)
    values = pc.if_else(pa.array(given), values, pa.scalar(None, values.type))
    return values, cell_fault(table, wrong & given, column, expected, code)


def find_repeated(table: Any, *columns: str) -> NDArray[np.int64]:  # (row,)
    """Return for each row the first row with the same cells in these columns."""
    pair = np.zeros(len(table), dtype=np.int64)
    for column in columns:
        codes, names = encode(table[column])
        pair = pair * (len(names) + 1) + codes + 1
    _, first, inverse = np.unique(pair, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def repeated_fault(table: Any, source: Source, *columns: str) -> Fault:
    """Return the fault of rows that repeat an earlier one in these columns."""
    first = find_repeated(table, *columns)
    again = first != np.arange(len(table))
    fault = cell_fault(
        table, again, columns[-1], f"each {' and '.join(columns)} once", "repeated-row"
    )

    def describe(row: int) -> str:
        before = source.error(int(first[row]), "").place.removeprefix(f"{source.name}, ")
        return f"{fault.describe(row)}, which is already at {before}"

    return replace(fault, describe=describe)


def nul_fault(table: Any, column: str) -> Fault:
    """Return the fault of rows with a NUL byte in an id."""
    marked = np.asarray(pc.match_substring(table[column], "\0"), dtype=np.bool_)
    return cell_fault(table, marked, column, "an id without NUL bytes", "bad-id")


def check_cells(table: Any, columns: tuple[str, ...], format_name: str, gaps: str) -> None:
    """Refuse a cell that is empty or holds a separator, in a format that quotes nothing."""
    for column in columns:
        cells = pc.fill_null(table[column], "")
        wrong = pc.or_(pc.match_substring_regex(cells, f"[{gaps}]"), pc.equal(cells, ""))
        row = pc.index(wrong, True).as_py()
        if row >= 0:
            value = cells[row].as_py()
            expected = f"a value without white space for {format_name}"
            raise BadData.wrong(None, "bad-id", expected, value, row=row + 1, column=column)
