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
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from threadpoolctl import threadpool_limits

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.data.source import count_of
from adjudge.models._calibration_features import (
    BLOCK,
    MOST_FEATURES,
    FeatureScheme,
    Groups,
    describe,
    group_items,
    make_features,
)
from adjudge.models._families import Voices

_Floats = NDArray[np.float64]
_Labels = tuple[NDArray[np.int16], _Floats]  # (item,) choices and their probabilities
_PRECISION = 4.0  # of every coefficient
_NO_CHANGE = 0.3  # prior odds of "no change"
_FOLDS = 5  # of the gold, for held-out figures


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A fitted calibration."""

    scheme: FeatureScheme
    coefficients: _Floats  # (feature,)
    topics: Names | None  # those with an offset
    offsets: _Floats  # (topic and then none, truth)
    weight: float  # of the calibrated probabilities; the rest is "no change"
    gold: int
    across: tuple[float, ...] = ()  # held-out log loss and accuracy, each before and after

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

    def apply(self, spoken: Judgments, voices: Voices, posterior: _Floats) -> None:
        """Calibrate the probabilities of all items in place."""
        groups = None if self.topics is None else group_items(spoken)
        topic = self.topics_of(groups, len(posterior))
        for begin in range(0, len(posterior), BLOCK):
            items = np.arange(begin, min(begin + BLOCK, len(posterior)))
            old = np.array(posterior[items])
            features = make_features(self.scheme, spoken, voices, items, old)
            posterior[items] = self.blend(features, old, topic[items])

    def describe_change(self, items: NDArray[np.bool_], old: _Labels, new: _Labels) -> str:
        """Report the labels and probabilities that changed among ``items``, those without gold."""
        changed, total = int((old[0] != new[0])[items].sum()), int(items.sum())
        before, after = (float(sure[items].sum()) / max(total, 1) for _, sure in (old, new))
        note = (
            f"{count_of(self.gold, 'gold item')} calibrate{'s' * (self.gold == 1)} the "
            f"probabilities: {changed:,} of {count_of(total, 'label')} change, mean probability "
            f"{before:.2f} -> {after:.2f}"
        )
        if self.across:
            note += "; across {} folds log loss {:.3f} -> {:.3f}, accuracy {:.3f} -> {:.3f}".format(
                _FOLDS, *self.across
            )
        if self.topics is not None:
            note += f"; {count_of(len(self.topics), 'topic')} get their own offset"
        return note


def calibrate_by(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    spoken: Judgments,  # by voices
    voices: Voices,
    posterior: _Floats,  # (item, truth), fitted without that gold
    confusion: _Floats,  # (judge, truth, label)
    *,
    score: bool = False,
) -> Calibration | None:
    """Fit the calibration to gold; None where there is nothing to learn from.

    ``score``: also measure it across folds of the gold, if ``posterior`` does not depend on gold.
    """
    items = np.flatnonzero((known >= 0) & (spoken.counts_per_item > 0))
    if not items.size or posterior.shape[1] < 2:
        return None
    items = items[np.linspace(0, items.size - 1, min(items.size, BLOCK)).astype(np.int64)]
    scheme, groups = describe(spoken, voices, posterior, confusion), group_items(spoken)
    own = np.array(posterior[items])
    features = make_features(scheme, spoken, voices, items, own)
    truth = known[items].astype(np.int64)
    with threadpool_limits(1, "blas"):  # more threads would change bits
        learnt = learn(scheme, groups, items, features, truth, own)
        if not score or len(items) < 2 * _FOLDS:
            return learnt
        found, topic = np.empty_like(own), learnt.topics_of(groups, len(known))[items]
        order = np.lexsort((_number_rows(features, truth), topic))
        for number in range(_FOLDS):
            kept, out = order[np.arange(len(order)) % _FOLDS != number], order[number::_FOLDS]
            part = learn(scheme, groups, items[kept], features[kept], truth[kept], own[kept])
            topic = part.topics_of(groups, len(known))[items[out]]
            found[out] = part.blend(features[out], own[out], topic)
    loss = (-_log_likelihood(p[order], truth[order]) / len(truth) for p in (own, found))
    right = (float((p.argmax(axis=1) == truth).mean()) for p in (own, found))
    return replace(learnt, across=(*loss, *right))


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
    order = np.lexsort((kind, topic))  # so that the order of items changes no bit
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

    They are numbered by the kinds of their gold items, so that names and order change no bit.
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
