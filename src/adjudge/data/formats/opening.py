"""A file to be read: opened whatever its compression, its beginning read once and passed on."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, cast

from adjudge.data.formats.faults import not_text
from adjudge.errors import BadData, UnknownName

_START = 65_536  # bytes
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True)
class File:
    """A file or folder to be read: where it is, and how it begins.

    The beginning is read once, when the file is looked up; whoever has to know a delimiter, a
    header or a first record finds it here. A small file is all beginning, and is not opened again.
    """

    path: Path
    name: str  # by which errors speak of it
    encoding: str = "utf-8"
    start: bytes = b""  # the first 64 KiB, unpacked
    whole: bool = False  # whether that is all of it
    names: frozenset[str] = frozenset()  # of the files in a folder

    @classmethod
    def at(cls, path: Path, encoding: str = "utf-8") -> File:
        """The file or folder at a path; one that is not there or empty is an error."""
        if path.is_dir():
            files = chain(path.glob("*"), path.glob("*/*"))
            names = frozenset(file.relative_to(path).as_posix() for file in files)
            return cls(path, path.name, encoding, names=names)
        check_readable(path)
        with reading(path), opened(path) as file:
            start = file.read(_START)
        return cls(path, path.name, encoding, start, whole=len(start) < _START)

    @classmethod
    def of(cls, name: str, body: bytes, encoding: str = "utf-8") -> File:
        """A file that is in memory already."""
        return cls(Path(name), name, encoding, body, whole=True)

    @property
    def codec(self) -> str:
        """The name by which Python knows the encoding."""
        return encoding_name(self.encoding)

    @cached_property
    def text(self) -> str:
        """The beginning, decoded as well as may be; without blank lines before it."""
        text = self.start.decode(self.codec, errors="replace")
        return text.removeprefix("\ufeff").lstrip("\r\n")

    @cached_property
    def first(self) -> str:
        """The first line."""
        return re.split(r"[\r\n]", self.text, maxsplit=1)[0]

    def cells(self, delimiter: str) -> list[str]:
        """The cells of the first line, unquoted."""
        return [cell.strip().strip('"') for cell in self.first.split(delimiter)]

    @cached_property
    def columns(self) -> list[str]:
        """The cells of the first line under the delimiter that it suggests."""
        tabs = self.first.count("\t")
        return self.cells("\t" if tabs and tabs >= self.first.count(",") else ",")

    @property
    def kind(self) -> Literal["parquet", "jsonl", "delimited"]:
        """Whether a table in it is Parquet, JSONL or delimited text, by its first bytes."""
        if self.start.startswith(b"PAR1"):
            return "parquet"
        begins = self.start.lstrip(b"\xef\xbb\xbf \t\r\n")
        return "jsonl" if begins.startswith(b"{") else "delimited"

    def open(self) -> IO[bytes]:
        """All of it, to be read as bytes."""
        if self.whole:
            return io.BytesIO(self.start)
        check_readable(self.path)
        return opened(self.path)

    @property
    def for_arrow(self) -> Any:
        """All of it, as Arrow's readers take it: they unpack and read a file in parallel."""
        return io.BytesIO(self.start) if self.whole else str(self.path)

    def read_text(self) -> str:
        """All of it as text; bytes that are none are an error with their line."""
        with reading(self.path), self.open() as file:
            data = file.read()
        try:
            return data.decode(self.codec).removeprefix("\ufeff")
        except UnicodeDecodeError:
            raise not_text(self) from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line that is not blank, with its number; bytes that are no text are an error."""
        with reading(self.path), self.open() as file:
            try:
                for number, line in enumerate(file, start=1):
                    text = line.decode(self.encoding).removeprefix("\ufeff")
                    if text.strip():
                        yield number, text
            except UnicodeDecodeError:
                raise not_text(self) from None


def is_uri(place: str) -> bool:
    """Whether a place is named by a URI."""
    return _SCHEME.match(place) is not None


def check_readable(path: Path) -> None:
    """Refuse a file that is not there, is a folder, or has no byte in it."""
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


def encoding_name(encoding: str) -> str:
    """The name by which Python knows an encoding, or an error that suggests the nearest."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise UnknownName("encoding", encoding, ("utf-8", "latin-1", "utf-16", "cp1252")) from None
