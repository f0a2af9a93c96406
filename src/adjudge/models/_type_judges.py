"""Judges and types: what is believed of a judge, and what a good judge would say of a type.

How a judge would label each type of item is believed before their judgments. Every judge's row of a
type is drawn to such a belief, which is made from what all judges do and from a few numbers about
the judge. A structure of types is one kind of belief:

- habit: with probability 1 - e they are typical, with e they give a label out of habit, whatever
  the item; e ~ Beta(1, 3). Types are two kinds of every label, an easy and a hard one.
- slant: the typical row of a label to the power of their sharpness a, times the slant e^b to each
  label; a ~ N(1, 1/4), b ~ N(0, 1). Types as before.
- line: habit, with types at even distances on the line of grades.

All sums over judges are in whole units, so that the order of judges changes no bit.

A type is never taken for the label that it started from. It means what a good judge would say of
it, a reference judge: an average over judges weighted by how much their labels tell of the types,

    Z_t = (1 - f) sum_j omega_j theta_jt + f / K,

with theta_jt what judge j says of items of type t as *the others* have them: each judgment counts
under the types that its item has without it. An item's truth is then sum_t P_it Z_t. Truth is
sharper than any judge, but only where judges err independently may a type be trusted for its label.
Two signs are looked at: whether the kinds of a label mean the same (h), and whether judges agree
beyond what types explain (rho); and a few judges can never show their independence. So

    Z_t <- (1 - kappa_t) Z_t + kappa_t [the type's own label],
    kappa = c (.5 + .45 a) + .15 a max(m^2 - c, 0),
    a = clip(1 - rho/.06, 0, 1),  m = M^2/(M^2 + 10^2),  c = m clip((.08 - h)/.05, 0, 1),

M being the number of voices, each counted as far as it judged. kappa_t is kappa where Z_t has the
type's own label .1 ahead of the others, and 0 where it is behind: a type that started from a rare
label and became one of doubtful items is none of that label. Where c is above 0, theta_jt is that
far the judge's fitted row instead, and the floor is lower: f = .05 (1 - c).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from adjudge.engines.engine import Parameters
from adjudge.models.model import Prepared

_Floats = NDArray[np.float64]
MANY = 300_000  # judgments above which judges are measured by the first structure alone
_UNIT, _FINE = 2.0**24, 2.0**40  # of exact sums: of counts, of shares
_TIED = 20.0  # pseudo-judgments that tie the types of a label to it
_TYPICAL = 100.0  # pseudo-judgments that draw a type's typical row to its label's
_PLACED = 20.0  # the same for a type on the line, to the grades near its place
_HABIT = 5.0  # pseudo-judgments that draw a judge's habit to everybody's
_BETA = (3.0, 1.0)  # of being typical, of habit
_SHARPNESS, _SLANT = 4.0, 1.0  # precision of a and b
_NEAR = 0.6  # grades: how far from its place a type is labelled
_FLOOR = 0.05
_EXPONENT, _MANY = 4.0, 50.0  # of information, where there are many judges
_SETTLED = 50.0  # judgments at which a judge has half their say
_SAME, _APART = 0.03, 0.08  # share of information within labels: one meaning, several
_LEAST, _MORE = 0.5, 0.45  # of kappa
_ANYWAY = 0.15  # of kappa, where kinds do not mean the same
_CORRELATED = 0.06
_FEW = 10.0  # voices
_LEAD = 0.1  # of a type's own label over others, from which it is sharpened in full


def exact_sum(values: _Floats, *, fine: bool = False) -> _Floats:
    """A sum over the first axis that does not depend on the order.

    Values are taken in units of 2^-24; ``fine``, in units of 2^-40, if they are 1 at most.
    """
    unit = _FINE if fine else _UNIT
    return np.asarray(np.rint(values * unit).astype(np.int64).sum(axis=0) / unit)


def normalise(rows: _Floats) -> _Floats:
    """Rows divided by their sums."""
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


class Rows(ABC):
    """A belief about rows of judges, brought up to date by counts."""

    known: ClassVar[tuple[str, ...]]  # the numbers about each judge, by their names

    def __init__(self, cells: _Floats, weight: _Floats, kinds: int) -> None:
        self.kinds = kinds  # types of each label
        self.weight = weight  # (judge,) of a judgment, and of beliefs about them
        self.base = normalise(exact_sum(cells) + 1.0)  # (label,)
        self.place = np.empty(0)  # (type,) on the line of grades; empty if on none

    @property
    def types(self) -> int:
        """How many types there are."""
        return len(self.base) * self.kinds

    @property
    def state(self) -> dict[str, _Floats]:
        """The numbers about each judge, to go on from."""
        return {name: getattr(self, name) for name in self.known}

    def recall(self, state: dict[str, _Floats]) -> None:
        """Go on from such numbers."""
        for name in self.known:
            setattr(self, name, state[name])

    @abstractmethod
    def update(self, counts: _Floats) -> _Floats:  # (judge, type, label)
        """The row of every judge and type, given what was counted."""

    @abstractmethod
    def typical(self, counts: _Floats) -> _Floats:  # (type, label)
        """The row of a judge of whom nothing is known."""


class HabitRows(Rows):
    """Judges who are partly typical, partly creatures of habit."""

    known = ("share",)

    def __init__(
        self, cells: _Floats, count: _Floats, weight: _Floats, kinds: int, *, line: bool = False
    ) -> None:
        super().__init__(cells, weight, kinds)
        labels = cells.shape[1]
        if line:
            self.place = np.linspace(0.0, labels - 1.0, labels * kinds)
        self.habit = normalise(cells + _HABIT * weight[:, None] * self.base)  # (judge, label)
        self.count = count  # (judge,) of the judgments that are fitted, which may be fewer
        self.share = np.full(len(cells), _BETA[1] / sum(_BETA))  # of habit, (judge,)
        self.mean = np.empty((0, 0))

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


class SlantRows(Rows):
    """Judges who are more or less sharp than the typical one, and lean to some labels."""

    known = ("sharpness", "slant")

    def __init__(self, cells: _Floats, weight: _Floats, kinds: int, strength: float) -> None:
        super().__init__(cells, weight, kinds)
        judges, labels = cells.shape
        self.strength = strength
        self.sharpness = np.ones(judges)
        self.slant = np.zeros((judges, labels))

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FittedTypes:
    """One structure, fitted."""

    name: str
    kinds: int  # types of each label; 0 where types lie on a line
    prevalence: _Floats  # (topic, type), or one row
    overall: _Floats  # (type,)
    rates: _Floats  # (judge, type, label)
    believed: _Floats  # (judge, type, label) what rates are drawn to
    typical: _Floats  # (type, label) the row of a judge of whom nothing is known
    counts: _Floats  # (judge, type, label) under these rates; empty once they have served
    trace: tuple[float, ...]  # the objective
    frozen: int  # the sweep from which on it never falls
    converged: bool

    @property
    def parameters(self) -> Parameters:
        """What sweeps are given."""
        return Parameters(prevalence=self.prevalence, confusion=self.rates, of_types=True)


def whole_cells(prepared: Prepared) -> NDArray[np.int64]:  # (judge, label)
    """How many judgments there are of each label by each judge."""
    return prepared.voices.fold(prepared.voice_cells(), weighted=False).astype(np.int64)


def weighted_cells(prepared: Prepared) -> _Floats:  # (judge, label)
    """What the judgments of each label by each judge weigh."""
    return prepared.voices.fold(prepared.voice_cells(), weighted=True)


def weights_of(prepared: Prepared) -> _Floats:  # (judge,)
    """What the judgments of an item by each judge weigh together, on average.

    Beliefs about them weigh as much, so that two copies of half a voice each are the one judge.
    """
    items = prepared.voices.items
    heavy = weighted_cells(prepared).sum(axis=1)
    return np.asarray(np.where(items > 0, heavy / np.maximum(items, 1), 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Judges:
    """What the reference judge has to know of each judge."""

    count: _Floats  # (judge,) items judged
    weight: _Floats  # (judge,) what they say of an item weighs, on average

    @property
    def voices(self) -> float:
        """How many voices there are, each counted as far as it judged."""
        return float(exact_sum(self.weight * np.minimum(1.0, self.count / 20.0)))


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """How far types may be trusted for their labels, and the signs it is judged by."""

    within: float  # h: share of the information of types that lies within labels
    correlation: float  # rho: agreement beyond what types explain
    same: float  # c
    sharpen: float  # kappa


def _information(prevalence: _Floats, rows: _Floats) -> _Floats:  # (judge,)
    """How much each judge's label tells of the type, in nats; rows are (judge, type, label)."""
    mean = np.einsum("t,jtl->jl", prevalence, rows)
    ratio = np.log(np.maximum(rows, 1e-300) / np.maximum(mean[:, None, :], 1e-300))
    return np.asarray(np.einsum("t,jtl,jtl->j", prevalence, rows, ratio))


