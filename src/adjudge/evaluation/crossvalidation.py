"""Scores on data held out: cross-validation over gold items, and predictions of judgments.

Without gold, a part of the judgments is hidden, the model is fitted to the rest, and each hidden
judgment is predicted: the chance of label y from judge j on item i is sum_k q_i(k) theta_j[k, y],
with q_i the posterior of the item and theta_j the confusion of the judge, both from the rest. Its
logarithm is the score, in nats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import GoldLike, Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import Names, look_up
from adjudge.data.results import Result
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._labelled import Labelled, read_labels
from adjudge.evaluation._resampling import check_resampling, shuffled_places, split_folds
from adjudge.evaluation.against_gold import Evaluation, evaluate
from adjudge.evaluation.measures import CLIP
from adjudge.evaluation.scores import reals
from adjudge.models.model import Step

if TYPE_CHECKING:
    from adjudge.engines.engine import Engine
    from adjudge.models.model import Model, Progress


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrossValidation(Result):
    """Scores of a model on held-out gold, by fold and over all folds together.

    ``pooled`` scores every gold item by the fit without its gold. Items are in order of their
    names.
    """

    model: str
    scale: Scale
    pooled: Evaluation
    folds: tuple[Evaluation, ...]
    seconds: float  # per fit, on average
    items: Names  # (gold,)
    truth: NDArray[np.int16]  # (gold,)
    fold: NDArray[np.int32]  # (gold,)
    choice: NDArray[np.int16]  # (gold,) -1 where the item got no label
    posterior: NDArray[np.float64]  # (gold, truth) NaN where the item got no label

    @property
    def facts(self) -> str:
        """What was scored."""
        return f"{self.model} on {len(self.folds)} folds of {len(self.items):,} gold items"

    def values(self, name: str) -> NDArray[np.float64]:  # (fold,)
        """Return one score on each fold; NaN where it is undefined."""
        return np.array([float(fold[name]) for fold in self.folds])

    def mean(self, name: str) -> float:
        """Return the mean of a score over the folds on which it is defined; NaN without any."""
        known = self._known(name)
        return float(known.mean()) if known.size else float("nan")

    def sd(self, name: str) -> float:
        """Return the standard deviation of a score over folds; NaN with fewer than two."""
        known = self._known(name)
        return float(known.std(ddof=1)) if known.size > 1 else float("nan")

    def _known(self, name: str) -> NDArray[np.float64]:
        values = self.values(name)
        return np.asarray(values[~np.isnan(values)])

    def to_table(self) -> Any:
        """Return one row per score: pooled value, interval, mean and sd over folds, reason."""
        table = self.pooled.to_table()
        for column, of in (("mean", self.mean), ("sd", self.sd)):
            table = table.append_column(column, reals([of(name) for name in self.pooled.scores]))
        return table.select(["score", "value", "low", "high", "mean", "sd", "reason"])


def _each_fold(folds: int, progress: Progress | None) -> Iterator[int]:
    """Yield the number of each fold, and report the progress."""
    for number in range(folds):
        if progress is not None:
            progress(Step("fold", number, folds))
        yield number
    if progress is not None:
        progress(Step("fold", folds, folds))


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
    """Fit a model once per fold, to all judgments and the gold of the other folds, and score it.

    Folds are stratified by truth. The last four settings are those of ``evaluate``; bootstrap
    intervals are of the pooled scores.
    """
    check_resampling(resamples, level)
    if not len(gold):
        raise BadData("there is no gold to cross-validate on", source=gold.source)
    if not 2 <= folds <= len(gold):
        raise BadSetting("folds", folds, f"from 2 to the number of gold items, {len(gold):,}")
    scale = judgments.scale
    truth = gold.codes(scale)
    fold = split_folds(gold.items, truth, folds, seed)
    choice = np.full(len(gold), -1, dtype=np.int16)
    posterior = np.full((len(gold), len(scale.truths)), np.nan)
    fallback = np.zeros(len(gold), dtype=np.bool_)
    scoring: dict[str, Any] = {"level": level, "clip": clip, "bins": bins}
    found, seconds = [], 0.0
    for number in _each_fold(folds, progress):
        test = fold == number
        begun = perf_counter()
        consensus = model.fit(judgments, gold.select(~test), engine=engine)
        seconds += perf_counter() - begun
        labels = read_labels(consensus, scale, gold)
        place = look_up(gold.items, labels.items)
        rows = np.flatnonzero(test & (place >= 0))
        choice[rows] = labels.choice[place[rows]]
        if labels.posterior is not None:
            posterior[rows] = labels.posterior[place[rows]]
        if labels.fallback is not None:
            fallback[rows] = labels.fallback[place[rows]]
        found.append(evaluate(labels, gold.select(test), **scoring))
    counts = np.append(judgments.counts_per_item, 0)
    pooled = Labelled(
        scale=scale,
        items=gold.items,
        choice=choice,
        posterior=posterior,
        judged=counts[look_up(gold.items, judgments.items)] > 0,
        in_fit=np.zeros(len(gold), dtype=np.bool_),
        fallback=fallback,
    )
    order = np.asarray(pc.sort_indices(gold.items), dtype=np.int64)
    return CrossValidation(
        model=model.name,
        scale=scale,
        pooled=evaluate(pooled, gold, resamples=resamples, seed=seed, **scoring),
        folds=tuple(found),
        seconds=seconds / folds,
        items=gold.items.take(pa.array(order)),
        truth=truth[order],
        fold=fold[order],
        choice=choice[order],
        posterior=posterior[order],
    )


# Models without a probability of each label, and why.
_UNSCORED = {
    "vote": "weights say which judges count, not how they label",
    "pmf": "factors predict grades, not the chance of each label",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """The log score of every judgment, each by a fit without it."""

    model: str
    item: NDArray[np.int32]  # (judgment,)
    score: NDArray[np.float64]  # (judgment,) log chance of its label
    clipped: int  # judgments with a probability below the clip
    seconds: float  # per fit, on average

    @property
    def mean(self) -> float:
        """The log score of a judgment, on average: nearer to 0 is better."""
        return float(self.score.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean, with the judgments of one item taken together."""
        apart = np.bincount(self.item, self.score - self.mean)
        return float(np.sqrt((apart**2).sum())) / len(self.score)

    @property
    def by_item(self) -> NDArray[np.float64]:  # (judged item,)
        """The scores of each item's judgments added up, scaled to the same mean."""
        totals = np.bincount(self.item, self.score)
        counts = np.bincount(self.item)
        judged = counts > 0
        return np.asarray(totals[judged] * judged.sum() / counts.sum())


