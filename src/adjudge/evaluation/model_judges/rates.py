"""Error rates of one LLM judge: how often each class gets each label, and what follows from it.

All measures follow from one table, how many gold items of each true class got each label, so that
an audit, a card and a gate measure alike. A measure with less gold than it needs is undefined, and
says how much it needs.

``gold-saved`` is the share of the variance of gold that the labels explain. The truth of each item
is predicted from its label by the other gold items; then a number corrected with n gold items is
about as precise as gold alone with n / (1 - gold-saved). Truths are grades, or a column per class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting, UnknownName
from adjudge.evaluation.scores import Score, jeffreys, tabulate

LEVEL = 0.95
NEEDS = {  # gold items; of the class, for a rate of one class
    "accuracy": 30,
    "kappa": 50,
    "weighted-kappa": 50,
    "gold-saved": 50,
    "over-rating": 30,
    "recall": 20,
    "tpr": 20,
    "tnr": 20,
}
_Floats = NDArray[np.float64]
_Table = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassRates:
    """The labels that a judge gives the gold items of one true class."""

    truth: str
    gold: int
    labels: tuple[str, ...]
    counts: tuple[int, ...]  # (label,)
    low: tuple[float, ...]  # (label,) bounds of the share
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rates:
    """The table of true classes and labels of one judge, with its measures."""

    scale: Scale
    table: _Table  # (truth, label) gold items
    resamples: int = 1000
    seed: int = 0

    @classmethod
    def count(
        cls, scale: Scale, truth: NDArray[Any], label: NDArray[Any], **settings: int
    ) -> Rates:
        """Count the labels of the items of each true class."""
        shape = len(scale.truths), len(scale.labels)
        return cls(scale=scale, table=tabulate(shape, truth, label), **settings)

    @property
    def gold(self) -> int:
        """How many gold items there are."""
        return int(self.table.sum())

    @property
    def by_class(self) -> tuple[ClassRates, ...]:
        """The rates of every true class that gold has."""
        found = []
        for truth, row in zip(self.scale.truths, self.table, strict=True):
            total = int(row.sum())
            if total:
                low, high = jeffreys(row, total, LEVEL)
                counts = tuple(row.tolist())
                bounds = {"low": tuple(low.tolist()), "high": tuple(high.tolist())}
                found.append(
                    ClassRates(
                        truth=truth, gold=total, labels=self.scale.labels, counts=counts, **bounds
                    )
                )
        return tuple(found)

    @property
    def over_rated(self) -> _Floats:  # (truth, label)
        """By how much each label is above each truth, in grades."""
        return np.asarray(self.scale.values[None, :] - self.scale.truth_values[:, None])

    @property
    def has_grades(self) -> bool:
        """Whether labels have an order, so that one can be too high."""
        return self.scale.ordinal or len(self.scale.labels) == 2

    def measure(self, name: str) -> Score:
        """Measure accuracy, kappa, gold-saved, over-rating, tpr, tnr or recall:LABEL."""
        kind, _, label = name.partition(":")
        if kind not in NEEDS or bool(label) != (kind == "recall"):
            raise UnknownName("measure", name, [*NEEDS, "recall:LABEL"])
        chosen = self._rows_of(kind, label)
        least, have = NEEDS[kind], int(self.table[chosen].sum())
        if have < least:
            of = " of it" if kind in ("recall", "tpr", "tnr") else ""
            reason = f"needs {least} gold items{of}, has {have}"
            return Score.undefined(name, reason)
        if kind in ("kappa", "weighted-kappa"):
            return self._kappa(name)
        if kind == "over-rating":
            return self._over_rating()
        if kind == "gold-saved":
            return self._measure_saving()
        hits = int((self.table * self._right(kind))[chosen].sum())
        low, high = jeffreys(hits, have, LEVEL)
        return Score(name=name, value=hits / have, low=float(low), high=float(high))

    def _rows_of(self, kind: str, label: str) -> NDArray[np.bool_]:  # (truth,)
        """Which true classes a measure is about."""
        if kind == "recall":
            code = self.scale.truth_code(label)
            if code < 0:
                raise UnknownName("label", label, self.scale.truths)
            return np.asarray(np.arange(len(self.table)) == code)
        if kind in ("tpr", "tnr"):
            relevant = self.scale.truth_relevant
            if relevant is None:
                raise BadSetting(kind, str(self.scale), "a scale with relevant labels")
            return np.asarray(relevant == (kind == "tpr"))
        return np.ones(len(self.table), dtype=np.bool_)

    def _right(self, kind: str) -> NDArray[np.bool_]:  # (truth, label)
        """Which labels are right for which truth."""
        relevant = self.scale.truth_relevant
        if kind in ("tpr", "tnr") and relevant is not None:
            called = np.array([label in self.scale.relevant for label in self.scale.labels])
            return np.asarray(relevant[:, None] == called[None, :])
        return self.scale.stands

    def _kappa(self, name: str) -> Score:
        """Measure Cohen's kappa, or with squared distances of grades, by a bootstrap over items."""
        weight = np.where(self.scale.stands, 0.0, 1.0)
        if name == "weighted-kappa":
            if not self.has_grades:
                return Score.undefined(name, "needs labels in order")
            weight = self.over_rated**2
        drawn = np.random.default_rng(self.seed).multinomial(
            self.gold, self.table.ravel() / self.gold, size=self.resamples
        )
        tables = np.concatenate([self.table[None], drawn.reshape(-1, *self.table.shape)])
        found = (weight * tables).sum(axis=(1, 2)) * self.gold
        chance = np.einsum("rk,rl,kl->r", tables.sum(axis=2), tables.sum(axis=1), weight)
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.where(chance > 0, 1 - found / chance, np.nan)
        if np.isnan(values[0]):
            return Score.undefined(name, "judge and gold give one label, the same, throughout")
        ends = None, None
        if self.resamples:
            ends = tuple(np.nanquantile(values[1:], [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist())
        return Score(name=name, value=float(values[0]), low=ends[0], high=ends[1])

    def _measure_saving(self) -> Score:
        """Measure the share of the variance of gold that labels explain, leaving one item out."""
        table, scale = self.table, self.scale
        truths = scale.truth_values[:, None] if scale.ordinal else np.eye(len(table))
        share = (table.sum(axis=1) + 0.5) / (self.gold + 0.5 * len(table))
        sums = table.T @ truths + share @ truths  # (label, value) and one item as all are
        others = sums - truths[:, None, :]  # (truth, label, value)
        predicted = others / np.maximum(table.sum(axis=0), 1)[:, None]
        missed = ((truths[:, None, :] - predicted) ** 2).sum(axis=2)
        middle = table.sum(axis=1) @ truths / self.gold
        spread = ((truths - middle) ** 2).sum(axis=1)[:, None]
        total = float((table * spread).sum())
        if not total > 0:
            return Score.undefined("gold-saved", "gold has one label throughout")
        left = float((table * missed).sum()) / total
        variance = float((table * (missed - left * spread) ** 2).sum()) / total**2
        reach = float(student.ppf(0.5 + LEVEL / 2, self.gold - 1)) * variance**0.5
        return Score(
            name="gold-saved", value=1 - left, low=1 - left - reach, high=min(1 - left + reach, 1.0)
        )

    def _over_rating(self) -> Score:
        """Measure by how much labels are above gold on average, in grades."""
        if not self.has_grades:
            return Score.undefined("over-rating", "needs labels in order")
        gold = self.gold
        mean = float((self.table * self.over_rated).sum()) / gold
        spread = float((self.table * (self.over_rated - mean) ** 2).sum()) / (gold - 1)
        reach = float(student.ppf(0.5 + LEVEL / 2, gold - 1)) * (spread / gold) ** 0.5
        return Score(name="over-rating", value=mean, low=mean - reach, high=mean + reach)


def tell_need(what: str, least: int, have: int, unit: str = "gold items") -> str:
    """Say how much a check needs, where there is less."""
    return f"{what}: needs {least:,} {unit}, has {have:,}"
