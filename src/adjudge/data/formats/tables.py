"""Arrow tables written as CSV, JSONL or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

_ROWS = 65_536  # rows turned into text at a time
_TEXT = pa.large_string()
_MARKS = r"=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}"  # how formulas begin; wide ones too


def write_csv(
    table: Any,
    file: IO[bytes],
    *,
    delimiter: str = ",",
    guard: bool = False,
    header: bool = True,
) -> None:
    """A table as delimited text; with ``guard``, cells that a spreadsheet would run are disarmed.

    A cell that begins with ``= + - @``, a tab or a line's end gets an apostrophe before it, as
    spreadsheets themselves write text; ``unguarded`` takes it off. Only text columns are touched:
    a number stays a number. Cells are quoted only where they must be.
    """
    if guard:
        columns = [guarded(column) for column in table.columns]
        table = pa.table(columns, names=table.column_names)
    if header:
        names = _quoted(pa.array(table.column_names, _TEXT), delimiter)
        file.write((delimiter.join(names.to_pylist()) + "\n").encode())
    write_rows(table, file, delimiter=delimiter, quoted=True)


def write_rows(table: Any, file: IO[bytes], *, delimiter: str = "\t", quoted: bool = False) -> None:
    """The rows of a table as delimited text without a header; what is missing is an empty cell.

    Without ``quoted`` the cells are written as they are: that they hold no delimiter is for the
    caller to see to.
    """
    for batch in table.to_batches(max_chunksize=_ROWS):
        cells = [pc.fill_null(column.cast(_TEXT), "") for column in batch.columns]
        if quoted:
            cells = [_quoted(column, delimiter) for column in cells]
        lines = _joined(_joined(*cells, by=delimiter), "\n")
        file.write(_bytes_of(lines))


def _quoted(cells: Any, delimiter: str) -> Any:
    """Cells in double quotes where they hold a delimiter, a quote or the end of a line."""
    marks = (delimiter, '"', "\r", "\n")
    whole = _bytes_of(cells)  # one look at all cells is far cheaper than one at each
    if not any(mark.encode() in whole for mark in marks):
        return cells
    needed = pc.match_substring_regex(cells, f"[{''.join(marks)}]")
    doubled = pc.replace_substring(cells, '"', '""')
    return pc.if_else(needed, _joined('"', doubled, '"'), cells)


def _bytes_of(texts: Any) -> bytes:
    """The cells of a large-string array, one after the other."""
    if not len(texts):
        return b""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)
    start, end = int(ends[texts.offset]), int(ends[texts.offset + len(texts)])
    return b"" if data is None else bytes(memoryview(data)[start:end])


def _joined(*parts: Any, by: str = "") -> Any:
    """Columns and constants joined row by row."""
    texts = [pa.scalar(p, _TEXT) if isinstance(p, str) else p.cast(_TEXT) for p in (*parts, by)]
    return pc.binary_join_element_wise(*texts)


def guarded(column: Any) -> Any:
    """A column with an apostrophe before each text that a spreadsheet would run."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    # Apostrophes before such a mark already get one more, so that taking one off is safe.
    risky = pc.match_substring_regex(column, f"^'*[{_MARKS}]")
    number = pc.match_substring_regex(column, r"^[+-]?[0-9]+([.][0-9]+)?$")
    return pc.if_else(pc.and_not(risky, number), _joined("'", column), column)


def unguarded(column: Any) -> Any:
    """A text column without the apostrophes that ``write_csv`` put before risky cells."""
    return pc.replace_substring_regex(column, f"^'('*[{_MARKS}])", r"\1")


def unguarded_table(table: Any) -> Any:
    """A table of text columns, each as it was before ``write_csv`` disarmed its cells."""
    columns = [
        unguarded(column) if pc.any(pc.starts_with(column, "'")).as_py() else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)


def write_jsonl(table: Any, file: IO[bytes]) -> None:
    """A table as one JSON object a line; times as ISO 8601, what is missing left out."""
    gap = pa.scalar(", ", _TEXT)
    keys = [f"{_spelt(name)}: " for name in table.column_names]
    for batch in table.to_batches(max_chunksize=_ROWS):
        pairs = [
            _joined(key, _json(column)) for key, column in zip(keys, batch.columns, strict=True)
        ]
        inside = pc.binary_join_element_wise(*pairs, gap, null_handling="skip")
        file.write(_bytes_of(_joined("{", inside, "}\n")))


def _json(column: Any) -> Any:
    """The cells of a column as JSON, null where there is none; a number that is none is missing."""
    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.if_else(pc.is_finite(column), column, pa.scalar(None, kind))
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(_TEXT)
    if pa.types.is_nested(kind):
        return pa.array([None if v is None else _spelt(v) for v in column.to_pylist()], _TEXT)
    coded = column if pa.types.is_dictionary(kind) else column.dictionary_encode()
    return pa.array([_spelt(v) for v in coded.dictionary.to_pylist()], _TEXT).take(coded.indices)


def _spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def write_parquet(table: Any, file: IO[bytes]) -> None:
    """A table as Parquet."""
    pa.parquet.write_table(table, file)


def write_blocks(blocks: Iterable[Any], file: IO[bytes], kind: str, *, guard: bool = False) -> None:
    """Tables of the same columns one after the other into one file: .csv, .tsv, .jsonl, .parquet.

    There has to be one at least. No more than one is held at a time.
    """
    with ExitStack() as stack:
        parquet: Any = None
        for number, block in enumerate(blocks):
            if kind == ".parquet":
                if parquet is None:
                    parquet = stack.enter_context(pa.parquet.ParquetWriter(file, block.schema))
                parquet.write_table(block)
            elif kind == ".jsonl":
                write_jsonl(block, file)
            else:
                mark = "\t" if kind == ".tsv" else ","
                write_csv(block, file, delimiter=mark, guard=guard, header=number == 0)
