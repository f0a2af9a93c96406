"""Delimited text (CSV, TSV) as an Arrow table of text columns, fast, with every fault located.

Arrow reads the file in parallel. Only when something is wrong is the file walked again, slowly and
line by line, to say where: rows with too few cells, bytes that are not in the encoding, a quote
that is never closed.
"""

from __future__ import annotations

import csv
import io
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from adjudge.data.formats.files import check_readable, encoding_name, not_text, opened, reading
from adjudge.data.formats.format import Options
from adjudge.data.source import Source
from adjudge.errors import BadData, shown

_BLOCK = 1 << 20
_LARGE = 1 << 26  # a file for which larger blocks pay: fewer, longer chunks of every column
_BLOCK_SIZES = (1 << 20, 1 << 26, 1 << 30)  # Arrow's own, then larger ones for very long rows
_BLOCK_SIZES_LARGE = (1 << 23, 1 << 26, 1 << 30)


@dataclass(frozen=True)
class Delimited:
    """How a delimited file is written: delimiter, quotes, encoding, header or names."""

    path: Path
    delimiter: str = ","
    quoted: bool = True
    encoding: str = "utf-8"
    names: tuple[str, ...] | None = None  # column names of a file without a header

    def _walk(self) -> Iterator[tuple[int, int, list[str]]]:
        """Every record that is not blank, with its first and last line; the slow way."""
        plain = encoding_name(self.encoding) == "utf-8"
        with reading(self.path), opened(self.path) as raw:
            encoding = "utf-8-sig" if plain else self.encoding  # takes a byte-order mark off
            text = io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")
            csv.field_size_limit(2**31 - 1)
            reader = csv.reader(text, delimiter=self.delimiter, quoting=self._quoting)
            line = 1
            for cells in reader:
                if cells:
                    yield line, reader.line_num, cells
                line = reader.line_num + 1

    @property
    def _quoting(self) -> Any:
        return csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record with the line it starts on, header not included; the slow way."""
        for line, _, cells in islice(self._walk(), 1 if self.names is None else 0, None):
            yield line, cells

    @cached_property
    def lines(self) -> list[int]:
        """The line on which each record starts."""
        return [line for line, _ in self.records()]

    @cached_property
    def _head(self) -> tuple[int, int, list[str]]:
        """The first record that is not blank, with its first and last line."""
        return next(self._walk(), (1, 1, []))

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns; a column without one is called by its place."""
        if self.names is not None:
            return list(self.names)
        cells = [cell.strip() for cell in self._head[2]]
        return [cell or f"column {place}" for place, cell in enumerate(cells, start=1)]

    @property
    def header_line(self) -> int:
        """The line on which the header starts."""
        return self._head[0]

    @property
    def header_lines(self) -> int:
        """How many lines go before the first row: the header's, and blank ones before it."""
        return 0 if self.names is not None else self._head[1]

    def line_of(self, row: int) -> int:
        """The line of a row, counted from 0 without header."""
        return self.lines[row]


def delimiter_of(path: Path, options: Options) -> str:
    """A tab if the header has one and not more commas, else a comma."""
    check_readable(path)
    widths = {mark: len(Delimited(path, mark, encoding=options.encoding).header) for mark in "\t,"}
    return "\t" if widths["\t"] > 1 and widths["\t"] >= widths[","] else ","


def read_delimited(
    path: Path,
    options: Options,
    *,
    delimiter: str = ",",
    quoted: bool = True,
    names: tuple[str, ...] | None = None,
    columns: Callable[[list[str]], list[str]] | None = None,
) -> tuple[Any, Source]:
    """A delimited file as a table of text columns, and the source that can name its lines.

    ``columns`` picks from the header those worth reading; all, if it is not given.
    """
    check_readable(path)
    shape = Delimited(path, delimiter, quoted, options.encoding, names)
    check_header(shape)
    source = Source(path.name, line_of=shape.line_of, skip_bad=options.skip_bad)
    chosen = shape.header if columns is None else columns(shape.header)
    if next(shape.records(), None) is None:
        return pa.table({name: pa.array([], pa.string()) for name in chosen}), source
    with reading(path):
        quotes = _count_quotes(path) if quoted else 0
        if quotes % 2:
            _check_closed(shape)
        table, ragged = _read_arrow(shape, options, chosen, newlines=quotes > 0)
    if ragged:
        _note_ragged(shape, source)
    return table, source


