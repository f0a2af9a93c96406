"""What a test says of an error: its place and its code, not its sentence."""

from __future__ import annotations

from adjudge.errors import AdjudgeError


def fault_of(error: AdjudgeError) -> str:
    """Return place and code: ``judgments.csv, line 17, column label: off-scale``."""
    place = getattr(error, "place", "")
    return f"{place}: {error.code}" if place else error.code
