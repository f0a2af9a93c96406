"""A fixed piece of work, by whose time the times of a run can be compared with those of another.

Machines differ, and so does how busy one is. The work looks up and adds at places in a table, takes
exponentials and sorts, as a sweep and a reader do, and calls nothing of adjudge.
"""

from __future__ import annotations

import time

import numpy as np

_NUMBERS = 500_000
_CELLS = 100_000


def calibrate(turns: int = 5) -> float:
    """CPU seconds of the work, the least of a few turns."""
    rng = np.random.default_rng(1)
    places = rng.integers(0, _CELLS, _NUMBERS)
    table, values = rng.normal(size=_CELLS), rng.normal(size=_NUMBERS)
    best = float("inf")
    for _ in range(turns):
        begin = time.process_time()
        sums = np.bincount(places, weights=np.exp(table[places]), minlength=_CELLS)
        np.sort(values * sums[places])
        best = min(best, time.process_time() - begin)
    return best
