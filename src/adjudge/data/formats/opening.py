"""A file to be read: opened whatever its compression, its beginning read once and passed on."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, cast

from adjudge.errors import BadData, Remedy, UnknownName

AUTO = "auto"  # the encoding is found out
_START = 65_536  # bytes
_ROWS = 300  # rows or objects that show what a file is
_UNPACKED = 4 << 30  # bytes that an archive may hold
_LIST = re.compile(r"\[\s*[\[{\]]")  # a list of objects, of lists or of nothing
_FIRST_KEY = re.compile(r'\s*\{\s*("(?:[^"\\]|\\.)*")\s*:\s*')
_NEXT_KEY = re.compile(r'\s*,\s*("(?:[^"\\]|\\.)*")\s*:\s*')
_NEXT_OBJECT = re.compile(r"[\s,]*(?=\{)")
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
    complete: bool = False  # whether that is all of it
    names: frozenset[str] = frozenset()  # of the files in a folder or an archive
    found: bool = False  # whether the encoding was found out, and is not one that all expect
    members: Mapping[str, bytes] | None = None  # of an archive of several files

    @classmethod
    def at(cls, path: Path, encoding: str = AUTO) -> File:
        """The file or folder at a path; one that is not there or empty is an error.

        An archive of one file is that file, one of several is as a folder of them.
        """
        if path.is_dir():
            files = chain(path.glob("*"), path.glob("*/*"), path.glob("*/*/*"))
            names = frozenset(file.relative_to(path).as_posix() for file in files)
            return cls(path, path.resolve().name, encoding, names=names)
        _check_readable(path)
        with reading(path), _opened(path) as file:
            start = file.read(_START)
        if start.startswith(b"PK\x03\x04"):
            return cls._archive(path, encoding)
        return cls._known(path, path.name, encoding, start, complete=len(start) < _START)

    @classmethod
    def of(cls, name: str, body: bytes, encoding: str = AUTO) -> File:
        """A file that is in memory already."""
        return cls._known(Path(name), name, encoding, body, complete=True)

    @classmethod
    def _known(cls, path: Path, name: str, encoding: str, start: bytes, *, complete: bool) -> File:
        """A file whose encoding is the one named, or the one that its beginning shows."""
        if encoding != AUTO:
            return cls(path, name, encoding, start, complete)
        codec = _found_encoding(start, complete=complete)
        return cls(path, name, codec, start, complete, found=codec != "utf-8")

    @classmethod
    def _archive(cls, path: Path, encoding: str) -> File:
        """What is in a zip archive; what a system puts next to it does not count."""
        if not zipfile.is_zipfile(path):
            raise BadData.at(path.name, "broken-file", "is a zip archive that is cut short")
        with reading(path), zipfile.ZipFile(path) as archive:
            listed = [
                entry
                for entry in archive.infolist()
                if not entry.is_dir() and not _is_hidden(entry.filename)
            ]
            if "[Content_Types].xml" in archive.namelist():
                raise BadData.at(
                    path.name, "not-text", "is a spreadsheet; expected text (save as CSV)"
                )
            if sum(entry.file_size for entry in listed) > _UNPACKED:
                raise BadData.at(path.name, "too-large", "holds more than 4 GB; unpack it first")
            held = {entry.filename: archive.read(entry) for entry in listed}
        if len(held) == 1:
            return cls._known(path, path.name, encoding, *held.values(), complete=True)
        return cls(path, path.name, encoding, names=frozenset(held), members=held)

    @property
    def is_folder(self) -> bool:
        """Whether it holds files rather than text."""
        return self.members is not None or self.path.is_dir()

    def files(self, *names: str) -> list[File]:
        """The files in a folder or an archive: those named, or all in the order of their names.

        Hidden ones, and those that no one would call data, are left out.
        """
        chosen = names or tuple(sorted(name for name in self.names if not _is_hidden(name)))
        if self.members is not None:
            return [File.of(name, self.members[name], self.encoding) for name in chosen]
        paths = [self.path / name for name in chosen]
        return [File.at(path, self.encoding) for path in paths if path.is_file()]

    def as_windows(self) -> File:
        """The same file, its text taken to be that of Windows."""
        return replace(self, encoding=_WINDOWS, found=True)

    @property
    def codec(self) -> str:
        """The name by which Python knows the encoding."""
        return "utf-8" if self.encoding == AUTO else _encoding_name(self.encoding)

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
        return self.cells(self.delimiter)

    @cached_property
    def delimiter(self) -> str:
        """What sets the cells of the first line apart: a tab, a semicolon, or a comma."""
        first = re.sub(r'"[^"]*"', "", self.first)  # marks within quotes set nothing apart
        tabs, semicolons, commas = (first.count(mark) for mark in "\t;,")
        if tabs and tabs >= commas:
            return "\t"
        if semicolons > commas:
            return ";"
        return "," if commas or "|" not in first else "|"

    @property
    def kind(self) -> Literal["parquet", "jsonl", "json", "delimited"]:
        """Whether a table in it is Parquet, JSONL, a JSON list or delimited text: how it begins."""
        if self.start.startswith(b"PAR1"):
            return "parquet"
        begins = self.text.lstrip()
        if begins.startswith("{"):
            return "jsonl"
        return "json" if _LIST.match(begins) else "delimited"

    @property
    def is_json(self) -> bool:
        """Whether it begins as JSON does."""
        return self.text.lstrip()[:1] in ("[", "{")

    @property
    def is_listed(self) -> bool:
        """Whether it begins as a JSON list."""
        return self.text.lstrip().startswith("[")

    @property
    def is_json_list(self) -> bool:
        """Whether it is JSON with a list of objects, by itself or in an object, and not JSONL."""
        text = self.text.lstrip()
        if not self.is_json or re.search(r"\[\s*\{", text) is None:
            return False
        found = decode(text)
        return found is None or not text[found[1] :].lstrip().startswith("{")

    @cached_property
    def keyed(self) -> list[dict[str, Any]]:
        """The first objects of JSON that is an object of objects with the same keys, by item.

        None where it is anything else.
        """
        text, at, found = self.text, 0, list[dict[str, Any]]()
        while start := (_NEXT_KEY if found else _FIRST_KEY).match(text, at):
            key, held = decode(start[1]), decode(text, start.end())
            if key is None or held is None:
                break  # the last may be cut off
            value, at = held
            if not isinstance(value, dict):
                return []
            found.append({"item": key[0], **value})
        alike = [own for own in found if 2 * len(own.keys() & found[0].keys()) > len(found[0])]
        return found if len(found) > 1 and len(found[0]) > 2 and len(alike) == len(found) else []

    @cached_property
    def rows(self) -> list[list[str]]:
        """The first rows of delimited text, without blank ones and a last one that is cut."""
        lines = self.text.splitlines(keepends=True)
        lines = lines if self.complete else lines[:-1]
        try:
            return [row for row in csv.reader(lines[:_ROWS], delimiter=self.delimiter) if row]
        except csv.Error:
            return []

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """The first objects of JSON, listed, by key or line by line; or rows of Parquet."""
        if self.kind == "parquet":
            return _first_rows(self)
        if self.keyed:
            return self.keyed[:_ROWS]
        text, at = self.text, 0
        if self.is_json_list:
            found = [] if self.is_listed else _listed(text)
            if found:
                return found[:_ROWS]
            first = re.search(r"\[\s*(?=\{)", text)
            at = 0 if first is None else first.end()
        records: list[dict[str, Any]] = []
        while len(records) < _ROWS and (start := _NEXT_OBJECT.match(text, at)):
            held = decode(text, start.end())
            if held is not None:
                records.append(held[0])
                at = held[1]
                continue
            at = text.find("\n", start.end()) + 1  # a line at fault, or the last is cut off
            if not at or self.is_json_list:
                break
        return records

    def open(self) -> IO[bytes]:
        """All of it, to be read as bytes."""
        if self.complete:
            return io.BytesIO(self.start)
        _check_readable(self.path)
        return _opened(self.path)

    @property
    def for_arrow(self) -> Any:
        """All of it, as Arrow's readers take it: they unpack and read a file in parallel."""
        return io.BytesIO(self.start) if self.complete else str(self.path)

    def read_text(self) -> str:
        """All of it as text; bytes in another encoding are an error with their line."""
        with reading(self.path), self.open() as file:
            data = file.read()
        try:
            return data.decode(self.codec).removeprefix("\ufeff")
        except UnicodeDecodeError:
            raise not_text(self) from None

    def lines(self) -> Iterator[tuple[int, str]]:
        """Every line that is not blank, with its number; bytes that are not text are an error."""
        if self.codec.startswith(("utf-16", "utf-32")):  # its lines cannot be found by bytes
            every = enumerate(self.read_text().split("\n"), start=1)
            yield from ((number, line) for number, line in every if line.strip())
            return
        with reading(self.path), self.open() as file:
            try:
                for number, line in enumerate(file, start=1):
                    text = line.decode(self.codec).removeprefix("\ufeff")
                    if text.strip():
                        yield number, text
            except UnicodeDecodeError:
                raise not_text(self) from None


