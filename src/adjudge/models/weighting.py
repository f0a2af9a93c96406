"""Weights and filters for votes: small values that compose.

    Feature("graded-accuracy-gold") * Feature("honeypot-accuracy")         a weight
    ZScore("graded-accuracy-gold", "honeypot-accuracy", gamma=1.5)         a filter
    ZScore("honeypot-accuracy", gamma=1.0) & AccuracyFilter(alpha=0.67)    both filters

Each can be written as text too, for the command line: ``graded-accuracy-gold^2*honeypot-accuracy``,
``zscore:graded-accuracy-gold+honeypot-accuracy:1.5``, ``accuracy:0.67``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting, UnknownName
from adjudge.models.features import FEATURES, JudgeFeatures

ACCURACY = "binary-accuracy-gold"


@dataclass(frozen=True, slots=True)
class Product:
    """A weight: the product of features."""

    features: tuple[str, ...]

    def __post_init__(self) -> None:
        _check(self.features)

    def __mul__(self, other: Product) -> Product:
        return Product((*self.features, *other.features))

    def __str__(self) -> str:
        return "*".join(self.features)

    def weights(
        self, features: JudgeFeatures, shrink: float = 0.0
    ) -> NDArray[np.float64]:  # (judge,)
        """The weight of each judge; a judge without a feature has its mean."""
        return np.asarray(
            np.prod([features.filled(name, shrink) for name in self.features], axis=0)
        )


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
    """Drop a judge if (mean - f) / sd > gamma for any of the features."""

    features: tuple[str, ...]
    gamma: float

    def __init__(self, *features: str, gamma: float) -> None:
        _check(features)
        if not gamma > 0:
            raise BadSetting("gamma", gamma, "more than 0")
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "gamma", gamma)

    def __and__(self, other: Filter) -> Both:
        return Both((self, other))

    def __str__(self) -> str:
        return f"zscore:{'+'.join(self.features)}:{self.gamma:g}"

    def drop(self, features: JudgeFeatures) -> Dropped:
        """The judges that lie too low; one without a feature passes, and so do all if sd = 0."""
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

    def __and__(self, other: Filter) -> Both:
        return Both((self, other))

    def __str__(self) -> str:
        return f"accuracy:{self.alpha:g}"

    def drop(self, features: JudgeFeatures) -> Dropped:
        """The judges below alpha; a judge without gold passes."""
        values = features[self.feature]
        return Dropped({self.feature: np.where(np.isnan(values), False, values < self.alpha)})


@dataclass(frozen=True, slots=True)
class Both:
    """Filters together: a judge stays whom every one of them keeps."""

    filters: tuple[Filter, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The features of all filters."""
        return tuple(dict.fromkeys(name for part in self.filters for name in part.features))

    def __and__(self, other: Filter) -> Both:
        return Both((*self.filters, other))

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


Filter = ZScore | AccuracyFilter | Both


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
    """A filter as people write it: ``zscore:f+g:1.5``, ``accuracy:0.67``, joined by ``&``."""
    parts = [_parse_one(part.strip()) for part in text.split("&")]
    return parts[0] if len(parts) == 1 else Both(tuple(parts))


def _parse_one(text: str) -> Filter:
    kind, _, rest = text.partition(":")
    try:
        if kind == "zscore":
            names, _, gamma = rest.rpartition(":")
            return ZScore(*(name.strip() for name in names.split("+")), gamma=float(gamma))
        if kind == "accuracy":
            return AccuracyFilter(alpha=float(rest))
    except ValueError:
        pass
    raise BadSetting("filter", text, "zscore:FEATURE+FEATURE:GAMMA or accuracy:ALPHA")


def _check(features: tuple[str, ...]) -> None:
    if not features:
        raise BadSetting("features", features, f"at least one of {', '.join(FEATURES)}")
    for name in features:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
