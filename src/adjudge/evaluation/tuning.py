"""The threshold of a filter, chosen by cross-validation on gold, and scored on held-out gold.

Thresholds of the papers: gamma of a Z-score from 0.1 to 4.0 in steps of 0.1, alpha of an accuracy
filter from 0.60 to 0.99 in steps of 0.01. The choice is nested: for each outer fold the threshold
is chosen by inner folds of the other folds' gold. Of thresholds that do equally well, the gentler
is taken, which drops fewer judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.names import look_up
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._resampling import split_folds
from adjudge.models.model import Progress, Step, pick
from adjudge.models.vote import choose_judges
from adjudge.models.weighting import ACCURACY, Filter, JudgeFeatures, Product, measure_features

GAMMAS = tuple(round(0.1 * step, 1) for step in range(1, 41))
ALPHAS = tuple(round(0.60 + 0.01 * step, 2) for step in range(40))
Measure = Literal["graded", "binary"]
_LATEST = 1024  # votes kept: those of one filter and weight over all folds and thresholds
_Make = Callable[[float], Filter]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tuned:
    """A threshold for each outer fold, and scores of the vote with it on that fold's gold."""

    measure: Measure
    thresholds: tuple[float, ...]  # of each fold; empty where there is no filter
    accuracy: tuple[float, ...]  # of each fold, on gold that chose nothing
    dropped: tuple[int, ...]  # judges dropped in each fold
    fallback: tuple[float, ...]  # share of each fold's items that had no kept judge
    correct: NDArray[np.bool_]  # (gold,) by name of the item, for paired tests

    @property
    def mean(self) -> float:
        """Accuracy over all gold items, each scored by the fold that held it out."""
        return float(self.correct.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of accuracy between folds."""
        return float(np.std(self.accuracy, ddof=1)) if len(self.accuracy) > 1 else float("nan")

    @property
    def threshold(self) -> float:
        """The median of the folds' thresholds."""
        return float(np.median(self.thresholds)) if self.thresholds else float("nan")

    def to_table(self, name: str) -> Any:
        """One row per fold: its threshold, accuracy, judges dropped, items that fell back."""
        return pa.table(
            {
                "fold": list(range(1, len(self.thresholds) + 1)),
                name: list(self.thresholds),
                "accuracy": list(self.accuracy),
                "dropped": list(self.dropped),
                "fallback": list(self.fallback),
            }
        )


class Tuner:
    """Tune filters of votes on one set of judgments and gold.

    A vote sees the gold outside the folds that are held out. Votes and features of judges are kept,
    since inner fold a of outer fold b sees the same gold as inner fold b of outer fold a.
    """

    def __init__(
        self,
        judgments: Judgments,
        gold: Gold,
        *,
        folds: int = 5,
        seed: int = 0,
        flip: bool = False,
        shrink: float = 0.0,
    ) -> None:
        if folds < 3:
            raise BadSetting("folds", folds, "at least 3: two to choose by, one to score")
        self.judgments, self.gold, self.folds = judgments, gold, folds
        self.seed, self.flip, self.shrink = seed, flip, shrink
        self.traps = np.zeros(len(gold), np.bool_) if gold.honeypot is None else gold.honeypot
        known = gold.select(~self.traps).align(judgments)
        chosen = known >= 0
        if not chosen.any():
            raise BadData(
                "there is no gold for any judged item: a threshold needs some to be chosen"
            )
        self.part = judgments.select(items=chosen, keep_empty=True)
        self.truth = known[chosen]
        self.fold = split_folds(self.part.items, self.truth, folds, seed)  # (gold item,)
        self._place = look_up(gold.items, self.part.items)  # (gold,)
        self._sweeps = ThreadsEngine().load(self.part)
        self._vote = lru_cache(_LATEST)(self._compute_vote)
        self._feature = lru_cache(_LATEST)(self._measure_feature)

    def tune(
        self,
        make: _Make | None,
        thresholds: tuple[float, ...],
        weight: Product | None = None,
        *,
        measure: Measure = "graded",
        gentler: Literal["higher", "lower"] = "higher",
        progress: Progress | None = None,
    ) -> _Tuned:
        """Tune and score the vote with the filter that ``make`` gives for each threshold."""
        found, accuracy, dropped, fallback = [], [], [], []
        correct = np.zeros(len(self.truth), dtype=np.bool_)
        for outer in range(self.folds):
            keep = None
            if make is not None:
                best = self.choose(
                    make, thresholds, weight, measure=measure, gentler=gentler, outer=outer
                )
                found.append(best)
                keep = make(best)
            label, fell, lost = self._vote(frozenset({outer}), weight, keep)
            test = self.fold == outer
            correct[test] = self._right(label, measure)[test]
            accuracy.append(float(correct[test].mean()))
            fallback.append(float(fell[test].mean()))
            dropped.append(lost)
            if progress is not None:
                progress(Step("tuning", outer + 1, self.folds))
        return _Tuned(
            measure=measure,
            thresholds=tuple(found),
            accuracy=tuple(accuracy),
            dropped=tuple(dropped),
            fallback=tuple(fallback),
            correct=correct[np.argsort(self.part.items.to_pylist())],
        )

    def choose(
        self,
        make: _Make,
        thresholds: tuple[float, ...],
        weight: Product | None = None,
        *,
        measure: Measure = "graded",
        gentler: Literal["higher", "lower"] = "higher",
        outer: int | None = None,
    ) -> float:
        """Choose a threshold by cross-validation over the folds of gold other than ``outer``."""
        if not thresholds:
            raise BadSetting("thresholds", thresholds, "at least one to choose from")
        score = np.zeros(len(thresholds))
        for inner in set(range(self.folds)) - {outer}:
            held = frozenset({inner} if outer is None else {inner, outer})
            for at, threshold in enumerate(thresholds):
                label, _, _ = self._vote(held, weight, make(threshold))
                score[at] += self._right(label, measure)[self.fold == inner].sum()
        top = np.flatnonzero(score == score.max())
        return thresholds[int(top[-1] if gentler == "higher" else top[0])]

    def _right(self, label: NDArray[np.int16], measure: Measure) -> NDArray[np.bool_]:
        """Return which labels are right, as grades or after the binary collapse."""
        if measure == "graded":
            return np.asarray(label == self.truth)
        self.part.scale.need_relevant()
        collapse = np.asarray(self.part.scale.truth_relevant)
        return np.asarray(collapse[label] == collapse[self.truth])

    def _measure_feature(self, held: frozenset[int], name: str) -> JudgeFeatures:
        """Measure a feature on the gold outside some folds; honeypots always count."""
        seen = np.append(~np.isin(self.fold, list(held)), False)  # -1: no scored item
        gold = self.gold.select(self.traps | seen[self._place])
        return measure_features(self.judgments, gold, names=(name,), seed=self.seed)

    def _compute_vote(
        self, held: frozenset[int], weight: Product | None, keep: Filter | None
    ) -> tuple[NDArray[np.int16], NDArray[np.bool_], int]:
        """Return the labels of a vote, which items fell back, and how many judges were dropped."""
        names = [*(weight.features if weight is not None else ())]
        names += keep.features if keep is not None else ()
        names += [ACCURACY] if self.flip else []
        found = {name: self._feature(held, name) for name in names}
        features = JudgeFeatures(
            {name: one[name] for name, one in found.items()},
            {name: one.counts[name] for name, one in found.items()},
        )
        choice = choose_judges(
            self.part, features, weight, keep, flip=self.flip, shrink=self.shrink
        )
        posterior, fell, _ = self._sweeps.weigh(*choice.units)
        label, _ = pick(posterior, self.part, ties="random", seed=self.seed)
        return label, fell, int((choice.weight == 0).sum()) if keep is not None else 0