def refer(
    prevalence: _Floats, rows: _Floats, judges: Judges, same: float = 0.0
) -> _Floats:  # (type, label)
    """What the reference judge says of each type; ``same`` is how far kinds mean the same."""
    count, voices = judges.count, judges.voices
    exponent = _EXPONENT * voices**2 / (voices**2 + _MANY**2)
    told = np.maximum(_information(prevalence, rows) * count / (count + 10.0), 1e-6)
    say = judges.weight * count / (count + _SETTLED) * (told / told.max()) ** exponent
    if not say.max() > 0:  # nobody judged anything
        say = np.ones(len(say))
    labels = rows.shape[2]
    mean = normalise(exact_sum(say[:, None, None] / say.max() * rows, fine=True))
    floor = _FLOOR * (1.0 - same)
    return np.asarray((1.0 - floor) * mean + floor / labels)


def trust(
    prevalence: _Floats, meaning: _Floats, kinds: int, correlation: float, judges: Judges
) -> Trust:
    """How far types may be trusted, from the meaning (type, label) of kinds of labels."""
    labels = meaning.shape[1]
    whole = _mutual(prevalence, meaning)
    parts = [slice(k * kinds, (k + 1) * kinds) for k in range(labels)]
    within = sum(_mutual(prevalence[part], meaning[part]) for part in parts) / max(whole, 1e-12)
    many = judges.voices**2 / (judges.voices**2 + _FEW**2)
    same = many * float(np.clip((_APART - within) / (_APART - _SAME), 0.0, 1.0))
    alone = float(np.clip(1.0 - correlation / _CORRELATED, 0.0, 1.0))
    sharpen = same * (_LEAST + _MORE * alone) + _ANYWAY * alone * max(many**2 - same, 0.0)
    return Trust(within, correlation, same, sharpen)


def _mutual(prevalence: _Floats, rows: _Floats) -> float:
    """The information of types and labels, for types that need not be all; in nats."""
    mean = prevalence @ rows / prevalence.sum()
    return float((prevalence[:, None] * rows * np.log(rows / mean)).sum())


def sharpen(meaning: _Floats, own: NDArray[np.int64], kappa: float) -> _Floats:  # (type, label)
    """Meanings moved to the label of the type's own, where that is what most often is meant."""
    unit = np.eye(meaning.shape[1])[own]
    lead = (meaning * unit).max(axis=1) - (meaning * (1.0 - unit)).max(axis=1)
    part = kappa * np.clip(lead / _LEAD, 0.0, 1.0)[:, None]
    return np.asarray((1.0 - part) * meaning + part * unit)


def read_truths(
    meaning: _Floats, truth_of: tuple[int, ...], truths: int
) -> _Floats:  # (type, truth)
    """Meanings in labels as meanings in truths; labels that stand for none are left out."""
    if truth_of == tuple(range(truths)):
        return meaning
    stands = np.array(truth_of)[:, None] == np.arange(truths)
    return normalise(meaning @ stands.astype(np.float64) + 1e-9)
