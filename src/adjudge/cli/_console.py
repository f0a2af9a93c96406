"""Messages and progress on standard error; results go to standard output."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.data.progress import PATIENCE, forbid_bars, progress_bar

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.data.judgments import Judgments
    from adjudge.data.scale import Scale
    from adjudge.models.model import Progress

_MOST = 12  # labels of a scale that are named


@dataclass(slots=True)
class _ConsoleState:
    quiet: bool = False
    verbose: bool = False
    given: tuple[str, ...] = ()


_state = _ConsoleState()


def be_quiet(quiet: bool, verbose: bool = False) -> None:
    """Set whether messages and progress are left out, or details shown, from now on."""
    _state.quiet, _state.verbose = quiet, verbose
    forbid_bars(quiet)


def remember(arguments: Sequence[str]) -> None:
    """Keep the command line, so that a result can say how to make it again."""
    _state.given = tuple(arguments)


def given_arguments() -> tuple[str, ...]:
    """Return the arguments of the command line, as given."""
    return _state.given


def command_line() -> str:
    """Return the command line, quoted so that it can be pasted."""
    return shlex.join(["adjudge", *_state.given])


def _terminal() -> Console:
    """Return where messages go: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(*parts: str | tuple[str, str]) -> None:
    """Print a message unless --quiet is set: texts, or texts with a style.

    Ids from a file may be part of it, so no text is taken for markup.
    """
    if not _state.quiet:
        from rich.text import Text

        _terminal().print(Text.assemble(*parts))


def is_verbose() -> bool:
    """Return whether --verbose is set."""
    return _state.verbose


def detail(*parts: str | tuple[str, str]) -> None:
    """Print a message only if --verbose is set."""
    if _state.verbose:
        say(*parts)


def warn(text: str) -> None:
    """Print a warning unless --quiet is set."""
    say(("warning: ", "yellow"), text)


def tell_notes(notes: Iterable[str], warnings: Collection[str]) -> None:
    """Print the notes of a result: warnings always, the others only if --verbose is set."""
    for note in notes:
        if note in warnings:
            warn(note)
        else:
            detail(f"  {note}")


def is_piped() -> bool:
    """Return whether standard output goes to a program or a file instead of a terminal."""
    return not sys.stdout.isatty()


def progress(what: str, patience: float = PATIENCE) -> AbstractContextManager[Progress | None]:
    """Show a progress bar on a terminal, unless --quiet is set."""
    watched = not _state.quiet and sys.stderr.isatty()
    return progress_bar(what, watched, patience=patience, console=_terminal() if watched else None)


def tell_if_cold() -> None:
    """Say why the first run takes longer: the kernels are being compiled."""
    from adjudge.engines.threads import are_sweeps_compiled

    if not are_sweeps_compiled():
        say(("First run here: compiling (a few seconds, once) ...", "dim"))


def labels_of(scale: Scale) -> str:
    """Return the labels of a scale in words, only the first of many."""
    between = " < " if scale.ordinal else ", "
    hidden = len(scale.labels) - _MOST
    return between.join(scale.labels[:_MOST]) + (f" and {hidden:,} more" if hidden > 0 else "")


def describe_size(given: Judgments) -> str:
    """Return how many judgments, items, judges and topics there are."""
    from adjudge.data.source import count_of

    topics = f" and {count_of(given.topic_count, 'topic')}" if given.topics is not None else ""
    return (
        f"{count_of(len(given), 'judgment')} of {count_of(given.item_count, 'item')}{topics} by "
        f"{count_of(given.judge_count, 'judge')}"
    )
