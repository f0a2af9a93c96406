"""Everything adjudge raises on purpose.

AdjudgeError
├── BadData          what was read is not what was wanted: file, line, column, value
├── BadSetting       a setting, option or name that cannot be used
│   └── UnknownName  a name that is not in a registry; carries the nearest one that is
├── BudgetSpent      a model judge that may spend no more; what it answered is kept
├── ClusterLost      a cluster that does not answer any more
├── EndpointFailed   a language model that gave no usable answer after all tries
├── MissingExtra     a library that this part needs is not installed; says how to install it
├── NotFound         a project, judge, page, token, ... that is not there, or not the caller's
├── Refused          what a judge or requester asked for cannot be done now; carries a code
└── Unavailable      the database is busy, full or gone; carries a code; worth another try later

ReadingWarning (a UserWarning) tells what was read in a way that a person should know of.

Messages name the place, the value and what was wanted, and every part is also an attribute,
so that a caller never has to parse a sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AdjudgeError(Exception):
    """The root: catch this to catch whatever adjudge raises on purpose."""


class ReadingWarning(UserWarning):
    """What was left out, merged or guessed in reading; ``Judgments.notes`` keeps it."""


class BadData(AdjudgeError):
    """Data that cannot be used, with the place where it stands.

    As text: ``judgments.csv, line 17, column label: '4' is not on the scale 0 < 1 < 2``.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str | None = None,
        line: int | None = None,
        row: int | None = None,
        record: str | None = None,
        column: str | None = None,
        value: object = None,
        wanted: str | None = None,
    ) -> None:
        self.problem = problem
        self.source = source
        self.line = line
        self.row = row
        self.record = record  # where in a file that has no rows: "task 3, annotation 2"
        self.column = column
        self.value = value
        self.wanted = wanted
        super().__init__(f"{self.place}: {problem}" if self.place else problem)

    @property
    def place(self) -> str:
        """Where it stands: file, line (or record, or row) and column, as far as they are known."""
        parts = [self.source] if self.source else []
        if self.record is not None:
            parts.append(self.record)
        elif self.line is not None:
            parts.append(f"line {self.line}")
        elif self.row is not None:
            parts.append(f"row {self.row}")
        if self.column is not None:
            parts.append(f"column {self.column}")
        return ", ".join(parts)


class BadSetting(AdjudgeError):
    """A setting whose value cannot be used, with what was wanted instead."""

    def __init__(self, setting: str, value: object, wanted: str) -> None:
        self.setting = setting
        self.value = value
        self.wanted = wanted
        what = f"no {setting}" if value is None else f"{setting} = {value!r}"
        super().__init__(f"{what}: wanted {wanted}")


class UnknownName(BadSetting):
    """A name that no registry entry has; the nearest known names are suggested."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        self.nearest = tuple(difflib.get_close_matches(name, self.known, n=1, cutoff=0.5))
        super().__init__(kind, name, f"one of {', '.join(self.known)}")
        hint = f"; did you mean {self.nearest[0]!r}?" if self.nearest else "."
        self.args = (f"there is no {kind} {name!r}{hint} Known: {', '.join(self.known)}",)


class MissingExtra(AdjudgeError, ImportError):
    """A library that is not installed, and the extra of adjudge that would bring it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library = library
        self.extra = extra
        super().__init__(f"{library} is not installed: pip install 'adjudge[{extra}]'")


class NotFound(AdjudgeError):
    """Something that is not stored, or that is not the caller's to see: both look the same."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} {shown(name)}")


class Refused(AdjudgeError):
    """A request that cannot be granted, with a code for programs and a sentence for people.

    ``code`` is a slug such as ``page-expired``; ``evidence`` holds what the caller may want to
    show beside it, such as the rows that are missing.
    """

    def __init__(self, code: str, message: str, **evidence: object) -> None:
        self.code = code
        self.evidence = evidence
        super().__init__(message)


class Unavailable(AdjudgeError):
    """The database could not do its part; nothing was stored.

    ``code`` is ``database-busy``, ``database-full`` or ``database-gone``.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class EndpointFailed(AdjudgeError):
    """An endpoint that gave no usable answer, after so many ``tries``."""

    def __init__(self, problem: str, *, tries: int) -> None:
        self.tries = tries
        super().__init__(problem)


class BudgetSpent(AdjudgeError):
    """A budget that leaves no room for another request; nothing that was answered is lost."""


class ClusterLost(AdjudgeError):
    """A cluster whose scheduler or processes are gone: the address, and what was heard last."""

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"the cluster at {address} is gone ({reason})")


def shown(value: object, width: int = 60) -> str:
    """A value as it stands in a message: quoted, and cut in the middle where it is long."""
    text = repr(value)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]}...{text[-half:]} ({len(text) - 2:,} characters)"
