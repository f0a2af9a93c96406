"""Talking to people: messages and progress on standard error, results on standard output."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.data.scale import Scale
    from adjudge.models.model import Step

_PATIENCE = 2.0  # seconds before a progress bar appears
_MOST = 12  # labels of a scale that are named


@dataclass(slots=True)
class _Manner:
    quiet: bool = False
    given: tuple[str, ...] = ()


_manner = _Manner()


def be_quiet(quiet: bool) -> None:
    """Whether messages and progress are left out from now on."""
    _manner.quiet = quiet


def remember(arguments: Sequence[str]) -> None:
    """Keep what was typed, so that a result can say how to have it again."""
    _manner.given = tuple(arguments)


def command_line() -> str:
    """The command as it was typed, to be typed again."""
    return shlex.join(["adjudge", *_manner.given])


def _terminal() -> Console:
    """Where messages go: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(*parts: str | tuple[str, str]) -> None:
    """A message for the person, unless they want quiet: texts, or texts with a style.

    What is said may hold ids from a file, so nothing in it is taken for markup.
    """
    if not _manner.quiet:
        from rich.text import Text

        _terminal().print(Text.assemble(*parts))


def is_piped() -> bool:
    """Whether standard output goes to a program or a file rather than a person."""
    return not sys.stdout.isatty()


@contextmanager
def progress(what: str, patience: float = _PATIENCE) -> Iterator[Callable[[Step], None] | None]:
    """A progress bar that appears once the work has taken two seconds; none where nobody looks."""
    if _manner.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    bar = Progress(*columns, TimeElapsedColumn(), console=_terminal(), transient=True)
    task = bar.add_task(what, total=None, note="")

    def on_step(step: Step) -> None:
        note = f"{step.done:,}/{step.total:,} {step.note}"
        bar.update(task, completed=step.done, total=step.total, note=note)

    # By a clock of its own: reading a file and compiling a kernel tell of no steps.
    clock = threading.Timer(patience, bar.start)
    clock.daemon = True
    clock.start()
    try:
        yield on_step
    finally:
        clock.cancel()
        clock.join()
        bar.stop()


def tell_if_cold() -> None:
    """A word on why the first run waits: the kernels are being compiled."""
    from adjudge.engines.threads import are_sweeps_compiled

    if not are_sweeps_compiled():
        waits = "First run here: compiling the sweeps (a few seconds, once; then cached) ..."
        say((waits, "dim"))


def labels_of(scale: Scale) -> str:
    """The labels of a scale in words, the first of them where they are many."""
    between = " < " if scale.ordinal else ", "
    hidden = len(scale.labels) - _MOST
    return between.join(scale.labels[:_MOST]) + (f" and {hidden:,} more" if hidden > 0 else "")
