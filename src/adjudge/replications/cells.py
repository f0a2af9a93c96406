"""A cell of a paper's table: what was published, and what was obtained over several seeds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

_SAME = 1e-12  # an sd that only rounding makes
_ROUNDED = 5e-4  # published values have three digits: nearer than this is the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One published value beside the mean and sd obtained; NaN where nothing was published."""

    row: str
    column: str
    published: float
    obtained: float
    sd: float
    note: str = ""
    digits: int | None = None  # to show; None: as many as its table

    @classmethod
    def over(
        cls,
        row: str,
        column: str,
        values: Sequence[float],
        *,
        published: float = math.nan,
        note: str = "",
    ) -> Self:
        """A cell from the values of several seeds: their mean and sd, NaN from fewer than two."""
        found = np.asarray(values, dtype=np.float64)
        sd = float(found.std(ddof=1)) if len(found) > 1 else math.nan
        return cls(
            row=row,
            column=column,
            published=published,
            obtained=float(found.mean()) if len(found) else math.nan,
            sd=0.0 if sd < _SAME else sd,
            note=note,
        )

    @property
    def differs(self) -> bool:
        """Whether the published value lies more than two sd from what was obtained."""
        if any(map(math.isnan, (self.published, self.obtained, self.sd))):
            return False
        return abs(self.published - self.obtained) > max(2 * self.sd, _ROUNDED)

    def difference(self, digits: int = 3) -> str:
        """A sentence on how far published and obtained lie apart."""
        digits = self.digits if self.digits is not None else digits
        gap = self.obtained - self.published
        sds = f", {abs(gap) / self.sd:.1f} sd" if self.sd > 0 else ""
        return (
            f"{self.row}, {self.column}: obtained {self.obtained:.{digits}f}, "
            f"published {self.published:.{digits}f}: "
            f"{'higher' if gap > 0 else 'lower'} by {abs(gap):.{digits}f}{sds}."
        )


def cell_table(cells: Iterable[Cell]) -> Any:
    """Cells as an Arrow table."""
    rows = list(cells)
    names = ("row", "column", "published", "obtained", "sd", "note")
    return pa.table({name: [getattr(cell, name) for cell in rows] for name in names})


def markdown(cells: Iterable[Cell], digits: int = 3) -> str:
    """A table for people: ``obtained ± sd (published)`` in each cell."""
    rows = list(cells)
    columns = list(dict.fromkeys(cell.column for cell in rows))
    lines = ["| | " + " | ".join(columns) + " |", "| --- |" + " --- |" * len(columns)]
    for name in dict.fromkeys(cell.row for cell in rows):
        found = {cell.column: cell for cell in rows if cell.row == name}
        lines.append(
            f"| {name} | "
            + " | ".join(shown(found.get(column), digits) for column in columns)
            + " |"
        )
    return "\n".join(lines) + "\n"


def shown(cell: Cell | None, digits: int = 3) -> str:
    """A cell for people: ``obtained ± sd (published) note``, a dash where there is nothing."""
    if cell is None or math.isnan(cell.obtained):
        return "–"
    digits = cell.digits if cell.digits is not None else digits
    text = f"{cell.obtained:.{digits}f}"
    if cell.sd > 0:  # else it is the same for all seeds, or there is one alone
        text += f" ± {cell.sd:.{digits}f}"
    if not math.isnan(cell.published):
        text += f" ({cell.published:.{digits}f})"
    return f"{text} {cell.note}".strip()
