"""Scores with intervals, intervals of shares, and tables of results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import betaincinv


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One number that was measured; NaN, with the reason, where it cannot be.

    ``low`` and ``high`` are its interval, or None without one.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def undefined(cls, name: str, reason: str) -> Score:
        """Return a score without a value, and why."""
        return cls(name=name, value=math.nan, reason=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def shown(self) -> Score:
        """The score as shown to people: a corrected error below 0 is 0."""
        if self.name != "corrected_calibration_error":
            return self
        bounds = [None if end is None else max(0.0, end) for end in (self.low, self.high)]
        value = self.value if self.value > 0 or not self.defined else 0.0
        return replace(self, value=value, low=bounds[0], high=bounds[1])

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if not self.defined:
            return f"{self.name} undefined: {self.reason}"
        shown = self.shown
        if shown.low is None or shown.high is None:
            return f"{self.name} {shown.value:.3f}"
        return f"{self.name} {shown.value:.3f} ({shown.low:.3f} to {shown.high:.3f})"


# Not ``scipy.stats.binomtest``: hits may be a mean over runs.
def wilson(hits: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """Return the Wilson interval of a share: ``hits`` of ``count``.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). Without counts: from 0 to 1.
    """
    if count <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = hits / count
    middle = share + z * z / (2 * count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)


def jeffreys(
    hits: Any, count: Any, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of shares, ``hits`` of ``count``, under Jeffreys' prior."""
    return beta_interval(hits + 0.5, count - hits + 0.5, level)


def beta_interval(a: Any, b: Any, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the middle ``level`` of Beta distributions."""
    return betaincinv(a, b, (1 - level) / 2), betaincinv(a, b, (1 + level) / 2)


def tabulate(
    shape: tuple[int, ...], *codes: NDArray[Any], weights: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Count each combination of codes, or sum its weights."""
    cell = np.ravel_multi_index(tuple(code.astype(np.int64) for code in codes), shape)
    return np.bincount(cell, weights=weights, minlength=math.prod(shape)).reshape(shape)


def columns_of(
    rows: Sequence[Any],
    *,
    text: Iterable[str] = (),
    integers: Iterable[str] = (),
    real: Iterable[str] = (),
) -> dict[str, Any]:
    """Return attributes of the rows as Arrow columns; NaN becomes null."""
    kinds = ((text, pa.large_string()), (integers, pa.int64()), (real, pa.float64()))
    return {
        name: pa.array([getattr(row, name) for row in rows], kind, from_pandas=True)
        for names, kind in kinds
        for name in names
    }


def reals(values: Any) -> Any:
    """Return a column of numbers, null for None and NaN."""
    return pa.array(values, pa.float64(), from_pandas=True)


def name_codes(names: tuple[str, ...], codes: NDArray[np.integer[Any]]) -> Any:
    """Return names by their codes as an Arrow column, null for a code below 0."""
    known = pa.array(codes, mask=codes < 0)
    return pa.array(names, pa.large_string()).take(known)


def interval_columns(name: str, values: Iterable[Any], first: str | None = None) -> dict[str, Any]:
    """Return a value, its lower and its upper bound as columns, null for NaN."""
    names = (first or name, f"{name}_low", f"{name}_high")
    return {column: reals(part) for column, part in zip(names, values, strict=True)}


def score_table(scores: Iterable[Score]) -> Any:
    """Return one row per score: score, value, low, high, reason; null where undefined."""
    rows = list(scores)
    columns = columns_of(rows, text=("name",), real=("value", "low", "high"))
    columns = {"score": columns.pop("name"), **columns}
    return pa.table(columns | columns_of(rows, text=("reason",)))
