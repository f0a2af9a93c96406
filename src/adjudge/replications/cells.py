"""A cell of a paper's table: what was published, and what was obtained over several seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One published value beside the mean and sd obtained; NaN where nothing was published."""

    row: str
    column: str
    published: float
    obtained: float
    sd: float
    note: str = ""

    @property
    def differs(self) -> bool:
        """Whether the published value lies more than two sd from what was obtained."""
        if math.isnan(self.published) or math.isnan(self.obtained):
            return False
        return abs(self.published - self.obtained) > 2 * max(self.sd, 1e-9)


def cell_table(cells: Iterable[Cell]) -> Any:
    """Cells as an Arrow table."""
    rows = list(cells)
    names = ("row", "column", "published", "obtained", "sd", "note")
    return pa.table({name: [getattr(cell, name) for cell in rows] for name in names})


def markdown(cells: Iterable[Cell]) -> str:
    """A table for people: ``obtained ± sd (published)`` in each cell."""
    rows = list(cells)
    columns = list(dict.fromkeys(cell.column for cell in rows))
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(cell.row for cell in rows):
        found = {cell.column: cell for cell in rows if cell.row == name}
        lines.append(
            f"| {name} | " + " | ".join(_shown(found.get(column)) for column in columns) + " |"
        )
    return "\n".join(lines) + "\n"


def _shown(cell: Cell | None) -> str:
    if cell is None or math.isnan(cell.obtained):
        return "–"
    text = f"{cell.obtained:.3f} ± {cell.sd:.3f}"
    if not math.isnan(cell.published):
        text += f" ({cell.published:.3f})"
    return f"{text} {cell.note}".strip()
