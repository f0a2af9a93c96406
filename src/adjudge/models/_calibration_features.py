"""The features that calibration by gold uses, and the topics of items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, encode
from adjudge.kernels.fixed import LOG, WEIGHT
from adjudge.models._families import Voices
from adjudge.models._judge_rows import exact_sum, normalise

_Floats = NDArray[np.float64]
Groups = tuple[NDArray[np.int32], Names] | None  # the topic of each item, and the topics

BLOCK = 10_000  # items whose features are in memory at a time
MOST_FEATURES = 400  # pairs of truths, judges, or offsets of topics
_PART = r"^(?P<part>[^_/:| ]+)[_/:| ]+[^_/:| ]"
_EACH = 3  # items per part of a name, on average, for parts to be topics
_CLOSE = 2e-3  # added to probabilities before logs are taken
_VOTE = 0.5  # votes added to each truth


def group_items(judgments: Judgments) -> Groups:
    """Return the topic of each item and the names of topics; None where there are none.

    Where topics are not given, they are read from names of items such as ``q12_doc7`` or
    ``301/FT911-3``: the part before the first separator is the topic if every item has one and
    there are at least three items per topic on average.
    """
    if judgments.topics is not None and judgments.topic is not None:
        return (judgments.topic, judgments.topics) if judgments.topic_count > 1 else None
    part = pc.struct_field(pc.extract_regex(judgments.items, _PART), "part")
    if part.null_count or not len(part):
        return None
    number, names = encode(part)
    return (number, names) if len(names) > 1 and len(part) >= _EACH * len(names) else None


@dataclass(frozen=True, slots=True, eq=False)
class FeatureScheme:
    """What features need in addition to an item's own probabilities and judgments."""

    truths: int
    ordered: bool
    spread: float  # of log probabilities
    judges: NDArray[np.int32]  # (judge,) the number of each judge's feature, -1 for none
    log_rates: _Floats  # (feature, truth, label) log confusion, centred over truths

    @property
    def offset(self) -> _Floats:  # (part of an offset, truth)
        """How a topic's offset changes the scores of truths: along the scale, or each freely.

        Neighbours on a scale move apart as much a priori as two truths without order.
        """
        if self.ordered or self.truths == 2:
            place = np.arange(self.truths) - 0.5 * (self.truths - 1)
            return np.asarray(np.sqrt(2.0) * place[None])
        return np.eye(self.truths)


def describe(
    spoken: Judgments, voices: Voices, posterior: _Floats, confusion: _Floats
) -> FeatureScheme:
    """Measure log probabilities, and choose judges of at least half the items for features."""
    judged = np.flatnonzero(spoken.counts_per_item > 0)
    squares = 0.0
    for items in np.array_split(judged, len(judged) // BLOCK + 1):
        squares += float(exact_sum(exact_sum(_logs(posterior[items]) ** 2)))
    regular = np.flatnonzero(voices.items >= max(0.5 * len(judged), 1))
    if not 0 < len(regular) <= MOST_FEATURES:
        regular = regular[:0]
    else:  # in an order that depends on neither names nor rows
        regular = regular[np.lexsort(confusion[regular].reshape(len(regular), -1).T)]
    number = np.full(voices.judges, -1, dtype=np.int32)
    number[regular] = np.arange(len(regular), dtype=np.int32)
    logs = np.log(np.maximum(confusion[regular], 1e-9))
    return FeatureScheme(
        truths=posterior.shape[1],
        ordered=spoken.scale.ordinal,
        spread=float(np.sqrt(squares / max(len(judged) * posterior.shape[1], 1))) + 1e-9,
        judges=number,
        log_rates=logs - logs.mean(axis=1, keepdims=True),
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
    return np.asarray(sums.reshape(len(items), truths) / WEIGHT)


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
    """Make the features of some items; the first is the model's own log probability.

    Features of pairs of truths and of judges are divided by the fourth root of their number per
    truth, so that many of them together can change less than as many times one.
    """
    count, truths = probabilities.shape
    own, unit = _logs(probabilities), np.eye(truths)
    share = normalise(count_votes(spoken, voices, items, truths) + _VOTE)
    parts = [
        own[:, :, None],
        _logs(share)[:, :, None],
        np.broadcast_to(unit, (count, truths, truths)),
    ]
    if truths**2 <= MOST_FEATURES:
        pairs = np.einsum("ij,kc->ikcj", own / (scheme.spread * truths**0.25), unit)
        parts.append(pairs.reshape(count, truths, truths**2))
    if len(scheme.log_rates):
        row, item = spoken.rows_of(items)
        number = scheme.judges[voices.judge_of[spoken.judge[row]]]
        row, item, number = row[number >= 0], item[number >= 0], number[number >= 0]
        units = np.rint(scheme.log_rates * LOG).astype(np.int64)
        sums = np.zeros((count, len(units), truths), dtype=np.int64)
        np.add.at(sums, (item, number), units[number, :, spoken.label[row]])
        parts.append(sums.transpose(0, 2, 1) / (LOG * len(units) ** 0.25))
    return np.concatenate(parts, axis=2)
