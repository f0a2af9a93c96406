"""The completed matrix: what every judge would have said of every item, never held in full.

Factors give a number for every item and judge. A number becomes a label by cuts between labels:

nearest   in the middle between neighbouring labels, as the paper has it. Factors of a sparse matrix
          are drawn towards the mean, and so, then, is every label: often all are one.
spread    around the mean, as far from it as the items' numbers spread: between two labels lies
          their mean, each counted as often as it was given, and its distance from the mean of all
          is multiplied by (spread of the items' middle numbers) / (spread of the labels given).

Who should judge an item next, from a completed matrix:

    agreement_ij = 1 - sum_k p_i(k) |completed_ij - value of k| / range of the scale

where p_i is the item's posterior under any model: 1 is a judge who would say the truth, 0 one who
would say the opposite end of the scale. The value of a truth is the mean of the labels' numbers
that mean it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.errors import BadData, BadSetting, shown
from adjudge.kernels import factors as kernels
from adjudge.models._factorisation import FitPlan, FittedFactors
from adjudge.models._sparse import Sparse, open_threads

Cut = Literal["spread", "nearest"]
_SAMPLE = 4096  # items by which the spread is measured
_CLOSE = 1e-9  # in ranges of the cuts: numbers this near a cut give each side half a vote
_BLOCK = 256  # items completed together


@dataclass(frozen=True, slots=True, eq=False)
class _LabelCuts:
    """Where one label ends and the next begins."""

    middles: NDArray[np.float64]  # (label - 1,) ascending, on the labels' numbers
    labels: NDArray[np.int64]  # (label,) codes, by their numbers
    close: float

    def label(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """The label of each number; one at a cut goes to the lower."""
        return np.asarray(self.labels[np.searchsorted(self.middles, values)])


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Factors of items and judges, fitted to judgments, and what they say of every pair."""

    judgments: Judgments
    plan: FitPlan
    mean: float
    items: NDArray[np.float64]  # (item, rank)
    judges: NDArray[np.float64]  # (judge, rank)
    judged: NDArray[np.bool_]  # (item,) has judgments
    judging: NDArray[np.bool_]  # (judge,) has judgments
    cuts: _LabelCuts
    objective: tuple[float, ...]  # after each iteration
    converged: bool

    @classmethod
    def of(
        cls, judgments: Judgments, matrix: Sparse, plan: FitPlan, fit: FittedFactors, cut: Cut
    ) -> Factors:
        """Fitted factors next to their judgments, in the judgments' order."""
        items, judges = np.empty_like(fit.own), np.empty_like(fit.held)
        items[matrix.item_order], judges[matrix.judge_order] = fit.own, fit.held
        judged = np.zeros(len(items), dtype=np.bool_)
        judging = np.zeros(len(judges), dtype=np.bool_)
        judged[matrix.item_order] = np.diff(matrix.by_item.offsets) > 0
        judging[matrix.judge_order] = np.diff(matrix.by_judge.offsets) > 0
        return cls(
            judgments=judgments,
            plan=plan,
            mean=matrix.mean,
            items=items,
            judges=judges,
            judged=judged,
            judging=judging,
            cuts=_cuts(judgments, matrix, fit, cut),
            objective=fit.objective,
            converged=fit.converged,
        )

    def complete(
        self, items: slice | NDArray[np.integer] = slice(None)
    ) -> NDArray[np.float64]:  # (item, judge)
        """What every judge would say of some items, as numbers of the scale; mind the size."""
        return np.asarray(self.items[items] @ self.judges.T + self.mean)

    def accuracy(
        self, known: NDArray[np.int16], *, threads: int = 1
    ) -> tuple[NDArray[np.float64], int]:  # (judge,)
        """How often each judge's completed labels are the known truth (-1: none), of how many.

        Items and judges without judgments: the items are left out, the judges get NaN.
        """
        rows = np.flatnonzero((known >= 0) & self.judged)
        accuracy = np.full(len(self.judges), np.nan)
        if not rows.size:
            return accuracy, 0
        across = self._across()

        def work(start: int, stop: int) -> NDArray[np.int64]:
            right = np.zeros(across.shape[1], dtype=np.int64)
            kernels.right_rows(
                rows[start:stop],
                self.items,
                across,
                self.mean,
                self.cuts.middles,
                self.cuts.close,
                self._label_truths()[0],
                known,
                right,
            )
            return right

        with open_threads(threads, rows.size * across.shape[1]) as each_block:
            right = sum(each_block(_blocks(rows.size), work))
        accuracy[self.judging] = np.asarray(right) / (2.0 * rows.size)
        return accuracy, int(rows.size)

    def votes(
        self,
        weight: NDArray[np.float64] | None = None,  # (judge,)
        turned: NDArray[np.bool_] | None = None,  # (judge,)
        *,
        threads: int = 1,
    ) -> NDArray[np.float64]:  # (item, truth)
        """The share of all judges' votes that each truth has in each item, weighed or not.

        Judges who are ``turned`` vote for the other of two truths. An item without judgments, or
        with no vote, is open: every truth alike.
        """
        truths = len(self.judgments.scale.truths)
        votes = np.zeros((len(self.items), truths), dtype=np.int64)
        across, judging = self._across(), self.judging
        heavy = np.ones(len(self.judges)) if weight is None else weight
        unit = 2.0**30 / max(float(heavy.max(initial=0.0)), 1e-300)
        units = np.rint(heavy[judging] * unit).astype(np.int64)
        other = np.zeros(len(judging), dtype=np.bool_) if turned is None else turned
        given = (self.items, across, self.mean, self.cuts.middles, self.cuts.close)
        rest = (self._label_truths(), other[judging].astype(np.int64), units, votes)
        if across.shape[1]:
            with open_threads(threads, votes.shape[0] * across.shape[1]) as each_block:
                each_block(
                    _blocks(len(votes)),
                    lambda start, stop: kernels.vote_rows(start, stop, *given, *rest),
                )
        votes[~self.judged] = 0
        every = votes.sum(axis=1, keepdims=True)
        return np.where(every > 0, votes / np.maximum(every, 1), 1.0 / truths)

    def _across(self) -> NDArray[np.float64]:  # (rank, judge)
        return np.ascontiguousarray(self.judges[self.judging].T)

    def _label_truths(self) -> NDArray[np.int64]:  # (2, label)
        """The truth of each label of the cuts, as given and reversed."""
        truth_of = np.array(self.judgments.scale.truth_of, dtype=np.int64)[self.cuts.labels]
        return np.stack([truth_of, np.where(truth_of < 2, 1 - truth_of, truth_of)])


