"""Kinds of judges: each yields a confusion matrix (truth, label) for every judge of its kind.

Throughout, ``right[k, l]`` shares a truth's mass evenly among the labels that mean it (one
label, where truths and labels are the same), and ``wrong[k, l]`` shares it among the others:
``wrong[k, l] ∝ decay ** (|k - l| - 1)``. With decay 1 every error is as likely as another; below 1
near labels are likelier than far ones. Left open, decay is 0.4 on an ordinal scale and 1 otherwise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale, canonical
from adjudge.errors import BadSetting, UnknownName

Confusion = NDArray[np.float64]  # (judge, truth, label)
Matrix = tuple[tuple[float, ...], ...]  # (truth, label)
_ORDINAL_DECAY = 0.4
_SPAM = ("uniform", "prevalence")
_ABOVE_0: tuple[str, Callable[[float], bool]] = ("a number above 0", lambda value: value > 0)
_SHARE: tuple[str, Callable[[float], bool]] = ("a share from 0 to 1", lambda x: 0 <= x <= 1)
_SETTINGS: dict[str, tuple[str, Callable[[float], bool]]] = {
    **dict.fromkeys(("a", "b", "a1", "b1", "a0", "b0", "kappa"), _ABOVE_0),
    **dict.fromkeys(("accuracy", "decay", "share"), _SHARE),
    "shift": ("a whole number of grades, not 0", lambda value: value == int(value) != 0),
    "anchoring": ("0 or more", lambda value: value >= 0),
    "pairs": ("1 or more", lambda value: value >= 1),
}


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What a kind of judge may look at when its judges are drawn."""

    scale: Scale
    prevalence: NDArray[np.float64]  # (truth,)
    rng: np.random.Generator

    def right(self) -> NDArray[np.float64]:  # (truth, label)
        """The matrix of a judge who never errs."""
        meant = self.scale.stands
        if not meant.any(axis=1).all():
            lost = self.scale.truths[int(np.argmin(meant.any(axis=1)))]
            raise BadSetting("truth", lost, f"a label of the scale {self.scale} that means it")
        return np.asarray(meant / meant.sum(axis=1, keepdims=True))

    def wrong(self, decay: float | None) -> NDArray[np.float64]:  # (truth, label)
        """The matrix of a judge who always errs; where no label is wrong, of one who never does."""
        if decay is None:
            decay = _ORDINAL_DECAY if self.scale.ordinal else 1.0
        meant = self.scale.stands
        near = np.where(meant, 0.0, decay ** (np.maximum(_distance(self.scale), 1.0) - 1.0))
        total = near.sum(axis=1, keepdims=True)
        return np.where(total > 0, near / np.where(total > 0, total, 1.0), self.right())

    def mixed(self, accuracy: NDArray[np.float64], decay: float | None) -> Confusion:
        """Right with each judge's (or each judge's and truth's) accuracy, and wrong otherwise."""
        share = (accuracy if accuracy.ndim == 2 else accuracy[:, None])[:, :, None]
        return np.asarray(share * self.right() + (1.0 - share) * self.wrong(decay))


@dataclass(frozen=True, slots=True)
class Settings:
    """The name and the checked settings of a kind of judge."""

    name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, setting = getattr(self, field.name), f"{self.name} {field.name}"
            if value is None and field.default is None:
                continue
            if field.name in ("confusion", "phi"):
                _check_rows(setting, value)
            elif field.name in _SETTINGS:
                expected, fits = _SETTINGS[field.name]
                for one in value if isinstance(value, tuple) else (value,):
                    if not (isinstance(one, int | float) and math.isfinite(one) and fits(one)):
                        raise BadSetting(setting, one, expected)

    def __str__(self) -> str:
        """As ``Population.parse`` reads it: ``skilled``, or ``skilled(9,1)`` if it is changed."""
        values = [(getattr(self, field.name), field.default) for field in fields(self)]
        if any(isinstance(value, tuple) for value, _ in values):
            return self.name
        while values and values[-1][0] == values[-1][1]:
            values.pop()
        listed = ",".join(canonical(value) for value, _ in values)
        return f"{self.name}({listed})" if listed else self.name


@dataclass(frozen=True, slots=True)
class Kind(Settings, ABC):
    """A kind of judge whose labels follow confusion matrices."""

    pace: ClassVar[float] = 20.0  # seconds per judgment, at the median

    @abstractmethod
    def draw(self, count: int, world: World) -> Confusion:
        """Draw the confusion matrices of ``count`` judges of this kind."""


