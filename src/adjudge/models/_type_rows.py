"""What is believed of a judge before their judgments: how they would label each type of item.

A structure of types is one such belief. Every judge's row of a type is drawn to their own, which is
made from what all judges do and from a few numbers about them:

- habit: with probability 1 - e they are typical, with e they give a label out of habit, whatever
  the item; e ~ Beta(1, 3). Types are two kinds of every label, an easy and a hard one.
- slant: the typical row of a label to the power of their sharpness a, times the slant e^b to each
  label; a ~ N(1, 1/4), b ~ N(0, 1). Types as before.
- line: habit, with types at even distances on the line of grades.

All sums over judges are in whole units, so that the order of judges changes no bit.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_UNIT, _FINE = 2.0**24, 2.0**40  # of exact sums: of counts, of shares
_TIED = 20.0  # pseudo-judgments that tie the types of a label to it
_TYPICAL = 100.0  # pseudo-judgments that draw a type's typical row to its label's
_PLACED = 20.0  # the same for a type on the line, to the grades near its place
_HABIT = 5.0  # pseudo-judgments that draw a judge's habit to everybody's
_BETA = (3.0, 1.0)  # of being typical, of habit
_SHARPNESS, _SLANT = 4.0, 1.0  # precision of a and b
_NEAR = 0.6  # grades: how far from its place a type is labelled


def exact_sum(values: _Floats, *, fine: bool = False) -> _Floats:
    """A sum over the first axis that does not depend on the order.

    Values are taken in units of 2^-24; ``fine``, in units of 2^-40, if they are 1 at most.
    """
    unit = _FINE if fine else _UNIT
    return np.asarray(np.rint(values * unit).astype(np.int64).sum(axis=0) / unit)


def normalise(rows: _Floats) -> _Floats:
    """Rows divided by their sums."""
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


class Rows(Protocol):
    """A belief about rows of judges, brought up to date by counts."""

    kinds: int  # types of each label
    place: _Floats  # (type,) on the line of grades; empty if on none

    @property
    def types(self) -> int:
        """How many types there are."""
        ...

    @property
    def state(self) -> dict[str, _Floats]:
        """The numbers about each judge, to go on from."""
        ...

    def recall(self, state: dict[str, _Floats]) -> None:
        """Go on from such numbers."""
        ...

    def update(self, counts: _Floats) -> _Floats:  # (judge, type, label)
        """The row of every judge and type, given what was counted."""
        ...

    def typical(self, counts: _Floats) -> _Floats:  # (type, label)
        """The row of a judge of whom nothing is known."""
        ...


class HabitRows:
    """Judges who are partly typical, partly creatures of habit."""

    def __init__(
        self, cells: _Floats, count: _Floats, weight: _Floats, kinds: int, *, line: bool = False
    ) -> None:
        labels = cells.shape[1]
        self.kinds = kinds
        self.place = np.linspace(0.0, labels - 1.0, labels * kinds) if line else np.empty(0)
        self.base = normalise(exact_sum(cells) + 1.0)
        self.weight = weight  # (judge,) of a judgment, and of beliefs about them
        self.habit = normalise(cells + _HABIT * weight[:, None] * self.base)  # (judge, label)
        self.count = count  # (judge,) of the judgments that are fitted, which may be fewer
        self.share = np.full(len(cells), _BETA[1] / sum(_BETA))  # of habit, (judge,)
        self.mean = np.empty((0, 0))

    @property
    def types(self) -> int:
        """How many types there are."""
        return len(self.base) * self.kinds

    @property
    def state(self) -> dict[str, _Floats]:
        """How far each judge is a creature of habit."""
        return {"share": self.share}

    def recall(self, state: dict[str, _Floats]) -> None:
        """Go on from such shares."""
        self.share = state["share"]

    def _typical(self, counts: _Floats) -> _Floats:  # (type, label)
        pooled = exact_sum(counts)
        if len(self.place):
            away = np.arange(len(self.base))[None, :] - self.place[:, None]
            return normalise(pooled + _PLACED * normalise(np.exp(-0.5 * (away / _NEAR) ** 2)))
        return _typical_kinds(pooled, self.base, self.kinds)[1]

    def update(self, counts: _Floats) -> _Floats:
        """The typical row and the habit, mixed as the judge is."""
        self.mean = self._typical(counts)
        habit = self.habit[:, None, :]
        for _ in range(2):
            share = self.share[:, None, None]
            routine = share * habit
            part = routine / ((1.0 - share) * self.mean + routine)
            moved = np.einsum("jtl,jtl->j", counts, part)
            believed = self.weight * sum(_BETA)
            self.share = (moved + self.weight * _BETA[1]) / (self.count + believed)
        share = self.share[:, None, None]
        return np.asarray((1.0 - share) * self.mean + share * habit)

    def typical(self, counts: _Floats) -> _Floats:
        """The typical row, with as much habit as judges have before they judge."""
        share = _BETA[1] / sum(_BETA)
        return np.asarray((1.0 - share) * self._typical(counts) + share * self.base)


class SlantRows:
    """Judges who are more or less sharp than the typical one, and lean to some labels."""

    def __init__(self, cells: _Floats, weight: _Floats, kinds: int, strength: float) -> None:
        judges, labels = cells.shape
        self.kinds, self.weight, self.strength = kinds, weight, strength
        self.place = np.empty(0)
        self.base = normalise(exact_sum(cells) + 1.0)
        self.sharpness = np.ones(judges)
        self.slant = np.zeros((judges, labels))

    @property
    def types(self) -> int:
        """How many types there are."""
        return len(self.base) * self.kinds

    @property
    def state(self) -> dict[str, _Floats]:
        """Sharpness and slant of each judge."""
        return {"sharpness": self.sharpness, "slant": self.slant}

    def recall(self, state: dict[str, _Floats]) -> None:
        """Go on from such numbers."""
        self.sharpness, self.slant = state["sharpness"], state["slant"]

    def update(self, counts: _Floats) -> _Floats:
        """Rows of labels by sharpness and slant, drawn to the counts, then spread over kinds."""
        label_row, type_row = _typical_kinds(exact_sum(counts), self.base, self.kinds)
        by_label = counts.reshape(len(counts), len(self.base), self.kinds, -1).sum(axis=2)
        logs = np.log(label_row)
        self._step(by_label, logs)
        rows = self._rows(logs)
        drawn = self.strength * self.weight[:, None, None] * rows
        own = normalise(by_label + drawn)  # (judge, label, label)
        lean = type_row / np.repeat(label_row, self.kinds, axis=0)
        return normalise(np.repeat(own, self.kinds, axis=1) * lean)

    def typical(self, counts: _Floats) -> _Floats:
        """The typical row: sharpness 1 and no slant."""
        return _typical_kinds(exact_sum(counts), self.base, self.kinds)[1]

    def _rows(self, logs: _Floats) -> _Floats:  # (judge, label, label)
        score = self.sharpness[:, None, None] * logs + self.slant[:, None, :]
        return normalise(np.exp(score - score.max(axis=-1, keepdims=True)))

    def _step(self, counts: _Floats, logs: _Floats) -> None:
        """One step of Newton's method to each judge's most probable sharpness and slant."""
        rows, whole = self._rows(logs), counts.sum(axis=-1)
        left = counts - whole[:, :, None] * rows
        labels = counts.shape[-1]
        gradient = np.empty((len(counts), labels + 1))
        sharp, lean = _SHARPNESS * self.weight, _SLANT * self.weight
        gradient[:, 0] = np.einsum("jkl,kl->j", left, logs) - sharp * (self.sharpness - 1.0)
        gradient[:, 1:] = left.sum(axis=1) - lean[:, None] * self.slant
        mean = np.einsum("jkl,kl->jk", rows, logs)
        square = np.einsum("jkl,kl->jk", rows, logs**2)
        bend = np.empty((len(counts), labels + 1, labels + 1))
        bend[:, 0, 0] = (whole * (square - mean**2)).sum(axis=1) + sharp
        weighted = whole[:, :, None] * rows
        cross = np.einsum("jkl,kl->jl", weighted, logs) - np.einsum("jkl,jk->jl", weighted, mean)
        bend[:, 0, 1:] = bend[:, 1:, 0] = cross
        bend[:, 1:, 1:] = -(weighted.transpose(0, 2, 1) @ rows)
        every = np.arange(1, labels + 1)
        bend[:, every, every] += weighted.sum(axis=1) + lean[:, None]
        step = np.clip(np.linalg.solve(bend, gradient[..., None])[..., 0], -1.0, 1.0)
        self.sharpness = np.clip(self.sharpness + step[:, 0], -2.0, 4.0)
        self.slant = self.slant + step[:, 1:]


def _typical_kinds(pooled: _Floats, base: _Floats, kinds: int) -> tuple[_Floats, _Floats]:
    """The typical rows of each label and of each of its kinds, from pooled counts (type, label)."""
    labels = len(base)
    by_label = pooled.reshape(labels, kinds, labels).sum(axis=1)
    label_row = normalise(by_label + base + _TIED * np.eye(labels))
    return label_row, normalise(pooled + _TYPICAL * np.repeat(label_row, kinds, axis=0))
