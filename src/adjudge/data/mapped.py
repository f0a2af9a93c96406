"""Arrays mapped from files: read when touched, and given back when a sweep has gone past them.

The system keeps pages of a mapped file as long as memory lasts. A sweep through a file that is
larger than memory says itself what it is done with, so that its footprint is stated and bounded,
and does not depend on what else the machine does. ``even_cuts`` cuts items into runs to be swept.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Span = tuple[int, int]  # entries of an array, from and to


class _FileMap(mmap.mmap):
    """A file mapped for reading, which knows its file."""

    path: Path


def _map_file(path: Path) -> _FileMap | None:
    """A file as a map; None for an empty one, which cannot be mapped."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return None
        made = _FileMap(file.fileno(), 0, access=mmap.ACCESS_READ)
    made.path = path.resolve()
    return made


def map_array(path: Path, kind: Any) -> NDArray[Any]:
    """A file of plain numbers as an array that cannot be written."""
    held = _map_file(path)
    return np.empty(0, dtype=kind) if held is None else np.frombuffer(held, dtype=kind)


def map_of(array: NDArray[Any] | None) -> mmap.mmap | None:
    """The map that an array is a view of, or None for an array in memory of its own."""
    base: Any = array
    while base is not None:
        if isinstance(base, mmap.mmap):
            return base
        base = base.obj if isinstance(base, memoryview) else getattr(base, "base", None)
    return None


def path_of(array: NDArray[Any] | None) -> Path | None:
    """The file that an array is the whole of, or None."""
    held = map_of(array)
    if array is None or not isinstance(held, _FileMap) or len(held) != array.nbytes:
        return None
    return held.path


def releaser(*arrays: NDArray[Any] | None) -> Callable[..., None] | None:
    """What gives back spans of arrays, one span an array; None if none of them is mapped.

    Spans are along the first axis.
    """
    maps = [map_of(array) for array in arrays]
    if not any(held is not None for held in maps) or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    mapped = [
        (place, array, held, _start(array, held))
        for place, (array, held) in enumerate(zip(arrays, maps, strict=True))
        if array is not None and held is not None
    ]

    def release(*spans: _Span) -> None:
        for place, array, held, start in mapped:
            first, last = spans[place]
            # Whole pages within the span: their neighbours may be in use.
            page, row = mmap.PAGESIZE, array.strides[0]
            begin = -(-(start + first * row) // page) * page
            end = (start + last * row) // page * page
            if end > begin:
                held.madvise(mmap.MADV_DONTNEED, begin, end - begin)

    return release


def _start(array: NDArray[Any], held: mmap.mmap) -> int:
    """Bytes from the beginning of a map to that of an array on it."""
    whole = np.frombuffer(held, dtype=np.uint8)
    return int(array.__array_interface__["data"][0] - whole.__array_interface__["data"][0])


def even_cuts(offsets: NDArray[np.int64], count: int) -> list[int]:
    """Cuts between items that give each of ``count`` runs about as many judgments."""
    items = len(offsets) - 1
    if items == 0:
        return [0, 0]
    wanted = np.linspace(0, offsets[-1], count + 1)[1:-1]
    cuts = np.searchsorted(offsets, wanted)
    return sorted({0, *np.clip(cuts, 0, items).tolist(), items})
