"""Scores of labels and probabilities against gold, and the table of all of them.

Truth and choice are codes of the truths of a scale, one per item; a posterior has one row per item.
Every score function takes ``weight`` (resample, item), rows of which add up to the number of items,
and then gives one value per resample: see ``_resampling``. An undefined value is NaN. To add a
score, write its function and its line in ``MEASURES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from adjudge.data.scale import Scale
from adjudge.errors import BadSetting

Codes = NDArray[np.integer]  # (item,)
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Value = np.float64 | NDArray[np.float64]  # one number, or (resample,)
CLIP = 1e-6  # an impossible truth costs at most 13.8 nats
TIE = 1e-9  # probabilities nearer than this are tied


def sum_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """Sum over items; with weights, one sum per resample."""
    numbers = values.astype(np.float64, copy=False)
    return np.float64(numbers.sum()) if weight is None else np.asarray(weight @ numbers)


def mean_of(values: NDArray[Any], weight: Floats | None = None) -> Value:
    """Average over items; NaN without items."""
    return ratio(sum_of(values, weight), np.float64(len(values)))


def ratio(part: Value, total: Value) -> Value:
    """Divide a part by a total; NaN where the total is 0."""
    above, below = np.broadcast_arrays(part, total)
    result = np.full(below.shape, np.nan)
    np.divide(above, below, out=result, where=below > 0)
    return result if result.ndim else np.float64(result)


# --- labels ---------------------------------------------------------------------------------


def accuracy(truth: Codes, choice: Codes, weight: Floats | None = None) -> Value:
    """The share of items whose label is their truth."""
    return mean_of(truth == choice, weight)


def expected_accuracy(truth: Codes, posterior: Floats, weight: Floats | None = None) -> Value:
    """Measure accuracy with ties in expectation: a top shared by m truths, one right, counts 1/m.

    It is the mean accuracy when ties are broken at random.
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
    """Return the expected calibration error: |confidence - share right| of bins, by their items.

    A bin's part is |sum of (confidence - right)| / items, so one sum per bin is enough.
    """
    gap = _sum_by_bin(confidence - right, confidence, weight, bins)
    return ratio(np.abs(gap).sum(axis=-1), np.float64(len(confidence)))


def _sum_by_bin(values: Floats, confidence: Floats, weight: Floats | None, bins: int) -> Floats:
    """Return sums of values by bin of confidence: (bin,), or (resample, bin)."""
    cells = np.zeros((len(confidence), bins))
    cells[np.arange(len(confidence)), bin_of(confidence, bins)] = values
    return np.asarray(cells.sum(axis=0) if weight is None else weight @ cells)


def corrected_calibration_error(
    confidence: Floats, right: Flags | Floats, weight: Floats | None = None, *, bins: int = 10
) -> Value:
    """The expected calibration error without its bias: 0 on average where all is calibrated.

    The absolute value counts chance as error, more with fewer items: 100 perfectly calibrated items
    have an error of about .05 (Kumar, Liang and Ma 2019, "Verified uncertainty calibration",
    arXiv:1909.10155; Roelofs and others 2022, arXiv:2012.08668). Here one half of a bin's items
    gives the sign of its gap, the other half its size, so that errors by chance cancel, on average
    over all halvings. With S the sum of (confidence - right) over the bin, V = sum of
    confidence (1 - confidence), the variance of S if all is calibrated, and z = S / sqrt(V), this
    is in the limit of many items

        S (2 Phi(z) - 1) - 2 sqrt(V) phi(z)

    which has mean 0 if S ~ N(0, V), and approaches the size of S for large gaps; between the two it
    understates. (Kumar and others subtract a bias estimated at the observed gap, and so keep
    2 - sqrt(2) of it if all is calibrated.) By chance it may be below 0.
    """
    gap = _sum_by_bin(confidence - right, confidence, weight, bins)
    variance = _sum_by_bin(confidence * (1 - confidence), confidence, weight, bins)
    width = np.sqrt(np.maximum(variance, 0.0))
    certain = np.where(gap == 0, 0.0, np.inf) * np.sign(gap)  # of a bin without variance
    z = np.divide(gap, width, out=certain, where=width > 0)
    density = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    error = (gap * (2 * ndtr(z) - 1) - 2 * width * density).sum(axis=-1)
    return ratio(error, np.float64(len(confidence)))


