"""What claims of papers share: differences with their errors, verdicts, and figures in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray


def error_of(values: NDArray[np.float64]) -> float:
    """The standard error of a mean over runs; of one run alone it is not known."""
    return float(values.std(ddof=1)) / len(values) ** 0.5 if len(values) > 1 else math.inf


def is_above(mean: float, error: float) -> bool | None:
    """Whether a difference is above 0; None where it is within two standard errors of it."""
    return None if abs(mean) <= 2 * error else mean > 0


def hold_all(signs: Iterable[bool | None]) -> bool | None:
    """Whether several things hold at once; None where one cannot be told and none is denied."""
    found = set(signs)
    return False if False in found else None if None in found else True


def write_values(values: Mapping[str, float], digits: int = 3) -> str:
    """Figures by name, in words."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


def write_verdict(holds: bool) -> str:
    """A verdict in the middle of a sentence."""
    return "holds" if holds else "does not hold"
