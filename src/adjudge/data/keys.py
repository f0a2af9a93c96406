"""Short ids as 64-bit keys: text that differs only in its last 8 bytes is coded as whole numbers.

Ids such as ``item-0544727``, ``w12`` or ``3`` begin alike and end differently. Where all of a
column's ids have one beginning and at most 8 bytes after it, those bytes are a number that tells
the ids apart exactly, and a hash table of numbers is faster than one of texts. Where equal ids
stand together, as in a file that is grouped by item, only the first of each run is looked up.

Columns are gone through in slabs that stay in the nearest cache, beside all that is made of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Keys = NDArray[np.uint8] | NDArray[np.uint64]
Slab = tuple[NDArray[Any], NDArray[np.uint8]]  # where each text ends and the next begins; bytes

_SLAB = 8192  # rows
_WIDTH = 8  # bytes of a key
_MASKS = np.array([(1 << 8 * width) - 1 for width in range(_WIDTH + 1)], dtype=np.uint64)


def encode_short(column: Any) -> tuple[Codes, Any] | None:
    """Codes and names in order of first appearance; None if the ids are not short in this sense."""
    text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    if sys.byteorder != "little" or not text or column.null_count or not len(column):
        return None
    longest = max(int(np.diff(ends).max()) for ends, _ in _slabs(column))
    first = next(_slabs(column))
    shape = _Shape(_first_text(first)[: max(longest - _WIDTH, 0)], longest)
    keys = shape.keys(first)
    if keys is None:
        return None
    grouped = 2 * np.count_nonzero(keys[1:] != keys[:-1]) < keys.size
    found = _encode_runs(column, shape) if grouped else _encode_rows(column, shape, keys.dtype)
    return None if found is None else (found[0], shape.names(found[1]))


def _encode_rows(column: Any, shape: _Shape, kind: Any) -> tuple[Codes, Keys] | None:
    """Codes and distinct keys, every row looked up."""
    every = np.empty(len(column), dtype=kind)
    row = 0
    for slab in _slabs(column):
        keys = shape.keys(slab)
        if keys is None:
            return None
        every[row : row + keys.size] = keys
        row += keys.size
    encoded = pa.array(every).dictionary_encode()
    return np.array(encoded.indices), encoded.dictionary.to_numpy()


def _encode_runs(column: Any, shape: _Shape) -> tuple[Codes, Keys] | None:
    """Codes and distinct keys, each run of equal keys looked up once."""
    heads, counts = [], []
    for slab in _slabs(column):
        keys = shape.keys(slab)
        if keys is None:
            return None
        begins = np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1)
        heads.append(keys[begins])
        counts.append(np.diff(begins, append=keys.size))
    encoded = pa.array(np.concatenate(heads)).dictionary_encode()
    codes = np.repeat(encoded.indices.to_numpy(), np.concatenate(counts))
    return codes, encoded.dictionary.to_numpy()


def _slabs(column: Any) -> Iterator[Slab]:
    """A column of text in pieces: where each text ends and the next begins, and the bytes."""
    for chunk in column.chunks:
        if not len(chunk):
            continue
        _, offsets, data = chunk.buffers()
        width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
        ends = np.frombuffer(offsets, dtype=width)[chunk.offset : chunk.offset + len(chunk) + 1]
        held = np.frombuffer(data or b"", dtype=np.uint8)
        for row in range(0, len(chunk), _SLAB):
            yield ends[row : row + _SLAB + 1], held


def _first_text(slab: Slab) -> bytes:
    ends, data = slab
    return data[ends[0] : ends[1]].tobytes()


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the ids of a column have in common: how they begin, and how long the longest is."""

    start: bytes
    longest: int

    def keys(self, slab: Slab) -> Keys | None:
        """The key of each id of a slab; None if one begins otherwise or holds a NUL."""
        ends, data = slab
        first, last, rows = int(ends[0]), int(ends[-1]), len(ends) - 1
        text = data[first:last]
        alike = rows * self.longest == text.size
        if text.min(initial=1) == 0:
            return None
        if self.longest <= 1:
            return text if alike and self.longest else None
        room = text.size + _WIDTH  # to read eight bytes from the last of them on
        text = data[first : first + room]
        if text.size < room:
            text = np.append(text, np.zeros(room - text.size, dtype=np.uint8))
        return self._keys(ends, text, alike)

    def _keys(self, ends: NDArray[Any], text: NDArray[np.uint8], alike: bool) -> Keys | None:
        rows, common = len(ends) - 1, len(self.start)
        lengths = np.diff(ends)  # (row,)
        if common < self.longest - _WIDTH or int(lengths.min()) < common:
            return None
        # Eight bytes as a number, from every byte of the text on.
        words = np.ndarray((text.size - _WIDTH + 1,), dtype=np.uint64, buffer=text, strides=(1,))

        def at(byte: int) -> Any:
            if alike:
                return words[byte :: self.longest][:rows]
            return words[ends[:-1] - ends[0] + byte]

        for byte in range(0, common, _WIDTH):
            piece = self.start[byte : byte + _WIDTH]
            wanted = np.uint64(int.from_bytes(piece, "little"))
            if bool(((at(byte) ^ wanted) & _MASKS[len(piece)]).any()):
                return None
        mask = _MASKS[self.longest - common] if alike else _MASKS[lengths - common]
        keys: NDArray[np.uint64] = at(common) & mask
        return keys

    def names(self, keys: Keys) -> Any:
        """The ids of keys, as one large-string array."""
        large = pa.large_binary()
        ending = pa.array(keys.view(f"S{keys.itemsize}"), large)  # NULs at the end are cut off
        start, nothing = pa.scalar(self.start, large), pa.scalar(b"", large)
        return pc.binary_join_element_wise(start, ending, nothing).cast(pa.large_string())
