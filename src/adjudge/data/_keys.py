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

_Codes = NDArray[np.int32]
_Keys = NDArray[np.uint8] | NDArray[np.uint64]
_Slab = tuple[NDArray[Any], NDArray[np.uint8]]  # where each text ends and the next begins; bytes

_SLAB = 65_536  # rows
_WIDTH = 8  # bytes of a key
_ROOM = 4  # places in a table of numbers, for each row
_ZEROS = np.uint64(0x3030303030303030)
_SIXES = np.uint64(0x0606060606060606)
_HIGH = np.uint64(0xF0F0F0F0F0F0F0F0)
_LOW = np.uint64(0x0F0F0F0F0F0F0F0F)
_MASKS = np.array([(1 << 8 * width) - 1 for width in range(_WIDTH + 1)], dtype=np.uint64)


def encode_short(column: Any) -> tuple[_Codes, Any] | None:
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
    if keys.dtype == np.uint8:
        return _encode_letters(column, shape)
    if not grouped:
        numbered = _encode_numbers(column, shape, keys)
        if numbered is not None:
            return numbered
    found = _encode_runs(column, shape) if grouped else _encode_rows(column, shape, keys.dtype)
    return None if found is None else (found[0], shape.names(found[1]))


def _encode_letters(column: Any, shape: _Shape) -> tuple[_Codes, Any] | None:
    """Codes and names of ids of one byte, such as most labels are: a table of 256 places."""
    codes = np.empty(len(column), dtype=np.int32)
    table = np.full(256, -1, dtype=np.int32)
    distinct: list[int] = []
    row = 0
    for slab in _slabs(column):
        keys = shape.keys(slab)
        if keys is None:
            return None
        found = table[keys]
        if found.min() < 0:
            letters, first = np.unique(keys, return_index=True)
            for letter in letters[np.argsort(first)].tolist():
                if table[letter] < 0:
                    table[letter] = len(distinct)
                    distinct.append(letter)
            found = table[keys]
        codes[row : row + keys.size] = found
        row += keys.size
    return codes, shape.names(np.array(distinct, dtype=np.uint8))


def _encode_numbers(column: Any, shape: _Shape, some: _Keys) -> tuple[_Codes, Any] | None:
    """Codes and names of ids that end in a number of fixed width; None if these do not.

    Such numbers are places in a table: no hash is needed. The table may have a few times as many
    places as there are rows, not more.
    """
    fixed = _Digits.of(some, shape)
    if fixed is None or 10**fixed.width > _ROOM * len(column):
        return None
    numbers = np.empty(len(column), dtype=np.int32)
    row = 0
    for slab in _slabs(column):
        keys = shape.keys(slab) if (np.diff(slab[0]) == shape.longest).all() else None
        found = None if keys is None else fixed.numbers(keys)
        if found is None:
            return None
        numbers[row : row + found.size] = found
        row += found.size
    first = np.full(10**fixed.width, row, dtype=np.int32)
    first[numbers[::-1]] = np.arange(row - 1, -1, -1, dtype=np.int32)  # the first row comes last
    present = np.flatnonzero(first < row)
    distinct = present[np.argsort(first[present])]
    first[distinct] = np.arange(distinct.size, dtype=np.int32)
    return np.asarray(first[numbers]), fixed.names(distinct)


@dataclass(frozen=True, slots=True)
class _Digits:
    """Ids of one length that begin alike and end in a number: their beginning, its width."""

    start: bytes
    skip: int  # bytes of a key before the number
    width: int

    @classmethod
    def of(cls, some: _Keys, shape: _Shape) -> _Digits | None:
        """What the keys of a few ids suggest: digits at the end, all before them alike."""
        size = shape.longest - len(shape.start)
        if some.dtype != np.uint64 or size < 2:
            return None
        letters = some.view(np.uint8).reshape(-1, _WIDTH)[:, :size]
        digit = np.asarray(((letters >= 48) & (letters <= 57)).all(axis=0))
        width = int(np.argmin(np.append(digit[::-1], False)))
        before = letters[:, : size - width]
        if width < 1 or (before != before[:1]).any():
            return None
        return cls(shape.start + before[0].tobytes(), size - width, width)

    def numbers(self, keys: _Keys) -> NDArray[np.int64] | None:
        """The number in each key; None where one begins otherwise or has something else in it."""
        start = np.uint64(int.from_bytes(self.start[len(self.start) - self.skip :], "little"))
        if self.skip and ((keys & _MASKS[self.skip]) != start).any():
            return None
        # Eight digits, zeros before the number, first digit in the lowest byte.
        left = np.uint64(8 * (_WIDTH - self.width))
        text = keys >> np.uint64(8 * self.skip)
        text = (text << left) | (_ZEROS & _MASKS[_WIDTH - self.width])
        if (((text + _SIXES) | text) & _HIGH != _ZEROS).any():
            return None
        # Neighbours are put together: digits to pairs, pairs to fours, fours to the number.
        text = ((text & _LOW) * np.uint64(2561)) >> np.uint64(8)
        text = ((text & np.uint64(0x00FF00FF00FF00FF)) * np.uint64(6553601)) >> np.uint64(16)
        text = ((text & np.uint64(0x0000FFFF0000FFFF)) * np.uint64(42949672960001)) >> np.uint64(32)
        return np.asarray(text, dtype=np.int64)

    def names(self, numbers: NDArray[np.int64]) -> Any:
        """The ids of numbers, as one large-string array."""
        large = pa.large_string()
        padded = pc.utf8_lpad(pa.array(numbers).cast(large), self.width, "0")
        start, nothing = pa.scalar(self.start.decode(), large), pa.scalar("", large)
        return pc.binary_join_element_wise(start, padded, nothing)


def _encode_rows(column: Any, shape: _Shape, kind: Any) -> tuple[_Codes, _Keys] | None:
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


def _encode_runs(column: Any, shape: _Shape) -> tuple[_Codes, _Keys] | None:
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


def _slabs(column: Any) -> Iterator[_Slab]:
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


def _first_text(slab: _Slab) -> bytes:
    ends, data = slab
    return data[ends[0] : ends[1]].tobytes()


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the ids of a column have in common: how they begin, and how long the longest is."""

    start: bytes
    longest: int

    def keys(self, slab: _Slab) -> _Keys | None:
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

    def _keys(self, ends: NDArray[Any], text: NDArray[np.uint8], alike: bool) -> _Keys | None:
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

    def names(self, keys: _Keys) -> Any:
        """The ids of keys, as one large-string array."""
        large = pa.large_binary()
        ending = pa.array(keys.view(f"S{keys.itemsize}"), large)  # NULs at the end are cut off
        start, nothing = pa.scalar(self.start, large), pa.scalar(b"", large)
        return pc.binary_join_element_wise(start, ending, nothing).cast(pa.large_string())
