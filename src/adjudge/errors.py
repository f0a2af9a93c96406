"""Everything adjudge raises on purpose.

AdjudgeError
├── BadData          what was read is not what was expected: file, line, column, value
├── BadSetting       a setting, option or name that cannot be used
│   └── UnknownName  a name that is not in a registry; carries the nearest one that is
├── BudgetSpent      a model judge that may spend no more; what it answered is kept
├── ClusterLost      a cluster that does not answer any more
├── EndpointFailed   a language model that gave no usable answer after all tries
├── MissingExtra     a library that this part needs is not installed; says how to install it
├── NotFound         a project, judge, page, token, ... that is not there, or not the caller's
├── Refused          what a judge or requester asked for cannot be done now; carries a code
└── Unavailable      the database is busy, full or gone; carries a code; worth another try later

ReadingWarning (a UserWarning) reports what was left out, merged or guessed in reading.

Every error has a stable ``code``, and its data as attributes, so that a caller never has to parse
a sentence. ``remedies`` name what the user can set. ``str(error)`` names them as Python does; the
command line has its own words for them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a user can set to solve a problem, independent of any front end.

    ``columns``: which column has a role, as pairs of role and column name (or None);
    ``drop-label``: labels; ``labels``: the scale as text (or None); ``encoding``: its name (or
    None); ``bin``: a number of grades; ``header``: whether there is one; ``relevant``: labels
    separated by commas; ``judges-are`` and ``questions-are``: columns, separated by commas (or
    None); ``format``: its name (or None). ``counts``, ``question``, ``repeats``,
    ``sampled``, ``skip-bad-rows`` and ``transpose`` have no value.
    """

    setting: str
    value: Any = None

    @property
    def effect(self) -> str:
        """What setting it does, as the end of a sentence."""
        if self.setting == "columns" and len(self.value) > 1:
            return "name the columns"
        return _EFFECTS[self.setting]


def name_columns(*roles: str, **columns: str) -> Remedy:
    """The remedy that names the columns of these roles, or says which columns they are."""
    return Remedy("columns", (*((role, None) for role in roles), *columns.items()))


_EFFECTS = {
    "bin": "makes grades",
    "columns": "names the column",
    "counts": "counts votes per label",
    "drop-label": "leaves out such labels",
    "encoding": "names another encoding",
    "format": "names the format",
    "header": "says that there is no header",
    "judges-are": "names the columns of judges",
    "labels": "names the scale",
    "question": "chooses one question",
    "questions-are": "names the columns of questions",
    "relevant": "names the relevant labels",
    "repeats": "counts each row as a judgment",
    "sampled": "says that it was drawn at random",
    "skip-bad-rows": "leaves out such rows",
    "transpose": "reads each row as one judge",
}
Spellings = Mapping[str, Callable[[Any], str]]  # how a front end spells each setting
_PYTHON: Spellings = {
    "bin": lambda count: f"Judgments.in_bins({count})",
    "columns": lambda pairs: f"columns={{{_pairs(pairs)}}}",
    "counts": lambda _: "counts=True",
    "drop-label": lambda labels: f"drop_labels=[{', '.join(map(repr, labels))}]",
    "encoding": lambda name: f"encoding={name or 'NAME'!r}",
    "format": lambda name: f"format={name!r}" if name else "format=NAME",
    "header": lambda given: f"header={given}",
    "judges-are": lambda names: f"judges_are={names or 'COLUMNS'!r}",
    "labels": lambda text: f"scale=Scale.parse({text!r})" if text else "scale=",
    "question": lambda _: "question=NAME",
    "questions-are": lambda names: f"questions_are={names or 'COLUMNS'!r}",
    "relevant": lambda labels: f"Scale.with_relevant({labels.split(',')})",
    "repeats": lambda _: "repeats=True",
    "sampled": lambda _: "sampled='random'",
    "skip-bad-rows": lambda _: "skip_bad=True",
    "transpose": lambda _: "transpose=True",
}


def _pairs(pairs: Iterable[tuple[str, str | None]]) -> str:
    """Roles and columns as the inside of a Python dictionary."""
    return ", ".join(f'"{role}": {dumps(name) if name else "NAME"}' for role, name in pairs)


def advise(sentence: str, remedies: Iterable[Remedy], spellings: Spellings = _PYTHON) -> str:
    """A sentence followed by the remedies that a front end has, in its own words."""
    known = [one for one in remedies if one.setting in spellings]
    actions = (f"{spellings[one.setting](one.value)} {one.effect}" for one in known)
    return "; ".join([sentence, *actions])


class Note(str):
    """A neutral sentence on how something was read, with what the user could set instead."""

    remedies: tuple[Remedy, ...] = ()

    def __new__(cls, sentence: str, remedies: Iterable[Remedy] = ()) -> Note:
        """The sentence with its remedies."""
        note = super().__new__(cls, sentence)
        note.remedies = tuple(remedies)
        return note


