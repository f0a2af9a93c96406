"""What Python takes in memory while something is done.

``tracemalloc`` may not be stopped while a thread asks for memory without holding Python's lock:
before CPython 3.13 the process then dies. Arrow's threads do ask so, at times after the reading
that started them has ended. So a module of tests starts it once, by the fixture ``memory``, and it
is stopped when the other threads have nothing left to do.
"""

from __future__ import annotations

import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from waiting import wait_until


class Memory:
    """Counts what is allocated."""

    def now(self) -> int:
        """Bytes that are held."""
        return tracemalloc.get_traced_memory()[0]

    @contextmanager
    def peak(self) -> Iterator[list[int]]:
        """The most bytes held within, over what was held before; in the list when it has ended."""
        found: list[int] = []
        tracemalloc.reset_peak()
        before = self.now()
        yield found
        found.append(tracemalloc.get_traced_memory()[1] - before)


@contextmanager
def counted() -> Iterator[Memory]:
    """Count from now on, and end when no other thread is at work."""
    tracemalloc.start()
    try:
        yield Memory()
    finally:
        wait_until(_all_rest, 300, "the other threads of the process rest")
        tracemalloc.stop()


def _all_rest() -> bool:
    """Whether every other thread waits, seen several times over while it may have Python's lock."""
    for _ in range(5):
        time.sleep(0.01)
        if any(_runs(task) for task in Path("/proc/self/task").glob("*/stat")):
            return False
    return True


def _runs(stat: Path) -> bool:
    if int(stat.parent.name) == threading.get_native_id():
        return False
    try:
        return stat.read_text().rpartition(")")[2].split()[0] == "R"
    except (FileNotFoundError, ProcessLookupError):
        return False  # ended meanwhile
