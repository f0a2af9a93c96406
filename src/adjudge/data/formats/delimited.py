"""Delimited text (CSV, TSV) as an Arrow table of text columns, fast, with every fault located.

Arrow reads the file in parallel. Only when something is wrong is the file walked again, slowly and
line by line, to say where: rows with too few cells, bytes that are not in the encoding, a quote
that is never closed.
"""

from __future__ import annotations

import csv
import io
import mmap
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv

from adjudge.data.formats._faults import check_closed, locate_fault, not_text, note_ragged
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File, reading
from adjudge.data.formats.writing import unguarded
from adjudge.data.source import Source
from adjudge.errors import BadData, Remedy, shown

_BLOCK = 1 << 20
_LARGE = 1 << 26  # bytes of a file for which larger blocks pay, and dictionaries instead of text
CODED = pa.dictionary(pa.int32(), pa.string())
_BLOCK_SIZES = (1 << 20, 1 << 26, 1 << 30)  # Arrow's own, then larger ones for very long rows
_BLOCK_SIZES_LARGE = (1 << 23, 1 << 26, 1 << 30)


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
        """Every record that is not blank, with its first and last line; the slow way."""
        with reading(self.file.path), self.file.open() as raw:
            # The one for UTF-8 takes a byte-order mark off.
            encoding = "utf-8-sig" if self.file.codec == "utf-8" else self.file.encoding
            text = io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline="")
            yield from self._parse(text)

    def _parse(self, lines: Iterable[str]) -> Iterator[tuple[int, int, list[str]]]:
        csv.field_size_limit(2**31 - 1)
        quoting: Any = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
        reader = csv.reader(lines, delimiter=self.delimiter, quoting=quoting, strict=self.strict)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield line, reader.line_num, cells
                line = reader.line_num + 1
        except csv.Error as fault:
            raise BadData(f"is no CSV ({fault})", source=self.file.name, line=line) from None

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record with the line it starts on, header not included; the slow way."""
        for line, _, cells in islice(self._walk(), 1 if self.names is None else 0, None):
            yield line, cells

    @cached_property
    def lines(self) -> list[int]:
        """The line on which each record starts."""
        return [line for line, _ in self.records()]

    @cached_property
    def _first(self) -> list[tuple[int, int, list[str]]]:
        """The first two records that are not blank, from the beginning of the file if it has them.

        What comes last in the beginning may be cut off there, and then counts for nothing.
        """
        if self.file.whole:
            return list(islice(self._walk(), 2))
        text = self.file.start.decode(self.file.codec, errors="replace").removeprefix("\ufeff")
        lines = list(io.StringIO(text, newline=""))[:-1]
        found = list(islice(self._parse(lines), 2))
        if len(found) == 2 and found[1][1] < len(lines):
            return found
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

    @property
    def header_line(self) -> int:
        """The line on which the header starts."""
        return self._first[0][0] if self._first else 1

    @property
    def header_lines(self) -> int:
        """How many lines go before the first row: the header's, and blank ones before it."""
        if self.names is not None:
            return 0
        return self._first[0][1] if self._first else 1

    def check_header(self) -> None:
        """Refuse a header that is not there, names a column twice or holds a NUL byte."""
        if not self.header:
            raise BadData("there is nothing in the file", source=self.file.name)
        seen = set()
        for name in self.header:
            if "\0" in name:
                if not self.file.start.isascii():  # packed, it may be
                    from adjudge.data.formats._unknown import unknown

                    raise unknown(self.file)
                raise BadData(
                    "a NUL byte in the header; wanted text",
                    source=self.file.name,
                    line=self.header_line,
                    code="bad-encoding",
                    remedies=(Remedy("encoding", "utf-16"),),
                )
            if name in seen:
                raise BadData(
                    f"the header names the column {shown(name)} twice",
                    source=self.file.name,
                    line=self.header_line,
                    column=name,
                )
            seen.add(name)

    def line_of(self, row: int) -> int:
        """The line of a row, counted from 0 without header."""
        return self.lines[row]

    def for_arrow(self, block: int) -> Any:
        """How Arrow is to read it, so many bytes together."""
        return pa.csv.ReadOptions(
            column_names=self.header,
            skip_rows=self.header_lines,
            encoding="utf8" if self.file.codec == "utf-8" else self.file.encoding,
            block_size=block,
        )


