"""Arrow tables written as CSV, JSONL or Parquet."""

from __future__ import annotations

import json
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

_ROWS = 65_536  # rows turned into Python objects at a time


def write_csv(table: Any, file: IO[bytes], *, delimiter: str = ",", guard: bool = False) -> None:
    """A table as delimited text; with ``guard``, cells that a spreadsheet would run are disarmed.

    A cell that begins with ``= + - @``, a tab or a return gets an apostrophe before it, as
    spreadsheets themselves write text. Only text columns are touched: a number stays a number.
    """
    if guard:
        columns = [_guarded(column) for column in table.columns]
        table = pa.table(dict(zip(table.column_names, columns, strict=True)))
    header = delimiter.join(_quoted(name, delimiter) for name in table.column_names) + "\n"
    file.write(header.encode())
    style = pa.csv.WriteOptions(
        include_header=False, delimiter=delimiter, quoting_style="needed"
    )
    pa.csv.write_csv(table, file, style)


def _quoted(name: str, delimiter: str) -> str:
    if any(mark in name for mark in (delimiter, '"', "\n", "\r")):
        doubled = name.replace('"', '""')
        return f'"{doubled}"'
    return name


def _guarded(column: Any) -> Any:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    risky = pc.match_substring_regex(column, r"^[=+\-@\t\r]")
    number = pc.match_substring_regex(column, r"^[+-]?[0-9]+([.][0-9]+)?$")
    armed = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
    return pc.if_else(pc.and_not(risky, number), armed, column)


def write_jsonl(table: Any, file: IO[bytes]) -> None:
    """A table as one JSON object a line; times as ISO 8601, what is missing left out."""
    for batch in table.to_batches(max_chunksize=_ROWS):
        lines = [
            json.dumps(
                {name: value for name, value in row.items() if value is not None},
                ensure_ascii=False,
                default=str,
            )
            for row in batch.to_pylist()
        ]
        if lines:
            file.write(("\n".join(lines) + "\n").encode())


def write_parquet(table: Any, file: IO[bytes]) -> None:
    """A table as Parquet."""
    pa.parquet.write_table(table, file)
