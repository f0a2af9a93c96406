"""Files as they come in, from disk or from a form: unpacked, within limits on all of them.

Whatever the method, no more is unpacked than is allowed: a packed file of a few kilobytes can
stand for gigabytes, and for Python's own reader of zip files some methods unpack in one go.
"""

from __future__ import annotations

import bz2
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from adjudge.data.formats.opening import File
from adjudge.errors import BadData

_PIECE = 65_536  # bytes that are unpacked at a time
_SMALL = 1_000_000  # bytes that anything may unpack to, whatever the ratio
_ZIP, _GZIP, _BZIP2 = b"PK\x03\x04", b"\x1f\x8b", b"BZh"  # how they begin
_ENTRY = b"PK\x01\x02"  # how each entry of an archive's table of contents begins
_FAULTS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


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
            if b"\0" in self.body:
                raise BadData(
                    "is no text in UTF-8; wanted a table such as a spreadsheet saves as CSV UTF-8",
                    source=self.name,
                    expected="UTF-8",
                ) from None
            raise BadData(
                f"byte 0x{self.body[fault.start]:02x} is not UTF-8; wanted UTF-8 (CSV UTF-8 in the "
                "list where a spreadsheet saves)",
                source=self.name,
                line=self.body.count(b"\n", 0, fault.start) + 1,
                expected="UTF-8",
            ) from None

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
                message = f"there are more than {limits.files:,} files"
                raise BadData(message, source=upload.name, expected="fewer")
    return found


