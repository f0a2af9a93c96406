"""Buffers for what a sweep leaves of every item: in memory, or in a file where judgments are."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from numpy.typing import NDArray

from adjudge.data.mapped import map_of
from adjudge.engines.engine import Coded
from adjudge.engines.shared import Shared, shared_array

_LARGE = 64 * 2**20  # bytes from which a file is worth it
_WORTH = 4 * 2**20  # bytes from which sharing is


def make_buffer(judgments: Coded, truths: int) -> NDArray[np.float64]:  # (item, truth)
    """An array to write posteriors to.

    Judgments that are mapped from disk may have more items than memory has room for; theirs is a
    map of a file without a name, which goes with the array. The file is where temporary files are.
    """
    shape = (judgments.item_count, truths)
    if not _is_on_disk(judgments, truths):
        return np.empty(shape, dtype=np.float64)
    with tempfile.TemporaryFile(prefix="adjudge-") as file:
        os.ftruncate(file.fileno(), 8 * shape[0] * truths)
        return np.asarray(np.memmap(file, dtype=np.float64, mode="r+", shape=shape))


def make_shared_buffer(judgments: Coded, truths: int) -> Shared | None:  # (item, truth)
    """The same, for processes of this machine to write to; None where sending costs less."""
    if 8 * judgments.item_count * truths < _WORTH:
        return None
    shape = (judgments.item_count, truths)
    return shared_array(np.float64, shape, on_disk=_is_on_disk(judgments, truths))


def keep_shared(shared: Shared, judgments: Coded) -> NDArray[np.float64]:  # (item, truth)
    """What was written into a shared buffer, to keep: in memory of its own, or the file itself."""
    if _is_on_disk(judgments, shared.array.shape[1]):
        return shared.array
    return np.array(shared.array)


def _is_on_disk(judgments: Coded, truths: int) -> bool:
    return map_of(judgments.judge) is not None and 8 * judgments.item_count * truths >= _LARGE
