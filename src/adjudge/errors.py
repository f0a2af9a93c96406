"""Everything adjudge raises on purpose.

AdjudgeError
├── BadData          what was read is not what was wanted: file, line, column, value
└── BadSetting       a setting, option or name that cannot be used
    └── UnknownName  a name that is not in a registry; carries the nearest one that is

Messages name the place, the value and what was wanted, and every part is also an attribute,
so that a caller never has to parse a sentence.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AdjudgeError(Exception):
    """The root: catch this to catch whatever adjudge raises on purpose."""


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


def shown(value: object, width: int = 60) -> str:
    """A value as it stands in a message: quoted, and cut in the middle where it is long."""
    text = repr(value)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]}...{text[-half:]} ({len(text) - 2:,} characters)"
