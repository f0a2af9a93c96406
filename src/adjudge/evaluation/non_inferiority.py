"""Non-inferiority: whether a model's score is no worse than a person's, up to a margin.

The difference of scores, model minus person, is averaged over a person's items and then over
people. Its one-sided lower bound is a bootstrap over items, or over topics where they are known:
items of one topic are not independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adjudge.evaluation.contests import Contests, Panel
from adjudge.evaluation.resampling import item_weights

LEVEL = 0.95  # of the one-sided bound
_SHARE = 0.05  # the margin where none is given: of accuracy, or of the range of the grades


@dataclass(frozen=True, slots=True, kw_only=True)
class NonInferiority:
    """How much better the model does than a person, and whether that is surely not too little."""

    use: str  # labels, or ranking of systems
    difference: float  # of scores, model minus person
    low: float  # one-sided lower bound at LEVEL
    margin: float
    units: int  # items or topics that were drawn

    @property
    def holds(self) -> bool:
        """Whether the model is no worse than a person, by more than the margin."""
        return self.low > -self.margin

    def sentence(self, model: str) -> str:
        """The statement in words."""
        how = (
            f"difference {self.difference:+.3f}, at least {self.low:+.3f} (95%, one-sided; margin "
            f"{self.margin:g})"
        )
        if self.holds:
            return f"For {self.use}, {model} is no worse than a person: {how}."
        if self.difference < -self.margin:
            return f"For {self.use}, {model} is worse than a person: {how}."
        return f"For {self.use}, it is not shown that {model} is no worse than a person: {how}."


def _usual_margin(panel: Panel) -> float:
    """The margin where none is given: 0.05, of accuracy or of the range of the grades."""
    if panel.score == "accuracy":
        return _SHARE
    return _SHARE * float(np.sqrt(panel.distance.max()))


def compare_scores(
    panel: Panel,
    contests: Contests,
    *,
    margin: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> NonInferiority:
    """Whether a model's labels are no worse than a person's, against the other people."""
    gap = contests.model_score - contests.person_score
    topic = panel.people.topic
    drawn_from = contests.item if topic is None else topic[contests.item]
    _, unit = np.unique(drawn_from, return_inverse=True)
    _, person = np.unique(contests.person, return_inverse=True)
    shape = (int(unit.max(initial=-1)) + 1, int(person.max(initial=-1)) + 1)
    total = csr_array((gap, (unit, person)), shape=shape)
    times = csr_array((np.ones(len(gap)), (unit, person)), shape=shape)
    whole = np.ones((1, shape[0]))
    drawn = [_means(weight, total, times) for weight in item_weights(shape[0], resamples, seed)]
    difference = float(_means(whole, total, times)[0])
    low = float(np.quantile(np.concatenate(drawn), 1 - LEVEL)) if drawn else float("nan")
    return NonInferiority(
        use="labels",
        difference=difference,
        low=low,
        margin=_usual_margin(panel) if margin is None else margin,
        units=shape[0],
    )


def _means(
    weight: NDArray[np.float64],  # (resample, unit)
    total: csr_array,  # (unit, person)
    times: csr_array,
) -> NDArray[np.float64]:  # (resample,)
    """The mean over people of their mean difference; people who were not drawn are left out."""
    sums, counts = weight @ total, weight @ times  # (resample, person)
    seen = counts > 0
    mean = np.where(seen, sums / np.where(seen, counts, 1.0), 0.0)
    return np.asarray(mean.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))
