"""Plain files read a few rows at a time, so that a file larger than memory can be gone through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from adjudge.data._second_questions import tell_label
from adjudge.data.columns import roles_of
from adjudge.data.formats._faults import locate_fault, not_text
from adjudge.data.formats.delimited import Delimited, delimiter_of
from adjudge.data.formats.format import Options
from adjudge.data.formats.opening import File, reading
from adjudge.data.formats.plain import read_rows
from adjudge.data.formats.writing import unguarded
from adjudge.data.source import Source
from adjudge.errors import BadData

_BYTES = 1 << 24  # of text in a batch
_ROWS = 1 << 20  # of Parquet in a batch
_PACKED = 6  # how many times larger text is than its compressed file, about


@dataclass(frozen=True, slots=True, eq=False)
class PlainRows:
    """The rows of a plain file: which column plays which role, and a source that names lines."""

    path: Path
    roles: dict[str, str]
    columns: list[str]
    source: Source
    estimate: int  # rows, about
    batches: Iterator[Any]  # Arrow tables, in order
    encoding: str

    def tell_label(self) -> None:
        """Remark which column is taken for the label, where the header leaves it open."""
        if "label" in self.roles:
            file = File.at(self.path, self.encoding)
            tell_label(file, self.roles, self.source, self.columns)


def rows_of(path: Path, options: Options) -> PlainRows:
    """The rows of a plain file, to be gone through once."""
    file = File.at(path, options.encoding)
    if file.kind == "parquet":
        return _parquet(path, options.encoding)
    if file.kind == "jsonl":
        table, source = read_rows(file, options)
        names = table.column_names
        return PlainRows(
            path, roles_of(names), names, source, len(table), iter([table]), options.encoding
        )
    shape = Delimited(file, delimiter_of(file))
    shape.check_header()
    source = Source(path.name, line_of=lambda row: next(islice(shape.records(), row, None))[0])
    return PlainRows(
        path,
        roles_of(shape.header),
        shape.header,
        source,
        _estimate(shape),
        _delimited(shape),
        options.encoding,
    )


def _parquet(path: Path, encoding: str) -> PlainRows:
    try:
        file = pa.parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise _not_parquet(path, error) from None
    names = file.schema_arrow.names
    roles = roles_of(names)

    def batches() -> Iterator[Any]:
        try:
            for batch in file.iter_batches(_ROWS, columns=list(dict.fromkeys(roles.values()))):
                yield pa.Table.from_batches([batch])
        except (pa.ArrowInvalid, OSError) as error:
            raise _not_parquet(path, error) from None

    return PlainRows(
        path, roles, names, Source(path.name), file.metadata.num_rows, batches(), encoding
    )


def _not_parquet(path: Path, error: Exception) -> BadData:
    return BadData(
        f"is cut short, or no Parquet file ({str(error).splitlines()[0]})",
        source=path.name,
        wanted="a whole Parquet file",
    )


def _delimited(shape: Delimited) -> Iterator[Any]:
    """The rows of delimited text as tables of text columns."""
    if shape.is_empty:
        return
    file = shape.file
    chosen = list(dict.fromkeys(roles_of(shape.header).values()))
    with reading(file.path):
        try:
            reader = pa.csv.open_csv(
                file.for_arrow,
                read_options=shape.for_arrow(_BYTES),
                parse_options=pa.csv.ParseOptions(
                    delimiter=shape.delimiter, newlines_in_values=_has_quotes(file)
                ),
                convert_options=pa.csv.ConvertOptions(
                    include_columns=chosen,
                    column_types={name: pa.string() for name in chosen},
                    strings_can_be_null=False,
                ),
            )
            for batch in reader:
                table = pa.Table.from_batches([batch])
                yield unguarded(table)
        except pa.ArrowInvalid as error:
            raise locate_fault(shape, error) from None
        except UnicodeDecodeError:
            raise not_text(file) from None


def _has_quotes(file: File) -> bool:
    """Whether there is a double quote in the file: without one, Arrow goes faster."""
    with file.open() as raw:
        while block := raw.read(_BYTES):
            if b'"' in block:
                return True
    return False


def _estimate(shape: Delimited) -> int:
    """About how many rows there are, by the length of the first."""
    path = shape.file.path
    with reading(path), shape.file.open() as file:
        start = file.read(_BYTES)
    lines = max(start.count(b"\n"), 1)
    if len(start) < _BYTES:
        return lines
    size = path.stat().st_size * (_PACKED if path.suffix in {".gz", ".bz2"} else 1)
    return int(size / len(start) * lines)
