"""Where data came from, so that an error can name the file and the line.

Readers work on whole columns and forget lines; a ``Source`` finds the line of a row again, and
only when there is something to complain about.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adjudge.errors import BadData


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out: where it stood, what it held, what was wanted."""

    row: int  # counted from 0, header not counted
    place: str
    problem: str


@dataclass(slots=True)
class Source:
    """A named source of rows.

    ``line_of`` turns a row number (from 0, header not counted) into a line of the file; without it
    errors speak of rows, counted from 1. With ``skip_bad`` a bad row is noted and left out.
    ``row_of`` maps the rows of the table back to the rows of the file where a reader left some out.
    """

    name: str
    line_of: Callable[[int], int] | None = None
    skip_bad: bool = False
    bad: list[BadRow] = field(default_factory=list)
    row_of: Any = None  # (row,) or None

    def error(
        self,
        row: int | None,
        problem: str,
        *,
        column: str | None = None,
        value: object = None,
        wanted: str | None = None,
    ) -> BadData:
        """The error for a row, with its line if the file can tell."""
        line = None
        if row is not None:
            if self.row_of is not None:
                row = int(self.row_of[row])
            line = self.line_of(row) if self.line_of is not None else None
        return BadData(
            problem,
            source=self.name,
            line=line,
            row=None if row is None else row + 1,
            column=column,
            value=value,
            wanted=wanted,
        )

    def note(self, row: int, error: BadData) -> None:
        """Keep a bad row's story for the list of what was skipped."""
        self.bad.append(BadRow(row=row, place=error.place, problem=error.problem))
