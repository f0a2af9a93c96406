"""Talking to people: messages and progress on standard error, tables on standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from adjudge.models.model import Step

_PATIENCE = 2.0  # seconds before a progress bar appears


@dataclass(slots=True)
class _Manner:
    quiet: bool = False


_manner = _Manner()


def be_quiet(quiet: bool) -> None:
    """Whether messages and progress are left out from now on."""
    _manner.quiet = quiet


def terminal() -> Console:
    """Where messages go: standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def page() -> Console:
    """Where results for people go: standard output."""
    from rich.console import Console

    return Console(highlight=False)


def say(message: str) -> None:
    """A message for the person, unless she wants quiet."""
    if not _manner.quiet:
        terminal().print(message)


def is_piped() -> bool:
    """Whether standard output goes to a program or a file rather than a person."""
    return not sys.stdout.isatty()


@contextmanager
def progress(what: str) -> Iterator[Callable[[Step], None] | None]:
    """A progress bar that appears once the work has taken two seconds; none where nobody looks."""
    if _manner.quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    began = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=terminal(),
        transient=True,
    )
    task = bar.add_task(what, total=None, note="")
    shown = False

    def on_step(step: Step) -> None:
        nonlocal shown
        if not shown and time.monotonic() - began > _PATIENCE:
            bar.start()
            shown = True
        bar.update(task, completed=step.done, total=step.total, note=step.note)

    try:
        yield on_step
    finally:
        bar.stop()


def tell_if_cold() -> None:
    """A word on why the first run waits: the kernels are being compiled."""
    from adjudge.engines.threads import compiled

    if not compiled():
        say("[dim]First run here: compiling the sweeps (a few seconds, once; then cached) ...[/]")


def grid(title: str, columns: list[tuple[str, str]], rows: list[list[str]]) -> Any:
    """A table for people: columns are (heading, 'left' or 'right')."""
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, title_style="bold")
    for heading, side in columns:
        table.add_column(heading, justify="left" if side == "left" else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table
