"""The threshold of a filter, chosen by cross-validation on gold, and scored on gold it never saw.

Sweeps of the papers: gamma of a Z-score over 0.1, 0.2 .. 4.0, alpha of an accuracy filter over
0.60, 0.61 .. 0.99. The choice is nested: for each outer fold the threshold is chosen by inner folds
of the other folds' gold alone; thresholds that do equally well yield to the gentler, which drops
fewer judges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.engines.threads import ThreadsEngine
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._resampling import split_folds
from adjudge.models.features import JudgeFeatures, measure_features
from adjudge.models.model import Progress, Step, pick
from adjudge.models.vote import choose_judges
from adjudge.models.weighting import ACCURACY, Filter, Product

GAMMAS = tuple(round(0.1 * step, 1) for step in range(1, 41))
ALPHAS = tuple(round(0.60 + 0.01 * step, 2) for step in range(40))
Measure = Literal["graded", "binary"]
_LATEST = 512  # votes kept: those of one filter and weight over all folds and thresholds
_Cast = tuple[NDArray[np.int16], NDArray[np.bool_], int]  # labels, fallback, judges dropped


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Tuned:
    """A threshold for each outer fold, and how the vote with it fared on that fold's gold."""

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
        """One row a fold: its threshold, accuracy, judges dropped, items that fell back."""
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
    """Votes with filters over one set of judgments and gold, tuned again and again.

    Features of the judges depend on the gold that may be seen, not on weights or thresholds, so
    they are measured once for each inner and outer fold and kept.
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
        self.shrink = shrink
        honeypots = gold.honeypot
        self.traps = gold.select(honeypots) if honeypots is not None else None
        self.gold = gold if honeypots is None else gold.select(~honeypots)
        self.judgments, self.seed, self.flip = judgments, seed, flip
        known = self.gold.align(judgments)
        if not (known >= 0).any():
            raise BadData(
                "there is no gold for any judged item: a threshold needs some to be chosen"
            )
        self.known = known
        self.items = np.flatnonzero(known >= 0)
        chosen_items = np.zeros(judgments.item_count, dtype=np.bool_)
        chosen_items[self.items] = True
        self.part = judgments.select(items=chosen_items, keep_empty=True)
        self.truth = known[self.items]
        self.fold = split_folds(self.part.items, self.truth, folds, seed)  # (gold item,)
        self.folds = folds
        self._sweeps = ThreadsEngine().load(self.part)
        self._features: dict[bytes, dict[str, JudgeFeatures]] = {}
        self._votes: dict[tuple[object, ...], _Cast] = {}
        self._weighed: dict[bytes, tuple[NDArray[np.int16], NDArray[np.bool_]]] = {}

    def features(self, seen: NDArray[np.bool_], names: tuple[str, ...]) -> JudgeFeatures:
        """The features that the gold items under the mask give, measured once each."""
        store = self._features.setdefault(np.packbits(seen).tobytes(), {})
        missing = tuple(name for name in names if name not in store)
        if missing:
            found = measure_features(
                self.judgments, self._gold(seen), names=missing, seed=self.seed
            )
            for name in missing:
                store[name] = found
        return JudgeFeatures(
            {name: store[name][name] for name in names},
            {name: store[name].counts[name] for name in names},
        )

    def _gold(self, seen: NDArray[np.bool_]) -> Gold:
        """The gold items under the mask, and every honeypot: those are never scored."""
        names = self.part.items.take(np.flatnonzero(seen)).to_pylist()
        truths = self.part.scale.truths
        values: dict[str, object] = {
            name: truths[code] for name, code in zip(names, self.truth[seen], strict=True)
        }
        plain = Gold.of(values)
        if self.traps is None:
            return plain
        both = Gold.of(
            values | dict(zip(self.traps.items.to_pylist(), self.traps.texts(), strict=True))
        )
        marks = np.arange(len(both)) >= len(plain)
        return Gold(items=both.items, value=both.value, values=both.values, honeypot=marks)

    def tune(
        self,
        make: Callable[[float], Filter] | None,
        thresholds: tuple[float, ...],
        weight: Product | None = None,
        *,
        measure: Measure = "graded",
        gentler: Literal["higher", "lower"] = "higher",
        progress: Progress | None = None,
    ) -> _Tuned:
        """The vote with the filter that ``make`` gives for each threshold, tuned and scored."""
        names = self._names(make, thresholds, weight)
        found, accuracy, dropped, fallback = [], [], [], []
        correct = np.zeros(len(self.truth), dtype=np.bool_)
        for outer in range(self.folds):
            seen = self.fold != outer
            best = None
            if make is not None:
                best = self._best(make, thresholds, weight, names, outer, measure, gentler)
                found.append(best)
            filter_ = None if make is None or best is None else make(best)
            right, fell, lost = self._right(seen, names, weight, filter_, measure)
            correct[~seen] = right[~seen]
            accuracy.append(float(right[~seen].mean()))
            fallback.append(float(fell[~seen].mean()))
            dropped.append(lost)
            if progress is not None:
                progress(Step("tuning", outer + 1, self.folds))
        order = np.argsort(self.part.items.to_pylist())
        return _Tuned(
            measure=measure,
            thresholds=tuple(found),
            accuracy=tuple(accuracy),
            dropped=tuple(dropped),
            fallback=tuple(fallback),
            correct=correct[order],
        )

    def choose(
        self,
        make: Callable[[float], Filter],
        thresholds: tuple[float, ...],
        weight: Product | None = None,
        *,
        measure: Measure = "graded",
        gentler: Literal["higher", "lower"] = "higher",
    ) -> float:
        """The threshold that all of this gold chooses, by cross-validation over its folds."""
        names = self._names(make, thresholds, weight)
        return self._best(make, thresholds, weight, names, -1, measure, gentler)

    def _names(
        self,
        make: Callable[[float], Filter] | None,
        thresholds: tuple[float, ...],
        weight: Product | None,
    ) -> tuple[str, ...]:
        """The features that a vote needs."""
        if make is not None and not thresholds:
            raise BadSetting("thresholds", thresholds, "at least one to choose from")
        names = list(weight.features) if weight is not None else []
        names += make(thresholds[0]).features if make is not None else ()
        names += [ACCURACY] if self.flip else []
        return tuple(dict.fromkeys(names))

    def _best(
        self,
        make: Callable[[float], Filter],
        thresholds: tuple[float, ...],
        weight: Product | None,
        names: tuple[str, ...],
        outer: int,
        measure: Measure,
        gentler: Literal["higher", "lower"],
    ) -> float:
        """The threshold that does best on inner folds of the gold outside the outer fold.

        No fold has the number -1: as outer fold it leaves all gold in.
        """
        score = np.zeros(len(thresholds))
        for inner in range(self.folds):
            if inner == outer:
                continue
            seen = (self.fold != outer) & (self.fold != inner)
            held = self.fold == inner
            for at, threshold in enumerate(thresholds):
                right, _, _ = self._right(seen, names, weight, make(threshold), measure)
                score[at] += right[held].sum()
        top = np.flatnonzero(score == score.max())
        return thresholds[int(top[-1] if gentler == "higher" else top[0])]

    def _right(
        self,
        seen: NDArray[np.bool_],
        names: tuple[str, ...],
        weight: Product | None,
        keep: Filter | None,
        measure: Measure,
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:  # (gold item,), (gold item,)
        """Which items the vote gets right, which fell back, and how many judges were dropped."""
        label, fell, lost = self._vote(seen, names, weight, keep)
        if measure == "graded":
            return label == self.truth, fell, lost
        collapse = self.part.scale.truth_relevant
        if collapse is None:
            self.part.scale.need_relevant()
            raise AssertionError
        return collapse[label] == collapse[self.truth], fell, lost

    def _vote(
        self,
        seen: NDArray[np.bool_],
        names: tuple[str, ...],
        weight: Product | None,
        keep: Filter | None,
    ) -> _Cast:
        """The vote under a filter, and of the latest votes each only once.

        Inner fold a of outer fold b sees the gold that b of a sees, and so do both measures.
        """
        key = (np.packbits(seen).tobytes(), weight, keep)
        found = self._votes.get(key)
        if found is None:
            features = self.features(seen, names)
            choice = choose_judges(
                self.part, features, weight, keep, flip=self.flip, shrink=self.shrink
            )
            label, fell = self._weigh(choice.units)
            found = (label, fell, int((choice.weight == 0).sum()) if keep is not None else 0)
            if len(self._votes) >= _LATEST:
                del self._votes[next(iter(self._votes))]
            self._votes[key] = found
        return found

    def _weigh(
        self, units: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
    ) -> tuple[NDArray[np.int16], NDArray[np.bool_]]:  # (gold item,), (gold item,)
        """The labels that weights give, once where thresholds keep the same judges."""
        key = b"".join(part.tobytes() for part in units)
        found = self._weighed.get(key)
        if found is None:
            posterior, fell, _ = self._sweeps.weigh(*units)
            label, _ = pick(posterior, self.part, ties="random", seed=self.seed)
            found = (label, fell)
            if len(self._weighed) >= _LATEST:
                del self._weighed[next(iter(self._weighed))]
            self._weighed[key] = found
        return found
