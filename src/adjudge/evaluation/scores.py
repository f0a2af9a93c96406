"""Scores as plain functions of arrays: gold truth against labels and probabilities.

Truth and choice are codes of the truths of a scale, one an item; a posterior has a row an item.
Every function takes ``weight`` (resample, item), rows of which add up to the number of items, and
then gives one value a resample: that is the bootstrap of ``resampling``. A value that is not
defined is NaN; ``against_gold`` says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr

from adjudge.errors import BadSetting
from adjudge.evaluation.score import wilson

Codes = NDArray[np.integer]  # (item,)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Value = np.float64 | NDArray[np.float64]  # one number, or (resample,)

CLIP = 1e-6  # a truth held impossible costs at most 13.8 nats
TIE = 1e-9  # probabilities nearer than this are tied


def _sum_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """The sum over items; under weights, one sum a resample."""
    numbers = values.astype(np.float64, copy=False)
    return np.float64(numbers.sum()) if weight is None else np.asarray(weight @ numbers)


def mean_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """The mean over items; NaN where there are none."""
    return ratio(_sum_of(values, weight), np.float64(len(values)))


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


# --- relevant or not ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The four cells of relevant against response, whole or in part.

    The cells are numbers of items, or arrays with one number a resample.
    """

    true_positive: Value
    false_positive: Value
    false_negative: Value
    true_negative: Value

    @property
    def precision(self) -> Value:
        """Of what was returned as relevant, the share that is."""
        return ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> Value:
        """Of what is relevant, the share that was returned: sensitivity."""
        return ratio(self.true_positive, self.true_positive + self.false_negative)

    @property
    def specificity(self) -> Value:
        """Of what is not relevant, the share that was not returned."""
        return ratio(self.true_negative, self.true_negative + self.false_positive)

    @property
    def f1(self) -> Value:
        """The harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN)."""
        twice = 2 * self.true_positive
        return ratio(twice, twice + self.false_positive + self.false_negative)

    @property
    def accuracy(self) -> Value:
        """The share of responses that are right."""
        right = self.true_positive + self.true_negative
        return ratio(right, right + self.false_positive + self.false_negative)


def cells(relevant: Flags, response: NDArray[Any], weight: Floats | None = None) -> Cells:
    """Relevant against response, where 0.72 is 0.72 responses of 1 and 0.28 responses of 0.

    That is Carpenter (2011), section 9.3, which warns that it counts mistakes twice;
    responses of 0 and 1 give the usual, quantised, cells.
    """
    given = response.astype(np.float64, copy=False)
    yes, returned = _sum_of(relevant, weight), _sum_of(given, weight)
    both = _sum_of(relevant * given, weight)
    # Differences of sums may fall an ulp below nothing.
    return Cells(
        true_positive=both,
        false_positive=np.maximum(returned - both, 0.0),
        false_negative=np.maximum(yes - both, 0.0),
        true_negative=np.maximum(len(given) - yes - returned + both, 0.0),
    )


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
    return _sum_of((relevant - chance) ** 2, weight)


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


def count_clipped(truth: Codes, posterior: Floats, *, clip: float = CLIP) -> int:
    """How many items have a truth that was given less than ``clip``."""
    return int((posterior[np.arange(len(truth)), truth] < clip).sum())


def brier(truth: Codes, posterior: Floats, weight: Floats | None = None) -> Value:
    """The mean over items of the sum over truths of (p - y)²: 0 is best, 2 is worst.

    This is Brier's own definition; for two truths it is twice the mean squared error.
    """
    # sum (p - y)² = sum p² - 2 p(truth) + 1
    given = posterior[np.arange(len(truth)), truth]
    return mean_of(np.einsum("ik,ik->i", posterior, posterior) - 2 * given + 1, weight)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationBins:
    """How often items of a given confidence are right, bin by bin: the points of a plot.

    A bin holds confidences above its lower and up to its upper edge; the first holds 0 too.
    """

    edges: Floats  # (bin + 1,)
    count: NDArray[np.int64]  # (bin,)
    confidence: Floats  # (bin,) mean, NaN where the bin is empty
    share: Floats  # (bin,) of items that are right, NaN where the bin is empty
    share_low: Floats  # (bin,) Wilson's interval of the share, at 95%; NaN where it is empty
    share_high: Floats
    error: float  # expected calibration error, NaN where there are no items
    corrected: float  # the same without its bias; by luck it may lie below 0

    @property
    def shown(self) -> float:
        """The corrected error as people read it: no less than 0."""
        return 0.0 if self.corrected < 0 else self.corrected

    def to_table(self) -> Any:
        """One row a bin: low, high, items, confidence, share and its interval, if not empty."""
        empty = self.count == 0
        return pa.table(
            {
                "low": pa.array(self.edges[:-1]),
                "high": pa.array(self.edges[1:]),
                "items": pa.array(self.count),
                "confidence": pa.array(self.confidence, mask=empty),
                "share": pa.array(self.share, mask=empty),
                "share_low": pa.array(self.share_low, mask=empty),
                "share_high": pa.array(self.share_high, mask=empty),
            }
        )


