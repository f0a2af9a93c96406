"""Data for a page: columns as bytes, compressed, in letters that no page can misread.

The block is four bytes that say how long the header is, the header (JSON: where each array stands,
and texts), and the arrays, each from a multiple of eight bytes on. Compressed and in base64 it
holds no character that ends a script, so that names in it can do no harm.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "float32": 4}
_TYPES["float64"] = 8
_ALIGNED = 8


def packed(texts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Texts and other plain values, and arrays by name, as one line of base64."""
    places: dict[str, tuple[str, int, int]] = {}
    parts: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array).reshape(-1)
        if flat.dtype.name not in _TYPES:
            raise TypeError(f"{name} is {flat.dtype.name}, which no page can read")
        data = flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes()
        places[name] = (flat.dtype.name, at, len(flat))
        padding = -len(data) % _ALIGNED
        parts += [data, b"\0" * padding]
        at += len(data) + padding
    header = json.dumps(
        {"arrays": places, **texts}, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    ).encode("utf-8", "replace")
    header += b" " * (-(4 + len(header)) % _ALIGNED)
    block = len(header).to_bytes(4, "little") + header + b"".join(parts)
    return base64.b64encode(gzip.compress(block, 6, mtime=0)).decode("ascii")


def smallest(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in the smallest type that holds them."""
    if not len(values):
        return values.astype(np.uint8)
    low, high = int(values.min()), int(values.max())
    kinds = ("int8", "int16", "int32") if low < 0 else ("uint8", "uint16", "uint32")
    for kind in kinds:
        bounds = np.iinfo(kind)
        if bounds.min <= low and high <= bounds.max:
            return values.astype(kind)
    return values.astype(np.float64)


SHARES = 10_000  # a share of 1 as a whole number


def shares(values: NDArray[Any]) -> NDArray[np.uint16]:
    """Shares from 0 to 1 in two bytes each; what is unknown is the largest number there is."""
    known = np.isfinite(values)
    scaled = np.rint(np.clip(np.where(known, values, 0.0), 0.0, 6.0) * SHARES)
    return np.where(known, scaled, 65_535).astype(np.uint16)