class Caution(Note):
    """A note that lowers the trust in a result, so that front ends always show it."""


def remedies_of(note: str) -> tuple[Remedy, ...]:
    """What the user could set; a plain string has no remedies."""
    return note.remedies if isinstance(note, Note) else ()


class AdjudgeError(Exception):
    """The root: catch this to catch whatever adjudge raises on purpose.

    ``code`` is a stable slug; ``sentence`` is the message without the ``remedies``.
    """

    code = "failed"
    remedies: tuple[Remedy, ...] = ()

    @property
    def sentence(self) -> str:
        """What is wrong, and where, without what to set."""
        return super().__str__()

    def __str__(self) -> str:
        return advise(self.sentence, self.remedies)


class ReadingWarning(UserWarning):
    """What was left out, merged or guessed in reading; ``Judgments.notes`` keeps it."""


class BadData(AdjudgeError):
    """Data that cannot be used, with its place.

    As text: ``judgments.csv, line 17, column label: '4' is not on the scale 0 < 1 < 2``.
    ``code`` is "bad-data" or something more particular.
    """

    code = "bad-data"

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
        expected: str | None = None,
        code: str | None = None,
        remedies: Iterable[Remedy] = (),
    ) -> None:
        self.problem = problem
        self.source = source
        self.line = line
        self.row = row
        self.record = record  # where in a file that has no rows: "task 3, annotation 2"
        self.column = column
        self.value = value
        self.expected = expected
        self.code = code or self.code
        self.remedies = tuple(remedies)
        super().__init__(f"{self.place}: {problem}" if self.place else problem)

    @classmethod
    def at(cls, source: object, code: str, problem: str, **more: Any) -> BadData:
        """Return the error for a file or a table, which ``source`` names; None for neither."""
        return cls(problem, source=None if source is None else str(source), code=code, **more)

    @classmethod
    def wrong(cls, source: object, code: str, expected: str, value: object, **more: Any) -> BadData:
        """Return the error for a value that is not what was expected."""
        problem = f"expected {expected}, got {shown(value)}"
        return cls.at(source, code, problem, value=value, expected=expected, **more)

    @property
    def place(self) -> str:
        """The place: file, line (or record, or row) and column, where known."""
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
    """A setting whose value cannot be used, with what was expected instead."""

    code = "bad-setting"

    def __init__(self, setting: str, value: object, expected: str) -> None:
        self.setting = setting
        self.value = value
        self.expected = expected
        what = f"{setting} is missing" if value is None else f"{setting} = {value!r}"
        super().__init__(f"{what}: expected {expected}")


class UnknownName(BadSetting):
    """A name that no registry entry has; the nearest known names are suggested."""

    code = "unknown-name"

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.known = tuple(known)
        self.nearest = tuple(difflib.get_close_matches(name, self.known, n=1, cutoff=0.5))
        super().__init__(kind, name, f"one of {', '.join(self.known)}")
        hint = f"; did you mean {self.nearest[0]!r}?" if self.nearest else "."
        self.args = (f"there is no {kind} {name!r}{hint} Known: {', '.join(self.known)}",)


class MissingExtra(AdjudgeError, ImportError):
    """A library that is not installed, and the extra of adjudge that would bring it."""

    code = "missing-extra"

    def __init__(self, library: str, extra: str) -> None:
        self.library = library
        self.extra = extra
        super().__init__(f"{library} is not installed: pip install 'adjudge[{extra}]'")


class NotFound(AdjudgeError):
    """Something that is not stored, or that is not the caller's to see: both look the same."""

    code = "not-found"

    def __init__(self, kind: str, name: str) -> None:
        self.kind = kind
        self.name = name
        super().__init__(f"there is no {kind} {shown(name)}")


class Refused(AdjudgeError):
    """A request that cannot be granted, with a code for programs and a sentence for people.

    ``code`` is a slug such as ``page-expired``; ``evidence`` holds what the caller may want to
    show next to it, such as the rows that are missing.
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

    code = "endpoint-failed"

    def __init__(self, problem: str, *, tries: int) -> None:
        self.tries = tries
        super().__init__(problem)


class BudgetSpent(AdjudgeError):
    """A budget that leaves no room for another request; nothing that was answered is lost."""

    code = "budget-spent"


class ClusterLost(AdjudgeError):
    """A cluster whose scheduler or processes are gone: the address, and what was heard last."""

    code = "cluster-lost"

    def __init__(self, address: str, reason: str) -> None:
        self.address = address
        self.reason = reason
        super().__init__(f"the cluster at {address} is gone ({reason})")


def shown(value: object, width: int = 60) -> str:
    """A value in a message: quoted, and cut in the middle where it is long."""
    text = repr(value)
    if len(text) <= width:
        return text
    half = (width - 3) // 2
    return f"{text[:half]}...{text[-half:]} ({len(text) - 2:,} characters)"
