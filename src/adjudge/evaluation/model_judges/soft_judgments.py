"""Several samples of one model on an item, as one soft judgment: the share of each label.

Samples of one model are not independent judgments, but their spread shows how certain the model
is, and how repeatable its answers are: the reliability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.evaluation.measures import corrected_calibration_error

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SoftJudgments:
    """Every judge's samples of every item: one row per judge and item."""

    judgments: Judgments
    judge: NDArray[np.int64]  # (row,)
    item: NDArray[np.int64]  # (row,)
    samples: NDArray[np.int64]  # (row,)
    shares: _Floats  # (row, label)
    label: NDArray[np.int64]  # (row,) the commonest; the first of equally common ones
    row: NDArray[np.int64]  # (judgment,) the row that each judgment belongs to

    def __len__(self) -> int:
        return len(self.judge)

    @property
    def confidence(self) -> _Floats:  # (row,)
        """The share of the commonest label."""
        return np.asarray(self.shares[np.arange(len(self)), self.label])

    def reliability(self) -> tuple[_Floats, _Floats]:  # (judge,), (judge,)
        """Return how often two samples of a judge agree, and Krippendorff's alpha of the judge.

        NaN where a judge never repeats; alpha also where a judge always gives one label.
        """
        judges, labels = self.judgments.judge_count, self.shares.shape[1]
        kept = self.samples > 1
        n, judge = self.samples[kept].astype(np.float64), self.judge[kept]
        counts = self.shares[kept] * n[:, None]  # (row, label)
        squares = (counts**2).sum(axis=1)
        pairs = np.bincount(judge, weights=n * (n - 1), minlength=judges)
        alike = np.bincount(judge, weights=squares - n, minlength=judges)
        apart = np.bincount(judge, weights=(n * n - squares) / (n - 1), minlength=judges)
        used = np.zeros((judges, labels))
        np.add.at(used, judge, counts)
        total = used.sum(axis=1)
        expected = total**2 - (used**2).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            agreement = np.where(pairs > 0, alike / pairs, np.nan)
            alpha = np.where(expected > 1e-9, 1 - (total - 1) * apart / expected, np.nan)
        return agreement, alpha

    def to_table(self) -> Any:
        """Return one row per judge and item: judge, item, samples, label, and shares p_<label>."""
        names = self.judgments.scale.labels
        columns: dict[str, Any] = {
            "item": self.judgments.items.take(pa.array(self.item)),
            "judge": self.judgments.judges.take(pa.array(self.judge)),
            "samples": pa.array(self.samples),
            "label": pa.array(names, pa.large_string()).take(pa.array(self.label)),
            "confidence": pa.array(self.confidence),
        }
        columns |= {f"p_{name}": pa.array(self.shares[:, at]) for at, name in enumerate(names)}
        return pa.table(columns)


@takes_tables
def soft_judgments(judgments: JudgmentsLike) -> SoftJudgments:
    """Combine the samples of each judge on each item."""
    item, judge = judgments.item.astype(np.int64), judgments.judge.astype(np.int64)
    labels = len(judgments.scale.labels)
    pair, row = np.unique(judge * judgments.item_count + item, return_inverse=True)
    cell = row * labels + judgments.label
    counts = np.bincount(cell, minlength=len(pair) * labels).reshape(len(pair), labels)
    samples = counts.sum(axis=1)
    earliest = np.full(len(pair) * labels, len(judgments), dtype=np.int64)
    np.minimum.at(earliest, cell, np.arange(len(judgments)))
    # The commonest label first, then the one that came first: ranks below 1 break ties.
    rank = counts - earliest.reshape(counts.shape) / (len(judgments) + 1.0)
    return SoftJudgments(
        judgments=judgments,
        judge=pair // max(judgments.item_count, 1),
        item=pair % max(judgments.item_count, 1),
        samples=samples,
        shares=counts / np.maximum(samples, 1)[:, None],
        label=rank.argmax(axis=1),
        row=row,
    )


_CLIP = 1e-3  # of a stated confidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Calibration of stated confidences: mean log loss, Brier score, calibration error."""

    log_loss: float
    brier: float
    calibration_error: float


def measure_calibration(confidence: _Floats, right: NDArray[np.bool_]) -> Calibration:
    """Measure the calibration of confidences."""
    p = np.clip(confidence, _CLIP, 1 - _CLIP)
    return Calibration(
        log_loss=float(-np.log(np.where(right, p, 1 - p)).mean()),
        brier=float(((confidence - right) ** 2).mean()),
        calibration_error=float(corrected_calibration_error(confidence, right)),
    )
