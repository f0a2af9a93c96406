"""Files and folders written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from adjudge.errors import BadData

_unfinished: set[str] = set()  # files that are of no use as they are


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """What the system says against writing a file, said as an error of ours; but a closed pipe."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise BadData(f"cannot be written ({reason})", source=str(path)) from None


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when all of it is there.

    It is written beside its place under another name and renamed at the end, so that a crash or
    Ctrl-C leaves what was there before. ``-`` is standard output. What is no regular file, such as
    a pipe, is written in place.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if path.is_dir():
        raise BadData("is a folder; wanted a file to write", source=str(path), wanted="a file")
    if path.exists() and not path.is_file():
        with writing(path), path.open("wb") as file:
            yield file
        return
    _check_parent(path)
    _remove_leftovers(path)
    with writing(path):
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.{_owner()}.", suffix=".part", dir=path.parent
        )
    _unfinished.add(name)
    try:
        with writing(path), os.fdopen(handle, "wb") as file:
            yield file
        with writing(path):
            os.chmod(name, 0o666 & ~_mask())
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    finally:
        _unfinished.discard(name)


def remove_unfinished() -> None:
    """Remove what is half-written, where a process ends without another word."""
    for name in list(_unfinished):
        with contextlib.suppress(OSError):
            os.remove(name)


@contextmanager
def written_folder(path: Path, *, replaces: frozenset[str] = frozenset()) -> Iterator[Path]:
    """A folder to fill that takes its name only when everything is in it.

    A folder that is there already is replaced if it holds nothing but the files in ``replaces``,
    which are those of an earlier run; anything else in it is somebody's and an error.
    """
    if path.exists() and not path.is_dir():
        raise BadData("is a file; wanted a folder to write", source=str(path), wanted="a folder")
    _check_parent(path)
    if path.is_dir():
        files = (file for file in path.rglob("*") if not file.is_dir())
        held = {file.relative_to(path).as_posix() for file in files}
        if held - replaces:
            raise BadData(
                f"there is {min(held - replaces)!r} in this folder; wanted a new or an empty one",
                source=str(path),
                wanted="a new or an empty folder",
            )
    _remove_leftovers(path)
    with writing(path):
        name = tempfile.mkdtemp(prefix=f".{path.name}.{_owner()}.", suffix=".part", dir=path.parent)
    made = Path(name)
    try:
        with writing(path):
            (made / "new").mkdir()
            yield made / "new"
            if path.is_dir():
                path.rename(made / "old")
            (made / "new").rename(path)
    finally:
        if (made / "old").is_dir() and not path.exists():
            (made / "old").rename(path)
        shutil.rmtree(made, ignore_errors=True)


def _owner() -> str:
    """Who writes, as it stands in the name of a file that is not whole: host and process."""
    host = "".join(c for c in socket.gethostname() if c.isalnum() or c == "-")[:40]
    return f"{host}.{os.getpid()}"


def _remove_leftovers(path: Path) -> None:
    """Remove what a process left that was killed while it wrote the same file.

    What a process that lives is writing stays, and so does what another machine may be writing.
    """
    host = _owner().rpartition(".")[0]
    start = f".{path.name}.{host}."
    with contextlib.suppress(OSError):
        for beside in path.parent.iterdir():
            if not (beside.name.startswith(start) and beside.name.endswith(".part")):
                continue
            process, _, _ = beside.name.removeprefix(start).partition(".")
            if not process.isdecimal() or _lives(int(process)):
                continue
            if beside.is_dir():
                if (beside / "old").is_dir() and not path.exists():
                    (beside / "old").rename(path)  # killed between two renames: nothing is lost
                shutil.rmtree(beside, ignore_errors=True)
            else:
                beside.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    """Whether a process is there; where that cannot be told, it is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadData("there is no such folder to write into", source=str(path.parent))


def _mask() -> int:
    """The permissions that new files do not get; the system tells only by being told."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
