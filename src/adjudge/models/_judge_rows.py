"""How judges are expected to label each type of item, before their own counts are added.

The expected row of judge j for label k is the typical row of k, made more or less sharp and slanted
towards some labels:

    row_jk[l]  is proportional to  typical_k[l]^a_j e^(b_j[l]),    a_j ~ N(1, 1/4),  b_j ~ N(0, 1)

A judge's own row of a label is drawn to it by ``strength`` pseudo-judgments, and the row of a type
(a kind of the label) differs from its label's as it does for the typical judge. All sums over
judges are in whole units, so that the order of judges changes no bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_UNIT, _FINE = 2.0**24, 2.0**40  # of exact sums: of counts, of shares
_SHARPNESS, _SLANT = 4.0, 1.0  # prior precision of a and b


def exact_sum(values: _Floats, *, fine: bool = False) -> _Floats:
    """Sum over the first axis with a result that does not depend on the order.

    Values are rounded to units of 2^-24; with ``fine`` to 2^-40, for values of at most 1.
    """
    unit = _FINE if fine else _UNIT
    return np.asarray(np.rint(values * unit).astype(np.int64).sum(axis=0) / unit)


def normalise(rows: _Floats) -> _Floats:
    """Divide rows by their sums."""
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


class JudgeRows:
    """The expected rows of all judges, updated from counts."""

    def __init__(self, cells: _Floats, weight: _Floats, kinds: int, strength: float) -> None:
        judges, labels = cells.shape
        self.kinds, self.strength = kinds, strength
        self.weight = weight  # (judge,) of a judgment, and so of the prior
        self.base = normalise(exact_sum(cells) + 1.0)  # (label,) share of each label
        self.sharpness = np.ones(judges)
        self.slant = np.zeros((judges, labels))

    @property
    def types(self) -> int:
        """The number of types."""
        return len(self.base) * self.kinds

    @property
    def state(self) -> dict[str, _Floats]:
        """Sharpness and slant of each judge, to continue from."""
        return {"sharpness": self.sharpness, "slant": self.slant}

    def restore(self, state: dict[str, _Floats]) -> None:
        """Continue from an earlier state."""
        self.sharpness, self.slant = state["sharpness"], state["slant"]

    def update(self, counts: _Floats) -> _Floats:  # (judge, type, label)
        """Update sharpness and slant, and return the expected row of each judge and type."""
        label_row, type_row = self._typical(counts)
        by_label = counts.reshape(len(counts), len(self.base), self.kinds, -1).sum(axis=2)
        logs = np.log(label_row)
        self._step(by_label, logs)
        expected = self.strength * self.weight[:, None, None] * self._rows(logs)
        own = normalise(by_label + expected)  # (judge, label, label)
        ratio = type_row / np.repeat(label_row, self.kinds, axis=0)
        return normalise(np.repeat(own, self.kinds, axis=1) * ratio)

    def typical(self, counts: _Floats) -> _Floats:  # (type, label)
        """The row of a judge about whom nothing is known."""
        return self._typical(counts)[1]

    def _typical(self, counts: _Floats) -> tuple[_Floats, _Floats]:
        """The typical rows of each label and of each type, from the counts of all judges."""
        pooled, labels = exact_sum(counts), len(self.base)
        by_label = pooled.reshape(labels, self.kinds, labels).sum(axis=1)
        label_row = normalise(by_label + self.base + self.strength * np.eye(labels))
        drawn = self.strength * np.repeat(label_row, self.kinds, axis=0)
        return label_row, normalise(pooled + drawn)

    def _rows(self, logs: _Floats) -> _Floats:  # (judge, label, label)
        score = self.sharpness[:, None, None] * logs + self.slant[:, None, :]
        return normalise(np.exp(score - score.max(axis=-1, keepdims=True)))

    def _step(self, counts: _Floats, logs: _Floats) -> None:
        """Take one Newton step to the most probable sharpness and slant of each judge."""
        rows, total = self._rows(logs), counts.sum(axis=-1)
        residual = counts - total[:, :, None] * rows
        labels = counts.shape[-1]
        sharp, lean = _SHARPNESS * self.weight, _SLANT * self.weight
        gradient = np.empty((len(counts), labels + 1))
        gradient[:, 0] = np.einsum("jkl,kl->j", residual, logs) - sharp * (self.sharpness - 1.0)
        gradient[:, 1:] = residual.sum(axis=1) - lean[:, None] * self.slant
        mean = np.einsum("jkl,kl->jk", rows, logs)
        square = np.einsum("jkl,kl->jk", rows, logs**2)
        hessian = np.empty((len(counts), labels + 1, labels + 1))
        hessian[:, 0, 0] = (total * (square - mean**2)).sum(axis=1) + sharp
        weighted = total[:, :, None] * rows
        cross = np.einsum("jkl,kl->jl", weighted, logs) - np.einsum("jkl,jk->jl", weighted, mean)
        hessian[:, 0, 1:] = hessian[:, 1:, 0] = cross
        hessian[:, 1:, 1:] = -(weighted.transpose(0, 2, 1) @ rows)
        diagonal = np.arange(1, labels + 1)
        hessian[:, diagonal, diagonal] += weighted.sum(axis=1) + lean[:, None]
        step = np.clip(np.linalg.solve(hessian, gradient[..., None])[..., 0], -1.0, 1.0)
        self.sharpness = np.clip(self.sharpness + step[:, 0], -2.0, 4.0)
        self.slant = self.slant + step[:, 1:]
