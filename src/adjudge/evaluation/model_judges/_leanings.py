"""Whether a judge leans to where a result stands, or to how long it is.

What counts is not the label but how far it lies from what others say of the item: the gold where it
is known, else the mean of the other judges. A rank correlation of that with position or length is
tested for each judge, under one false discovery rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from adjudge.data.model_answers import ModelAnswers
from adjudge.data.scale import as_number
from adjudge.data.source import count_of
from adjudge.evaluation.significance import adjust

_Floats = NDArray[np.float64]
_LEAST = 30  # judgments with a reference
_SURE = 0.01  # adjusted p
_STRONG = 0.1  # rank correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """How a judge's labels, beyond what the items deserve, go with position or length."""

    judge: str
    what: str  # position or length
    judgments: int
    correlation: float
    p_adjusted: float

    @property
    def found(self) -> bool:
        """Whether it is there, and more than a trifle."""
        return self.p_adjusted <= _SURE and abs(self.correlation) >= _STRONG

    @property
    def sentence(self) -> str:
        """It in words."""
        more = {
            ("position", True): "rates results higher the later they stand",
            ("position", False): "rates results higher the earlier they stand",
            ("length", True): "rates long texts too high",
            ("length", False): "rates long texts too low",
        }[self.what, self.correlation > 0]
        return (
            f"{self.judge} {more}: rank correlation {self.correlation:+.2f} over "
            f"{count_of(self.judgments, 'judgment')}, the items' worth taken off."
        )


def find_leanings(answers: ModelAnswers, known: NDArray[np.int16]) -> tuple[Leaning, ...]:
    """Leanings to position and length of every judge, where the answers tell them."""
    judgments = answers.judgments
    scale = judgments.scale
    graded = scale.ordinal or len(scale.labels) == 2
    if not graded and not all(as_number(label) is not None for label in scale.labels):
        return ()
    beside: dict[str, _Floats] = {}
    if answers.position is not None:
        beside["position"] = answers.position
    if answers.length is not None:
        beside["length"] = answers.length[judgments.item]
    if not beside:
        return ()
    residual = _residual(answers, known)
    found: list[tuple[int, str, int, float, float]] = []
    for what, value in beside.items():
        usable = ~np.isnan(value) & ~np.isnan(residual)
        for judge in range(judgments.judge_count):
            own = usable & (judgments.judge == judge)
            if int(own.sum()) < _LEAST or np.ptp(value[own]) == 0 or np.ptp(residual[own]) == 0:
                continue
            test = spearmanr(residual[own], value[own])
            row = (judge, what, int(own.sum()), float(test.statistic), float(test.pvalue))
            found.append(row)
    p = adjust(np.array([row[4] for row in found]))
    names = judgments.judges.to_pylist()
    return tuple(
        Leaning(
            judge=names[judge], what=what, judgments=many, correlation=rho, p_adjusted=float(value)
        )
        for (judge, what, many, rho, _), value in zip(found, p, strict=True)
    )


def _residual(answers: ModelAnswers, known: NDArray[np.int16]) -> _Floats:  # (judgment,)
    """Each label less the gold of its item, or else less the mean label of the other judges."""
    judgments = answers.judgments
    value = judgments.scale.values[judgments.label]
    truth = known[judgments.item]
    item, judge = judgments.item, judgments.judge.astype(np.int64)
    key = item.astype(np.int64) * judgments.judge_count + judge
    _, pair = np.unique(key, return_inverse=True)
    own_sum, own_count = np.bincount(pair, weights=value)[pair], np.bincount(pair)[pair]
    sums = np.bincount(item, weights=value, minlength=judgments.item_count)[item]
    others = judgments.counts_per_item[item] - own_count
    mean = np.where(others > 0, (sums - own_sum) / np.maximum(others, 1), np.nan)
    gold = judgments.scale.truth_values[np.maximum(truth, 0)]
    return np.asarray(value - np.where(truth >= 0, gold, mean))
