"""Archives and packed files, unpacked by every method under one limit on bytes, members and ratio.

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
from typing import Protocol

from adjudge.collect.importing.upload import ImportLimits, Upload, check_size
from adjudge.errors import BadData

_PIECE = 65_536  # bytes that are unpacked at a time
_SMALL = 1_000_000  # bytes that anything may unpack to, whatever the ratio
_ZIP, _GZIP, _BZIP2 = b"PK\x03\x04", b"\x1f\x8b", b"BZh"  # how they begin
_ENTRY = b"PK\x01\x02"  # how each entry of an archive's table of contents begins
_FAULTS = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)


class _Unpacker(Protocol):
    """What unpacks one stream: at most so many bytes at a call."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def unpack_all(uploads: Iterable[Upload], limits: ImportLimits) -> list[Upload]:
    """The files with archives opened, within limits on them all together."""
    room = limits.bytes
    found: list[Upload] = []
    for upload in uploads:
        for part in _unpack(upload, room, limits):
            room -= len(part.body)
            if room < 0:
                check_size(upload.name, limits.bytes - room, limits)
            _check_lines(part, limits)
            found.append(part)
            if len(found) > limits.files:
                message = f"there are more than {limits.files:,} files"
                raise BadData(message, source=upload.name, wanted="fewer")
    return found


def is_packed(upload: Upload) -> bool:
    """Whether a file is an archive, or packed, and holds more than its size."""
    return upload.body.startswith((_ZIP, _GZIP, _BZIP2))


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
            wanted="less",
        )
    return BadData(f"unpacks to more than {room:,} bytes; wanted less", source=name, wanted="less")


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
            raise BadData(message, source=upload.name, wanted="CSV UTF-8")
    if count > limits.files:
        raise BadData(
            f"there are {count:,} files in the archive; wanted at most {limits.files:,}",
            source=upload.name,
        )
    if any(entry.filename == "[Content_Types].xml" for entry in entries):
        raise BadData("is a spreadsheet; wanted CSV (save as CSV)", source=upload.name)
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
        raise BadData(message, source=upload.name, wanted="deflate, bzip2 or LZMA")
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
            wanted="fewer",
        )
