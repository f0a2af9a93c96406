"""Held-out judgments: how well a model predicts labels that it was not shown.

A part of the judgments is hidden, the model is fitted to the rest, and each hidden judgment is
predicted: the chance of label y from judge j on item i is sum_k q_i(k) theta_j[k, y], with q_i the
posterior of the item and theta_j the confusion of the judge, both from the rest. Its logarithm is
the score, in nats, so a model is scored without any gold.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from adjudge.data.consensus import Consensus
from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._resampling import shuffled_places
from adjudge.evaluation.measures import CLIP
from adjudge.models.model import Step

if TYPE_CHECKING:
    from adjudge.engines.engine import Engine
    from adjudge.models.model import Model, Progress


# Models that do not say how a judge comes by their label, and why.
_UNSCORED = {
    "vote": "weights say which judges count, not how they label",
    "pmf": "factors predict grades, not the chance of each label",
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HeldOut:
    """The log score of every judgment, each from a fit that was not shown it."""

    model: str
    item: NDArray[np.int32]  # (judgment,)
    score: NDArray[np.float64]  # (judgment,) log chance of its label
    clipped: int  # judgments that were given less chance than the clip
    seconds: float  # of a fit, on average

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
        """The scores of each item's judgments added up, in a unit that has the same mean."""
        totals = np.bincount(self.item, self.score)
        counts = np.bincount(self.item)
        judged = counts > 0
        return np.asarray(totals[judged] * judged.sum() / counts.sum())


def _judgment_folds(judgments: Judgments, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each judgment: those of one item are spread over as many folds as can be."""
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
    """The log score of judgments that a model was not shown, fold by fold.

    A chance below ``clip`` counts as that. Models of the vote family that do not say how a judge
    labels cannot be scored so.
    """
    if model.name in _UNSCORED:
        raise BadData(f"{model.name} cannot be scored by judgments: {_UNSCORED[model.name]}")
    if not 2 <= folds <= len(judgments):
        raise BadSetting("folds", folds, f"from 2 to the number of judgments, {len(judgments):,}")
    fold = _judgment_folds(judgments, folds, seed)
    item = judgments.item
    chance = np.empty(len(judgments))
    seconds = 0.0
    for number in range(folds):
        if progress is not None:
            progress(Step("fold", number, folds))
        hidden = fold == number
        shown = judgments.select(judgments=~hidden, keep_empty=True)
        begun = perf_counter()
        consensus = model.fit(shown, engine=engine)
        seconds += perf_counter() - begun
        chance[hidden] = _predict_held_out(
            consensus, item[hidden], judgments.judge[hidden], judgments.label[hidden]
        )
    if progress is not None:
        progress(Step("fold", folds, folds))
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
    """The chance that each of these judges gives that label to that item."""
    confusion = consensus.confusion
    row = np.zeros_like(judge) if len(confusion) == 1 else judge
    chance = np.zeros(len(item))
    for truth in range(confusion.shape[1]):
        chance += consensus.posterior[item, truth] * confusion[row, truth, label]
    return chance
