"""Weights and filters for votes: small values that compose.

    Feature("graded-accuracy-gold") * Feature("honeypot-accuracy")         a weight
    ZScore("graded-accuracy-gold", "honeypot-accuracy", gamma=1.5)         a filter
    ZScore("honeypot-accuracy", gamma=1.0) & AccuracyFilter(alpha=0.67)    both filters
    ZScore("honeypot-accuracy", gamma=1.0, sides="both")                   outliers on either side

Each can be written as text too, for the command line: ``graded-accuracy-gold^2*honeypot-accuracy``,
``zscore:graded-accuracy-gold+honeypot-accuracy:1.5``, ``|zscore|:honeypot-accuracy:1``,
``accuracy:0.67``. In a weight ``1-graded-distance-gold`` is a feature turned round: the distance
itself, where the feature is one minus it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting, UnknownName
from adjudge.models.features import FEATURES, JudgeFeatures

ACCURACY = "binary-accuracy-gold"
Sides = Literal["low", "both"]
ZSCORES: dict[str, Sides] = {
    "zscore": "low",
    "|zscore|": "both",
}  # as text: which sides are dropped
_TURNED = "1-"  # before a feature of a weight: one minus it


@dataclass(frozen=True, slots=True)
class Product:
    """A weight: the product of features, each as it is or (with ``1-`` before it) one minus it."""

    factors: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(self.features)

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the weight needs."""
        return tuple(name.removeprefix(_TURNED) for name in self.factors)

    def __mul__(self, other: Product) -> Product:
        return Product((*self.factors, *other.factors))

    def __str__(self) -> str:
        return "*".join(self.factors)

    def weights(
        self, features: JudgeFeatures, shrink: float = 0.0
    ) -> NDArray[np.float64]:  # (judge,)
        """The weight of each judge; a judge without a feature has its mean."""
        found = []
        for factor, name in zip(self.factors, self.features, strict=True):
            value = features.filled(name, shrink)
            found.append(1.0 - value if factor.startswith(_TURNED) else value)
        return np.asarray(np.prod(found, axis=0))


def Feature(name: str) -> Product:  # noqa: N802 - reads as the value that it makes
    """One feature as a weight; products of them are weights too."""
    return Product((name,))


@dataclass(frozen=True, slots=True)
class Dropped:
    """Which judges a filter drops, by which feature, and what to know about it."""

    by: dict[str, NDArray[np.bool_]]  # feature: (judge,)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, init=False)
class ZScore:
    """Drop a judge if (mean - f) / sd > gamma for any of the features; |mean - f| for both sides.

    The paper writes (f - mean) / sd > gamma for features of which most are better when larger, and
    does not say how it turned the rest. ``sides="low"`` drops those who lie too low, ``"both"``
    outliers on either side: which way a feature points then makes no difference.
    """

    features: tuple[str, ...]
    gamma: float
    sides: Sides

    def __init__(self, *features: str, gamma: float, sides: Sides = "low") -> None:
        _check(features)
        if not gamma > 0:
            raise BadSetting("gamma", gamma, "more than 0")
        if sides not in ZSCORES.values():
            raise BadSetting("sides", sides, "low or both")
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "gamma", gamma)
        object.__setattr__(self, "sides", sides)

    def __and__(self, other: Filter) -> _Both:
        return _Both((self, other))

    def __str__(self) -> str:
        kind = next(name for name, sides in ZSCORES.items() if sides == self.sides)
        return f"{kind}:{'+'.join(self.features)}:{self.gamma:g}"

    def drop(self, features: JudgeFeatures) -> Dropped:
        """The judges too far off; one without a feature passes, and so do all if sd = 0."""
        found: dict[str, NDArray[np.bool_]] = {}
        notes = []
        for name in self.features:
            values = features[name]
            known = ~np.isnan(values)
            spread = values[known].std() if known.any() else 0.0
            if spread == 0:
                notes.append(f"{name} is the same for all judges: its Z-score drops nobody")
                found[name] = np.zeros(len(values), dtype=np.bool_)
                continue
            score = (values[known].mean() - values) / spread
            if self.sides == "both":
                score = np.abs(score)
            found[name] = known & (np.where(known, score, 0.0) > self.gamma)
        return Dropped(found, tuple(notes))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccuracyFilter:
    """Keep the judges whose accuracy against gold is alpha or more."""

    alpha: float
    feature: str = ACCURACY

    def __post_init__(self) -> None:
        _check((self.feature,))
        if not 0 <= self.alpha <= 1:
            raise BadSetting("alpha", self.alpha, "a number from 0 to 1")

    @property
    def features(self) -> tuple[str, ...]:
        """The one feature."""
        return (self.feature,)

    def __and__(self, other: Filter) -> _Both:
        return _Both((self, other))

    def __str__(self) -> str:
        return f"accuracy:{self.alpha:g}"

    def drop(self, features: JudgeFeatures) -> Dropped:
        """The judges below alpha; a judge without gold passes."""
        values = features[self.feature]
        return Dropped({self.feature: np.where(np.isnan(values), False, values < self.alpha)})


@dataclass(frozen=True, slots=True)
class _Both:
    """Filters together: a judge stays whom every one of them keeps."""

    filters: tuple[Filter, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The features of all filters."""
        return tuple(dict.fromkeys(name for part in self.filters for name in part.features))

    def __and__(self, other: Filter) -> _Both:
        return _Both((*self.filters, other))

    def __str__(self) -> str:
        return "&".join(str(part) for part in self.filters)

    def drop(self, features: JudgeFeatures) -> Dropped:
        """The judges that any filter drops."""
        found: dict[str, NDArray[np.bool_]] = {}
        notes: tuple[str, ...] = ()
        for part in self.filters:
            dropped = part.drop(features)
            notes += dropped.notes
            for name, flags in dropped.by.items():
                found[name] = found.get(name, np.zeros_like(flags)) | flags
        return Dropped(found, notes)


Filter = ZScore | AccuracyFilter | _Both


def parse_weight(text: str) -> Product:
    """A weight as people write it: features joined by ``*``, each with a power or none."""
    names: list[str] = []
    for part in text.split("*"):
        name, _, power = part.strip().partition("^")
        if power and not (power.isdigit() and 1 <= int(power) <= 9):
            raise BadSetting("weight", text, "powers from 1 to 9, such as honeypot-accuracy^2")
        names += [name.strip()] * int(power or 1)
    return Product(tuple(names))


def parse_filter(text: str) -> Filter:
    """A filter as people write it: ``zscore:f+g:1.5``, ``|zscore|:f:1``, ``accuracy:0.67``."""
    parts = [_parse_one(part.strip()) for part in text.split("&")]
    return parts[0] if len(parts) == 1 else _Both(tuple(parts))


def _parse_one(text: str) -> Filter:
    kind, _, rest = text.partition(":")
    try:
        if kind in ZSCORES:
            names, _, gamma = rest.rpartition(":")
            features = (name.strip() for name in names.split("+"))
            return ZScore(*features, gamma=float(gamma), sides=ZSCORES[kind])
        if kind == "accuracy":
            return AccuracyFilter(alpha=float(rest))
    except ValueError:
        pass
    raise BadSetting(
        "filter", text, "zscore:FEATURE+FEATURE:GAMMA, |zscore|:FEATURE:GAMMA or accuracy:ALPHA"
    )


def _check(features: tuple[str, ...]) -> None:
    if not features:
        raise BadSetting("features", features, f"at least one of {', '.join(FEATURES)}")
    for name in features:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
