"""Files: opened whatever their compression, checked before reading, written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from adjudge.errors import BadData


def check_readable(path: Path) -> None:
    """Complain of a file that is not there, is a folder, or has no byte in it."""
    if not path.exists():
        raise BadData("there is no such file", source=str(path), wanted="a file")
    if path.is_dir():
        raise BadData("is a folder; wanted a file", source=str(path), wanted="a file")
    if path.stat().st_size == 0:
        raise BadData("the file is empty (0 bytes)", source=path.name, wanted="judgments")


def opened(path: Path) -> IO[bytes]:
    """A file for reading bytes, decompressed where its name ends in .gz or .bz2."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path, "rb"))
    return path.open("rb")


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when all of it is there.

    It is written beside its place under another name and renamed at the end, so that a crash or
    Ctrl-C leaves what was there before. ``-`` is standard output.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    folder = path.parent if str(path.parent) else Path()
    if not folder.is_dir():
        raise BadData("there is no such folder to write into", source=str(folder))
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
