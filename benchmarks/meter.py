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
    """``with Meter() as meter: work()``; then ``meter.reading``."""

    reading: dict[str, float | None]

    def __enter__(self) -> Meter:
        gc.collect()
        self._can_reset = _give_back() and _reset_peak()
        self._before = _resident("VmRSS")
        self._used, self._wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        used, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter() - self._wall
        peak = _resident("VmHWM") - self._before if self._can_reset else None
        system = used.ru_stime - self._used.ru_stime
        cpu = used.ru_utime - self._used.ru_utime + system
        self.reading = {"cpu": cpu, "system": system, "wall": wall, "peak": peak}


def _resident(field: str) -> int:
    """Bytes of resident memory: now (VmRSS) or at most since the last reset (VmHWM)."""
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def _give_back() -> bool:
    """Give freed memory back to the system, where the C library can."""
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