@dataclass(frozen=True, slots=True)
class Given(Kind):
    """Judges who all have one stated confusion matrix (truth, label)."""

    confusion: Matrix
    name: ClassVar[str] = "given"

    def draw(self, count: int, world: World) -> Confusion:
        """The stated matrix, ``count`` times."""
        matrix = _fitting("given confusion", self.confusion, world.scale)
        return np.repeat(matrix[None], count, axis=0)


@dataclass(frozen=True, slots=True)
class Skilled(Kind):
    """One-coin judges: ``accuracy ~ Beta(a, b)``, the same whatever the truth.

    ``theta[k, l] = accuracy right[k, l] + (1 - accuracy) wrong[k, l]``.
    """

    a: float = 8.0
    b: float = 2.0
    decay: float | None = None
    name: ClassVar[str] = "skilled"

    def draw(self, count: int, world: World) -> Confusion:
        """One accuracy per judge."""
        return world.mixed(world.rng.beta(self.a, self.b, count), self.decay)


@dataclass(frozen=True, slots=True)
class TwoCoin(Kind):
    """Judges of a binary truth: ``sensitivity ~ Beta(a1, b1)``, ``specificity ~ Beta(a0, b0)``.

    Row 1 of the matrix is right with the sensitivity, row 0 with the specificity, as in the
    hierarchical model of relevance.
    """

    a1: float = 8.0
    b1: float = 2.0
    a0: float = 8.0
    b0: float = 2.0
    name: ClassVar[str] = "two-coin"

    def draw(self, count: int, world: World) -> Confusion:
        """One sensitivity and one specificity per judge."""
        if len(world.scale.truths) != 2:
            raise BadSetting("truths", world.scale.truths, "two of them for two-coin judges")
        specificity = world.rng.beta(self.a0, self.b0, count)
        sensitivity = world.rng.beta(self.a1, self.b1, count)
        return world.mixed(np.stack([specificity, sensitivity], axis=1), None)


@dataclass(frozen=True, slots=True)
class Dirichlet(Kind):
    """Judges of the hierarchical confusion model: ``theta_j[k, :] ~ Dirichlet(kappa_k phi_k)``.

    ``phi`` is the mean matrix of the kind and ``kappa`` how alike its judges are: one number, or
    one per truth. Without ``phi`` the mean is that of a judge right with ``accuracy``, with the
    errors shared by ``decay``.
    """

    kappa: float | tuple[float, ...] = 10.0
    accuracy: float = 0.75
    decay: float | None = None
    phi: Matrix | None = None
    name: ClassVar[str] = "dirichlet"

    def draw(self, count: int, world: World) -> Confusion:
        """Every row of every judge on its own."""
        if self.phi is not None:
            mean = _fitting(f"{self.name} phi", self.phi, world.scale)
        else:
            mean = world.mixed(np.array([self.accuracy]), self.decay)[0]
        kappa = self.kappa if isinstance(self.kappa, tuple) else (self.kappa,) * len(mean)
        if len(kappa) != len(mean):
            expected = f"one number, or one for each of {len(mean)} truths"
            raise BadSetting(f"{self.name} kappa", kappa, expected)
        rows = [
            world.rng.dirichlet(strength * row, count)
            for strength, row in zip(kappa, mean, strict=True)
        ]
        return np.stack(rows, axis=1)


@dataclass(frozen=True, slots=True)
class Spammer(Kind):
    """Judges who do not look: every row is the same, so their labels are not informative.

    ``uniform`` gives every label alike; ``prevalence`` gives each label as often as it is true,
    ``p[l] = sum_k prevalence[k] right[k, l]``, which looks like the other judges' mix of labels.
    """

    by: str = "uniform"
    name: ClassVar[str] = "spammer"
    pace: ClassVar[float] = 4.0

    def __post_init__(self) -> None:
        if self.by not in _SPAM:
            raise UnknownName("way of spamming", str(self.by), _SPAM)

    def draw(self, count: int, world: World) -> Confusion:
        """The same rows for every judge."""
        truths, labels = len(world.scale.truths), len(world.scale.labels)
        row = np.full(labels, 1.0 / labels)
        if self.by == "prevalence":
            row = world.prevalence @ world.right()
        return np.tile(row, (count, truths, 1))