def _cuts(judgments: Judgments, matrix: Sparse, fit: FittedFactors, cut: Cut) -> _LabelCuts:
    """Cuts between labels that mean a truth; between those that were given, for a spread."""
    scale = judgments.scale
    given = np.bincount(judgments.label, minlength=len(scale.labels)).astype(np.float64)
    usable = np.array(scale.truth_of) >= 0
    ratio = _spread(matrix, fit) if cut == "spread" else 0.0
    if ratio > 0:
        usable &= given > 0
    labels = np.flatnonzero(usable)
    labels = labels[np.argsort(scale.values[labels], kind="stable")]
    value, often = scale.values[labels], given[labels]
    if ratio > 0:
        both = often[1:] + often[:-1]
        middles = (value[1:] * often[1:] + value[:-1] * often[:-1]) / both
        middles = matrix.mean + ratio * (middles - matrix.mean)
    else:
        middles, ratio = (value[1:] + value[:-1]) / 2, 1.0
    width = float(np.ptp(value)) if len(value) else 1.0
    return _LabelCuts(middles, labels, _CLOSE * ratio * width)


def _spread(matrix: Sparse, fit: FittedFactors) -> float:
    """How widely the items' middle numbers spread around the mean, relative to labels given."""
    judged = np.flatnonzero(np.diff(matrix.by_item.offsets) > 0)
    if not judged.size:
        return 0.0
    every = max(1, -(-judged.size // _SAMPLE))
    rows = judged[::every]
    across = np.ascontiguousarray(fit.held[np.diff(matrix.by_judge.offsets) > 0].T)
    middle = np.empty(rows.size)
    kernels.middle_rows(rows, fit.own, across, middle)
    labels = float(np.sqrt(np.mean(matrix.by_item.value**2)))
    return float(np.sqrt(np.mean(middle**2))) / labels if labels > 0 else 0.0


def _blocks(count: int) -> list[tuple[int, int]]:
    return [(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK)]


def recommend_judges(factors: Factors, consensus: Consensus, item: str, *, count: int = 10) -> Any:
    """The judges who have not judged an item and would agree most with its truth, best first.

    A table: judge, label they would give, agreement expected, judgments so far.
    """
    judgments = factors.judgments
    if count < 1:
        raise BadSetting("count", count, "at least 1")
    if not consensus.judgments.items.equals(judgments.items):
        raise BadData("the consensus has other items than the factors")
    at = int(look_up(pa.array([item], pa.large_string()), judgments.items)[0])
    if at < 0:
        raise BadData(f"there is no item {shown(item)} in these judgments")
    value = factors.complete(np.array([at]))[0]
    agreement = _expect_agreement(factors, consensus.posterior[at], value)
    free = factors.judging.copy()
    free[judgments.judge[judgments.offsets[at] : judgments.offsets[at + 1]]] = False
    chosen = np.flatnonzero(free)
    best = chosen[np.argsort(-agreement[chosen], kind="stable")[:count]]
    names = pa.array(judgments.scale.labels, pa.large_string())
    return pa.table(
        {
            "judge": judgments.judges.take(pa.array(best)),
            "label": names.take(pa.array(factors.cuts.label(value[best]))),
            "agreement": pa.array(agreement[best]),
            "judgments": pa.array(judgments.counts_per_judge[best]),
        }
    )


def _expect_agreement(
    factors: Factors,
    posterior: NDArray[np.float64],  # (truth,)
    value: NDArray[np.float64],  # (judge,)
) -> NDArray[np.float64]:  # (judge,)
    """Expected agreement of the completed numbers of an item with its posterior."""
    scale = factors.judgments.scale
    truth_of, numbers = np.array(scale.truth_of), scale.values
    width = max(float(np.ptp(numbers[truth_of >= 0])), 1e-300) if (truth_of >= 0).any() else 1.0
    away = np.zeros_like(value)
    for truth in range(len(scale.truths)):
        own = numbers[truth_of == truth]
        number = float(own.mean()) if own.size else factors.mean
        away += posterior[truth] * np.abs(value - number)
    return np.asarray(np.clip(1.0 - away / width, 0.0, 1.0))
