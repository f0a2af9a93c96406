"""Run a command in a process: its CPU time, wall time and peak memory."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any


class Failed(Exception):
    """A command that ended badly, with the last of what it printed."""


def measured(
    command: list[str], *, env: dict[str, str] | None = None, cwd: Path | None = None
) -> Any:
    """CPU and wall seconds and the most bytes of resident memory, and what was printed.

    The system counts the memory of a process from that of its parent on, so the caller should be
    small: it should not have imported anything large.
    """
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=printed,
            stderr=said,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        said.seek(0)
        text, faults = printed.read(), said.read()
    if process.returncode != 0:
        last = (text + faults)[-2000:]
        raise Failed(f"{Path(command[0]).name} ended with {process.returncode}:\n{last}")
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "peak": usage.ru_maxrss * 1024,
        "printed": text,
    }
