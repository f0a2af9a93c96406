"""Files as they come in: from disk, from a form, out of a folder or an archive; within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.data.formats.opening import File
from adjudge.errors import BadData


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much an import may hold; an upload from a browser gets less than a file on disk."""

    bytes: int = 20_000_000  # of all files together, unpacked
    rows: int = 200_000
    field: int = 100_000  # characters of one cell
    files: int = 1_000  # of an archive
    errors: int = 100  # kept; the rest is counted


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

    def text(self) -> str:
        """The file as text; a byte that is none is named by its line."""
        try:
            return self.body.decode().removeprefix("\ufeff")
        except UnicodeDecodeError as fault:
            raise BadData(
                f"byte 0x{self.body[fault.start]:02x} is not UTF-8; wanted UTF-8",
                source=self.name,
                line=self.body.count(b"\n", 0, fault.start) + 1,
                wanted="UTF-8",
            ) from None

    def file(self) -> File:
        """The file as the readers of formats take it, once it is known to be text."""
        self.text()
        return File.of(self.name, self.body)


def from_paths(paths: Iterable[Path], limits: Limits) -> list[Upload]:
    """Files on disk, and the files in folders, unpacked."""
    found: list[Upload] = []
    for path in paths:
        if not path.exists():
            raise BadData("there is no such file", source=str(path), wanted="a file or folder")
        files = [path]
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
        for file in files:
            if file.stat().st_size > limits.bytes:
                raise _too_large(file.name, limits)
            name = file.relative_to(path).as_posix() if path.is_dir() else file.name
            found.append(Upload(name=name, body=file.read_bytes()))
    return unpacked(found, limits)


def unpacked(uploads: Iterable[Upload], limits: Limits) -> list[Upload]:
    """The files with archives opened, counted while they are, so that a bomb stops at the limit."""
    room = limits.bytes
    found: list[Upload] = []
    for upload in uploads:
        for part in _opened(upload, room, limits):
            room -= len(part.body)
            if room < 0:
                raise _too_large(upload.name, limits)
            found.append(part)
        if len(found) > limits.files:
            raise BadData(
                f"there are more than {limits.files:,} files", source=upload.name, wanted="fewer"
            )
    return found


def _opened(upload: Upload, room: int, limits: Limits) -> Iterator[Upload]:
    if upload.body[:4] == b"PK\x03\x04":
        yield from _unzipped(upload, room, limits)
    elif upload.body[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(upload.body)) as stream:
            yield Upload(name=upload.name, body=_within(stream, upload, room))
    elif upload.body[:3] == b"BZh":
        with bz2.open(io.BytesIO(upload.body)) as stream:
            yield Upload(name=upload.name, body=_within(stream, upload, room))
    else:
        yield upload


def _unzipped(upload: Upload, room: int, limits: Limits) -> Iterator[Upload]:
    try:
        with zipfile.ZipFile(io.BytesIO(upload.body)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if len(entries) > limits.files:
                raise BadData(
                    f"there are {len(entries):,} files in the archive; wanted at most "
                    f"{limits.files:,}",
                    source=upload.name,
                )
            if any(entry.filename == "[Content_Types].xml" for entry in entries):
                raise BadData("is a spreadsheet; wanted CSV (save as CSV)", source=upload.name)
            for entry in entries:
                with archive.open(entry) as stream:
                    body = _within(stream, upload, room)
                room -= len(body)
                yield Upload(name=entry.filename, body=body)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as fault:
        raise BadData(f"is no zip archive that can be read ({fault})", source=upload.name) from None


def _within(stream: object, upload: Upload, room: int) -> bytes:
    """What a stream unpacks to, read no further than there is room."""
    try:
        body: bytes = stream.read(room + 1)  # type: ignore[attr-defined]
    except (OSError, EOFError, zlib.error) as fault:
        raise BadData(f"cannot be unpacked ({fault})", source=upload.name) from None
    if len(body) > room:
        raise BadData(
            f"unpacks to more than {room:,} bytes; wanted less", source=upload.name, wanted="less"
        )
    return body


def _too_large(name: str, limits: Limits) -> BadData:
    return BadData(
        f"is larger than the limit of {limits.bytes:,} bytes", source=name, wanted="a smaller file"
    )
