"""What calibration by gold goes by: the features of items, as a model and its judges see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, encode
from adjudge.models._families import Voices
from adjudge.models._judge_rows import exact_sum, normalise

_PART = r"^(?P<part>[^_/:| ]+)[_/:| ]+[^_/:| ]"

_EACH = 3  # items to a part, on average, for parts to be topics

Groups = tuple[NDArray[np.int32], Names, bool] | None


def group_items(judgments: Judgments) -> Groups:
    """The group of each item, the groups' names, and whether they were read from items' names.

    Items of a topic are alike: some topics are easier, or richer in relevant documents. Where
    topics are not given, names of items often tell: in ``q12_doc7`` or ``301/FT911-3`` the topic
    stands before the first sign. It is taken for one where every item has such a part and there
    are three items or more to a part on average.
    """
    if judgments.topics is not None and judgments.topic is not None:
        return (judgments.topic, judgments.topics, False) if judgments.topic_count > 1 else None
    part = pc.struct_field(pc.extract_regex(judgments.items, _PART), "part")
    if part.null_count or not len(part):
        return None
    number, names = encode(part)
    if len(names) < 2 or len(part) < _EACH * len(names):
        return None
    return number, names, True


_Floats = NDArray[np.float64]

BLOCK = 100_000  # items at a time

_CLOSE = 2e-3  # added to probabilities before logs are taken

_JUDGES = (2, 100)  # at least and at most, to have features of their own

_MAPPED = 20  # truths above which there is no feature for every pair of them

_UNIT = 2.0**32  # of logs that are added up


@dataclass(frozen=True, slots=True, eq=False)
class FeatureScheme:
    """What features are made from, beside an item's own probabilities and judgments."""

    votes: _Floats  # (truth,) pseudo-votes
    spread: float  # of log probabilities
    ordered: bool
    grade: tuple[float, float]  # mean and standard deviation of mean grades
    judges: NDArray[np.int32]  # (judge,) the number of each judge's feature, -1 for none
    topics: Names | None  # (topic,) those with a level of their own
    told: _Floats  # (feature, truth, label) log-probabilities, centred over truths

    @property
    def level(self) -> _Floats:  # (part of a level, truth)
        """How a topic's level raises the score of each truth."""
        truths = len(self.votes)
        if self.ordered or truths == 2:
            return np.asarray(np.arange(truths) - 0.5 * (truths - 1), dtype=np.float64)[None]
        return np.eye(truths)

    @property
    def groups(self) -> list[str]:
        """The group of each feature."""
        truths = len(self.votes)
        groups = ["slope", "vote", *["truth"] * truths]
        groups += ["map"] * (truths * truths if truths <= _MAPPED else 0)
        groups += ["order"] * (3 if self.ordered else 0)
        return [*groups, *["judge"] * len(self.told)]


def describe(
    spoken: Judgments, voices: Voices, posterior: _Floats, confusion: _Floats
) -> FeatureScheme:
    """Measure what features need from all judged items together."""
    scale, truths = spoken.scale, posterior.shape[1]
    votes, squares = np.zeros(truths), 0.0
    grades = np.zeros(3)
    judged = np.flatnonzero(spoken.counts_per_item > 0)
    for begin in range(0, len(judged), BLOCK):
        items = judged[begin : begin + BLOCK]
        cast = count_votes(spoken, voices, items, truths)
        votes += exact_sum(cast)
        squares += float(exact_sum(exact_sum(_logs(posterior[items]) ** 2)))
        mean = _mean_grade(cast)
        grades += (len(mean), float(exact_sum(mean)), float(exact_sum(mean**2)))
    items_all = max(len(judged), 1)
    middle = grades[1] / max(grades[0], 1.0)
    spread = np.sqrt(max(grades[2] / max(grades[0], 1.0) - middle**2, 0.0)) + 1e-9
    counts = voices.fold(
        np.bincount(spoken.judge, minlength=len(voices.judge_of))[:, None], weighted=False
    )[:, 0]
    regular = np.flatnonzero(counts >= 0.5 * len(judged))
    if not _JUDGES[0] <= len(regular) <= _JUDGES[1]:
        regular = regular[:0]
    if regular.size:  # in an order that neither names nor places decide
        regular = regular[np.lexsort(confusion[regular].reshape(len(regular), -1).T)]
    number = np.full(len(counts), -1, dtype=np.int32)
    number[regular] = np.arange(len(regular), dtype=np.int32)
    told = np.log(np.maximum(confusion[regular], 1e-9))
    return FeatureScheme(
        votes=0.5 * truths * normalise(votes / items_all + 0.01),
        spread=float(np.sqrt(squares / (items_all * truths))) + 1e-9,
        ordered=scale.ordinal and truths > 2,
        grade=(middle, float(spread)),
        judges=number,
        topics=None,
        told=told - told.mean(axis=1, keepdims=True),
    )


