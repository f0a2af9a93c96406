"""Cross-validation over gold items: a model is told some of the gold and scored on the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.gold import Gold
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import Names, look_up
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._labelled import Labelled, read_labels
from adjudge.evaluation._resampling import check_resampling, split_folds
from adjudge.evaluation.against_gold import Evaluation, evaluate
from adjudge.evaluation.measures import CLIP
from adjudge.models.model import Step

if TYPE_CHECKING:
    from adjudge.engines.engine import Engine
    from adjudge.models.model import Model, Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossValidation:
    """How a model fares on gold it was not told: by fold, and over all folds together.

    ``pooled`` scores every gold item by the fit that was not told its truth. Items are in order of
    their names.
    """

    model: str
    scale: Scale
    pooled: Evaluation
    folds: tuple[Evaluation, ...]
    seed: int
    items: Names  # (gold,)
    truth: NDArray[np.int16]  # (gold,)
    fold: NDArray[np.int32]  # (gold,)
    choice: NDArray[np.int16]  # (gold,) -1 where the item got no label
    posterior: NDArray[np.float64]  # (gold, truth) NaN where the item got no label

    def values(self, name: str) -> NDArray[np.float64]:  # (fold,)
        """One score on each fold; NaN where it is undefined."""
        return np.array([float(fold[name]) for fold in self.folds])

    def mean(self, name: str) -> float:
        """The mean of a score over the folds on which it is defined; NaN if there is none."""
        known = self._known(name)
        return float(known.mean()) if known.size else float("nan")

    def sd(self, name: str) -> float:
        """The standard deviation of a score over the folds; NaN of fewer than two."""
        known = self._known(name)
        return float(known.std(ddof=1)) if known.size > 1 else float("nan")

    def _known(self, name: str) -> NDArray[np.float64]:
        values = self.values(name)
        return np.asarray(values[~np.isnan(values)])

    def to_table(self) -> Any:
        """One row a score: pooled value with its interval, mean and sd over folds, reason."""
        table = self.pooled.to_table()
        for column, of in (("mean", self.mean), ("sd", self.sd)):
            values = np.array([of(name) for name in self.pooled.scores])
            table = table.append_column(column, pa.array(values, mask=np.isnan(values)))
        return table.select(["score", "value", "low", "high", "mean", "sd", "reason"])

    def to_item_table(self) -> Any:
        """One row a gold item: item, gold, fold (from 1), and label and p_<label> of its fit."""
        names = pa.array(self.scale.truths, pa.large_string())
        none = self.choice < 0
        columns: dict[str, Any] = {
            "item": self.items,
            "gold": names.take(pa.array(self.truth)),
            "fold": pa.array(self.fold + 1),
            "label": names.take(pa.array(self.choice, mask=none)),
        }
        for code, truth in enumerate(self.scale.truths):
            values = np.ascontiguousarray(self.posterior[:, code])
            columns[f"p_{truth}"] = pa.array(values, mask=none)
        return pa.table(columns)


@takes_tables
def cross_validate(
    model: Model,
    judgments: JudgmentsLike,
    gold: GoldLike,
    *,
    folds: int = 5,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress | None = None,
    resamples: int = 0,
    level: float = 0.95,
    clip: float = CLIP,
    bins: int = 10,
) -> CrossValidation:
    """A model fitted once a fold, to all judgments and the gold of the other folds.

    Folds are stratified by truth. The last four settings are those of ``evaluate``; bootstrap
    intervals are of the pooled scores.
    """
    check_resampling(resamples, level)
    if not len(gold):
        raise BadData("there is no gold to cross-validate on", source=gold.source)
    if not 2 <= folds <= len(gold):
        raise BadSetting("folds", folds, f"from 2 to the number of gold items, {len(gold):,}")
    order = np.asarray(pc.sort_indices(gold.items), dtype=np.int64)
    gold = _in_order(gold, order)
    truth = gold.codes(judgments.scale)
    fold = split_folds(gold.items, truth, folds, seed)
    held = _FoldLabels.of(gold, judgments.scale)
    scoring: dict[str, Any] = {"level": level, "clip": clip, "bins": bins}
    found = []
    for number in range(folds):
        test = fold == number
        if progress is not None:
            progress(Step("fold", number, folds))
        consensus = model.fit(judgments, gold.select(~test), engine=engine)
        labels = read_labels(consensus, judgments.scale, gold)
        held.take(labels, test)
        found.append(evaluate(labels, gold.select(test), **scoring))
    if progress is not None:
        progress(Step("fold", folds, folds))
    pooled = held.labelled(judgments)
    return CrossValidation(
        model=model.name,
        scale=judgments.scale,
        pooled=evaluate(pooled, gold, resamples=resamples, seed=seed, **scoring),
        folds=tuple(found),
        seed=seed,
        items=gold.items,
        truth=truth,
        fold=fold,
        choice=held.choice,
        posterior=held.posterior,
    )


def _in_order(gold: Gold, order: NDArray[np.int64]) -> Gold:
    """The gold in another order of rows."""
    rows = pa.array(order)

    def part(names: Names | None) -> Names | None:
        return None if names is None else names.take(rows)

    return replace(
        gold,
        items=part(gold.items),
        value=gold.value[order],
        topics=part(gold.topics),
        documents=part(gold.documents),
        reasons=part(gold.reasons),
        honeypot=None if gold.honeypot is None else gold.honeypot[order],
    )


@dataclass(frozen=True, slots=True, eq=False)
class _FoldLabels:
    """The labels of gold items, each from the fit that was not told its truth; filled by fold."""

    scale: Scale
    items: Names  # (gold,)
    choice: NDArray[np.int16]  # (gold,)
    posterior: NDArray[np.float64]  # (gold, truth)
    fallback: NDArray[np.bool_]  # (gold,)

    @classmethod
    def of(cls, gold: Gold, scale: Scale) -> _FoldLabels:
        """Nothing labelled yet."""
        return cls(
            scale,
            gold.items,
            np.full(len(gold), -1, dtype=np.int16),
            np.full((len(gold), len(scale.truths)), np.nan),
            np.zeros(len(gold), dtype=np.bool_),
        )

    def take(self, labels: Labelled, test: NDArray[np.bool_]) -> None:
        """Keep the labels of the items under the mask."""
        rows = np.flatnonzero(test)
        place = look_up(self.items.take(pa.array(rows)), labels.items)
        rows, place = rows[place >= 0], place[place >= 0]
        self.choice[rows] = labels.choice[place]
        if labels.posterior is not None:
            self.posterior[rows] = labels.posterior[place]
        if labels.fallback is not None:
            self.fallback[rows] = labels.fallback[place]

    def labelled(self, judgments: Judgments) -> Labelled:
        """What was kept, as labels to be scored."""
        counts = np.append(judgments.counts_per_item, 0)
        return Labelled(
            scale=self.scale,
            items=self.items,
            choice=self.choice,
            posterior=self.posterior,
            judged=counts[look_up(self.items, judgments.items)] > 0,
            told=np.zeros(len(self.choice), dtype=np.bool_),
            fallback=self.fallback,
        )
