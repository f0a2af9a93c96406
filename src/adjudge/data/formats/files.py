"""Files: opened whatever their compression, checked before reading, written whole or not at all."""

from __future__ import annotations

import bz2
import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from adjudge.errors import BadData, UnknownName


def check_readable(path: Path) -> None:
    """Complain of a file that is not there, is a folder, or has no byte in it."""
    if not path.exists():
        raise BadData("there is no such file", source=str(path), wanted="a file")
    if path.is_dir():
        raise BadData("is a folder; wanted a file", source=str(path), wanted="a file")
    if path.is_file() and path.stat().st_size == 0:
        raise BadData("the file is empty (0 bytes)", source=path.name, wanted="judgments")


def opened(path: Path) -> IO[bytes]:
    """A file for reading bytes, decompressed where its name ends in .gz or .bz2."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path, "rb"))
    return path.open("rb")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What the system or a decompressor says against a file, said as an error of ours."""
    try:
        yield
    except (OSError, EOFError, zlib.error) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        if path.suffix in {".gz", ".bz2"}:
            reason = f"is cut short, or no {path.suffix[1:]} file ({reason})"
        else:
            reason = f"cannot be read ({reason})"
        raise BadData(reason, source=path.name, wanted="a whole file") from None


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


def encoding_name(encoding: str) -> str:
    """The name by which Python knows an encoding, or an error that suggests the nearest."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise UnknownName("encoding", encoding, ("utf-8", "latin-1", "utf-16", "cp1252")) from None


def not_text(path: Path, encoding: str) -> BadData:
    """The error for a file whose bytes are not in the encoding, with the first line that is not."""
    name = "UTF-8" if encoding_name(encoding) == "utf-8" else encoding
    hint = "another --encoding"
    if name == "UTF-8":
        hint = "the encoding named, such as --encoding latin-1"
    with opened(path) as raw:
        for number, line in enumerate(raw, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as fault:
                if encoding_name(encoding).startswith(("utf-16", "utf-32")):
                    break  # such a file has no lines that can be told by their bytes
                return BadData(
                    f"byte 0x{line[fault.start]:02x} is not {name}; wanted {name}, or {hint}",
                    source=path.name,
                    line=number,
                    value=line[fault.start],
                    wanted=name,
                )
    return BadData(f"is not {name}; wanted {hint}", source=path.name)


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
    with writing(path):
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with writing(path), os.fdopen(handle, "wb") as file:
            yield file
        with writing(path):
            os.chmod(name, 0o666 & ~_mask())
            os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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
    with writing(path):
        name = tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
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


def _check_parent(path: Path) -> None:
    if not path.parent.is_dir():
        raise BadData("there is no such folder to write into", source=str(path.parent))


def _mask() -> int:
    """The permissions that new files do not get; the system tells only by being told."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