class _Unpacker(Protocol):
    """What unpacks one stream: at most so many bytes at a call."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _unpack(upload: Upload, room: int, limits: ImportLimits) -> Iterator[Upload]:
    """The files in a file: of an archive each, of a packed one what is in it, else itself."""
    if upload.body.startswith(_ZIP):
        yield from _unpack_zip(upload, room, limits)
    elif upload.body.startswith(_GZIP):
        body = _unpack_streams(upload, lambda: zlib.decompressobj(wbits=31), room, limits)
        yield Upload(name=upload.name, body=body)
    elif upload.body.startswith(_BZIP2):
        body = _unpack_streams(upload, bz2.BZ2Decompressor, room, limits)
        yield Upload(name=upload.name, body=body)
    else:
        yield upload


def _unpack_streams(
    upload: Upload, make: Callable[[], _Unpacker], room: int, limits: ImportLimits
) -> bytes:
    """What packed streams, one after the other, unpack to."""
    body, magic = upload.body, upload.body[:2]
    most = _most(len(body), room, limits)
    out, at, streams = bytearray(), 0, 0
    while body[at : at + 2] == magic:
        streams += 1
        if streams > limits.files:
            raise BadData(f"has more than {limits.files:,} parts", source=upload.name)
        at = _unpack_stream(upload, body, at, make(), out, most, room)
    return bytes(out)


def _unpack_stream(
    upload: Upload, body: bytes, at: int, unpacker: _Unpacker, out: bytearray, most: int, room: int
) -> int:
    """Unpack one stream to the end of ``out``; where in ``body`` it ends."""
    try:
        while not unpacker.eof:
            piece = body[at : at + _PIECE]
            if not piece:
                raise BadData("cannot be unpacked (it is cut short)", source=upload.name)
            out += unpacker.decompress(piece, most + 1 - len(out))
            if len(out) > most:
                raise _too_much(upload.name, most, room)
            at += len(piece)
    except _FAULTS as fault:
        raise _damaged(upload.name, fault) from None
    return at - len(unpacker.unused_data)


def _damaged(name: str, fault: Exception) -> BadData:
    reason = str(fault).rpartition(": ")[2] or "it is damaged"
    return BadData(f"cannot be unpacked ({reason})", source=name)


def _most(packed: int, room: int, limits: ImportLimits) -> int:
    return min(room, max(limits.ratio * packed, _SMALL))


def _too_much(name: str, most: int, room: int) -> BadData:
    if most < room:
        return BadData(
            f"unpacks to more than {most:,} bytes, too many times its size; wanted less",
            source=name,
            expected="less",
        )
    return BadData(
        f"unpacks to more than {room:,} bytes; wanted less", source=name, expected="less"
    )


# -- zip


def _unpack_zip(upload: Upload, room: int, limits: ImportLimits) -> Iterator[Upload]:
    for entry in _list_entries(upload, limits):
        body = _unpack_entry(upload, entry, room, limits)
        room -= len(body)
        yield Upload(name=entry.filename, body=body)


def _list_entries(upload: Upload, limits: ImportLimits) -> list[zipfile.ZipInfo]:
    count = upload.body.count(_ENTRY)  # before the table of contents is read: it may be long
    if count <= 2 * limits.files:
        try:
            with zipfile.ZipFile(io.BytesIO(upload.body)) as archive:
                entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, *_FAULTS) as fault:
            message = f"is no zip archive that can be read ({fault})"
            raise BadData(message, source=upload.name) from None
        count = len(entries)
        if any(entry.filename == "[Content_Types].xml" for entry in entries):
            message = "is a spreadsheet or a document of an office; wanted it saved as CSV UTF-8"
            raise BadData(message, source=upload.name, expected="CSV UTF-8")
    if count > limits.files:
        raise BadData(
            f"there are {count:,} files in the archive; wanted at most {limits.files:,}",
            source=upload.name,
        )
    return entries


def _unpack_entry(upload: Upload, entry: zipfile.ZipInfo, room: int, limits: ImportLimits) -> bytes:
    """One file of an archive, its check sum compared."""
    packed = _find_packed(upload, entry)
    most = _most(len(packed), room, limits)
    out = bytearray()
    if entry.compress_type == zipfile.ZIP_STORED:
        if len(packed) > most:
            raise _too_much(upload.name, most, room)
        out += packed
    elif entry.compress_type == zipfile.ZIP_DEFLATED:
        _unpack_stream(upload, packed, 0, zlib.decompressobj(wbits=-15), out, most, room)
    elif entry.compress_type == zipfile.ZIP_BZIP2:
        _unpack_stream(upload, packed, 0, bz2.BZ2Decompressor(), out, most, room)
    elif entry.compress_type == zipfile.ZIP_LZMA:
        _unpack_lzma(upload, packed, entry, out, most, room)
    else:
        message = f"is packed in a way that is not known (method {entry.compress_type})"
        raise BadData(message, source=upload.name, expected="deflate, bzip2 or LZMA")
    if len(out) != entry.file_size or zlib.crc32(out) != entry.CRC:
        raise BadData(f"cannot be unpacked ({entry.filename} is damaged)", source=upload.name)
    return bytes(out)


def _find_packed(upload: Upload, entry: zipfile.ZipInfo) -> bytes:
    """The bytes of an entry as they lie in the archive."""
    if entry.flag_bits & 0x1:
        raise BadData("is locked by a password; wanted an open archive", source=upload.name)
    header = upload.body[entry.header_offset : entry.header_offset + 30]
    if len(header) < 30 or header[:4] != _ZIP:
        raise BadData("is no zip archive that can be read (an entry is not there)",
                      source=upload.name)  # fmt: skip
    name, extra = struct.unpack("<HH", header[26:30])
    start = entry.header_offset + 30 + name + extra
    return upload.body[start : start + entry.compress_size]


def _unpack_lzma(
    upload: Upload, packed: bytes, entry: zipfile.ZipInfo, out: bytearray, most: int, room: int
) -> None:
    """LZMA as zip has it: four bytes, its properties, and a stream that may have no end mark."""
    size = int.from_bytes(packed[2:4], "little")
    properties = packed[4 : 4 + size]
    if len(properties) != 5:
        raise BadData(f"cannot be unpacked ({entry.filename} is damaged)", source=upload.name)
    rest, literal = divmod(properties[0], 9)
    position, low = divmod(rest, 5)
    # The dictionary is taken from memory at once, and need never be larger than what comes out.
    window = min(int.from_bytes(properties[1:], "little"), most + 1)
    chain = [{"id": lzma.FILTER_LZMA1, "lc": literal, "lp": low, "pb": position,
              "dict_size": max(window, 4096)}]  # fmt: skip
    try:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=chain)
        for at in range(4 + size, len(packed), _PIECE):
            if unpacker.eof:
                break
            out += unpacker.decompress(packed[at : at + _PIECE], most + 1 - len(out))
            if len(out) > most:
                raise _too_much(upload.name, most, room)
    except _FAULTS as fault:
        raise _damaged(upload.name, fault) from None


def _check_lines(upload: Upload, limits: ImportLimits) -> None:
    """Refuse a file with more lines than readers should have to walk."""
    if max(upload.body.count(b"\n"), upload.body.count(b"\r")) > limits.lines:
        raise BadData(
            f"has more than {limits.lines:,} lines; wanted fewer",
            source=upload.name,
            expected="fewer",
        )


def _read_paths(paths: Iterable[Path], limits: ImportLimits) -> list[Upload]:
    """Files on disk, and the files in folders."""
    found: list[Upload] = []
    for path in paths:
        if not path.exists():
            raise BadData("there is no such file", source=str(path), expected="a file or folder")
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
        raise BadData(
            f"is larger than the limit of {limits.bytes:,} bytes",
            source=name,
            expected="a smaller file",
        )
