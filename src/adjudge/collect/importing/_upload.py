"""Files as they come in, from disk or from a form: unpacked, within limits on all of them.

Whatever the method, no more is unpacked than is allowed: a packed file of a few kilobytes can
hold gigabytes, and for Python's own reader of zip files some methods unpack in one go.
"""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from adjudge.data.formats.opening import File
from adjudge.errors import BadData

_SMALL = 1_000_000  # bytes that anything may unpack to, whatever the ratio
_ZIP, _GZIP, _BZIP2 = b"PK\x03\x04", b"\x1f\x8b\x08", b"BZh"  # how they begin
_ENTRY = b"PK\x01\x02"  # how each entry of an archive's table of contents begins
_FAULTS = (
    *(OSError, EOFError, ValueError, RuntimeError, NotImplementedError),
    *(zlib.error, zipfile.BadZipFile),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLimits:
    """How much an import may hold; an upload from a browser gets less than a file on disk."""

    bytes: int = 20_000_000  # of all files together, unpacked
    rows: int = 200_000
    field: int = 100_000  # characters of one cell
    files: int = 1_000  # of an archive
    ratio: int = 200  # of what a packed file unpacks to and its size, above a megabyte
    columns: int = 1_000  # of a table
    errors: int = 100  # kept; the rest is counted

    @property
    def lines(self) -> int:
        """Lines of one file: more than any file of that size has that is worth reading."""
        return max(1_000_000, self.bytes // 20)

    @property
    def line(self) -> int:
        """Characters of a line of a table: every field as long as it may be."""
        return 20 * self.field


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One file: its name, with folders where it stood in one, and what is in it."""

    name: str
    body: bytes

    @property
    def base(self) -> str:
        """The name without folders and without .gz or .bz2."""
        name = PurePosixPath(self.name).name
        return name.removesuffix(".gz").removesuffix(".bz2")

    @property
    def suffix(self) -> str:
        """``.csv`` and the like, in small letters."""
        return PurePosixPath(self.base).suffix.lower()

    @property
    def is_packed(self) -> bool:
        """Whether it is an archive, or packed, and holds more than its size."""
        return self.body.startswith((_ZIP, _GZIP, _BZIP2))

    def text(self) -> str:
        """The file as text; a byte that is none is named by its line."""
        try:
            return self.body.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as fault:
            line: int | None = self.body.count(b"\n", 0, fault.start) + 1
            problem = f"byte 0x{self.body[fault.start]:02x} is not UTF-8"
            if b"\0" in self.body:
                line, problem = None, "is no text in UTF-8"
            problem += "; expected CSV UTF-8, as spreadsheets list it where they save"
            raise BadData(problem, source=self.name, line=line, code="bad-encoding") from None

    def file(self) -> File:
        """The file as the readers of formats take it, once it is known to be text."""
        self.text()
        return File.of(self.name, self.body)


def unpack_all(files: Iterable[Path | Upload], limits: ImportLimits) -> list[Upload]:
    """The files, those on disk first, with archives opened, within limits on them all together."""
    given, room = list(files), limits.bytes
    uploads = _read_paths((file for file in given if isinstance(file, Path)), limits)
    uploads += [file for file in given if isinstance(file, Upload)]
    found: list[Upload] = []
    for upload in uploads:
        for part in _unpack(upload, room, limits):
            room -= len(part.body)
            if room < 0:
                _check_size(upload.name, limits.bytes - room, limits)
            _check_lines(part, limits)
            found.append(part)
            if len(found) > limits.files:
                problem = f"there are more than {limits.files:,} files"
                raise BadData(problem, source=upload.name, code="too-many-files")
    return found


def _unpack(upload: Upload, room: int, limits: ImportLimits) -> Iterator[Upload]:
    """The files in a file: of an archive each, of a packed one what is in it, else itself."""
    magic = next((one for one in (_GZIP, _BZIP2) if upload.body.startswith(one)), None)
    if upload.body.startswith(_ZIP):
        yield from _unpack_zip(upload, room, limits)
    elif magic is None:
        yield upload
    elif upload.body.count(magic) > limits.files:  # each is slow to begin
        problem = f"has more than {limits.files:,} parts"
        raise BadData(problem, source=upload.name, code="too-many-files")
    else:
        held, unpack = io.BytesIO(upload.body), gzip.open if magic == _GZIP else bz2.open
        with _naming_damage(upload), unpack(held) as file:
            body = _read_some(file, upload, len(upload.body), room, limits)
        yield Upload(name=upload.name, body=body)


def _unpack_zip(upload: Upload, room: int, limits: ImportLimits) -> Iterator[Upload]:
    """The files of an archive, their check sums compared."""
    count = upload.body.count(_ENTRY)  # before the table of contents is read: it may be long
    if count > 2 * limits.files:
        raise _too_many(upload, count, limits)
    with _naming_damage(upload), zipfile.ZipFile(io.BytesIO(upload.body)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if any(entry.filename == "[Content_Types].xml" for entry in entries):
            problem = "is a spreadsheet or a document of an office; expected it saved as CSV UTF-8"
            raise BadData(problem, source=upload.name, code="office-file")
        if len(entries) > limits.files:
            raise _too_many(upload, len(entries), limits)
        for entry in entries:
            if entry.flag_bits & 0x1:
                problem = "is locked by a password; expected an open archive"
                raise BadData(problem, source=upload.name, code="locked-archive")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # Python unpacks other methods without a limit.
                problem = f"is packed by method {entry.compress_type}; expected deflate"
                raise BadData(problem, source=upload.name, code="bad-archive")
            with archive.open(entry) as file:
                body = _read_some(file, upload, entry.compress_size, room, limits)
            room -= len(body)
            yield Upload(name=entry.filename, body=body)


def _read_some(
    file: IO[bytes] | io.BufferedIOBase,
    upload: Upload,
    packed: int,
    room: int,
    limits: ImportLimits,
) -> bytes:
    """What a packed file unpacks to, unless that is more than there is room for, or than likely."""
    most = min(room, max(limits.ratio * packed, _SMALL))
    body = file.read(most + 1)
    if len(body) > most:
        why = ", too many times its size" if most < room else ""
        problem = f"unpacks to more than {most:,} bytes{why}; expected less"
        raise BadData(problem, source=upload.name, code="too-large")
    return body


@contextmanager
def _naming_damage(upload: Upload) -> Iterator[None]:
    """Whatever an unpacker raises becomes an error about the file."""
    try:
        yield
    except _FAULTS as fault:
        reason = str(fault).rpartition(": ")[2] or "it is damaged"
        problem = f"cannot be unpacked ({reason})"
        raise BadData(problem, source=upload.name, code="bad-archive") from None


def _too_many(upload: Upload, count: int, limits: ImportLimits) -> BadData:
    problem = f"there are {count:,} files in the archive; expected at most {limits.files:,}"
    return BadData(problem, source=upload.name, code="too-many-files", value=count)


def _check_lines(upload: Upload, limits: ImportLimits) -> None:
    """Refuse a file with more lines than readers should have to walk."""
    if max(upload.body.count(b"\n"), upload.body.count(b"\r")) > limits.lines:
        problem = f"has more than {limits.lines:,} lines; expected fewer"
        raise BadData(problem, source=upload.name, code="too-large")


def _read_paths(paths: Iterable[Path], limits: ImportLimits) -> list[Upload]:
    """Files on disk, and the files in folders."""
    found: list[Upload] = []
    for path in paths:
        if not path.exists():
            raise BadData("there is no such file", source=str(path))
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            _check_size(file.name, file.stat().st_size, limits)
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            found.append(Upload(name=name, body=file.read_bytes()))
    return found


def _check_size(name: str, size: int, limits: ImportLimits) -> None:
    """Refuse a file that is larger than all files together may be."""
    if size > limits.bytes:
        problem = f"is larger than the limit of {limits.bytes:,} bytes"
        raise BadData(problem, source=name, code="too-large")