def decode(text: str, at: int = 0) -> tuple[Any, int] | None:
    """Return the JSON value at a place of a text, and where it ends; None where there is none."""
    try:
        return json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None


def spelt_out(record: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return an object whose nested objects are spelt out by their paths."""
    cells: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            cells |= spelt_out(value, f"{before}{key}.")
        else:
            cells[f"{before}{key}"] = value
    return cells


def _listed(text: str) -> list[dict[str, Any]]:
    """Return the longest list of objects under a key of JSON; none where it is cut off."""
    found = decode(text.lstrip())
    content = found[0] if found is not None else {}
    lists = [v for v in content.values() if isinstance(v, list) and v and isinstance(v[0], dict)]
    return [one for one in max(lists, key=len, default=[]) if isinstance(one, dict)]


def _first_rows(file: File) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batch = next(pq.ParquetFile(file.for_arrow).iter_batches(batch_size=_ROWS), None)
    except (pa.ArrowException, OSError):  # the reader says what is wrong
        return []
    return [] if batch is None else list(batch.to_pylist())


_WINDOWS = "cp1252"
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _found_encoding(start: bytes, *, complete: bool) -> str:
    """The encoding that the beginning of a file shows: UTF-8, UTF-16 by its mark, or Windows'.

    What is not UTF-8 is most often text of Windows, of which Latin-1 is a part.
    """
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return codec
    if start.startswith(b"PAR1"):
        return "utf-8"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=complete)
    except UnicodeDecodeError:
        return "utf-8" if b"\0" in start else _WINDOWS
    return "utf-8"


def _is_hidden(name: str) -> bool:
    """Whether a file is one that systems put next to others, or that is about them."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or any(part.startswith((".", "~")) for part in parts)


def is_uri(place: str) -> bool:
    """Whether a place is named by a URI."""
    return _SCHEME.match(place) is not None


def _check_readable(path: Path) -> None:
    """Refuse a file that is not there, is a folder, or has no byte in it."""
    if not path.exists():
        raise BadData.at(path, "missing-file", "there is no such file; check its name and folder")
    if path.is_dir():
        raise BadData.at(path, "not-a-file", "is a folder; expected a file")
    if path.is_file() and path.stat().st_size == 0:
        raise BadData.at(
            path.name,
            "empty-file",
            "the file is empty (0 bytes); expected judgments: export or copy it again",
        )


def _opened(path: Path) -> IO[bytes]:
    """A file for reading bytes, decompressed where its name ends in .gz or .bz2."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path, "rb"))
    return path.open("rb")


def read_bytes(path: Path) -> bytes:
    """All of a file, unpacked; one that is not there, empty or cut short is an error."""
    _check_readable(path)
    with reading(path), _opened(path) as file:
        return file.read()


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What the system or a decompressor says against a file, said as an error of ours."""
    try:
        yield
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile) as fault:
        reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
        if path.suffix in {".gz", ".bz2"}:
            reason = f"is cut short, or no {path.suffix[1:]} file ({reason})"
        else:
            reason = f"cannot be read ({reason})"
        raise BadData.at(path.name, "unreadable-file", reason) from None


def _encoding_name(encoding: str) -> str:
    """The name by which Python knows an encoding, or an error that suggests the nearest."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise UnknownName("encoding", encoding, ("utf-8", "latin-1", "utf-16", "cp1252")) from None


def not_text(file: File) -> BadData:
    """Return the error for bytes that are not in the encoding of a file, with the first line."""
    name = "UTF-8" if file.codec == "utf-8" else file.encoding
    line = value = None
    if not file.codec.startswith(("utf-16", "utf-32")):  # their lines cannot be found by bytes
        with file.open() as raw:
            for number, text in enumerate(raw, start=1):
                try:
                    text.decode(file.codec)
                except UnicodeDecodeError as fault:
                    line, value = number, text[fault.start]
                    break
    return BadData(
        f"expected {name}" + ("" if value is None else f", got the byte 0x{value:02x}"),
        source=file.name,
        line=line,
        value=value,
        code="bad-encoding",
        remedies=[Remedy("encoding", "latin-1" if name == "UTF-8" else None)],
    )
