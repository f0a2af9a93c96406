"""Delimited text (CSV, TSV) as an Arrow table of text columns, fast, with every fault located.

Arrow reads the file in parallel. Only when something is wrong is the file walked again, slowly and
line by line, to say where: rows with too few cells, bytes that are not UTF-8, NUL bytes.
"""

from __future__ import annotations

import csv
import io
import mmap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from adjudge.data.formats.files import check_readable, opened
from adjudge.data.formats.format import Options
from adjudge.data.source import Source
from adjudge.errors import BadData, shown


@dataclass(frozen=True)
class Delimited:
    """How a delimited file is written: delimiter, quotes, encoding, header or names."""

    path: Path
    delimiter: str = ","
    quoted: bool = True
    encoding: str = "utf-8"
    names: tuple[str, ...] | None = None  # column names of a file without a header

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Every record with the line it starts on, header not included; the slow way."""
        with opened(self.path) as raw:
            text = io.TextIOWrapper(raw, encoding=self.encoding, errors="replace", newline="")
            style = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
            csv.field_size_limit(2**31 - 1)
            reader = csv.reader(text, delimiter=self.delimiter, quoting=style)
            line = 1
            header = self.names is None
            for cells in reader:
                if cells and not (header and line == 1):
                    yield line, cells
                line = reader.line_num + 1

    @cached_property
    def lines(self) -> list[int]:
        """The line on which each well-formed record starts."""
        width = len(self.header)
        return [line for line, cells in self.records() if len(cells) == width]

    @cached_property
    def header(self) -> list[str]:
        """The names of the columns."""
        if self.names is not None:
            return list(self.names)
        with opened(self.path) as raw:
            text = io.TextIOWrapper(raw, encoding=self.encoding, errors="replace", newline="")
            style = csv.QUOTE_MINIMAL if self.quoted else csv.QUOTE_NONE
            cells = next(csv.reader(text, delimiter=self.delimiter, quoting=style), [])
        return [cell.removeprefix("\ufeff").strip() for cell in cells]

    def line_of(self, row: int) -> int:
        """The line of a row, counted from 0 without header."""
        return self.lines[row] if row < len(self.lines) else len(self.lines) + 1


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
    _check_header(shape)
    source = Source(path.name, line_of=shape.line_of, skip_bad=options.skip_bad)
    chosen = shape.header if columns is None else columns(shape.header)
    ragged: list[Any] = []

    def on_ragged(row: Any) -> str:
        ragged.append(row)
        return "skip" if options.skip_bad else "error"

    try:
        table = pa.csv.read_csv(
            str(path),
            read_options=pa.csv.ReadOptions(
                column_names=shape.header,
                skip_rows=0 if names is not None else _header_lines(shape),
                encoding="utf8" if options.encoding == "utf-8" else options.encoding,
            ),
            parse_options=pa.csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if quoted else False,
                newlines_in_values=quoted and _has_quotes(path),
                invalid_row_handler=on_ragged,
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=chosen,
                column_types={name: pa.string() for name in chosen},
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid as error:
        raise _located(shape, error) from None
    except (UnicodeDecodeError, LookupError) as error:
        raise BadData(f"cannot be decoded: {error}", source=path.name) from None
    if ragged:
        _note_ragged(shape, source)
    return table, source


def _check_header(shape: Delimited) -> None:
    """Complain of a header that names a column twice or holds a NUL byte."""
    seen = set()
    for name in shape.header:
        if "\0" in name:
            raise BadData(
                "a NUL byte in the header; wanted text, perhaps in another --encoding (utf-16?)",
                source=shape.path.name,
                line=1,
            )
        if name in seen:
            raise BadData(
                f"the header names the column {shown(name)} twice",
                source=shape.path.name,
                line=1,
                column=name,
            )
        seen.add(name)


def _header_lines(shape: Delimited) -> int:
    """How many lines the header takes: one, but for names with newlines in them."""
    return 1 + sum(name.count("\n") for name in shape.header)


def _has_quotes(path: Path) -> bool:
    """Whether there is a double quote in the file; compressed files are taken to have some."""
    if path.suffix in {".gz", ".bz2", ".zst"}:
        return True
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b'"') >= 0


def _located(shape: Delimited, error: Exception) -> BadData:
    """Arrow's complaint, with the line it is about."""
    width = len(shape.header)
    if "UTF8" in str(error) or "UTF-8" in str(error):
        return _not_text(shape)
    for line, cells in shape.records():
        if len(cells) != width:
            return BadData(
                f"{len(cells)} cells where the header has {width}",
                source=shape.path.name,
                line=line,
                value=cells,
                wanted=f"{width} cells",
            )
    return BadData(f"cannot be read: {error}", source=shape.path.name)


def _not_text(shape: Delimited) -> BadData:
    """The first line whose bytes are not in the encoding."""
    with opened(shape.path) as raw:
        for number, line in enumerate(raw, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as fault:
                return BadData(
                    f"byte 0x{line[fault.start]:02x} is not UTF-8; "
                    "wanted UTF-8, or the encoding named, such as --encoding latin-1",
                    source=shape.path.name,
                    line=number,
                    value=line[fault.start],
                    wanted="UTF-8",
                )
    return BadData("is not UTF-8", source=shape.path.name)


def _note_ragged(shape: Delimited, source: Source) -> None:
    """List the rows that were skipped because their number of cells is not the header's."""
    width = len(shape.header)
    for row, (line, cells) in enumerate(shape.records()):
        if len(cells) != width:
            problem = f"{len(cells)} cells where the header has {width}"
            source.note(row, BadData(problem, source=shape.path.name, line=line))
