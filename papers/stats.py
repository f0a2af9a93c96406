"""Differences over runs, verdicts, figures as text, and the memory of this process."""

from __future__ import annotations

import math
import resource
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def standard_error(values: NDArray[np.float64]) -> float:
    """The standard error of a mean over runs; infinite for a single run."""
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else math.inf


def gap(one: Any, other: Any) -> tuple[float, float]:
    """The mean of paired differences over runs, and its standard error."""
    gaps = np.subtract(one, other)
    return float(gaps.mean()), standard_error(gaps)


def is_above(mean: float, error: float) -> bool | None:
    """Whether a difference is above 0; None within two standard errors."""
    return None if abs(mean) <= 2 * error else mean > 0


def hold_all(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold; None where some are undecided and none fails."""
    found = set(verdicts)
    return False if False in found else None if None in found else True


def listed(values: Mapping[Any, float], form: str = ".3f", at: str = "") -> str:
    """Values by name as text: ``name value``, or ``value at name``."""
    pairs = values.items()
    return ", ".join(f"{v:{form}} {at} {k}" if at else f"{k} {v:{form}}" for k, v in pairs)


def reset_peak_memory() -> None:
    """Forget the peak so far, where the system can."""
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """The largest memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else peak * 1024)
