"""A progress bar for anything that reports steps, on a terminal or in a notebook."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE = 2.0  # seconds before a bar appears
OnStep = Callable[[Any], None]

_active: list[bool] = []  # not empty where no bar may start: inside another, or at a command


def forbid_bars(forbidden: bool) -> None:
    """Set whether fits show no bar of their own, as in commands that must be quiet."""
    _active[:] = [True] * forbidden


@contextmanager
def progress_bar(
    what: str,
    asked: bool | OnStep | None = None,
    *,
    patience: float = PATIENCE,
    console: Any = None,
) -> Iterator[OnStep | None]:
    """Yield a function that takes steps: of a new bar, or ``asked`` itself if it is a function.

    None shows a bar where a person can see it: on a terminal or in a notebook. It appears once the
    work has taken ``patience`` seconds. Inside another bar there is none.
    """
    if callable(asked):
        yield asked
        return
    if _active or asked is False or (asked is None and not _is_visible()):
        yield None
        return
    _active.append(True)
    try:
        with _draw(what, patience, console) as on_step:
            yield on_step
    finally:
        _active.pop()


@contextmanager
def _draw(what: str, patience: float, console: Any) -> Iterator[OnStep]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    shown = console or Console(stderr=True)
    bar = Progress(*columns, TimeElapsedColumn(), console=shown, transient=True)
    task = bar.add_task(what, total=None, note="")

    def on_step(step: Any) -> None:
        note = f"{step.done:,}/{step.total:,} {step.note}"
        bar.update(task, completed=step.done, total=step.total, note=note)

    # A timer starts it, since reading a file and compiling a kernel report no steps.
    clock = threading.Timer(patience, bar.start)
    clock.daemon = True
    clock.start()
    try:
        yield on_step
    finally:
        clock.cancel()
        clock.join()
        bar.stop()


def _is_visible() -> bool:
    """Return whether a person watches: a terminal or a notebook, but no worker or server."""
    from multiprocessing import parent_process

    if parent_process() is not None or threading.current_thread() is not threading.main_thread():
        return False
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())
