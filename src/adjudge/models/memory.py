"""What a fit takes in memory, held against what there is before it begins."""

from __future__ import annotations

from pathlib import Path

from adjudge.errors import BadData


def free_memory() -> int | None:
    """Bytes of memory that can still be had, or None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        return None
    return None


def check_rates(judges: int, types: int, labels: int, tables: int) -> None:
    """Refuse rates of judges, in that many tables at once, that would not fit into memory."""
    need, free = judges * types * labels * 8 * tables, free_memory()
    if free is not None and need > free:
        raise BadData(
            f"{labels:,} labels by {judges:,} judges: how each judge labels each truth would take "
            f"about {need / 2**30:,.0f} GB, and {free / 2**30:,.1f} GB are free; fewer labels or "
            "judges are wanted (numbers can be read as such or put into bins: --continuous, --bin)"
        )