def count_votes(
    spoken: Judgments, voices: Voices, items: NDArray[np.int64], truths: int
) -> _Floats:
    """Count the weighted votes (item, truth) of some items."""
    row, place = spoken.rows_of(items)
    truth = np.array(spoken.scale.truth_of)[spoken.label[row]]
    voted = truth >= 0
    units = voices.units[spoken.judge[row[voted]]]
    cell = place[voted] * truths + truth[voted]
    sums = np.bincount(cell, weights=units, minlength=len(items) * truths)
    return np.asarray(sums.reshape(len(items), truths) / 2.0**20)


def _mean_grade(votes: _Floats) -> _Floats:  # (item,)
    """The mean place of the votes of each item; of an item without votes, the middle."""
    whole = votes.sum(axis=1)
    middle = 0.5 * (votes.shape[1] - 1)
    mean = votes @ np.arange(votes.shape[1]) / np.where(whole > 0, whole, 1.0)
    return np.asarray(np.where(whole > 0, mean, middle))


def _logs(probabilities: _Floats) -> _Floats:
    """Logs of probabilities, centred over truths."""
    logs = np.log(normalise(probabilities + _CLOSE))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def make_features(
    scheme: FeatureScheme,
    spoken: Judgments,
    voices: Voices,
    items: NDArray[np.int64],
    probabilities: _Floats,
) -> _Floats:  # (item, truth, feature)
    """The features of some items."""
    count, truths = probabilities.shape
    own = _logs(probabilities)
    votes = count_votes(spoken, voices, items, truths)
    unit = np.eye(truths)
    parts = [
        own[:, :, None],
        _logs(normalise(votes + scheme.votes))[:, :, None],
        np.broadcast_to(unit, (count, truths, truths)),
    ]
    if truths <= _MAPPED:
        every = np.einsum("ij,kc->ikcj", own / scheme.spread, unit)
        parts.append(every.reshape(count, truths, truths * truths))
    if scheme.ordered:
        z = (_mean_grade(votes) - scheme.grade[0]) / scheme.grade[1]
        place = np.arange(truths) - 0.5 * (truths - 1)
        bend = place**2 - (place**2).mean()
        parts.append(
            np.stack([np.outer(z, place), np.outer(z, bend), np.outer(z**2 - 1, place)], axis=2)
        )
    if len(scheme.told):
        row, item = spoken.rows_of(items)
        number = scheme.judges[voices.judge_of[spoken.judge[row]]]
        chosen = number >= 0
        units = np.rint(scheme.told * _UNIT).astype(np.int64)
        said = np.zeros((count, len(scheme.told), truths), dtype=np.int64)
        np.add.at(
            said,
            (item[chosen], number[chosen]),
            units[number[chosen], :, spoken.label[row[chosen]]],
        )
        parts.append(said.transpose(0, 2, 1) / _UNIT)
    return np.concatenate(parts, axis=2)
