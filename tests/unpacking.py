"""The data of a page, read again as its script reads it."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np
from numpy.typing import NDArray


def unpacked(text: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What was packed: texts, and arrays by name, flat."""
    block = gzip.decompress(base64.b64decode(text))
    length = int.from_bytes(block[:4], "little")
    texts: dict[str, Any] = json.loads(block[4 : 4 + length])
    start = 4 + length
    arrays = {
        name: np.frombuffer(block, kind, count, start + at)
        for name, (kind, at, count) in texts.pop("arrays").items()
    }
    return texts, arrays