@dataclass(frozen=True, slots=True)
class Lazy(Kind):
    """Judges who always give one label: the stated one, or one that each of them picks."""

    label: str | None = None
    name: ClassVar[str] = "lazy"
    pace: ClassVar[float] = 3.0

    def __post_init__(self) -> None:
        if self.label is not None:
            object.__setattr__(self, "label", canonical(self.label))

    def draw(self, count: int, world: World) -> Confusion:
        """A column of ones per judge."""
        truths, labels = len(world.scale.truths), len(world.scale.labels)
        if self.label is None:
            chosen = world.rng.integers(labels, size=count)
        else:
            code = world.scale.label_code(self.label)
            if code < 0:
                raise BadSetting("lazy label", self.label, f"a label of the scale {world.scale}")
            chosen = np.full(count, code)
        return np.repeat(np.eye(labels)[chosen][:, None, :], truths, axis=1)


@dataclass(frozen=True, slots=True)
class Adversary(Kind):
    """Judges who know and give a wrong label with chance ``~ Beta(a, b)``; of two, the other.

    With more than two labels every wrong one is as likely as another, far or near.
    """

    a: float = 8.0
    b: float = 2.0
    name: ClassVar[str] = "adversary"
    pace: ClassVar[float] = 12.0

    def draw(self, count: int, world: World) -> Confusion:
        """One chance of a wrong label per judge."""
        return world.mixed(1.0 - world.rng.beta(self.a, self.b, count), 1.0)


@dataclass(frozen=True, slots=True)
class Biased(Kind):
    """Skilled judges of an ordinal scale who with chance ``share`` give a label ``shift`` higher.

    ``theta = (1 - share) S + share S M``, where S is a skilled judge's matrix and M moves each
    label by ``shift`` grades, held at the ends of the scale. A negative shift is down. Labels that
    mean no truth are not grades and are not moved.
    """

    shift: int = 1
    share: float = 0.5
    a: float = 8.0
    b: float = 2.0
    name: ClassVar[str] = "biased"

    def draw(self, count: int, world: World) -> Confusion:
        """One accuracy per judge, and the shift on top of it."""
        scale = world.scale
        if not scale.ordinal:
            raise BadSetting("scale", str(scale), "an ordinal scale for biased judges")
        skilled = world.mixed(world.rng.beta(self.a, self.b, count), None)
        grades = np.flatnonzero(np.array(scale.truth_of) >= 0)
        moved = np.arange(len(scale.labels))
        place = np.arange(len(grades)) + int(self.shift)
        moved[grades] = grades[np.clip(place, 0, len(grades) - 1)]
        move = np.eye(len(scale.labels))[moved]  # (label, label)
        return np.asarray((1.0 - self.share) * skilled + self.share * (skilled @ move))


def _distance(scale: Scale) -> NDArray[np.float64]:  # (truth, label)
    """Grades from a label to the nearest one that means the truth.

    A label that means no truth is not a grade: it is one further away than any grade can be.
    """
    meant = scale.stands
    graded = np.array(scale.truth_of) >= 0  # (label,)
    grade = np.cumsum(graded) - 1  # (label,)
    apart = np.abs(grade[:, None] - grade[None, :]).astype(np.float64)  # (label, label)
    nearest = np.where(meant[:, :, None], apart[None], np.inf).min(axis=1)
    return np.asarray(np.where(graded, nearest, grade.max() + 1.0))


def _check_rows(name: str, matrix: Matrix) -> None:
    """Refuse anything but rows of one length, without negative cells, that sum to 1."""
    try:
        cells = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        cells = np.empty(0)
    if cells.ndim != 2 or (cells < 0).any() or not (abs(cells.sum(axis=1) - 1) <= 1e-6).all():
        raise BadSetting(name, matrix, "rows of shares of one length, one per truth, summing to 1")


def _fitting(name: str, matrix: Matrix, scale: Scale) -> NDArray[np.float64]:  # (truth, label)
    """A stated matrix as an array, if the scale has as many truths and labels."""
    array = np.array(matrix, dtype=np.float64)
    truths, labels = len(scale.truths), len(scale.labels)
    if array.shape != (truths, labels):
        expected = f"{truths} truths x {labels} labels, for the scale {scale}"
        raise BadSetting(name, "{} x {}".format(*array.shape), expected)
    return np.asarray(array / array.sum(axis=1, keepdims=True))


KINDS: dict[str, type[Kind]] = {
    kind.name: kind for kind in (Skilled, TwoCoin, Dirichlet, Spammer, Lazy, Adversary, Biased)
}
