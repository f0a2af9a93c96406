"""Memory of a process with many threads, given back to the system.

The C library keeps a stock of memory for each thread, up to eight for a processor: a request that
needed much leaves its thread's stock as large for good, and the server grows with every thread that
such a request comes to. Python runs one thread at a time, so that two stocks serve all as well.
"""

from __future__ import annotations

import contextlib
import ctypes

_ARENA_MAX = -8  # M_ARENA_MAX of glibc
_STOCKS = 2


def share_memory() -> None:
    """Let all threads take memory from the same few stocks; before there are many threads."""
    with contextlib.suppress(OSError, AttributeError):  # other C libraries have no such setting
        ctypes.CDLL(None).mallopt(_ARENA_MAX, _STOCKS)


def give_back() -> None:
    """Give memory that nobody uses back to the system."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
