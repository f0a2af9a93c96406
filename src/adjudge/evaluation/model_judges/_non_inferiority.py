"""Non-inferiority: whether a model is no worse than a person, up to a margin.

By labels, the difference of scores, model minus person, is averaged over a person's items and then
over people. Its one-sided lower bound is a bootstrap over items, or over topics where they are
known: items of one topic are not independent.

By rankings of search systems, each person is left out in turn. On the documents that they, the
model and others judged, every run gets its value three times: under the others' labels (the
commonest; of equals the lowest), under theirs and under the model's. Kendall's tau says how far
each ranking of the runs is the others'. The difference, model minus person, is averaged over
people; its bound is a bootstrap over topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from adjudge.data.runs import Run, distinct_names
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation._pool import build_pool
from adjudge.evaluation._resampling import item_weights
from adjudge.evaluation._retrieval import RetrievalMeasure, parse_measures
from adjudge.evaluation.model_judges._contests import Contests, Panel

_MARGIN = 0.05  # of Kendall's tau

_Floats = NDArray[np.float64]


def compare_rankings(
    panel: Panel,
    model: int,
    runs: Sequence[Run],
    *,
    measure: str = "nDCG@10",
    least_items: int = 30,
    margin: float = _MARGIN,
    resamples: int = 1000,
    seed: int = 0,
) -> NonInferiority | None:
    """Whether a model ranks runs no worse than a person; None where nobody has enough items."""
    if len(runs) < 2:
        raise BadSetting("runs", len(runs), "two runs or more, to be ranked")
    used = parse_measures([measure], panel.people.scale)[0]
    if not used.quick:
        raise BadSetting("measure", measure, "one such as nDCG@10, AP, P@10, RR or RBP(p=0.8)")
    if panel.people.topics is None:
        raise BadData(
            "the judgments of people have no topics, so runs cannot be ranked by them; wanted "
            "columns topic and document",
            expected="topics",
        )
    named = distinct_names(runs)
    people = [
        _values(panel, model, person, named, used, least_items)
        for person in range(panel.people.judge_count)
    ]
    known = [values for values in people if values is not None]
    if not known:
        return None
    topics = len(panel.people.topics)
    whole = np.ones((1, topics))
    drawn = [_gap(known, weight) for weight in item_weights(topics, resamples, seed)]
    low = float(np.quantile(np.concatenate(drawn), 1 - _LEVEL)) if drawn else float("nan")
    return NonInferiority(
        use="ranking systems",
        difference=float(_gap(known, whole)[0]),
        low=low,
        margin=margin,
        units=topics,
    )


def _values(
    panel: Panel,
    model: int,
    person: int,
    runs: Sequence[Run],
    measure: RetrievalMeasure,
    least_items: int,
) -> tuple[NDArray[np.int32], _Floats] | None:
    """A person's topics, and values there: (by others, by them, by the model; run, topic)."""
    people = panel.people
    own = np.flatnonzero(people.judge == person)
    item = people.item[own]
    answered = panel.labels_of(model)
    shared = (answered[item] >= 0) & (panel.others[item] >= 2)
    own, item = own[shared], item[shared]
    if len(item) < least_items:
        return None
    labels = people.label[own].astype(np.int64)
    rest = panel.counts[item].copy()
    rest[np.arange(len(item)), labels] -= 1
    given = np.full((3, people.item_count), -1, dtype=np.int16)
    given[0, item] = rest.argmax(axis=1)
    given[1, item] = labels
    given[2, item] = answered[item]
    judged = np.zeros(people.item_count, dtype=np.bool_)
    judged[item] = True
    pool = build_pool(people, judged, runs, "condensed")
    if not len(pool.topics):
        return None
    return pool.topic_code, measure.values(pool, np.ascontiguousarray(given[:, pool.item]))


def _gap(
    known: Sequence[tuple[NDArray[np.int32], _Floats]],
    weight: _Floats,  # (resample, topic)
) -> _Floats:  # (resample,)
    """The mean over people of tau of the model minus tau of the person, under weighted topics."""
    gaps = np.zeros(len(weight))
    seen = np.zeros(len(weight))
    for topics, values in known:
        drawn = weight[:, topics]
        some = drawn.sum(axis=1) > 0
        others, theirs, models = (_order(drawn @ part.T) for part in values)
        gap = (others * models).mean(axis=1) - (others * theirs).mean(axis=1)
        gaps += np.where(some, gap, 0.0)
        seen += some
    return np.asarray(gaps / np.maximum(seen, 1))


def _order(values: _Floats) -> _Floats:  # (resample, run) -> (resample, pair)
    """Which of every two runs is the better: 1, -1, or 0 where they are equal."""
    first, second = np.triu_indices(values.shape[1], k=1)
    gap = values[:, first] - values[:, second]
    return np.asarray(np.sign(np.where(np.abs(gap) < 1e-12, 0.0, gap)))


_LEVEL = 0.95  # of the one-sided bound

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
    low = float(np.quantile(np.concatenate(drawn), 1 - _LEVEL)) if drawn else float("nan")
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
