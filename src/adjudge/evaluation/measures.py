"""Every score of a consensus against gold: its name, what it needs, why it may be undefined.

To add a score is to write its function in ``scores`` and its line in ``MEASURES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.scale import Scale
from adjudge.evaluation import scores
from adjudge.evaluation.scores import Cells, Codes, Flags, Floats, Value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredItems:
    """The items that are scored: gold truth, label and probabilities, and what follows of them.

    Made by ``Sample.of``. ``relevant``, ``returned`` and ``chance`` are None where the scale has no
    binary collapse, ``posterior`` and what is read off it where there are no probabilities.
    """

    scale: Scale
    truth: NDArray[np.int16]  # (item,)
    choice: NDArray[np.int16]  # (item,)
    posterior: Floats | None  # (item, truth)
    relevant: Flags | None  # (item,) by gold
    returned: Flags | None  # (item,) by label
    chance: Floats | None  # (item,) probability of relevance
    confidence: Floats | None  # (item,) probability of the label
    clip: float = scores.CLIP
    bins: int = 10

    @classmethod
    def of(
        cls,
        scale: Scale,
        truth: NDArray[np.int16],
        choice: NDArray[np.int16],
        posterior: Floats | None = None,
        *,
        clip: float = scores.CLIP,
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


# What ``lacks`` has found to be there.
def _chance(sample: ScoredItems) -> Floats:
    return sample.chance if sample.chance is not None else np.empty(0)


def _posterior(sample: ScoredItems) -> Floats:
    return sample.posterior if sample.posterior is not None else np.empty((0, 0))


def _confidence(sample: ScoredItems) -> Floats:
    return sample.confidence if sample.confidence is not None else np.empty(0)


def _relevant(sample: ScoredItems) -> Flags:
    return sample.relevant if sample.relevant is not None else np.empty(0, dtype=np.bool_)


def _returned(sample: ScoredItems) -> Flags:
    return sample.returned if sample.returned is not None else np.empty(0, dtype=np.bool_)


def _whole(sample: ScoredItems, weight: Floats | None) -> Cells:
    return scores.cells(_relevant(sample), _returned(sample), weight)


def _parts(sample: ScoredItems, weight: Floats | None) -> Cells:
    return scores.cells(_relevant(sample), _chance(sample), weight)


def _right(sample: ScoredItems) -> Flags:
    return np.asarray(sample.truth == sample.choice)


def _on_labels(
    score: Callable[[Codes, Codes, Floats | None], Value],
) -> Callable[[ScoredItems, Floats | None], Value]:
    return lambda sample, weight: score(sample.truth, sample.choice, weight)


def _on_chance(
    score: Callable[[Flags, Floats, Floats | None], Value],
) -> Callable[[ScoredItems, Floats | None], Value]:
    return lambda sample, weight: score(_relevant(sample), _chance(sample), weight)


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
        of=lambda s, w: scores.expected_accuracy(s.truth, _posterior(s), w),
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
        of=lambda s, w: scores.mean_of(_relevant(s) == _returned(s), w),
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
        of=lambda s, w: scores.log_loss(s.truth, _posterior(s), w, clip=s.clip),
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
        of=lambda s, w: scores.brier(s.truth, _posterior(s), w),
        probabilities=True,
        higher_is_better=False,
    ),
    Measure(
        name="calibration_error",
        meaning="expected calibration error of the probability of the label",
        of=lambda s, w: scores.calibration_error(_confidence(s), _right(s), w, bins=s.bins),
        probabilities=True,
        higher_is_better=False,
        biased=True,  # a resample is worse calibrated than what it is drawn from
    ),
    Measure(
        name="corrected_calibration_error",
        meaning="the same with its bias corrected: about 0 where nothing is wrong",
        of=lambda s, w: scores.corrected_calibration_error(
            _confidence(s), _right(s), w, bins=s.bins
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