def bin_of(confidence: Floats, bins: int) -> NDArray[np.intp]:
    """Return the bin of each confidence; a bin includes its upper edge, the first one also 0."""
    if bins < 1:
        raise BadSetting("bins", bins, "at least one bin")
    return np.clip(np.ceil(confidence * bins).astype(np.intp) - 1, 0, bins - 1)


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """The items that are scored: gold truth, label, probabilities, and what follows from them."""

    scale: Scale
    truth: NDArray[np.int16]  # (item,)
    choice: NDArray[np.int16]  # (item,)
    posterior: Floats | None = None  # (item, truth)
    clip: float = CLIP
    bins: int = 10

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def _relevant_truths(self) -> Flags:  # (truth,)
        collapse = self.scale.truth_relevant
        return np.zeros(len(self.scale.truths), np.bool_) if collapse is None else collapse

    @cached_property
    def relevant(self) -> Flags:  # (item,)
        """Whether each item is relevant by gold."""
        return np.asarray(self._relevant_truths[self.truth])

    @cached_property
    def returned(self) -> Flags:  # (item,)
        """Whether each item is relevant by its label."""
        return np.asarray(self._relevant_truths[self.choice])

    @property
    def probabilities(self) -> Floats:  # (item, truth)
        """The posterior; no columns where it is not known."""
        return np.empty((len(self), 0)) if self.posterior is None else self.posterior

    @cached_property
    def chance(self) -> Floats:  # (item,)
        """The probability of relevance; a sum of shares may pass 1 by rounding."""
        return np.minimum(self.probabilities @ self._relevant_truths.astype(np.float64), 1.0)

    @cached_property
    def confidence(self) -> Floats:  # (item,)
        """The probability of the label."""
        return np.asarray(self.probabilities[np.arange(len(self)), self.choice])

    def by_chance(self) -> ScoredItems:
        """Sort the items by their probability of relevance: AUC runs faster over them."""
        if self.posterior is None or self.scale.truth_relevant is None:
            return self
        order = np.argsort(self.chance, kind="stable")
        parts = self.truth[order], self.choice[order], self.posterior[order]
        return replace(self, truth=parts[0], choice=parts[1], posterior=parts[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The four cells of relevant against response, counts or fractions.

    The cells are numbers of items, or arrays with one number per resample.
    """

    true_positive: Value
    false_positive: Value
    false_negative: Value
    true_negative: Value

    @classmethod
    def of(cls, relevant: Flags, response: NDArray[Any], weight: Floats | None = None) -> Cells:
        """Relevant against response, where 0.72 is 0.72 responses of 1 and 0.28 responses of 0.

        That is Carpenter (2011), section 9.3, which warns that it counts mistakes twice;
        responses of 0 and 1 give the usual, quantised, cells.
        """
        given = response.astype(np.float64, copy=False)
        yes, returned = sum_of(relevant, weight), sum_of(given, weight)
        both = sum_of(relevant * given, weight)
        # Differences of sums may be an ulp below 0.
        return cls(
            true_positive=both,
            false_positive=np.maximum(returned - both, 0.0),
            false_negative=np.maximum(yes - both, 0.0),
            true_negative=np.maximum(len(given) - yes - returned + both, 0.0),
        )

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


_LACKING = {
    "collapse": "the scale has no binary collapse: which labels are relevant is not known",
    "grades": "the scale is nominal: its labels are no grades",
    "probabilities": "there are no probabilities, only labels",
}


@dataclass(frozen=True, slots=True)
class Measure:
    """A score by name: its function, what it needs, and why it may have no value."""

    name: str
    meaning: str
    of: Callable[[ScoredItems, Floats | None], Value]
    needs: tuple[str, ...] = ()  # collapse, grades, probabilities
    empty: str = ""  # why the value may be NaN although all that is needed is there
    share: bool = False  # of items: has a Wilson interval
    higher_is_better: bool = True
    biased: bool = False  # on resamples: its interval is centred on its value

    def lacks(self, sample: ScoredItems) -> str | None:
        """Return why a sample cannot have this score, or None if it can."""
        if not len(sample):
            return "no gold item has a label"
        has = {
            "collapse": sample.scale.truth_relevant is not None,
            "grades": sample.scale.ordinal,
            "probabilities": sample.posterior is not None,
        }
        return next((_LACKING[need] for need in self.needs if not has[need]), None)


_Of = Callable[[ScoredItems, Floats | None], Value]


def _of_labels(score: Callable[[Codes, Codes, Floats | None], Value]) -> _Of:
    return lambda sample, weight: score(sample.truth, sample.choice, weight)


def _of_chance(score: Callable[[Flags, Floats, Floats | None], Value]) -> _Of:
    return lambda sample, weight: score(sample.relevant, sample.chance, weight)


def _of_cells(share: str, *, fractional: bool = False) -> _Of:
    """Return a share of the four cells, by labels or by probabilities of relevance."""

    def of(sample: ScoredItems, weight: Floats | None) -> Value:
        response = sample.chance if fractional else sample.returned
        value: Value = getattr(Cells.of(sample.relevant, response, weight), share)
        return value

    return of


def _of_confidence(score: Callable[..., Value]) -> _Of:
    return lambda sample, weight: score(
        sample.confidence, sample.truth == sample.choice, weight, bins=sample.bins
    )


def _error(name: str, meaning: str, of: _Of, *needs: str, biased: bool = False) -> Measure:
    return Measure(name, meaning, of, needs, higher_is_better=False, biased=biased)


_CHANCE = ("collapse", "probabilities")
_NONE_RELEVANT = "no gold item is relevant"
_ALL_RELEVANT = "every gold item is relevant"
_IN_PART = "each item returned in part by its probability of relevance"
_CELLS = (
    ("precision", "of items labelled relevant, the share that is", "no item is labelled relevant"),
    ("recall", "of relevant items, the share labelled so (sensitivity)", _NONE_RELEVANT),
    ("specificity", "of items that are not relevant, the share labelled so", _ALL_RELEVANT),
    (
        "f1",
        "harmonic mean of precision and recall",
        "no item is relevant, by gold or by label",
    ),
)
_FRACTIONAL_CELLS = (
    ("precision", f"precision, {_IN_PART}", "no item has any probability of relevance"),
    ("recall", f"recall, {_IN_PART}", _NONE_RELEVANT),
    ("specificity", f"specificity, {_IN_PART}", _ALL_RELEVANT),
    (
        "f1",
        "harmonic mean of fractional precision and recall",
        "no item is relevant, by gold or by probability",
    ),
)
MEASURES: tuple[Measure, ...] = (
    Measure(
        "accuracy", "share of items whose label is their gold", _of_labels(accuracy), share=True
    ),
    Measure(
        "expected_accuracy",
        "accuracy with ties counted in expectation",
        lambda s, w: expected_accuracy(s.truth, s.probabilities, w),
        ("probabilities",),
    ),
    Measure(
        "graded_accuracy",
        "accuracy on the grades of an ordinal scale",
        _of_labels(accuracy),
        ("grades",),
        share=True,
    ),
    Measure(
        "binary_accuracy",
        "accuracy after the binary collapse",
        lambda s, w: mean_of(s.relevant == s.returned, w),
        ("collapse",),
        share=True,
    ),
    *(
        Measure(name, meaning, _of_cells(name), ("collapse",), empty)
        for name, meaning, empty in _CELLS
    ),
    *(
        Measure(f"fractional_{name}", meaning, _of_cells(name, fractional=True), _CHANCE, empty)
        for name, meaning, empty in _FRACTIONAL_CELLS
    ),
    Measure(
        "auc",
        "chance that a relevant item has a higher probability of relevance than another",
        _of_chance(auc),
        _CHANCE,
        "gold has one class only",
    ),
    _error(
        "log_loss",
        "mean of -log p(gold), in nats, p clipped",
        lambda s, w: log_loss(s.truth, s.probabilities, w, clip=s.clip),
        "probabilities",
    ),
    _error(
        "squared_error",
        "sum of (relevant - probability of relevance)²",
        _of_chance(squared_error),
        *_CHANCE,
    ),
    _error("mse", "mean of (relevant - probability of relevance)²", _of_chance(mse), *_CHANCE),
    _error("rmse", "root of the mean squared error", _of_chance(rmse), *_CHANCE),
    _error(
        "brier",
        "mean over items of the squared error summed over truths, 0 to 2",
        lambda s, w: brier(s.truth, s.probabilities, w),
        "probabilities",
    ),
    _error(
        "calibration_error",
        "expected calibration error of the probability of the label",
        _of_confidence(calibration_error),
        "probabilities",
        biased=True,
    ),
    _error(
        "corrected_calibration_error",
        "the same without its bias; about 0 if the probabilities are right",
        _of_confidence(corrected_calibration_error),
        "probabilities",
        biased=True,
    ),
    _error(
        "grade_error",
        "mean distance between label and gold, in grades",
        _of_labels(grade_error),
        "grades",
    ),
    _error(
        "grade_rmse",
        "root of the mean squared distance between label and gold, in grades",
        _of_labels(grade_rmse),
        "grades",
    ),
    Measure(
        "quadratic_kappa",
        "Cohen's kappa with squared distances in grades",
        _of_labels(quadratic_kappa),
        ("grades",),
        "gold and labels are all one grade",
    ),
)
