"""How much memory is free, where the machine says so."""

from __future__ import annotations

from pathlib import Path


def free_memory() -> int | None:
    """Bytes of memory that can still be had, or None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None
    return None