def delimiter_of(file: File) -> str:
    """A tab if the header has one and not more commas, else what makes most columns of it."""
    widths = {mark: len(Delimited(file, mark).header) for mark in "\t,;|"}
    if widths["\t"] > 1 and widths["\t"] >= widths[","]:
        return "\t"
    return max(",;|", key=lambda mark: widths[mark])


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
    """A delimited file as a table of text columns, and the source that can name its lines.

    The delimiter is the one that the header shows, unless it is given. ``spelt`` makes of a name in
    the header, perhaps in another case, the one that the format has.
    ``columns`` picks from the header those worth reading; all, if it is not given. ``guarded``: the
    format is one that we write, with cells disarmed that a spreadsheet would run. ``coded`` picks
    those that are read as dictionaries where the file is large.
    """
    shape = Delimited(file, delimiter or delimiter_of(file), quoted, names, spelt=spelt)
    shape.check_header()
    source = Source(
        file.name, line_of=shape.line_of, skip_bad=options.skip_bad, notes=options.notes
    )
    chosen = shape.header if columns is None else columns(shape.header)
    if shape.is_empty:
        return pa.table({name: pa.array([], pa.string()) for name in chosen}), source
    kinds = {name: pa.string() for name in chosen}
    if coded is not None and is_large(file):
        kinds |= {name: CODED for name in coded(shape.header) if name in kinds}
    with reading(file.path):
        quotes = _count_quotes(file) if quoted else 0
        if quotes % 2:
            check_closed(shape)
        table, ragged = _read_arrow(shape, options, kinds, newlines=quotes > 0)
    if CODED in kinds.values():
        table = table.unify_dictionaries()
        pa.default_memory_pool().release_unused()  # the dictionaries of the blocks
    if ragged:
        note_ragged(shape, source)
    if guarded:
        table = unguarded(table)
    return table, source


def is_large(file: File) -> bool:
    """Whether the text of a file takes much memory."""
    return not file.whole and file.path.stat().st_size >= _LARGE


def _read_arrow(
    shape: Delimited, options: Options, kinds: dict[str, Any], *, newlines: bool
) -> tuple[Any, bool]:
    """The table as Arrow reads it, and whether it had to leave rows out."""
    ragged: list[Any] = []

    def on_ragged(row: Any) -> str:
        ragged.append(row.actual_columns)
        return "skip"

    file = shape.file
    sizes = _BLOCK_SIZES_LARGE if is_large(file) else _BLOCK_SIZES
    for size in sizes:
        try:
            table = pa.csv.read_csv(
                file.for_arrow,
                read_options=shape.for_arrow(size),
                parse_options=pa.csv.ParseOptions(
                    delimiter=shape.delimiter,
                    quote_char='"' if shape.quoted else False,
                    newlines_in_values=newlines,
                    # Only where it is needed: Arrow prints what goes wrong on the way to it, as
                    # with bytes that are no text.
                    invalid_row_handler=on_ragged if options.skip_bad else None,
                ),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=list(kinds),
                    column_types=kinds,
                    strings_can_be_null=False,
                ),
            )
        except pa.ArrowInvalid as error:
            if "straddling" in str(error) and size != sizes[-1]:
                ragged.clear()
                continue
            raise locate_fault(shape, error) from None
        except UnicodeDecodeError:
            raise not_text(file) from None
        break
    return table, bool(ragged)


def _count_quotes(file: File) -> int:
    """How many double quotes there are in the file: none is common, and lets Arrow go faster."""
    if file.whole:
        return file.start.count(b'"')
    if file.path.suffix not in {".gz", ".bz2"} and file.path.is_file():
        with file.open() as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            if data.find(b'"') < 0:  # a look is far cheaper than a count, and copies nothing
                return 0
            raw.seek(0)
            return _count_in(raw)
    with file.open() as raw:
        return _count_in(raw)


def _count_in(raw: IO[bytes]) -> int:
    total = 0
    while block := raw.read(_BLOCK):
        if b'"' in block:  # a look is far cheaper than a count
            total += block.count(b'"')
    return total