def _judgment_folds(judgments: Judgments, folds: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each judgment; those of an item are spread over the folds."""
    rng = np.random.default_rng(seed)
    place = shuffled_places(judgments, rng)
    first = rng.integers(folds, size=judgments.item_count)
    return np.asarray((place + first[judgments.item]) % folds)


@takes_tables
def held_out_score(
    model: Model,
    judgments: JudgmentsLike,
    *,
    folds: int = 5,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress | None = None,
    clip: float = CLIP,
) -> HeldOut:
    """Score the judgments of each fold by a model fitted to the other folds.

    A probability below ``clip`` counts as ``clip``. Models of the vote family have no probability
    of each label and cannot be scored.
    """
    if model.name in _UNSCORED:
        raise BadData(f"{model.name} cannot be scored by judgments: {_UNSCORED[model.name]}")
    if not 2 <= folds <= len(judgments):
        raise BadSetting("folds", folds, f"from 2 to the number of judgments, {len(judgments):,}")
    fold = _judgment_folds(judgments, folds, seed)
    item = judgments.item
    chance = np.empty(len(judgments))
    seconds = 0.0
    for number in _each_fold(folds, progress):
        hidden = fold == number
        shown = judgments.select(judgments=~hidden, keep_empty=True)
        begun = perf_counter()
        consensus = model.fit(shown, engine=engine)
        seconds += perf_counter() - begun
        chance[hidden] = _predict_held_out(
            consensus, item[hidden], judgments.judge[hidden], judgments.label[hidden]
        )
    return HeldOut(
        model=model.name,
        item=item,
        score=np.log(np.clip(chance, clip, 1.0)),
        clipped=int((chance < clip).sum()),
        seconds=seconds / folds,
    )


def _predict_held_out(
    consensus: Consensus,
    item: NDArray[np.int32],  # (judgment,)
    judge: NDArray[np.int32],  # (judgment,)
    label: NDArray[np.signedinteger],  # (judgment,)
) -> NDArray[np.float64]:  # (judgment,)
    """Return the probability that each judge gives that label to that item."""
    confusion = consensus.confusion
    row = np.zeros_like(judge) if len(confusion) == 1 else judge
    chance = np.zeros(len(item))
    for truth in range(confusion.shape[1]):
        chance += consensus.posterior[item, truth] * confusion[row, truth, label]
    return chance
