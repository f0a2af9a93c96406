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


def _there(values: NDArray[Any] | None) -> NDArray[Any]:
    """What ``lacks`` has found to be there."""
    return np.empty((0, 0)) if values is None else values


def _whole(sample: ScoredItems, weight: Floats | None) -> Cells:
    return Cells.of(_there(sample.relevant), _there(sample.returned), weight)


def _parts(sample: ScoredItems, weight: Floats | None) -> Cells:
    return Cells.of(_there(sample.relevant), _there(sample.chance), weight)


def _right(sample: ScoredItems) -> Flags:
    return np.asarray(sample.truth == sample.choice)


def _on_labels(
    score: Callable[[Codes, Codes, Floats | None], Value],
) -> Callable[[ScoredItems, Floats | None], Value]:
    return lambda sample, weight: score(sample.truth, sample.choice, weight)


def _on_chance(
    score: Callable[[Flags, Floats, Floats | None], Value],
) -> Callable[[ScoredItems, Floats | None], Value]:
    return lambda sample, weight: score(_there(sample.relevant), _there(sample.chance), weight)


_NONE_RELEVANT = "no gold item is relevant"
_ALL_RELEVANT = "every gold item is relevant"
_NONE_RETURNED = "no item is labelled relevant"
_NOTHING = "no item is relevant, by gold or by label"
MEASURES: tuple[Measure, ...] = (
    Measure(
        name="accuracy",
        meaning="share of items whose label is their gold",
        of=_on_labels(scores.accuracy),
        share=True,
    ),
    Measure(
        name="expected_accuracy",
        meaning="accuracy with ties counted in expectation",
        of=lambda s, w: scores.expected_accuracy(s.truth, _there(s.posterior), w),
        probabilities=True,
    ),
    Measure(
        name="graded_accuracy",
        meaning="accuracy on the grades of an ordinal scale",
        of=_on_labels(scores.accuracy),
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
    Measure(
        name="precision",
        meaning="of items labelled relevant, the share that is",
        of=lambda s, w: _whole(s, w).precision,
        empty=_NONE_RETURNED,
        collapse=True,
    ),
    Measure(
        name="recall",
        meaning="of relevant items, the share labelled so (sensitivity)",
        of=lambda s, w: _whole(s, w).recall,
        empty=_NONE_RELEVANT,
        collapse=True,
    ),
    Measure(
        name="specificity",
        meaning="of items that are not relevant, the share labelled so",
        of=lambda s, w: _whole(s, w).specificity,
        empty=_ALL_RELEVANT,
        collapse=True,
    ),
    Measure(
        name="f1",
        meaning="harmonic mean of precision and recall",
        of=lambda s, w: _whole(s, w).f1,
        empty=_NOTHING,
        collapse=True,
    ),
    Measure(
        name="fractional_precision",
        meaning="precision, each item returned in part by its probability of relevance",
        of=lambda s, w: _parts(s, w).precision,
        empty="no item has any probability of relevance",
        collapse=True,
        probabilities=True,
    ),
    Measure(
        name="fractional_recall",
        meaning="recall, each item returned in part by its probability of relevance",
        of=lambda s, w: _parts(s, w).recall,
        empty=_NONE_RELEVANT,
        collapse=True,
        probabilities=True,
    ),
    Measure(
        name="fractional_specificity",
        meaning="specificity, each item returned in part by its probability of relevance",
        of=lambda s, w: _parts(s, w).specificity,
        empty=_ALL_RELEVANT,
        collapse=True,
        probabilities=True,
    ),
    Measure(
        name="fractional_f1",
        meaning="harmonic mean of fractional precision and recall",
        of=lambda s, w: _parts(s, w).f1,
        empty="no item is relevant, by gold or by probability",
        collapse=True,
        probabilities=True,
    ),
    Measure(
        name="auc",
        meaning="chance that a relevant item has a higher probability of relevance than another",
        of=_on_chance(scores.auc),
        empty="gold has one class only",
        collapse=True,
        probabilities=True,
    ),
    Measure(
        name="log_loss",
        meaning="mean of -log p(gold), in nats, p clipped",
        of=lambda s, w: scores.log_loss(s.truth, _there(s.posterior), w, clip=s.clip),
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="squared_error",
        meaning="sum of (relevant - probability of relevance)²",
        of=_on_chance(scores.squared_error),
        collapse=True,
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="mse",
        meaning="mean of (relevant - probability of relevance)²",
        of=_on_chance(scores.mse),
        collapse=True,
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="rmse",
        meaning="root of the mean squared error",
        of=_on_chance(scores.rmse),
        collapse=True,
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="brier",
        meaning="mean over items of the squared error summed over truths, 0 to 2",
        of=lambda s, w: scores.brier(s.truth, _there(s.posterior), w),
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="calibration_error",
        meaning="expected calibration error of the probability of the label",
        of=lambda s, w: scores.calibration_error(_there(s.confidence), _right(s), w, bins=s.bins),
        probabilities=True,
        higher_is_better=False,
        biased=True,  # a resample is worse calibrated than what it is drawn from
    ),
    Measure(
        name="corrected_calibration_error",
        meaning="the same with its bias corrected: about 0 where nothing is wrong",
        of=lambda s, w: scores.corrected_calibration_error(
            _there(s.confidence), _right(s), w, bins=s.bins
        ),
        probabilities=True,
        higher_is_better=False,
        biased=True,
    ),
    Measure(
        name="grade_error",
        meaning="mean distance between label and gold, in grades",
        of=_on_labels(scores.grade_error),
        grades=True,
        higher_is_better=False,
    ),
    Measure(
        name="grade_rmse",
        meaning="root of the mean squared distance between label and gold, in grades",
        of=_on_labels(scores.grade_rmse),
        grades=True,
        higher_is_better=False,
    ),
    Measure(
        name="quadratic_kappa",
        meaning="Cohen's kappa with squared distances in grades",
        of=_on_labels(scores.quadratic_kappa),
        empty="gold and labels are all one grade",
        grades=True,
    ),
)
