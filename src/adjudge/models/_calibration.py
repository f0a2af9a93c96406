"""Calibration by gold: learn what a model's probabilities mean where the true label is known.

A conditional logit over truths, score(i, c) = x_ic . b, is fitted to the gold items and applied to
all items. The features x are the log of the model's probability, the log of the vote share, an
intercept per truth, the log probabilities of the other truths, and for every judge of at least half
the items the log probability of the judge's label. Every topic with gold has an offset: along the
scale, or per truth where labels have no order. A priori the coefficients are independent normal
with one precision around "no change" (1 for the model's own log probability, 0 for the rest).

The result is averaged with "no change", weighted by evidence (Laplace's approximation), so that
little gold changes little.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from threadpoolctl import threadpool_limits

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, encode, look_up
from adjudge.data.source import count_of
from adjudge.kernels.fixed import LOG
from adjudge.models._families import EffectiveJudges
from adjudge.models._types import count_votes, exact_sum, normalise

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
    split: Judgments, effective: EffectiveJudges, posterior: _Floats, confusion: _Floats
) -> FeatureScheme:
    """Measure log probabilities, and choose judges of at least half the items for features."""
    judged = np.flatnonzero(split.counts_per_item > 0)
    squares = 0.0
    for items in np.array_split(judged, len(judged) // BLOCK + 1):
        squares += float(exact_sum(exact_sum(_logs(posterior[items]) ** 2)))
    regular = np.flatnonzero(effective.items >= max(0.5 * len(judged), 1))
    if not 0 < len(regular) <= MOST_FEATURES:
        regular = regular[:0]
    else:  # in an order that depends on neither names nor rows
        regular = regular[np.lexsort(confusion[regular].reshape(len(regular), -1).T)]
    number = np.full(effective.judges, -1, dtype=np.int32)
    number[regular] = np.arange(len(regular), dtype=np.int32)
    logs = np.log(np.maximum(confusion[regular], 1e-9))
    return FeatureScheme(
        truths=posterior.shape[1],
        ordered=split.scale.ordinal,
        spread=float(np.sqrt(squares / max(len(judged) * posterior.shape[1], 1))) + 1e-9,
        judges=number,
        log_rates=logs - logs.mean(axis=1, keepdims=True),
    )


def _logs(probabilities: _Floats) -> _Floats:
    """Logs of probabilities, centred over truths."""
    logs = np.log(normalise(probabilities + _CLOSE))
    return np.asarray(logs - logs.mean(axis=1, keepdims=True))


def make_features(
    scheme: FeatureScheme,
    split: Judgments,
    effective: EffectiveJudges,
    items: NDArray[np.int64],
    probabilities: _Floats,
) -> _Floats:  # (item, truth, feature)
    """Make the features of some items; the first is the model's own log probability.

    Features of pairs of truths and of judges are divided by the fourth root of their number per
    truth, so that many of them together can change less than as many times one.
    """
    count, truths = probabilities.shape
    own, unit = _logs(probabilities), np.eye(truths)
    share = normalise(count_votes(split, effective, items, truths) + _VOTE)
    parts = [
        own[:, :, None],
        _logs(share)[:, :, None],
        np.broadcast_to(unit, (count, truths, truths)),
    ]
    if truths**2 <= MOST_FEATURES:
        pairs = np.einsum("ij,kc->ikcj", own / (scheme.spread * truths**0.25), unit)
        parts.append(pairs.reshape(count, truths, truths**2))
    if len(scheme.log_rates):
        row, item = split.rows_of(items)
        number = scheme.judges[effective.judge_of[split.judge[row]]]
        row, item, number = row[number >= 0], item[number >= 0], number[number >= 0]
        units = np.rint(scheme.log_rates * LOG).astype(np.int64)
        sums = np.zeros((count, len(units), truths), dtype=np.int64)
        np.add.at(sums, (item, number), units[number, :, split.label[row]])
        parts.append(sums.transpose(0, 2, 1) / (LOG * len(units) ** 0.25))
    return np.concatenate(parts, axis=2)


_Labels = tuple[NDArray[np.int16], _Floats]  # (item,) choices and their probabilities
_PRECISION = 4.0  # of every coefficient
_NO_CHANGE = 0.3  # prior odds of "no change"


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A fitted calibration."""

    scheme: FeatureScheme
    coefficients: _Floats  # (feature,)
    topics: Names | None  # those with an offset
    offsets: _Floats  # (topic and then none, truth)
    weight: float  # of the calibrated probabilities; the rest is "no change"
    gold: int

    def for_judges(self, code: NDArray[np.int32]) -> Calibration:  # (judge,)
        """Return the same for other judges, given their numbers in the fit, -1 for new ones."""
        number = np.concatenate([self.scheme.judges, [-1]]).astype(np.int32)
        return replace(self, scheme=replace(self.scheme, judges=number[code]))

    def topics_of(self, groups: Groups, items: int) -> NDArray[np.int32]:  # (item,)
        """Number each item's topic among those with an offset, -1 for none."""
        if self.topics is None or groups is None:
            return np.full(items, -1, dtype=np.int32)
        return look_up(groups[1], self.topics)[groups[0]]

    def blend(
        self, features: _Floats, old: _Floats, topic: NDArray[np.int32]
    ) -> _Floats:  # (item, truth)
        """Calibrate the probabilities of some items."""
        new = softmax(features @ self.coefficients + self.offsets[topic], axis=1)
        return np.asarray(self.weight * new + (1.0 - self.weight) * old)

    def apply(self, split: Judgments, effective: EffectiveJudges, posterior: _Floats) -> None:
        """Calibrate the probabilities of all items in place."""
        groups = None if self.topics is None else group_items(split)
        topic = self.topics_of(groups, len(posterior))
        for begin in range(0, len(posterior), BLOCK):
            items = np.arange(begin, min(begin + BLOCK, len(posterior)))
            old = np.array(posterior[items])
            features = make_features(self.scheme, split, effective, items, old)
            posterior[items] = self.blend(features, old, topic[items])

    def describe_change(self, items: NDArray[np.bool_], old: _Labels, new: _Labels) -> str:
        """Report the labels and probabilities that changed among ``items``, those without gold."""
        changed, total = int((old[0] != new[0])[items].sum()), int(items.sum())
        note = (
            f"{count_of(self.gold, 'gold item')} calibrate{'s' * (self.gold == 1)} the "
            "probabilities"
        )
        if total:
            before, after = (float(sure[items].mean()) for _, sure in (old, new))
            note += (
                f": {changed:,} of {count_of(total, 'label')} change, mean probability "
                f"{before:.2f} -> {after:.2f}"
            )
        if self.topics is not None:
            note += f"; {count_of(len(self.topics), 'topic')} get their own offset"
        return note


