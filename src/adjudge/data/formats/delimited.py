"""Delimited text (CSV, TSV) as an Arrow table of text columns, fast, with every fault located.

Arrow reads the file in parallel. Only when something is wrong is the file walked again, slowly and
line by line, to say where: rows with too few cells, bytes that are not in the encoding, a quote
that is never closed.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from adjudge.data.formats._unknown import unknown
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File, not_text, reading
from adjudge.data.formats.writing import unguarded
from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy, shown

_BLOCK = 1 << 20
_LARGE = 1 << 26  # bytes of a file for which larger blocks pay, and dictionaries instead of text
CODED = pa.dictionary(pa.int32(), pa.string())
_BLOCK_SIZES = (1 << 23, 1 << 26, 1 << 30)  # larger ones for very long rows


@dataclass(frozen=True)
class Delimited:
    """How a delimited file is written: delimiter, quotes, header or names."""

    file: File
    delimiter: str = ","
    quoted: bool = True
    names: tuple[str, ...] | None = None  # column names of a file without a header
    strict: bool = False  # a quote out of place is an error
    spelt: Callable[[str], str] = str  # how the format spells a name that a header may not

    def _walk(self) -> Iterator[tuple[int, int, list[str]]]:
        """Return every record that is not blank, with its first and last line; the slow way."""
        csv.field_size_limit(2**31 - 1)
        quoting: Any = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        # The one for UTF-8 takes a byte-order mark off.
        encoding = "utf-8-sig" if self.file.codec == "utf-8" else self.file.encoding
        line = 1
        with reading(self.file.path), self.file.open() as raw:
            text = io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")
            rows = csv.reader(text, delimiter=self.delimiter, quoting=quoting, strict=self.strict)
            try:
                for cells in rows:
                    if cells:
                        yield line, rows.line_num, cells
                    line = rows.line_num + 1
            except csv.Error as fault:
                raise BadData.at(
                    self.file.name, "invalid-csv", f"this is not valid CSV ({fault})", line=line
                ) from None

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Return every record with the line it starts on, without the header; the slow way."""
        for line, _, cells in islice(self._walk(), 1 if self.names is None else 0, None):
            yield line, cells

    @cached_property
    def lines(self) -> list[int]:
        """The line on which each record starts."""
        return [line for line, _ in self.records()]

    @cached_property
    def _first(self) -> list[tuple[int, int, list[str]]]:
        """The first two records that are not blank."""
        return list(islice(self._walk(), 2))

    @property
    def is_empty(self) -> bool:
        """Whether there is no row below the header."""
        return len(self._first) < (2 if self.names is None else 1)

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns; a column without one is called by its place."""
        if self.names is not None:
            return list(self.names)
        cells = [cell.strip() for cell in self._first[0][2]] if self._first else []
        named = [cell or f"column {place}" for place, cell in enumerate(cells, start=1)]
        return [self.spelt(name) for name in named]

    def check_header(self) -> None:
        """Refuse a header that is not there, names a column twice or holds a NUL byte."""
        if not self.header:
            raise BadData("there is nothing in the file", source=self.file.name, code="empty-file")
        line = self._first[0][0] if self._first else 1
        if any("\0" in name for name in self.header):
            if not self.file.start.isascii():  # packed, it may be
                raise unknown(self.file)
            problem, remedies = "there is a NUL byte in the header", [Remedy("encoding", "utf-16")]
            raise BadData.at(self.file.name, "bad-encoding", problem, line=line, remedies=remedies)
        twice = [name for name, count in Counter(self.header).items() if count > 1]
        if twice:
            problem = f"the header names the column {shown(twice[0])} twice"
            raise BadData.at(self.file.name, "repeated-column", problem, line=line, column=twice[0])

    def line_of(self, row: int) -> int:
        """Return the line of a row, counted from 0 without header."""
        return self.lines[row]

    def for_arrow(self, block: int) -> Any:
        """Return how Arrow reads it, so many bytes together."""
        return pa.csv.ReadOptions(
            column_names=self.header,
            skip_rows=0 if self.names is not None else self._first[0][1],
            encoding="utf8" if self.file.codec == "utf-8" else self.file.encoding,
            block_size=block,
        )


def read_delimited(
    file: File,
    options: Options,
    *,
    delimiter: str | None = None,
    quoted: bool = True,
    names: tuple[str, ...] | None = None,
    spelt: Callable[[str], str] = str,
    columns: Callable[[list[str]], list[str]] | None = None,
    guarded: bool = False,
    coded: Callable[[list[str]], list[str]] | None = None,
) -> tuple[Any, Source]:
    """Return a delimited file as a table of text columns, and the source that knows its lines.

    The delimiter is the one that the header shows, unless it is given. ``spelt`` makes of a name in
    the header, perhaps in another case, the one that the format has.
    ``columns`` picks from the header those worth reading; all, if it is not given. ``guarded``: the
    format is one that we write, with cells disarmed that a spreadsheet would run. ``coded`` picks
    those that are read as dictionaries where the file is large.
    """
    shape = Delimited(file, delimiter or file.delimiter, quoted, names, spelt=spelt)
    shape.check_header()
    source = options.source(file.name, line_of=shape.line_of)
    chosen = shape.header if columns is None else columns(shape.header)
    if shape.is_empty:
        return pa.table({name: pa.array([], pa.string()) for name in chosen}), source
    kinds = {name: pa.string() for name in chosen}
    if coded is not None and is_large(file):
        kinds |= {name: CODED for name in coded(shape.header) if name in kinds}
    with reading(file.path):
        quotes = _count_quotes(file) if quoted else 0
        if quotes % 2:
            _check_closed(shape)
        table = _read_arrow(shape, kinds, newlines=quotes > 0)
        if table is None:
            _refuse_ragged(shape, source)
            table = _read_arrow(shape, kinds, newlines=quotes > 0, skip=True)
        if table is None:
            raise BadData.at(file.name, "broken-file", "cannot be read as rows of one width")
    if CODED in kinds.values():
        table = table.unify_dictionaries()
        pa.default_memory_pool().release_unused()  # the dictionaries of the blocks
    if guarded:
        table = unguarded(table)
    return table, source


def is_large(file: File) -> bool:
    """Whether the text of a file takes much memory."""
    return not file.complete and file.path.stat().st_size >= _LARGE


def _read_arrow(
    shape: Delimited, kinds: dict[str, Any], *, newlines: bool, skip: bool = False
) -> Any | None:
    """Return the table as Arrow reads it; None where a row that is not skipped is ragged."""
    file = shape.file
    sizes = (_BLOCK if not is_large(file) else _BLOCK_SIZES[0], *_BLOCK_SIZES[1:])
    for size in sizes:
        try:
            return pa.csv.read_csv(
                file.for_arrow,
                read_options=shape.for_arrow(size),
                parse_options=pa.csv.ParseOptions(
                    delimiter=shape.delimiter,
                    quote_char='"' if shape.quoted else False,
                    newlines_in_values=newlines,
                    # Only where it is needed: with it, Arrow prints what else goes wrong.
                    invalid_row_handler=(lambda _: "skip") if skip else None,
                ),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=list(kinds),
                    column_types=kinds,
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "UTF8" in str(error) or "UTF-8" in str(error):
                raise not_text(file) from None
            if "straddling" not in str(error):
                return None
        except UnicodeDecodeError:
            raise not_text(file) from None
    return None


def _refuse_ragged(shape: Delimited, source: Source) -> None:
    """Refuse or note the rows that have not as many cells as the header."""
    good = []
    for number, (line, cells) in enumerate(shape.records()):
        if len(cells) == len(shape.header):
            good.append(number)
        else:
            source.refuse(number, ragged(shape, line, cells))
    source.keep(np.array(good, dtype=np.int64))


def _count_quotes(file: File) -> int:
    """Return how many double quotes there are; a file without them is read faster."""
    with file.open() as raw:
        return sum(block.count(b'"') for block in iter(lambda: raw.read(_BLOCK), b""))


def _check_closed(shape: Delimited) -> None:
    """Refuse a quote that is never closed and so swallows the rest of the file."""
    lines = shape.lines
    if not lines:
        return
    with shape.file.open() as raw:
        text = io.TextIOWrapper(raw, encoding=shape.file.encoding, errors="replace", newline="")
        try:
            rest = islice(text, lines[-1] - 1, None)
            list(csv.reader(rest, delimiter=shape.delimiter, strict=True))
        except csv.Error as fault:
            if "unexpected end of data" in str(fault):
                problem = "a quote opened in this row is never closed"
                raise BadData.at(shape.file.name, "open-quote", problem, line=lines[-1]) from None


def ragged(shape: Delimited, line: int, cells: list[str]) -> BadData:
    """Return the error for a row whose number of cells is not the header's."""
    width = len(shape.header)
    problem = f"expected {width} cells as in the header, got {len(cells)}"
    return BadData.at(shape.file.name, "wrong-width", problem, line=line, value=cells)
