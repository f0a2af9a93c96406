"""Preferences: what a model makes of comparisons, items by strength and judges by skill."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from adjudge.data.comparisons import LEFT, RIGHT, TIE, Comparisons
from adjudge.data.draws import PairDraws
from adjudge.data.judges import LEVEL
from adjudge.data.results import Result

_Floats = NDArray[np.float64]
_RANKED = 500  # draws behind the intervals of ranks
_SURE = 0.95  # that one item is above another, for them to be distinguished


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Preferences(Result):
    """Items by score, with their uncertainty as a covariance or as draws.

    ``score`` is the log strength of Bradley and Terry, of mean 0: a difference of 1 is odds of 2.7
    to 1. Elo has points and the win rate a share instead, as ``unit`` says. ``centre`` is given
    where scores are biased, as they are when a tie counts as half a win: probabilities are then
    about ``centre``, and intervals include both that of ``centre`` and that of the score.
    """

    comparisons: Comparisons
    model: str
    settings: Mapping[str, object]
    score: _Floats  # (item,)
    centre: _Floats | None = None  # (item,) None where it equals the score
    covariance: _Floats | None = None  # (item, item) of scores, up to their common level
    draws: NDArray[np.float32] | None = None  # (draw, item), where there is no covariance
    unit: str = "log strength"
    parameters: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    judges: Any = None  # Arrow table, None where the model knows no judges
    tied: float = 0.0  # weight of ties: P(tie) = tied / (2 cosh(d / 2) + tied)
    lean: _Floats | None = None  # (judge,) log odds to what is shown first
    right: _Floats | None = None  # (judge,) how often each answers with the order
    weight: _Floats | None = None  # (comparison,) what each weighed; None where all weigh 1
    samples: PairDraws | None = None
    grades: _Floats | None = None  # (item, grade) probabilities, where there were grades too
    grade_names: tuple[str, ...] = ()
    converged: bool | None = None
    notes: tuple[str, ...] = ()
    level: float = LEVEL

    @property
    def facts(self) -> str:
        """What was fitted to what."""
        return f"{self.model}: {self.comparisons!r}"

    def to_table(self) -> Any:
        """Return ``ranking``."""
        return self.ranking

    def __repr__(self) -> str:
        return f"Preferences({self.model}: {self.comparisons!r})"

    @property
    def order(self) -> NDArray[np.intp]:  # (item,)
        """The items, the best first; those of one score in the order of the data."""
        return np.argsort(-self.score, kind="stable")

    @property
    def _mean(self) -> _Floats:  # (item,)
        return self.score if self.centre is None else self.centre

    @property
    def shrinkage(self) -> float:
        """How large differences of scores are, as a share of those of ``centre``."""
        if self.centre is None:
            return 1.0
        return float(self.score @ self.centre) / max(float(self.centre @ self.centre), 1e-300)

    @property
    def spread(self) -> _Floats:  # (item,)
        """The standard deviation of each score about the mean of all."""
        if self.covariance is not None:
            row = self.covariance.mean(axis=1)
            own = np.diag(self.covariance) - 2 * row + row.mean()
            return np.asarray(np.sqrt(np.maximum(own, 0.0)))
        if self.draws is not None:
            return np.asarray(self.draws.std(axis=0, dtype=np.float64))
        return np.full(len(self.score), np.nan)

    @property
    def interval(self) -> tuple[_Floats, _Floats]:  # (item,), (item,)
        """The interval of each score; NaN where the model has none."""
        tail = (1.0 - self.level) / 2
        if self.covariance is None and self.draws is not None:
            low, high = np.quantile(self.draws, [tail, 1.0 - tail], axis=0).astype(np.float64)
        else:
            half = -ndtri(tail) * self.spread
            low, high = self._mean - half, self._mean + half
        if self.centre is not None:
            low, high = (
                pick(bound, self.score + self.shrinkage * (bound - self.centre))
                for pick, bound in ((np.minimum, low), (np.maximum, high))
            )
        return low, high

    def above(self, first: Any, second: Any) -> _Floats:
        """The probability that each of the first items is above the second one, by their codes."""
        a, b = np.asarray(first), np.asarray(second)
        if self.covariance is not None:
            gap, spread = self.difference(a, b)
            return np.asarray(ndtr(gap / np.maximum(spread, 1e-150)))
        if self.draws is None:
            return np.full(np.broadcast(a, b).shape, np.nan)
        ahead = self.draws[:, a] - self.draws[:, b]
        return np.asarray((ahead > 0).mean(axis=0) + 0.5 * (ahead == 0).mean(axis=0))

    def difference(self, first: Any, second: Any) -> tuple[_Floats, _Floats]:
        """The mean and standard deviation of the differences of pairs of items, by their codes."""
        a, b = np.asarray(first), np.asarray(second)
        mean = self._mean[a] - self._mean[b]
        if self.covariance is not None:
            cov, diag = self.covariance, np.diag(self.covariance)
            return mean, np.sqrt(np.maximum(diag[a] + diag[b] - 2.0 * cov[a, b], 0.0))
        if self.draws is None:
            return mean, np.full(mean.shape, np.nan)
        gap = self.draws[:, a] - self.draws[:, b]
        return mean, np.asarray(gap.std(axis=0, dtype=np.float64))

    def clusters(self, sure: float = _SURE) -> NDArray[np.int64]:  # (item,)
        """Items that cannot be distinguished share a number, from the best down.

        A new cluster begins with the first item that the cluster's best is surely above.
        """
        order, found = self.order, np.ones(len(self.score), dtype=np.int64)
        if not len(order):
            return found
        best, number = order[0], 1
        for item in order[1:]:
            if float(self.above(best, item)) >= sure:
                best, number = item, number + 1
            found[item] = number
        return found

    def _ranks(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # (item,), (item,)
        """The interval of each rank, from draws of all scores."""
        drawn = self.draws
        if self.covariance is not None:
            rng = np.random.default_rng(int(str(self.settings.get("seed", 0))))
            size = len(self.score)
            shaky = self.covariance + 1e-10 * np.trace(self.covariance) / size * np.eye(size)
            noise = rng.standard_normal((_RANKED, size)) @ np.linalg.cholesky(shaky).T
            drawn = (self._mean + noise).astype(np.float32)
        if drawn is None:
            zero = np.zeros(len(self.score), dtype=np.int64)
            return zero, zero
        few = drawn[:: max(1, len(drawn) // _RANKED)]
        rank = np.argsort(np.argsort(-few, axis=1, kind="stable"), axis=1, kind="stable") + 1
        tail = (1.0 - self.level) / 2
        low = np.quantile(rank, tail, axis=0, method="lower")
        high = np.quantile(rank, 1.0 - tail, axis=0, method="higher")
        return low.astype(np.int64), high.astype(np.int64)

    @property
    def ranking(self) -> Any:
        """One row per item, the best first: item, score, low, high, rank, and what is behind it.

        ``rank_low`` and ``rank_high`` bound the rank; ``p_above_next`` is the probability that the
        item is above the next one; items of one ``cluster`` cannot be distinguished. With
        grades, ``grade`` is the most probable one and ``p_`` are the probabilities of all.
        """
        compared, order, count = self.comparisons, self.order, self.comparisons.item_count
        low, high = self.interval
        known = ~np.isnan(low)
        first, last = self._ranks()
        ahead = np.append(self.above(order[:-1], order[1:]), np.nan)

        def times(left: NDArray[np.bool_], right: NDArray[np.bool_]) -> NDArray[np.int64]:
            """How often each item was on the left or right of these comparisons."""
            found = np.bincount(compared.left[left], minlength=count)
            return found + np.bincount(compared.right[right], minlength=count)

        decided, even = compared.outcome <= TIE, compared.outcome == TIE
        won = times(compared.outcome == LEFT, compared.outcome == RIGHT)
        seen, ties = times(decided, decided), times(even, even)
        grade_figures: dict[str, Any] = {}
        if self.grades is not None:
            best = self.grades[order].argmax(axis=1)
            grade_figures["grade"] = pa.array(self.grade_names, pa.large_string()).take(
                pa.array(best)
            )
            for name, chance in zip(self.grade_names, self.grades[order].T, strict=True):
                grade_figures[f"p_{name}"] = chance
        return pa.table(
            {
                "item": compared.items.take(pa.array(order)),
                "score": self.score[order],
                "low": pa.array(low[order], mask=~known[order]),
                "high": pa.array(high[order], mask=~known[order]),
                "rank": np.arange(1, count + 1),
                "rank_low": pa.array(first[order], mask=~known[order]),
                "rank_high": pa.array(last[order], mask=~known[order]),
                "p_above_next": pa.array(ahead, mask=np.isnan(ahead)),
                "cluster": pa.array(self.clusters()[order], mask=~known[order]),
                "comparisons": seen[order],
                "wins": won[order],
                "losses": (seen - won - ties)[order],
                "ties": ties[order],
                **grade_figures,
            }
        )
