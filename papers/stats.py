"""Intervals of means and differences, and the peak memory of this process."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.stats import norm, t

_T = TypeVar("_T")
LEAST_SEEDS = 3  # with fewer there is no verdict


class Interval(NamedTuple):
    """A mean and its 95% interval."""

    mean: float
    low: float
    high: float

    def above(self, value: float = 0.0) -> bool | None:
        """Whether the mean is above a value; None where the interval contains the value."""
        return None if self.low <= value <= self.high else self.low > value

    def within(self, margin: float) -> bool | None:
        """Whether the mean is less than ``margin`` from 0; None where it may or may not be."""
        if self.low > margin or self.high < -margin:
            return False
        return True if -margin <= self.low and self.high <= margin else None

    def show(self, form: str = "+.3f") -> str:
        """The interval as text; empty where there are too few seeds for one."""
        return "" if np.isnan(self.low) else f"[{self.low:{form}}, {self.high:{form}}]"


def over_runs(values: Any) -> Interval:
    """The mean over independent runs, with Student's interval; NaN for fewer than three."""
    found = np.asarray(values, dtype=np.float64)
    mean, count = float(found.mean()), len(found)
    if count < LEAST_SEEDS:
        return Interval(mean, np.nan, np.nan)
    half = float(t.ppf(0.975, count - 1) * found.std(ddof=1) / count**0.5)
    return Interval(mean, mean - half, mean + half)


def over_items(ones: Sequence[Any], others: Sequence[Any]) -> Interval:
    """The mean difference of paired items, with the interval that one split of the items has.

    Splits share most of their items, so an interval over splits would be far too narrow.
    """
    gaps = [np.subtract(a, b, dtype=np.float64) for a, b in zip(ones, others, strict=True)]
    mean = float(np.mean([gap.mean() for gap in gaps]))
    half = float(norm.ppf(0.975) * np.mean([gap.std(ddof=1) / len(gap) ** 0.5 for gap in gaps]))
    return Interval(mean, mean - half, mean + half)


def of_draws(values: Any) -> Interval:
    """The mean of posterior draws and their central 95%."""
    return Interval(float(np.mean(values)), *map(float, np.quantile(values, (0.025, 0.975))))


def hold_all(verdicts: Iterable[bool | None]) -> bool | None:
    """Whether all hold; None where some are undecided and none fails."""
    found = set(verdicts)
    return False if False in found else None if None in found else True


def listed(values: Mapping[Any, float], form: str = ".3f") -> str:
    """Values by name as text."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def measure_memory(call: Callable[[], _T]) -> tuple[_T, float]:
    """What a call gives, and the largest memory of this process in bytes during it.

    Where the system cannot forget an earlier peak, it is the largest so far.
    """
    if Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    found = call()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found, float(peak if sys.platform == "darwin" else peak * 1024)
