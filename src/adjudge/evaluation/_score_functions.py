"""Scores as plain functions of arrays: gold truth against labels and probabilities.

Truth and choice are codes of the truths of a scale, one an item; a posterior has a row an item.
Every function takes ``weight`` (resample, item), rows of which add up to the number of items, and
then gives one value a resample: that is the bootstrap of ``_resampling``. A value that is not
defined is NaN; ``against_gold`` says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting
from adjudge.evaluation._tables import columns_of
from adjudge.evaluation.scores import Score

Codes = NDArray[np.integer]  # (item,)

Floats = NDArray[np.float64]

Flags = NDArray[np.bool_]

Value = np.float64 | NDArray[np.float64]  # one number, or (resample,)

CLIP = 1e-6  # a truth held impossible costs at most 13.8 nats

TIE = 1e-9  # probabilities nearer than this are tied


def sum_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """The sum over items; under weights, one sum a resample."""
    numbers = values.astype(np.float64, copy=False)
    return np.float64(numbers.sum()) if weight is None else np.asarray(weight @ numbers)


def mean_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """The mean over items; NaN where there are none."""
    return ratio(sum_of(values, weight), np.float64(len(values)))


def ratio(part: Value, whole: Value) -> Value:
    """Part by whole; NaN where the whole is nothing."""
    above, below = np.broadcast_arrays(part, whole)
    result = np.full(below.shape, np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result if result.ndim else np.float64(result)


# --- labels ---------------------------------------------------------------------------------


def accuracy(truth: Codes, choice: Codes, weight: Floats | None = None) -> Value:
    """The share of items whose label is their truth."""
    return mean_of(truth == choice, weight)


def expected_accuracy(truth: Codes, posterior: Floats, weight: Floats | None = None) -> Value:
    """Accuracy with ties in expectation: a top shared by m truths, the right one too, counts 1/m.

    It is what accuracy comes to on average when ties are broken at random, without the luck.
    """
    if not len(truth):
        return mean_of(truth, weight)
    top = posterior >= posterior.max(axis=1, keepdims=True) - TIE
    return mean_of(top[np.arange(len(truth)), truth] / top.sum(axis=1), weight)


def grade_error(truth: Codes, choice: Codes, weight: Floats | None = None) -> Value:
    """The mean distance between label and truth, in grades: steps on an ordinal scale."""
    return mean_of(np.abs(truth.astype(np.float64) - choice), weight)


def grade_rmse(truth: Codes, choice: Codes, weight: Floats | None = None) -> Value:
    """The root of the mean squared distance between label and truth, in grades.

    On a binary scale this is sqrt(1 - accuracy), the RMSE of Jung and Lease's PMF paper.
    """
    return np.sqrt(mean_of((truth.astype(np.float64) - choice) ** 2, weight))


def quadratic_kappa(truth: Codes, choice: Codes, weight: Floats | None = None) -> Value:
    """Cohen's kappa of label and truth, a disagreement weighing its distance in grades squared.

    With squares the disagreement expected by chance is E a² + E b² - 2 E a E b, so the matrix of
    pairs is not needed.
    """
    a, b = truth.astype(np.float64), choice.astype(np.float64)
    observed = mean_of((a - b) ** 2, weight)
    apart = mean_of(a * a + b * b, weight) - 2 * mean_of(a, weight) * mean_of(b, weight)
    return 1 - ratio(observed, apart)


def auc(relevant: Flags, score: Floats, weight: Floats | None = None) -> Value:
    """The chance that a relevant item has a higher score than another; equal scores count half."""
    if not len(score):
        return mean_of(score, weight)
    distinct, place = np.unique(score, return_inverse=True)
    cell, size = place * 2 + relevant, 2 * len(distinct)
    if weight is None:
        return _area(np.bincount(cell, minlength=size))
    return np.array([_area(np.bincount(cell, row, size)) for row in weight])


def _area(counts: NDArray[Any]) -> np.float64:  # (distinct score x relevant,)
    """The area under the curve from the items of each score, not relevant and relevant."""
    below, above = counts[::2].astype(np.float64), counts[1::2].astype(np.float64)
    area = np.float64((above * (np.cumsum(below) - below / 2)).sum())
    return np.float64(ratio(area, above.sum() * below.sum()))


def mse(relevant: Flags, chance: Floats, weight: Floats | None = None) -> Value:
    """The mean of (y - p)², where y is 1 for a relevant item and p its probability of relevance."""
    return mean_of((relevant - chance) ** 2, weight)


def squared_error(relevant: Flags, chance: Floats, weight: Floats | None = None) -> Value:
    """The sum of (y - p)² over items (Carpenter 2011, section 9.2)."""
    return sum_of((relevant - chance) ** 2, weight)


def rmse(relevant: Flags, chance: Floats, weight: Floats | None = None) -> Value:
    """The root of the mean squared error, on the scale of the probabilities again."""
    return np.sqrt(mse(relevant, chance, weight))


# --- probabilities of all truths ------------------------------------------------------------


def log_loss(
    truth: Codes, posterior: Floats, weight: Floats | None = None, *, clip: float = CLIP
) -> Value:
    """The mean of -log p(truth), in nats, p held between ``clip`` and 1 - ``clip``."""
    given = posterior[np.arange(len(truth)), truth]
    return mean_of(-np.log(np.clip(given, clip, 1 - clip)), weight)


def brier(truth: Codes, posterior: Floats, weight: Floats | None = None) -> Value:
    """The mean over items of the sum over truths of (p - y)²: 0 is best, 2 is worst.

    This is Brier's own definition; for two truths it is twice the mean squared error.
    """
    # sum (p - y)² = sum p² - 2 p(truth) + 1
    given = posterior[np.arange(len(truth)), truth]
    return mean_of(np.einsum("ik,ik->i", posterior, posterior) - 2 * given + 1, weight)


def calibration_error(
    confidence: Floats, right: Flags, weight: Floats | None = None, *, bins: int = 10
) -> Value:
    """The expected calibration error: |confidence - share right| of each bin, by its items.

    A bin's part is |sum of (confidence - right)| / items, so one sum a bin is enough.
    """
    if not len(confidence):
        return mean_of(confidence, weight)
    place = bin_of(confidence, bins)
    gap = np.zeros((len(confidence), bins))
    gap[np.arange(len(confidence)), place] = confidence - right
    if weight is None:
        return np.float64(np.abs(gap.sum(axis=0)).sum() / len(confidence))
    return np.asarray(np.abs(weight @ gap).sum(axis=1) / len(confidence))


def corrected_calibration_error(
    confidence: Floats, right: Flags | Floats, weight: Floats | None = None, *, bins: int = 10
) -> Value:
    """The expected calibration error without its bias: 0 on average where all is calibrated.

    The absolute value makes luck count as error, the more the fewer the items: 100 items that are
    perfectly calibrated have an error of .05 or so (Kumar, Liang and Ma 2019, "Verified uncertainty
    calibration", arXiv:1909.10155; Roelofs and others 2022, arXiv:2012.08668). Here one half of a
    bin's items gives the sign of its gap, the other half its size, so that luck in one does not
    meet itself in the other, on average over all halvings. With S the sum of (confidence - right)
    over the bin, V = sum of confidence (1 - confidence), the variance that S has where all is
    calibrated, and z = S / sqrt(V), that is in the limit of many items

        S (2 Phi(z) - 1) - 2 sqrt(V) phi(z)

    which has mean 0 if S ~ N(0, V), and becomes the size of S where the gap is no luck; between the
    two it understates. (Kumar and others subtract a bias estimated at the gap that was seen, and so
    keep 2 - sqrt(2) of it where all is calibrated.) By luck it may lie below 0.
    """
    if not len(confidence):
        return mean_of(confidence, weight)
    place = bin_of(confidence, bins)
    gap, spread = np.zeros((2, len(confidence), bins))
    rows = np.arange(len(confidence))
    gap[rows, place] = confidence - right
    spread[rows, place] = confidence * (1 - confidence)
    if weight is None:
        return np.float64(_without_luck(gap.sum(axis=0), spread.sum(axis=0)) / len(confidence))
    return np.asarray(_without_luck(weight @ gap, weight @ spread) / len(confidence))


def _without_luck(gap: Floats, variance: Floats) -> Value:  # (..., bin)
    """The sizes of gaps less what luck makes of them, summed over bins."""
    width = np.sqrt(np.maximum(variance, 0.0))
    certain = np.where(gap == 0, 0.0, np.inf) * np.sign(gap)  # of a bin where nothing is left open
    z = np.divide(gap, width, out=certain, where=width > 0)
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return np.asarray((gap * (2 * ndtr(z) - 1) - 2 * width * density).sum(axis=-1))


def bin_of(confidence: Floats, bins: int) -> NDArray[np.intp]:
    if bins < 1:
        raise BadSetting("bins", bins, "at least one bin")
    return np.clip(np.ceil(confidence * bins).astype(np.intp) - 1, 0, bins - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredItems:
    """The items that are scored: gold truth, label and probabilities, and what follows of them.

    Made by ``ScoredItems.of``. Without a binary collapse ``relevant``, ``returned`` and ``chance``
    are None; without probabilities, ``posterior`` and what is read off it.
    """

    scale: Scale
    truth: NDArray[np.int16]  # (item,)
    choice: NDArray[np.int16]  # (item,)
    posterior: Floats | None  # (item, truth)
    relevant: Flags | None  # (item,) by gold
    returned: Flags | None  # (item,) by label
    chance: Floats | None  # (item,) probability of relevance
    confidence: Floats | None  # (item,) probability of the label
    clip: float = CLIP
    bins: int = 10

    @classmethod
    def of(
        cls,
        scale: Scale,
        truth: NDArray[np.int16],
        choice: NDArray[np.int16],
        posterior: Floats | None = None,
        *,
        clip: float = CLIP,
        bins: int = 10,
    ) -> ScoredItems:
        """A sample from truth, choice and posterior on a scale."""
        collapse = scale.truth_relevant
        chance = confidence = None
        if posterior is not None:
            confidence = posterior[np.arange(len(choice)), choice]
            if collapse is not None:
                # A sum of shares may pass 1 by an ulp.
                chance = np.minimum(posterior @ collapse.astype(np.float64), 1.0)
        return cls(
            scale=scale,
            truth=truth,
            choice=choice,
            posterior=posterior,
            relevant=None if collapse is None else collapse[truth],
            returned=None if collapse is None else collapse[choice],
            chance=chance,
            confidence=confidence,
            clip=clip,
            bins=bins,
        )

    def __len__(self) -> int:
        return len(self.truth)

    def by_chance(self) -> ScoredItems:
        """The same items in order of their probability of relevance: AUC runs faster over them."""
        if self.chance is None or self.posterior is None:
            return self
        order = np.argsort(self.chance, kind="stable")
        return ScoredItems.of(
            self.scale,
            self.truth[order],
            self.choice[order],
            self.posterior[order],
            clip=self.clip,
            bins=self.bins,
        )


def score_table(scores: Iterable[Score]) -> Any:
    """Scores as an Arrow table: score, value, low, high, reason; what is undefined is null."""
    rows = list(scores)
    numbers = columns_of(rows, real=("value", "low", "high"))
    (name,) = columns_of(rows, text=("name",)).values()
    return pa.table({"score": name, **numbers, **columns_of(rows, text=("reason",))})
