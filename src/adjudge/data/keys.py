"""Short ids as 64-bit keys: text that differs only in its last 8 bytes is coded as whole numbers.

Ids such as ``item-0544727``, ``w12`` or ``3`` begin alike and end differently. Where all of a
column's ids have one beginning and at most 8 bytes after it, those bytes are a number that tells
the ids apart exactly, and a hash table of numbers is faster than one of texts. Where equal ids
stand together, as in a file that is grouped by item, only the first of each run is looked up.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Keys = NDArray[np.uint8] | NDArray[np.uint64]

_WIDTH = 8
_MASKS = np.array([(1 << 8 * width) - 1 for width in range(_WIDTH + 1)], dtype=np.uint64)


def encode_short(column: Any) -> tuple[NDArray[np.int32], Any] | None:
    """Codes and names in order of first appearance; None if the ids are not short in this sense."""
    if sys.byteorder != "little" or column.null_count or not len(column):
        return None
    chunks = [chunk for chunk in column.chunks if len(chunk)]
    longest = max(int(np.diff(_ends(chunk)).max()) for chunk in chunks)
    start = chunks[0][0].as_buffer().to_pybytes()[: max(longest - _WIDTH, 0)]
    shape = _Shape(start, longest)
    first = shape.keys(chunks[0])
    if first is None:
        return None
    if 2 * np.count_nonzero(first[1:] != first[:-1]) < first.size:
        return _encode_runs(chunks, shape)
    every = np.empty(len(column), dtype=first.dtype)
    row = 0
    for chunk in chunks:
        keys = shape.keys(chunk)
        if keys is None:
            return None
        every[row : row + len(chunk)] = keys
        row += len(chunk)
    encoded = pa.array(every).dictionary_encode()
    return encoded.indices.to_numpy(), shape.names(encoded.dictionary.to_numpy())


def _encode_runs(chunks: list[Any], shape: _Shape) -> tuple[NDArray[np.int32], Any] | None:
    """Codes and names, each run of equal keys looked up once."""
    heads, counts = [], []
    for chunk in chunks:
        keys = shape.keys(chunk)
        if keys is None:
            return None
        begins = np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1)
        heads.append(keys[begins])
        counts.append(np.diff(begins, append=len(keys)))
    encoded = pa.array(np.concatenate(heads)).dictionary_encode()
    codes = np.repeat(encoded.indices.to_numpy(), np.concatenate(counts))
    return codes, shape.names(encoded.dictionary.to_numpy())


def _ends(chunk: Any) -> NDArray[Any]:
    """Where each text of a chunk ends and the next begins."""
    width = np.int64 if pa.types.is_large_string(chunk.type) else np.int32
    offsets = np.frombuffer(chunk.buffers()[1], dtype=width)
    return offsets[chunk.offset : chunk.offset + len(chunk) + 1]


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the ids of a column have in common: how they begin, and how long the longest is."""

    start: bytes
    longest: int

    def keys(self, chunk: Any) -> Keys | None:
        """The key of each id of a chunk; None if one begins otherwise or holds a NUL."""
        ends, common = _ends(chunk), len(self.start)
        lengths = np.diff(ends)  # (row,)
        if int(lengths.min()) < common or common < self.longest - _WIDTH:
            return None
        first, last = int(ends[0]), int(ends[-1])
        data = np.zeros(last - first + _WIDTH, dtype=np.uint8)  # with room to read beyond the end
        data[: last - first] = np.frombuffer(chunk.buffers()[2] or b"", dtype=np.uint8)[first:last]
        if not data[: last - first].all():
            return None
        alike = len(chunk) * self.longest == last - first
        if self.longest <= 1:
            return data[:-_WIDTH] if alike and self.longest else None
        # Eight bytes as a number, from every byte of the data on.
        words = np.ndarray((last - first + 1,), dtype=np.uint64, buffer=data, strides=(1,))

        def at(byte: int) -> Any:
            if alike:
                return words[byte :: self.longest][: len(chunk)]
            return words[ends[:-1] - first + byte]

        for byte in range(0, common, _WIDTH):
            piece = self.start[byte : byte + _WIDTH]
            wanted = np.uint64(int.from_bytes(piece, "little"))
            if bool(((at(byte) ^ wanted) & _MASKS[len(piece)]).any()):
                return None
        keys: NDArray[np.uint64] = (
            at(common) & _MASKS[self.longest - common if alike else lengths - common]
        )
        return keys

    def names(self, keys: Keys) -> Any:
        """The ids of keys, as one large-string array."""
        large = pa.large_binary()
        ending = pa.array(keys.view(f"S{keys.itemsize}"), large)  # NULs at the end are cut off
        start, nothing = pa.scalar(self.start, large), pa.scalar(b"", large)
        joined = pc.binary_join_element_wise(start, ending, nothing)
        return joined.cast(pa.large_string())
