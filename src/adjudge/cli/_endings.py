"""How a run ends before it is done: by an error, by Ctrl-C, or by a reader that goes away.

A signal raises an exception in the work, which cleans up after itself. Python runs signal handlers
between two steps of its code, and a compiler or a long kernel may be a single step that takes
seconds. So a thread gets the same signals, and ends the process if the work has not ended a moment
later. Files appear complete or not at all, and files that are half-written are removed.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from shlex import join, quote
from typing import Any

import typer

from adjudge.cli._console import given_arguments
from adjudge.errors import AdjudgeError, BadSetting, Spellings, advise, remedies_of
from adjudge.lazy import missing_extra

STOPPED = 130
_FAILED, _UNREAD, _ENDED = 2, 141, 143
_PATIENCE = 0.4  # seconds that the work has to end after a signal
_SHOW_CURSOR = b"\x1b[?25h"  # which a progress bar hides
# Every error about options and arguments is one; Typer has no public name for it.
USAGE: Any = typer.BadParameter.__base__
EXPECTED: tuple[type[BaseException], ...] = (
    *(USAGE, AdjudgeError, ModuleNotFoundError, OSError, MemoryError),
    *(SystemExit, KeyboardInterrupt, typer.Abort),
)
_FLAGS: Spellings = {  # how the command line spells what a user can set
    "bin": lambda count: f"--bin {count}",
    "columns": lambda pairs: " ".join(
        f"--{role} {'COLUMN' if name is None else quote(name)}" for role, name in pairs
    ),
    "counts": lambda _: "--counts",
    "drop-label": lambda labels: join(word for one in labels for word in ("--drop-label", one)),
    "encoding": lambda name: f"--encoding {name or 'NAME'}",
    "format": lambda name: f"--format {name or 'NAME'}",
    "header": lambda _: "--no-header",
    "judges-are": lambda names: f"--judges-are {quote(names) if names else 'COLUMNS'}",
    "labels": lambda text: f"--labels {quote(text)}" if text else "--labels",
    "question": lambda _: "--question NAME",
    "questions-are": lambda names: f"--questions-are {quote(names) if names else 'COLUMNS'}",
    "relevant": lambda labels: f"--relevant {labels}",
    "repeats": lambda _: "--repeats",
    "sampled": lambda _: "--sampled random",
    "skip-bad-rows": lambda _: "--skip-bad-rows",
    "transpose": lambda _: "--transpose",
}
_PLAIN = {  # what Typer says of a number, and plain words for it
    "Input should be a valid integer, unable to parse string as an integer": (
        "expected a whole number, such as 3"
    ),
    "Input should be a valid number, unable to parse string as a number": (
        "expected a number, such as 0.5"
    ),
}
_signals: list[int] = []  # those that came
_over = threading.Event()  # nothing is left to be interrupted
_interruptible: list[bool] = []  # not empty while the work may be interrupted


def listen() -> None:
    """From now on a signal stops the work, and nothing half-written is left behind."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop_once)
    if hasattr(os, "register_at_fork"):  # not on Windows
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
        threading.Thread(target=_watch, args=(reading,), name="stopping", daemon=True).start()


@contextmanager
def interruptible() -> Iterator[None]:
    """The work: a block that a signal interrupts."""
    if _signals:
        raise _stop()
    _interruptible.append(True)
    try:
        yield
    except Exception:
        if _signals:  # an interrupted import may fail with an error of its own
            raise _stop() from None
        raise
    finally:
        _interruptible.clear()


def end(code: int) -> None:
    """End the process after the work; if it was stopped, without waiting for other threads."""
    _over.set()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    if not _signals:
        sys.exit(code)
    _remove_unfinished()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _stop_once(number: int, _: object) -> None:
    """Stop the work once: a second signal must not interrupt what cleans up."""
    _signals.append(number)
    sys.unraisablehook = lambda _: None
    if _interruptible and len(_signals) == 1:
        raise _stop()


def _stop() -> BaseException:
    """The exception that ends the work."""
    return SystemExit(_ENDED) if signal.SIGTERM in _signals else KeyboardInterrupt()


def _watch(reading: int) -> None:
    """End the process where the work has not ended a moment after a signal."""
    while True:
        for number in os.read(reading, 64):
            # A server handles signals itself.
            if signal.getsignal(number) is _stop_once and not _over.wait(_PATIENCE):
                _remove_unfinished()
                text = b"" if number == signal.SIGTERM else b"stopped\n"
                os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else b"") + text)
                os._exit(_ENDED if number == signal.SIGTERM else STOPPED)


def _remove_unfinished() -> None:
    """Remove half-written files, if the module that writes files was ever imported."""
    writing: Any = sys.modules.get("adjudge.data.formats.writing")
    remove: Callable[[], None] | None = getattr(writing, "remove_unfinished", None)
    if remove is not None:
        remove()


def advise_with_flags(note: str) -> str:
    """A note on what was read, with the options that read it in another way."""
    return advise(note, remedies_of(note), _FLAGS)


def explain(error: BaseException) -> int:
    """Say what went wrong, and return the exit code; a missing module of ours is raised."""
    if isinstance(error, USAGE):
        return _fail(_describe_usage(error))
    if isinstance(error, AdjudgeError):
        return _fail(advise(_name_option(error), error.remedies, _FLAGS))
    if isinstance(error, ModuleNotFoundError):
        missing = missing_extra(error)
        if missing is None:
            raise error
        return _fail(str(missing))
    if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
        return int(error.code or 0)
    if isinstance(error, BrokenPipeError | SystemExit):  # Typer catches a closed pipe before we can
        _discard(sys.stdout)  # the reader went away (head, less)
        return _UNREAD
    if isinstance(error, MemoryError):
        return _fail(f"there is not enough memory ({error or 'none left'})")
    if isinstance(error, OSError):
        _discard(sys.stdout)
        name = error.filename or "standard output"
        if isinstance(error, FileNotFoundError):
            return _fail(f"{name}: there is no such file; check its name and folder")
        return _fail(f"{name}: cannot be used ({error.strerror})")
    sys.stderr.write("stopped\n")
    return STOPPED


def _name_option(error: AdjudgeError) -> str:
    """The message of an error; a setting that an option has set is called as the option is."""
    if isinstance(error, BadSetting) and error.sentence.startswith(f"{error.setting} "):
        flag = f"--{error.setting.replace('_', '-')}"
        if any(word == flag or word.startswith(f"{flag}=") for word in given_arguments()):
            return f"{flag}{error.sentence[len(error.setting) :]}"
    return error.sentence


def _describe_usage(error: Any) -> str:
    """An error about options and arguments, on one line."""
    place = error.ctx.command_path if error.ctx is not None else "adjudge"
    text = " ".join(error.format_message().split()).rstrip(".")
    text = f"{text[:1].lower()}{text[1:]}"
    for words, plain in _PLAIN.items():
        text = text.replace(words, plain)
    return f"{text} (see '{place} --help')"


def _fail(text: str) -> int:
    sys.stderr.write(f"error: {' '.join(text.splitlines())}\n")
    return _FAILED


def _discard(stream: Any) -> None:
    """Let what is still to be written go nowhere, so that the end of the process is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
