"""Cells that a spreadsheet would take for formulas: written and read as text."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

TEXT = pa.large_string()

_MARKS = r"=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}"  # how formulas begin; wide ones too


def join_cells(*parts: Any, by: str = "") -> Any:
    """Columns and constants joined row by row."""
    texts = [pa.scalar(p, TEXT) if isinstance(p, str) else p.cast(TEXT) for p in (*parts, by)]
    return pc.binary_join_element_wise(*texts)


def guarded(column: Any) -> Any:
    """A column with an apostrophe before each text that a spreadsheet would run."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    # Apostrophes before such a mark already get one more, so that taking one off is safe.
    risky = pc.match_substring_regex(column, f"^'*[{_MARKS}]")
    number = pc.match_substring_regex(column, r"^[+-]?[0-9]+([.][0-9]+)?$")
    return pc.if_else(pc.and_not(risky, number), join_cells("'", column), column)


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
