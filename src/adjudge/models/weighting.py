"""The features of judges: seven of the Z-score paper, and those beyond it.

H. J. Jung and M. Lease (2011), "Improving Consensus Accuracy via Z-score and Weighted Voting".
Each is in 0..1, larger is better: accuracies, and distances reversed, against gold or against
the simple majority, on grades or after the binary collapse; and accuracy on honeypots. Beyond the
paper, without gold: how like the label distribution of a judge is to what is known or to the
population's. Votes take their weights and filters from here, so features stand below votes.

Weights and filters for votes: small values that compose.

    Feature("graded-accuracy-gold") * Feature("honeypot-accuracy")         a weight
    ZScore("graded-accuracy-gold", "honeypot-accuracy", gamma=1.5)         a filter
    ZScore("honeypot-accuracy", gamma=1.0) & AccuracyFilter(alpha=0.67)    both filters
    ZScore("honeypot-accuracy", gamma=1.0, sides="both")                   outliers on either side

Each can be written as text too, for the command line: ``graded-accuracy-gold^2*honeypot-accuracy``,
``zscore:graded-accuracy-gold+honeypot-accuracy:1.5``, ``|zscore|:honeypot-accuracy:1``,
``accuracy:0.67``. In a weight ``1-graded-distance-gold`` is a feature reversed: the distance
itself, where the feature is one minus it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.engine import Engine
from adjudge.engines.sweeps import Sweeps
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, BadSetting, UnknownName
from adjudge.models.model import pick

PAPER: dict[str, str] = {  # name: as the paper calls it
    "graded-accuracy-gold": "GACG",
    "binary-accuracy-gold": "BACG",
    "graded-accuracy-majority": "GACM",
    "binary-accuracy-majority": "BACM",
    "graded-distance-gold": "GDSG",
    "graded-distance-majority": "GDSM",
    "honeypot-accuracy": "AHNP",
}
TYPICAL = "label-typicality"
FEATURES = (*PAPER, TYPICAL)


@dataclass(frozen=True, slots=True, eq=False)
class JudgeFeatures:
    """Features by name: a value per judge, NaN where nothing speaks for or against them.

    ``counts`` are the judgments that each value rests on.
    """

    values: dict[str, NDArray[np.float64]]  # (judge,)
    counts: dict[str, NDArray[np.float64]]  # (judge,)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.values[name]

    def filled(self, name: str, shrink: float = 0.0) -> NDArray[np.float64]:  # (judge,)
        """A feature with the mean of the known judges where a judge has none.

        With ``shrink``, pseudo-judgments draw every judge to that mean: one who was
        right the one time they were tested is not yet better than one who was right 19 times of 20.
        """
        values, count = self.values[name], self.counts[name]
        known = ~np.isnan(values)
        mean = values[known].mean() if known.any() else 1.0
        drawn = (np.where(known, values, 0.0) * count + shrink * mean) / (count + shrink + 1e-300)
        return np.where(known, drawn if shrink else values, mean)


def measure_features(
    judgments: Judgments,
    gold: Gold | None = None,
    *,
    names: tuple[str, ...] = FEATURES,
    priors: tuple[float, ...] | None = None,  # (label,) known shares of labels
    seed: int = 0,
    engine: Engine | None = None,
) -> JudgeFeatures:
    """The features named, each reference swept once; what the data lack is named in an error."""
    for name in names:
        if name not in FEATURES:
            raise UnknownName("feature", name, FEATURES)
    if not names:
        return JudgeFeatures({}, {})
    sweeps = (engine if engine is not None else ThreadsEngine()).load(judgments)
    values: dict[str, NDArray[np.float64]] = {}
    counts: dict[str, NDArray[np.float64]] = {}
    against = {
        "gold": [name for name in names if name.endswith("-gold")],
        "majority": [name for name in names if name.endswith("-majority")],
    }
    for which, needed in against.items():
        if needed:
            reference = (
                _gold(judgments, gold, needed)
                if which == "gold"
                else _majority(judgments, sweeps, gold, seed)
            )
            _compare(judgments, sweeps, reference, needed, values, counts)
    if "honeypot-accuracy" in names:
        totals = _honeypots(judgments, sweeps, gold)
        counts["honeypot-accuracy"] = totals[:, 0]
        values["honeypot-accuracy"] = _share(totals[:, 1], totals[:, 0])
    if TYPICAL in names:
        values[TYPICAL], counts[TYPICAL] = _typicality(judgments, sweeps, priors)
    return JudgeFeatures({name: values[name] for name in names}, counts)


def available(judgments: Judgments, gold: Gold | None) -> tuple[str, ...]:
    """The features that these judgments and this gold can have."""
    scale = judgments.scale
    has_gold = gold is not None and bool((_plain(gold).align(judgments) >= 0).any())
    has_traps = gold is not None and gold.honeypot is not None and bool(gold.honeypot.any())
    kept = []
    for name in FEATURES:
        lacking = (
            (name.endswith("-gold") and not has_gold)
            or (name == "honeypot-accuracy" and not has_traps)
            or (name.startswith("binary") and not scale.relevant)
            or ("distance" in name and not scale.ordinal)
        )
        if not lacking:
            kept.append(name)
    return tuple(kept)


def _plain(gold: Gold) -> Gold:
    """Gold without its honeypots: they test judges, and are not grades."""
    return gold if gold.honeypot is None else gold.select(~gold.honeypot)


def _gold(judgments: Judgments, gold: Gold | None, needed: list[str]) -> NDArray[np.int16]:
    known = None if gold is None else _plain(gold).align(judgments)
    if known is None or not (known >= 0).any():
        raise BadData(
            f"feature {needed[0]} needs gold, and no judged item has any", expected="gold"
        )
    return known


def _majority(
    judgments: Judgments, sweeps: Sweeps, gold: Gold | None, seed: int
) -> NDArray[np.int16]:
    """The simple majority of each item, but of no honeypot: the paper has one feature on those."""
    votes, _ = sweeps.posterior(None, own=True)
    choice, _ = pick(votes, judgments, ties="random", seed=seed)
    counted = judgments.counts_per_item > 0
    if gold is not None:
        counted &= ~gold.honeypots(judgments)
    return np.where(counted, choice, -1).astype(np.int16)


def _compare(
    judgments: Judgments,
    sweeps: Sweeps,
    reference: NDArray[np.int16],
    needed: list[str],
    values: dict[str, NDArray[np.float64]],
    counts: dict[str, NDArray[np.float64]],
) -> None:
    """Accuracies and distance against one reference, in one pass."""
    scale = judgments.scale
    if any(name.startswith("binary") for name in needed):
        scale.need_relevant()
    distant = [name for name in needed if "distance" in name]
    if distant and not scale.ordinal:
        raise BadData(
            f"feature {distant[0]} needs an ordinal scale, and {scale} has no order",
            expected="an ordinal scale",
        )
    number, truth_of = scale.truth_values, np.array(scale.truth_of)
    collapse = scale.truth_relevant
    relevant = np.zeros(len(number), dtype=np.bool_) if collapse is None else collapse
    table = sweeps.against(reference, len(number)) * (truth_of >= 0)  # (judge, truth, label)
    alike = np.arange(len(number))[:, None] == truth_of
    apart = np.abs(number[:, None] - number[truth_of])
    total, same, near, distance = (
        (table * weight).sum(axis=(1, 2))
        for weight in (1.0, alike, relevant[:, None] == relevant[truth_of], apart)
    )
    span = float(np.ptp(number)) or 1.0
    found = {
        "graded-accuracy": _share(same, total),
        "binary-accuracy": _share(near, total),
        "graded-distance": 1.0 - _share(distance / span, total),
    }
    for name in needed:
        values[name] = found[name.rpartition("-")[0]]
        counts[name] = total


def _honeypots(
    judgments: Judgments, sweeps: Sweeps, gold: Gold | None
) -> NDArray[np.float64]:  # (judge, 2)
    """Judgments of honeypots, and how many gave the label that was expected."""
    if gold is None or gold.honeypot is None or not gold.honeypot.any():
        raise BadData(
            "feature honeypot-accuracy needs honeypots, and no gold item is marked as one",
            expected="honeypots",
        )
    traps = gold.select(gold.honeypot)
    needed = np.full(judgments.item_count, -1, dtype=np.int16)
    codes = np.array([judgments.scale.label_code(value) for value in traps.values])
    where = look_up(traps.items, judgments.items)
    needed[where[where >= 0]] = codes[traps.value][where >= 0]
    table = sweeps.against(needed, len(judgments.scale.labels))  # (judge, label needed, label)
    return np.stack([table.sum(axis=(1, 2)), np.einsum("jkk->j", table)], axis=1).astype(np.float64)


def _typicality(
    judgments: Judgments, sweeps: Sweeps, priors: tuple[float, ...] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # (judge,), (judge,)
    """1 minus half the distance between a judge's label shares and the expected ones.

    The idea at the end of Jung and Lease's PMF paper: an accurate judge's labels are distributed as
    the classes are. Expected are the shares given, or the mean over judges. Their own shares are
    first drawn to the expected ones by as many pseudo-judgments as there are labels, so that a
    judge of two judgments is not an outlier.
    """
    labels = len(judgments.scale.labels)
    cells = sweeps.cells()
    total = cells.sum(axis=1)
    if priors is None:
        seen = total > 0
        expected = (cells[seen] / total[seen, None]).mean(axis=0)
    else:
        expected = np.array(priors, dtype=np.float64)
        if len(expected) != labels or abs(expected.sum() - 1) > 1e-6:
            raise BadData(
                f"known shares: expected {labels} that sum to 1, got {priors}", value=priors
            )
    own = (cells + labels * expected) / (total + labels)[:, None]
    score = 1.0 - np.abs(own - expected).sum(axis=1) / 2
    return np.where(total > 0, score, np.nan), total.astype(np.float64)


def _share(hits: NDArray[np.float64], total: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.where(total > 0, hits / np.where(total > 0, total, 1.0), np.nan))


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
