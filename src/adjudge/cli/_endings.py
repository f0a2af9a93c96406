"""How a run ends that is not done: what went wrong on one line, and the code of the process."""

from __future__ import annotations

import os
import sys
from shlex import join, quote
from typing import Any

import typer

from adjudge.errors import AdjudgeError, Spellings, advise, remedies_of
from adjudge.lazy import missing_extra

STOPPED = 130
_FAILED, _UNREAD = 2, 141
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
    "drop-label": lambda labels: join(word for one in labels for word in ("--drop-label", one)),
    "encoding": lambda name: f"--encoding {name or 'NAME'}",
    "format": lambda _: "--format NAME",
    "header": lambda _: "--no-header",
    "labels": lambda text: f"--labels {quote(text)}" if text else "--labels",
    "question": lambda _: "--question NAME",
    "relevant": lambda labels: f"--relevant {labels}",
    "skip-bad-rows": lambda _: "--skip-bad-rows",
}


def advise_with_flags(note: str) -> str:
    """A note on what was read, with the options that read it in another way."""
    return advise(note, remedies_of(note), _FLAGS)


def explain(error: BaseException) -> int:
    """Say what went wrong, and give the code to end with; a missing module of ours is raised."""
    if isinstance(error, USAGE):
        return _fail(_describe_usage(error))
    if isinstance(error, AdjudgeError):
        return _fail(advise(error.sentence, error.remedies, _FLAGS))
    if isinstance(error, ModuleNotFoundError):
        missing = missing_extra(error)
        if missing is None:
            raise error
        return _fail(str(missing))
    if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
        return int(error.code or 0)
    if isinstance(error, BrokenPipeError | SystemExit):  # Typer catches a closed pipe before we can
        _discard(sys.stdout)  # the reader went away (head, less): nothing to say to it
        return _UNREAD
    if isinstance(error, MemoryError):
        return _fail(f"there is not enough memory ({error or 'none left'})")
    if isinstance(error, OSError):
        _discard(sys.stdout)
        name = error.filename or "standard output"
        return _fail(f"{name}: cannot be used ({error.strerror})")
    sys.stderr.write("stopped\n")
    return STOPPED


def _describe_usage(error: Any) -> str:
    """An error about options and arguments, on one line."""
    text = " ".join(error.format_message().split()).rstrip(".")
    place = error.ctx.command_path if error.ctx is not None else "adjudge"
    return f"{text[:1].lower()}{text[1:]} (see '{place} --help')"


def _fail(text: str) -> int:
    sys.stderr.write(f"error: {' '.join(text.splitlines())}\n")
    return _FAILED


def _discard(stream: Any) -> None:
    """Let what is still to be written go nowhere, so that the end of the process is quiet."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
