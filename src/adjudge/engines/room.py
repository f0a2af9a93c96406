"""Room for what a sweep leaves of every item: in memory, or in a file beside judgments on disk."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from numpy.typing import NDArray

from adjudge.data.mapped import map_of
from adjudge.engines.engine import Coded

_LARGE = 64 * 2**20  # bytes from which a file is worth it


def room_for(judgments: Coded, truths: int) -> NDArray[np.float64]:  # (item, truth)
    """An array to write posteriors to.

    Judgments that are mapped from disk may have more items than memory has room for; theirs is a
    map of a file without a name, which goes with the array. The file is where temporary files are.
    """
    shape = (judgments.item_count, truths)
    size = 8 * shape[0] * truths
    if map_of(judgments.judge) is None or size < _LARGE:
        return np.empty(shape, dtype=np.float64)
    with tempfile.TemporaryFile(prefix="adjudge-") as file:
        os.ftruncate(file.fileno(), size)
        return np.asarray(np.memmap(file, dtype=np.float64, mode="r+", shape=shape))
