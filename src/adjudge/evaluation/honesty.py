"""Whether a model's probabilities are worth more than the plain vote's, on the same gold items.

The yardstick is the share of the votes with half a judgment added to each truth (Krichevsky and
Trofimov 1981, doi:10.1109/TIT.1981.1056331): what anyone has for nothing. A model whose log loss is
higher may still give better labels, but its probabilities mislead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import look_up
from adjudge.data.source import count_of
from adjudge.evaluation._score_functions import log_loss
from adjudge.evaluation.against_gold import Evaluation

_HALF = 0.5  # judgments that each truth has before the first


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideVote:
    """The log loss of a model and of the smoothed vote share, on the same items."""

    items: int
    model: float
    vote: float

    @property
    def worse(self) -> bool:
        """Whether the vote's probabilities are the better ones."""
        return self.model > self.vote

    @property
    def warning(self) -> str | None:
        """A plain sentence where the model's probabilities are worse; None where they are not."""
        if not self.worse:
            return None
        items = count_of(self.items, "gold item")
        return (
            f"Its probabilities are worse than the plain vote's: log loss {self.model:.3f} on "
            f"{items}, where the vote share (half a judgment added to each label) has "
            f"{self.vote:.3f}."
        )


def _smoothed_vote_share(judgments: Judgments) -> NDArray[np.float64]:  # (item, truth)
    """The share of each truth among an item's judgments, half a judgment added to each.

    A label that stands for no truth says nothing.
    """
    scale = judgments.scale
    truth = np.array(scale.truth_of, dtype=np.int64)[judgments.label]
    known, size = truth >= 0, len(scale.truths)
    cell = judgments.item[known].astype(np.int64) * size + truth[known]
    counts = np.bincount(cell, minlength=judgments.item_count * size).reshape(-1, size) + _HALF
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


@takes_tables
def beside_vote(found: Evaluation, judgments: JudgmentsLike) -> BesideVote | None:
    """A model's log loss beside the vote's; None where there is nothing fair to compare.

    That is without probabilities, without scored items, or where the model had been told gold.
    """
    if found.posterior is None or not found.scored or found.told:
        return None
    if found.scale.truths != judgments.scale.truths:
        return None
    place = look_up(found.items, judgments.items)
    even = np.full((1, len(found.scale.truths)), 1 / len(found.scale.truths))
    shares = np.concatenate([_smoothed_vote_share(judgments), even])[place]  # -1: nobody judged it
    return BesideVote(
        items=found.scored,
        model=float(log_loss(found.truth, found.posterior, clip=found.clip)),
        vote=float(log_loss(found.truth, shares, clip=found.clip)),
    )
