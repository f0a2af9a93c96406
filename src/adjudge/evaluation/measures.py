"""Every score of a consensus against gold: its name, what it needs, why it may be undefined.

To add a score is to write its function in ``_score_functions`` and its line in ``MEASURES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation import _score_functions as scores
from adjudge.evaluation._score_functions import (
    Codes,
    Flags,
    Floats,
    ScoredItems,
    Value,
    ratio,
    sum_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The four cells of relevant against response, whole or in part.

    The cells are numbers of items, or arrays with one number a resample.
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
        # Differences of sums may fall an ulp below nothing.
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

    @property
    def accuracy(self) -> Value:
        """The share of responses that are right."""
        right = self.true_positive + self.true_negative
        return ratio(right, right + self.false_positive + self.false_negative)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A score by name: the function, and what is to be said where there is no value."""

    name: str
    meaning: str
    of: Callable[[ScoredItems, Floats | None], Value]
    empty: str = ""  # why the value may be NaN although all that is needed is there
    probabilities: bool = False
    collapse: bool = False
    grades: bool = False
    share: bool = False  # of whole items: has a Wilson interval
    higher_is_better: bool = True
    biased: bool = False  # on resamples: its interval is centred on its value

    def lacks(self, sample: ScoredItems) -> str | None:
        """Why a sample cannot have this score, or None if it can."""
        if not len(sample):
            return "no gold item has a label"
        if self.collapse and sample.relevant is None:
            return "the scale has no binary collapse: which labels are relevant is not known"
        if self.grades and not sample.scale.ordinal:
            return "the scale is nominal: its labels are no grades"
        if self.probabilities and sample.posterior is None:
            return "there are no probabilities, only labels"
        return None


def _there(part: NDArray[Any] | None) -> NDArray[Any]:
    """What ``lacks`` has found to be there."""
    return np.empty(0) if part is None else part


def _on_labels(
    name: str,
    meaning: str,
    score: Callable[[Codes, Codes, Floats | None], Value],
    **more: Any,
) -> Measure:
    def of(sample: ScoredItems, weight: Floats | None) -> Value:
        return score(sample.truth, sample.choice, weight)

    return Measure(name=name, meaning=meaning, of=of, **more)


def _on_cells(name: str, meaning: str, share: Callable[[Cells], Value], empty: str) -> Measure:
    """A share of the four cells: by labels, or "fractional", by probabilities of relevance."""
    in_part = name.startswith("fractional")

    def of(sample: ScoredItems, weight: Floats | None) -> Value:
        given = sample.chance if in_part else sample.returned
        return share(Cells.of(_there(sample.relevant), _there(given), weight))

    return Measure(
        name=name, meaning=meaning, of=of, empty=empty, collapse=True, probabilities=in_part
    )


def _on_chance(
    name: str,
    meaning: str,
    score: Callable[[Flags, Floats, Floats | None], Value],
    **more: Any,
) -> Measure:
    def of(sample: ScoredItems, weight: Floats | None) -> Value:
        return score(_there(sample.relevant), _there(sample.chance), weight)

    return Measure(name=name, meaning=meaning, of=of, collapse=True, probabilities=True, **more)


def _on_confidence(name: str, meaning: str, score: Callable[..., Value]) -> Measure:
    """A calibration error: a resample is worse calibrated than what it is drawn from."""

    def of(sample: ScoredItems, weight: Floats | None) -> Value:
        right = sample.truth == sample.choice
        return score(_there(sample.confidence), right, weight, bins=sample.bins)

    return Measure(
        name=name, meaning=meaning, of=of, probabilities=True, higher_is_better=False, biased=True
    )