def _read_arrow(
    shape: Delimited, options: Options, chosen: list[str], *, newlines: bool
) -> tuple[Any, bool]:
    """The table as Arrow reads it, and whether it had to leave rows out."""
    ragged: list[Any] = []

    def on_ragged(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip" if options.skip_bad else "error"

    plain = encoding_name(options.encoding) == "utf-8"
    sizes = _BLOCK_SIZES if shape.path.stat().st_size < _LARGE else _BLOCK_SIZES_LARGE
    for size in sizes:
        try:
            table = pa.csv.read_csv(
                str(shape.path),
                read_options=pa.csv.ReadOptions(
                    column_names=shape.header,
                    skip_rows=shape.header_lines,
                    encoding="utf8" if plain else options.encoding,
                    block_size=size,
                ),
                parse_options=pa.csv.ParseOptions(
                    delimiter=shape.delimiter,
                    quote_char='"' if shape.quoted else False,
                    newlines_in_values=newlines,
                    invalid_row_handler=on_ragged,
                ),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=chosen,
                    column_types={name: pa.string() for name in chosen},
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and size != sizes[-1]:
                ragged.clear()
                continue
            raise located(shape, error) from None
        except UnicodeDecodeError:
            raise not_text(shape.path, options.encoding) from None
        break
    return table, bool(ragged)


def check_header(shape: Delimited) -> None:
    """Complain of a header that is not there, names a column twice or holds a NUL byte."""
    if not shape.header:
        raise BadData("there is nothing in the file", source=shape.path.name)
    seen = set()
    for name in shape.header:
        if "\0" in name:
            raise BadData(
                "a NUL byte in the header; wanted text, perhaps in another --encoding (utf-16?)",
                source=shape.path.name,
                line=shape.header_line,
            )
        if name in seen:
            raise BadData(
                f"the header names the column {shown(name)} twice",
                source=shape.path.name,
                line=shape.header_line,
                column=name,
            )
        seen.add(name)


def _count_quotes(path: Path) -> int:
    """How many double quotes there are in the file: none is common, and lets Arrow go faster."""
    if path.suffix not in {".gz", ".bz2"} and path.is_file() and path.stat().st_size:
        with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data.find(b'"') < 0:  # a look is far cheaper than a count, and copies nothing
                return 0
    total = 0
    with opened(path) as file:
        while block := file.read(_BLOCK):
            if b'"' in block:  # a look is far cheaper than a count
                total += block.count(b'"')
    return total


def _check_closed(shape: Delimited) -> None:
    """Complain of a quote that is never closed and so swallows the rest of the file."""
    last = None
    for last in shape.records():  # noqa: B007
        pass
    if last is None:
        return
    with opened(shape.path) as raw:
        text = io.TextIOWrapper(raw, encoding=shape.encoding, errors="replace", newline="")
        rest = islice(text, last[0] - 1, None)
        try:
            list(csv.reader(rest, delimiter=shape.delimiter, strict=True))
        except csv.Error as fault:
            if "unexpected end of data" in str(fault):
                raise BadData(
                    "a quote opened in this row is never closed",
                    source=shape.path.name,
                    line=last[0],
                    wanted="a closing quote",
                ) from None


def located(shape: Delimited, error: Exception) -> BadData:
    """Arrow's complaint, with the line it is about."""
    if "UTF8" in str(error) or "UTF-8" in str(error):
        return not_text(shape.path, shape.encoding)
    width = len(shape.header)
    for line, cells in shape.records():
        if len(cells) != width:
            return _ragged(shape, line, cells)
    return BadData(f"cannot be read: {error}", source=shape.path.name)


def _ragged(shape: Delimited, line: int, cells: list[str]) -> BadData:
    """The error for a row whose number of cells is not the header's."""
    width = len(shape.header)
    return BadData(
        f"{len(cells)} {'cell' if len(cells) == 1 else 'cells'} where the header has {width}",
        source=shape.path.name,
        line=line,
        value=cells,
        wanted=f"{width} cells",
    )


def _note_ragged(shape: Delimited, source: Source) -> None:
    """List the rows that were skipped because their number of cells is not the header's."""
    width = len(shape.header)
    good = []
    for row, (line, cells) in enumerate(shape.records()):
        if len(cells) == width:
            good.append(row)
        else:
            source.note(row, _ragged(shape, line, cells))
    source.keep(np.array(good, dtype=np.int64))