def calibration(confidence: Floats, right: Flags, bins: int = 10) -> CalibrationBins:
    """Confidence against the share of items that are right, in bins of equal width."""
    place = _bin(confidence, bins)
    count = np.bincount(place, minlength=bins)

    def mean(values: NDArray[Any]) -> Floats:  # (bin,)
        total = np.bincount(place, values.astype(np.float64), bins)
        return np.asarray(ratio(total.astype(np.float64), count.astype(np.float64)))

    share = mean(right)
    bounds = np.array(
        [wilson(part * items, items) for part, items in zip(share, count, strict=True)]
    )
    bounds[count == 0] = np.nan
    return CalibrationBins(
        edges=np.linspace(0.0, 1.0, bins + 1),
        count=count,
        confidence=mean(confidence),
        share=share,
        share_low=bounds[:, 0],
        share_high=bounds[:, 1],
        error=float(calibration_error(confidence, right, bins=bins)),
        corrected=float(corrected_calibration_error(confidence, right, bins=bins)),
    )


def calibration_error(
    confidence: Floats, right: Flags, weight: Floats | None = None, *, bins: int = 10
) -> Value:
    """The expected calibration error: |confidence - share right| of each bin, by its items.

    A bin's part is |sum of (confidence - right)| / items, so one sum a bin is enough.
    """
    if not len(confidence):
        return mean_of(confidence, weight)
    place = _bin(confidence, bins)
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
    place = _bin(confidence, bins)
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


def _bin(confidence: Floats, bins: int) -> NDArray[np.intp]:
    if bins < 1:
        raise BadSetting("bins", bins, "at least one bin")
    return np.clip(np.ceil(confidence * bins).astype(np.intp) - 1, 0, bins - 1)


# --- confusion ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ConfusionMatrix:
    """Gold truth against response: how many items, whole or in part, of one got the other."""

    truths: tuple[str, ...]
    counts: Floats  # (truth, response)

    @property
    def precision(self) -> Floats:  # (response,)
        """Of the responses of each truth, the share that is right; NaN where there is none."""
        return np.asarray(ratio(np.diagonal(self.counts), self.counts.sum(axis=0)))

    @property
    def recall(self) -> Floats:  # (truth,)
        """Of the items of each truth, the share that got it; NaN where there is none."""
        return np.asarray(ratio(np.diagonal(self.counts), self.counts.sum(axis=1)))

    def to_table(self) -> Any:
        """One row a truth: gold, and a column for each response."""
        columns: dict[str, Any] = {"gold": pa.array(self.truths, pa.large_string())}
        for code, truth in enumerate(self.truths):
            columns[f"label_{truth}"] = pa.array(np.ascontiguousarray(self.counts[:, code]))
        return pa.table(columns)


def confusion(truth: Codes, choice: Codes, truths: Sequence[str]) -> ConfusionMatrix:
    """The confusion matrix of labels, each item counted once."""
    size = len(truths)
    pair = truth.astype(np.int64) * size + choice
    counts = np.bincount(pair, minlength=size * size).reshape(size, size)
    return ConfusionMatrix(truths=tuple(truths), counts=counts.astype(np.float64))


def fractional_confusion(truth: Codes, posterior: Floats, truths: Sequence[str]) -> ConfusionMatrix:
    """The confusion matrix of probabilities, each item shared out among the responses by them."""
    size = len(truths)
    counts = [np.bincount(truth, column, size) for column in posterior.T]
    return ConfusionMatrix(truths=tuple(truths), counts=np.stack(counts, axis=1))
