"""Where data came from, so that an error can name the file and the line.

Readers work on columns and forget lines; a ``Source`` finds the line of a row again, and
only when there is an error to report.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adjudge.errors import BadData, Note, ReadingWarning, Remedy, advise, remedies_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LISTED = 3  # bad rows that a warning names


def count_of(number: int, what: str, one: str = "", many: str = "") -> str:
    """So many of something, and how it goes on: ``1 judge``, ``2,418 judgments``, ``1 item is``."""
    noun = "people" if what == "person" and number != 1 else what + "s" * (number != 1)
    return f"{number:,} {noun} {one if number == 1 else many}".rstrip()


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that was left out: where it was, what it held, what was expected."""

    row: int  # counted from 0, header not counted
    place: str
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Fault:
    """Rows that cannot be used for one reason, and how to describe one of them."""

    rows: NDArray[np.bool_]  # (row,)
    column: str | None
    describe: Callable[[int], str]
    value_of: Callable[[int], object] = lambda _: ""
    expected: str = "an id"
    code: str = "bad-id"


@dataclass(slots=True)
class Source:
    """A named source of rows.

    ``line_of`` turns a row number (from 0, header not counted) into a line of the file; without it
    errors speak of rows, counted from 1. With ``skip_bad`` a bad row is noted and left out.
    ``row_of`` maps the rows of the table back to the rows of the file where a reader left some out.
    ``place_of`` names the record of a file that has no rows, such as "task 3, annotation 2".
    ``notes`` say what was read in a way that a person should know of. ``repeats``: a
    judge may judge an item again, which needs no note. ``every`` reads all columns of the file, and
    which of its rows, where the table has only some. ``dropped`` are labels that will be left out.
    """

    name: str
    line_of: Callable[[int], int] | None = None
    skip_bad: bool = False
    bad: list[BadRow] = field(default_factory=list)
    row_of: Any = None  # (row,) or None
    place_of: Callable[[int], str] | None = None
    notes: list[str] = field(default_factory=list)
    repeats: bool = False
    every: Callable[[], tuple[Any, Any]] | None = None
    dropped: tuple[str, ...] = ()

    def remark(self, note: str, *remedies: Remedy) -> None:
        """Keep a note on how something was read, once, with what the user could set instead."""
        if note not in self.notes:
            self.notes.append(Note(note, remedies))

    def error(
        self,
        row: int | None,
        problem: str,
        *,
        column: str | None = None,
        value: object = None,
        expected: str | None = None,
        code: str | None = None,
        remedies: Iterable[Remedy] = (),
    ) -> BadData:
        """The error for a row, with its line if the file has lines."""
        line = record = None
        if row is not None:
            if self.row_of is not None:
                row = int(self.row_of[row])
            line = self.line_of(row) if self.line_of is not None else None
            record = self.place_of(row) if self.place_of is not None else None
        return BadData(
            problem,
            source=self.name,
            line=line,
            row=None if row is None else row + 1,
            record=record,
            column=column,
            value=value,
            expected=expected,
            code=code,
            remedies=remedies,
        )

    def note(self, row: int, error: BadData) -> None:
        """Keep a bad row of the table for the list of what was skipped."""
        if self.row_of is not None:
            row = int(self.row_of[row])
        self.bad.append(BadRow(row=row, place=error.place, problem=error.problem))

    def sift(self, faults: Sequence[Fault]) -> NDArray[np.intp] | None:
        """Skip rows with a fault: the rows that are left, or None if no row has a fault.

        Without ``skip_bad`` the first bad row is an error. Of several faults in one row, the first
        counts.
        """
        if not any(fault.rows.any() for fault in faults):
            return None
        import numpy as np  # late: commands import this module for their help

        bad = np.logical_or.reduce([fault.rows for fault in faults])
        for row in np.flatnonzero(bad).tolist():
            fault = next(fault for fault in faults if fault.rows[row])
            error = self.error(
                row,
                fault.describe(row),
                column=fault.column,
                value=fault.value_of(row),
                expected=fault.expected,
                code=fault.code,
                remedies=() if self.skip_bad else (Remedy("skip-bad-rows"),),
            )
            self.refuse(row, error)
        good = np.flatnonzero(~bad)
        self.keep(good)
        return good

    def refuse(self, row: int, error: BadData) -> None:
        """Raise the error of a row, or note it where bad rows are skipped."""
        if not self.skip_bad:
            raise error
        self.note(row, error)

    def keep(self, rows: Any) -> None:
        """Remember that the table has only these of its rows left."""
        self.row_of = rows if self.row_of is None else self.row_of[rows]

    @property
    def skipped(self) -> tuple[BadRow, ...]:
        """What was left out, in the order of the file."""
        return tuple(sorted(self.bad, key=lambda bad: bad.row))


def warn_of(
    name: str, notes: Iterable[str], bad: tuple[BadRow, ...] = (), *, depth: int = 3
) -> tuple[str, ...]:
    """Warn once of what readers remarked; return the notes with settings as Python has them.

    ``depth``: how many calls up the warning points, 3 for who called the caller.
    """
    said = [advise(note, remedies_of(note)) for note in notes]
    if bad:
        rows = f"{count_of(len(bad), 'bad row')} left out"
        first = "; ".join(f"{row.place}: {row.problem}" for row in bad[:_LISTED])
        said.append(f"{rows}, {'the first at ' if len(bad) > _LISTED else 'at '}{first}")
    if said:
        warnings.warn(f"{name}: {'; '.join(said)}", ReadingWarning, stacklevel=depth)
    return tuple(said)