def calibrate_by(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    split: Judgments,  # by effective judge
    effective: EffectiveJudges,
    posterior: _Floats,  # (item, truth), fitted without that gold
    confusion: _Floats,  # (judge, truth, label)
) -> Calibration | None:
    """Fit the calibration to gold; None where there is nothing to learn from."""
    items = np.flatnonzero((known >= 0) & (split.counts_per_item > 0))
    if not items.size or posterior.shape[1] < 2:
        return None
    items = items[np.linspace(0, items.size - 1, min(items.size, BLOCK)).astype(np.int64)]
    scheme, groups = describe(split, effective, posterior, confusion), group_items(split)
    own = np.array(posterior[items])
    features = make_features(scheme, split, effective, items, own)
    truth = known[items].astype(np.int64)
    with threadpool_limits(1, "blas"):  # more threads would change bits
        return learn(scheme, groups, items, features, truth, own)


def learn(
    scheme: FeatureScheme,
    groups: Groups,
    items: NDArray[np.int64],  # (gold,)
    features: _Floats,  # (gold, truth, feature)
    truth: NDArray[np.int64],  # (gold,)
    own: _Floats,  # (gold, truth)
) -> Calibration:
    """Fit the calibration to gold items, given their features and the model's probabilities."""
    kind = _number_rows(features, truth)
    topics, topic = _choose_topics(groups, items, kind, len(scheme.offset))
    order = np.lexsort((kind, topic))  # so that the order of items does not change the result
    features, truth, own, topic = features[order], truth[order], own[order], topic[order]
    offsets = np.zeros((1 if topics is None else len(topics) + 1, scheme.truths))
    unit = np.eye(len(offsets), len(offsets) - 1)[topic]
    parts = np.einsum("it,pk->iktp", unit, scheme.offset).reshape(*own.shape, -1)
    b, evidence = _fit_logit(np.concatenate([features, parts], axis=2), truth)
    b, offset = np.split(b, [features.shape[2]])
    offsets[:-1] = offset.reshape(-1, len(scheme.offset)) @ scheme.offset
    weight = float(expit(evidence - _log_likelihood(own, truth) - np.log(_NO_CHANGE)))
    return Calibration(scheme, b, topics, offsets, weight, len(items))