_NONE_RELEVANT = "no gold item is relevant"
_ALL_RELEVANT = "every gold item is relevant"
_IN_PART = "each item returned in part by its probability of relevance"
_ERROR: dict[str, Any] = {"higher_is_better": False}
MEASURES: tuple[Measure, ...] = (
    _on_labels("accuracy", "share of items whose label is their gold", scores.accuracy, share=True),
    Measure(
        name="expected_accuracy",
        meaning="accuracy with ties counted in expectation",
        of=lambda s, w: scores.expected_accuracy(s.truth, _there(s.posterior), w),
        probabilities=True,
    ),
    _on_labels(
        "graded_accuracy",
        "accuracy on the grades of an ordinal scale",
        scores.accuracy,
        grades=True,
        share=True,
    ),
    Measure(
        name="binary_accuracy",
        meaning="accuracy after the binary collapse",
        of=lambda s, w: scores.mean_of(_there(s.relevant) == _there(s.returned), w),
        collapse=True,
        share=True,
    ),
    _on_cells(
        "precision",
        "of items labelled relevant, the share that is",
        lambda cells: cells.precision,
        empty="no item is labelled relevant",
    ),
    _on_cells(
        "recall",
        "of relevant items, the share labelled so (sensitivity)",
        lambda cells: cells.recall,
        empty=_NONE_RELEVANT,
    ),
    _on_cells(
        "specificity",
        "of items that are not relevant, the share labelled so",
        lambda cells: cells.specificity,
        empty=_ALL_RELEVANT,
    ),
    _on_cells(
        "f1",
        "harmonic mean of precision and recall",
        lambda cells: cells.f1,
        empty="no item is relevant, by gold or by label",
    ),
    _on_cells(
        "fractional_precision",
        f"precision, {_IN_PART}",
        lambda cells: cells.precision,
        empty="no item has any probability of relevance",
    ),
    _on_cells(
        "fractional_recall",
        f"recall, {_IN_PART}",
        lambda cells: cells.recall,
        empty=_NONE_RELEVANT,
    ),
    _on_cells(
        "fractional_specificity",
        f"specificity, {_IN_PART}",
        lambda cells: cells.specificity,
        empty=_ALL_RELEVANT,
    ),
    _on_cells(
        "fractional_f1",
        "harmonic mean of fractional precision and recall",
        lambda cells: cells.f1,
        empty="no item is relevant, by gold or by probability",
    ),
    _on_chance(
        "auc",
        "chance that a relevant item has a higher probability of relevance than another",
        scores.auc,
        empty="gold has one class only",
    ),
    Measure(
        name="log_loss",
        meaning="mean of -log p(gold), in nats, p clipped",
        of=lambda s, w: scores.log_loss(s.truth, _there(s.posterior), w, clip=s.clip),
        probabilities=True,
        **_ERROR,
    ),
    _on_chance(
        "squared_error",
        "sum of (relevant - probability of relevance)²",
        scores.squared_error,
        **_ERROR,
    ),
    _on_chance("mse", "mean of (relevant - probability of relevance)²", scores.mse, **_ERROR),
    _on_chance("rmse", "root of the mean squared error", scores.rmse, **_ERROR),
    Measure(
        name="brier",
        meaning="mean over items of the squared error summed over truths, 0 to 2",
        of=lambda s, w: scores.brier(s.truth, _there(s.posterior), w),
        probabilities=True,
        **_ERROR,
    ),
    _on_confidence(
        "calibration_error",
        "expected calibration error of the probability of the label",
        scores.calibration_error,
    ),
    _on_confidence(
        "corrected_calibration_error",
        "the same with its bias corrected: about 0 where nothing is wrong",
        scores.corrected_calibration_error,
    ),
    _on_labels(
        "grade_error",
        "mean distance between label and gold, in grades",
        scores.grade_error,
        grades=True,
        **_ERROR,
    ),
    _on_labels(
        "grade_rmse",
        "root of the mean squared distance between label and gold, in grades",
        scores.grade_rmse,
        grades=True,
        **_ERROR,
    ),
    _on_labels(
        "quadratic_kappa",
        "Cohen's kappa with squared distances in grades",
        scores.quadratic_kappa,
        empty="gold and labels are all one grade",
        grades=True,
    ),
)
