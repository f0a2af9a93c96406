"""A score: a number with its interval, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One number that was measured; NaN, with the reason, where it cannot be.

    ``low`` and ``high`` bound its interval and are None where no interval was asked for.
    """

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def undefined(cls, name: str, reason: str) -> Score:
        """The score that has no value, and why."""
        return cls(name=name, value=math.nan, reason=reason)

    @property
    def defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def shown(self) -> Score:
        """The score as people read it: an error that luck brought below 0 is none."""
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


def wilson(hits: float, count: float, level: float = 0.95) -> tuple[float, float]:
    """The Wilson interval of a share: ``hits`` of ``count``, at a level of confidence.

    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). It stays within 0 and 1 and is honest
    for shares near them, where p ± z sd is not. Nothing counted: anything from 0 to 1.
    """
    if count <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = hits / count
    middle = share + z * z / (2 * count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - reach) / scale), min(1.0, (middle + reach) / scale)
