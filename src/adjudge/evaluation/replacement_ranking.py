"""Does a model rank search systems no worse than a person does? Before the other people, again.

Each person is left out in turn. On the documents that they, the model and others judged, every run
gets its value three times: under the others' labels (the commonest; of equals the lowest), under
theirs and under the model's. Kendall's tau says how far each ranking of the runs is the others'.
The difference, model minus person, is averaged over people; its bound is a bootstrap over topics.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from adjudge.data.runs import Run, distinct_names
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.contests import Panel
from adjudge.evaluation.non_inferiority import LEVEL, NonInferiority
from adjudge.evaluation.pool import pool_of
from adjudge.evaluation.resampling import item_weights
from adjudge.evaluation.retrieval import RetrievalMeasure, parse_measures

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
            wanted="topics",
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
    low = float(np.quantile(np.concatenate(drawn), 1 - LEVEL)) if drawn else float("nan")
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
    pool = pool_of(people, judged, runs, "condensed")
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
