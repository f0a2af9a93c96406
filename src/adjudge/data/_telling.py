"""What readers remark, told to a program: kept with the data, and warned of once.

Remarks and errors speak of the options of the command line; here they speak of Python's.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from adjudge.data.source import BadRow, count_of
from adjudge.errors import BadData, ReadingWarning

_ROLE = r"(item|judge|label|topic|document|time|gold)"
_WORDS = (
    (rf"--{_ROLE} (?:COLUMN|NAME|names another)", r'columns={"\1": NAME}'),
    (r"--item A --judge B --label C", 'columns={"item": A, "judge": B, "label": C}'),
    (rf"--{_ROLE} ('[^']*')", r'columns={"\1": \2}'),
    (rf"--{_ROLE} (\S+) takes", r'columns={"\1": "\2"} takes'),
    (r"--drop-label (\S+) leaves it out", r"Judgments.without_labels('\1') leaves it out"),
    (r"--labels ('[^']*')", r"scale=Scale.parse(\1)"),
    (r"--labels keeps", "scale= keeps"),
    (r"--labels\b", "scale="),
    (r"--question NAME", "question=NAME"),
    (r"--(encoding|format|question)(?: names another)?", r"\1="),
    (r"--skip-bad-rows", "skip_bad=True"),
    (r"--no-header", "header=False"),
    (
        r"'adjudge consensus' reads them as numbers",
        "adjudge.Continuous reads them as numbers, as fit does",
    ),
    (r"--bin (\d+) puts", r"Judgments.in_bins(\1) puts"),
)
# What `skip_bad` leaves out; an item of two topics, say, is more than a bad row.
_SKIPPED = re.compile(r" id is empty$|^a NUL byte|is not on the scale")
_SETTING = re.compile(
    r"columns=\{[^}]*\}|scale=Scale\.parse\('[^']*'\)|skip_bad=True|header=False"
    r"|\b(?:scale|encoding|format|question)=\w*"
)
_reader = ContextVar("reader", default="")  # who takes settings, where what was called does not
_LISTED = 3  # bad rows that are told one by one


def _in_python(text: str) -> str:
    """A remark with the options of the command line as Python has them."""
    for pattern, word in _WORDS:
        text = re.sub(pattern, word, text)
    settings, reader = list(_SETTING.finditer(text)), _reader.get()
    if not settings or not reader or f" of {reader}" in text:
        return text
    end = settings[-1].end()
    return f"{text[:end]} of {reader}{text[end:]}"


@contextmanager
def told_in_python(*, skips: bool = False, reader: str = "") -> Iterator[None]:
    """Errors of the block in Python's words; with ``skips`` a bad row's says how to skip it.

    With ``reader`` settings are said to be those of that function, in remarks too.
    """
    within = _reader.set(reader or _reader.get())
    try:
        yield
    except BadData as fault:
        problem = fault.problem
        if skips and fault.row is not None and _SKIPPED.search(problem):
            problem += "; --skip-bad-rows leaves out such rows"
        problem = _in_python(problem)
        if problem == fault.problem:
            raise
        raise BadData(
            problem,
            source=fault.source,
            line=fault.line,
            row=fault.row,
            record=fault.record,
            column=fault.column,
            value=fault.value,
            wanted=fault.wanted,
        ) from None
    finally:
        _reader.reset(within)


def tell(name: str, notes: Iterable[str], bad: tuple[BadRow, ...] = ()) -> tuple[str, ...]:
    """Warn of what readers remarked, all in one; and the remarks, to be kept with the data."""
    told = [_in_python(note) for note in notes]
    if bad:
        rows = f"{count_of(len(bad), 'bad row')} left out"
        first = "; ".join(f"{row.place}: {row.problem}" for row in bad[:_LISTED])
        told.append(f"{rows}, {'the first at ' if len(bad) > _LISTED else 'at '}{first}")
    if told:
        # Whoever called Judgments.read or from_table, not the two lines of it that led here.
        warnings.warn(f"{name}: {'; '.join(told)}", ReadingWarning, stacklevel=3)
    return tuple(told)