def _log_likelihood(probabilities: _Floats, truth: NDArray[np.int64]) -> float:
    """The log probability of the true labels of gold items."""
    return float(np.log(np.maximum(probabilities[np.arange(len(truth)), truth], 1e-6)).sum())


def _number_rows(features: _Floats, truth: NDArray[np.int64]) -> NDArray[np.int64]:  # (item,)
    """Number gold items by their features and truth alone: equal items have equal numbers."""
    rows = np.concatenate([features.reshape(len(truth), -1), truth[:, None]], axis=1)
    return np.unique(rows.view(f"V{rows.itemsize * rows.shape[1]}")[:, 0], return_inverse=True)[1]


def _choose_topics(
    groups: Groups, items: NDArray[np.int64], kind: NDArray[np.int64], parts: int
) -> tuple[Names | None, NDArray[np.int32]]:  # (item,)
    """Choose the topics with an offset, those with most gold, and number each gold item's.

    They are numbered by the kinds of their gold items, so that names and order change nothing.
    """
    number = np.full(len(items), -1, dtype=np.int32)
    if groups is None:
        return None, number
    topic, most = groups[0][items], MOST_FEATURES // parts
    names, counts = np.unique(topic, return_counts=True)
    if len(names) > most:
        names = names[counts > np.sort(counts)[-most - 1]]
    if len(names) < 2:
        return None, number
    chosen = sorted(names.tolist(), key=lambda name: np.sort(kind[topic == name]).tolist())
    for place, name in enumerate(chosen):
        number[topic == name] = place
    return groups[1].take(pa.array(chosen)), number


def _fit_logit(
    features: _Floats,  # (item, truth, feature)
    truth: NDArray[np.int64],  # (item,)
) -> tuple[_Floats, float]:
    """Return the most probable coefficients and the log evidence around them."""
    rows, mean = np.arange(len(truth)), np.eye(1, features.shape[2])[0]
    chosen = features[rows, truth].sum(axis=0)

    def value(b: _Floats) -> tuple[float, _Floats]:
        logs, change = log_softmax(features @ b, axis=1), b - mean
        loss = 0.5 * _PRECISION * change @ change - logs[rows, truth].sum()
        slope = np.einsum("ik,ikf->f", np.exp(logs), features) - chosen + _PRECISION * change
        return float(loss), slope

    found = minimize(value, mean, jac=True, method="L-BFGS-B")
    p = softmax(features @ found.x, axis=1)
    average = np.einsum("ik,ikf->if", p, features)
    scaled = (features * np.sqrt(p)[:, :, None]).reshape(-1, len(mean))
    bend = np.eye(len(mean)) + (scaled.T @ scaled - average.T @ average) / _PRECISION
    return found.x, -float(found.fun) - 0.5 * float(np.linalg.slogdet(bend)[1])
