"""CPU time, wall time and peak memory of a stretch of work; needs nothing but Python and Linux.

CPU time is that of the user and of the system, of all threads of the process.

Memory is counted over what was there when the stretch began: the high-water mark of resident
memory, set back by the system at the start, less what was resident then. Memory that had been freed
but not given back is given back first, or the stretch would use it unseen.
"""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

STATUS = Path("/proc/self/status")


class Meter:
    """``with Meter() as meter: work()``; then ``meter.reading``.

    With a client of a Dask cluster, the processes of the cluster count too: CPU time and memory are
    sums over all of them. Pages of a file that several of them map are counted several times.
    """

    reading: dict[str, float | None]

    def __init__(self, cluster: Any = None) -> None:
        self.cluster = cluster

    def __enter__(self) -> Meter:
        gc.collect()
        self._before = self._everywhere(begin)
        self._wall = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        wall = time.perf_counter() - self._wall
        pairs = list(zip(self._before, self._everywhere(look), strict=True))
        system = sum(now[1] - then[1] for then, now in pairs)
        cpu = sum(now[0] - then[0] for then, now in pairs) + system
        can = all(then[3] for then, _ in pairs)
        peak = sum(now[2] - then[2] for then, now in pairs) if can else None
        self.reading = {"cpu": cpu, "system": system, "wall": wall, "peak": peak}

    def _everywhere(self, function: Any) -> list[tuple[float, float, int, bool]]:
        """What a function says here, and on every process of the cluster."""
        there = {} if self.cluster is None else self.cluster.run(function)
        return [function(), *(there[address] for address in sorted(there))]


def begin() -> tuple[float, float, int, bool]:
    """User and system seconds so far, bytes resident now, and whether the peak was set back."""
    can_reset = _give_back() and _reset_peak()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime, _resident("VmRSS"), can_reset


def look() -> tuple[float, float, int, bool]:
    """User and system seconds so far, and the most bytes that were resident."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime, used.ru_stime, _resident("VmHWM"), True


def _resident(field: str) -> int:
    """Bytes of resident memory: now (VmRSS) or at most since the last reset (VmHWM)."""
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _give_back() -> bool:
    """Give freed memory back to the system, where it can be; Arrow has a pool of its own."""
    arrow = sys.modules.get("pyarrow")
    if arrow is not None:
        arrow.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def answer(tasks: dict[str, Any]) -> None:
    """Run the task named on the command line with its settings in JSON; print what it returns."""
    name, settings = sys.argv[1], json.loads(sys.argv[2])
    print(json.dumps(tasks[name](**settings)))
