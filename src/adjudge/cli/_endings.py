"""How a run ends that is not done: what went wrong on one line, and the code of the process."""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from adjudge.errors import AdjudgeError
from adjudge.lazy import missing_extra

STOPPED = 130
_FAILED, _UNREAD = 2, 141
# Every error about options and arguments is one; Typer has no public name for it.
USAGE: Any = typer.BadParameter.__base__
EXPECTED: tuple[type[BaseException], ...] = (
    *(USAGE, AdjudgeError, ModuleNotFoundError, OSError, MemoryError),
    *(SystemExit, KeyboardInterrupt, typer.Abort),
)


def explain(error: BaseException) -> int:
    """Say what went wrong, and give the code to end with; a missing module of ours is raised."""
    if isinstance(error, USAGE):
        return _fail(_describe_usage(error))
    if isinstance(error, AdjudgeError):
        return _fail(str(error))
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
