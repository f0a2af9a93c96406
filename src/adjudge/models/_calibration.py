"""Gold calibrates: what a model's probabilities turn out to mean, where the truth is known.

A conditional logit over truths, score(i, c) = X_ic . b with b ~ N(mean, 1/lambda), is fitted to
the gold items and applied to all. Its features, with mean and lambda: the log of the model's
probability (1, 6); the log of the smoothed share of votes (0, 10); an intercept for each truth
(0, 6); the log probabilities of the other truths (0, 10); on ordered scales the mean grade against
the truth's place (0, 60); and, of judges on at least half the items, how likely each truth makes
the label given (0, 30). Where items belong to topics, every topic with gold may have a level of
its own: how much higher its grades are, or for labels without order an intercept for each truth
(0, 1 or 4). It is fitted more or less freely, with levels and without, and all are averaged with
"no change" by their evidence (Laplace's approximation), so that little gold changes little.
Probabilities gain from few labels at once, labels hardly: a new one has to be clearly ahead of the
old, the more so the less gold there is, unless folds of the gold show that labels are put right.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from adjudge.data.judgments import Judgments
from adjudge.data.names import Names, look_up
from adjudge.data.source import count_of
from adjudge.models._calibration_features import (
    BLOCK,
    FeatureScheme,
    Groups,
    describe,
    group_items,
    make_features,
)
from adjudge.models._families import Voices
from adjudge.models._judge_rows import normalise

_Floats = NDArray[np.float64]
_PRECISION = {"slope": 6.0, "vote": 10.0, "truth": 6.0, "map": 10.0, "order": 60.0, "judge": 30.0}
_PLAIN = ("slope", "vote", "truth")
# Scales of the precision of plain features, and of the others
_SCALES = ((1.0, 1.0), (3.0, 5.0), (8.0, 30.0), (30.0, 100.0))
_LEVELS = (1.0, 4.0)  # precisions of the levels of topics
_FREE_SCALES = (0.01, 0.1, 0.5, 1.0)  # how far scales are believed where gold is little
_FREE_LEVELS = (1.0, 0.1, 1.0)  # no levels, and levels of these precisions, likewise
_NO_CHANGE = 0.1  # to one for all candidates together
_LITTLE = 15.0  # gold items
_AHEAD = 0.22  # of a label's probability before the old one's, where gold is so little
_TOPICS = 200  # that have a level, at most: those with most gold
_PANEL = 2.0  # judgments an item, from which labels without gold are worth holding
_MARGIN = 0.01  # of the old probabilities, beyond those that make the old label as good
_MOST = 10_000  # gold items fitted to
_FEWEST = 2  # topics with gold, for them to have levels
_BELIEVED = 0.05  # of all candidates, for levels to be spoken of
_FOLDS = 5  # of the gold, to score by
_SCORED = (10, 2_000)  # gold items, at least and at most


@dataclass(frozen=True, slots=True)
class _Across:
    """What gold is worth on folds of it that had no part in the calibration; before, after."""

    gold: int
    accuracy: tuple[float, float]
    log_loss: tuple[float, float]

    def __str__(self) -> str:
        return (
            f"across {_FOLDS} folds of {self.gold:,} gold items log loss {self.log_loss[0]:.3f} -> "
            f"{self.log_loss[1]:.3f}, accuracy {self.accuracy[0]:.3f} -> {self.accuracy[1]:.3f}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """Coefficients of every candidate, and how much each is believed."""

    scheme: FeatureScheme
    coefficients: tuple[_Floats, ...]  # of features
    levels: tuple[_Floats, ...]  # (topic and then none, truth)
    weights: _Floats  # (no change, a candidate each)
    gold: int
    ahead: float = 0.0  # by which a label has to lead, or the old one stays
    across: _Across | None = None
    told: str = ""

    def for_judges(self, code: NDArray[np.int32]) -> Calibration:  # (judge,)
        """The same for other judgments, whose judges are these of the fit's; -1 is a new one."""
        number = np.concatenate([self.scheme.judges, [-1]]).astype(np.int32)
        return replace(self, scheme=replace(self.scheme, judges=number[code]))

    def blend(
        self, features: _Floats, old: _Floats, topic: NDArray[np.int32]
    ) -> _Floats:  # (item, truth)
        """Probabilities by what was learnt, averaged with no change."""
        new = self.weights[0] * old
        candidates = zip(self.weights[1:], self.coefficients, self.levels, strict=True)
        for weight, b, level in candidates:
            new += weight * _softmax(features @ b + level[topic])
        return _hold(new, old, self.ahead)

    def apply(self, spoken: Judgments, voices: Voices, posterior: _Floats) -> Calibration:
        """Calibrate probabilities in place; returns itself, with a note on what changed."""
        changed, before, after = 0, 0.0, 0.0
        named = self.scheme.topics is not None
        topic = topics_of(
            group_items(spoken) if named else None, self.scheme.topics, len(posterior)
        )
        for begin in range(0, len(posterior), BLOCK):
            items = np.arange(begin, min(begin + BLOCK, len(posterior)))
            old = np.array(posterior[items])
            scored = make_features(self.scheme, spoken, voices, items, old)
            new = self.blend(scored, old, topic[items])
            posterior[items] = new
            changed += int((new.argmax(axis=1) != old.argmax(axis=1)).sum())
            before += float(old.max(axis=1).sum())
            after += float(new.max(axis=1).sum())
        return replace(self, told=self.describe_change(changed, len(posterior), (before, after)))

    def describe_change(self, changed: int, items: int, sure: tuple[float, float]) -> str:
        """How many labels of items change, and their mean probability, given sums before, after."""
        verb = "item calibrates" if self.gold == 1 else "items calibrate"
        before, after = (whole / max(items, 1) for whole in sure)
        told = (
            f"{self.gold:,} gold {verb} the answer: {changed:,} of {items:,} "
            f"labels change, mean probability {before:.2f} -> {after:.2f}"
        )
        worth = "" if self.across is None else f", {self.across}"
        return told + worth + self._tell_topics()

    def _tell_topics(self) -> str:
        """A word on the levels of topics, where they are believed."""
        topics = self.scheme.topics
        believed = sum(
            float(weight)
            for weight, level in zip(self.weights[1:], self.levels, strict=True)
            if level.any()
        )
        if topics is None or believed < _BELIEVED:
            return ""
        return f"; {count_of(len(topics), 'topic')} ({topics[0]}, ...) have a level of their own"


def calibrate_by(
    known: NDArray[np.int16],  # (item,) truths, -1 where not known
    spoken: Judgments,  # by voices
    voices: Voices,
    posterior: _Floats,  # (item, truth), fitted without that gold
    confusion: _Floats,  # (judge, truth, label)
    *,
    score: bool = False,
) -> Calibration | None:
    """The calibration that gold asks for; None where there is nothing to learn from.

    ``score`` it across folds of the gold too, where posterior owes nothing to any of it.
    """
    items = np.flatnonzero((known >= 0) & (spoken.counts_per_item > 0))
    truths = posterior.shape[1]
    if not items.size or truths < 2:
        return None
    scheme = describe(spoken, voices, posterior, confusion)
    if items.size > _MOST:
        items = items[np.linspace(0, items.size - 1, _MOST).astype(np.int64)]
    own = np.array(posterior[items])
    features = make_features(scheme, spoken, voices, items, own)
    truth, groups = known[items].astype(np.int64), group_items(spoken)
    learnt = learn(scheme, groups, items, features, truth, own)
    if not score:
        return learnt
    judged = max(int((spoken.counts_per_item > 0).sum()), 1)
    ahead = _AHEAD * _littleness(len(items)) if len(spoken) >= _PANEL * judged else 0.0
    if len(items) < _SCORED[0]:
        return replace(learnt, ahead=ahead)
    across, right = _score_across(scheme, groups, items, features, truth, own, ahead)
    return replace(learnt, across=across, ahead=0.0 if right else ahead)


def _score_across(
    scheme: FeatureScheme,
    groups: Groups,
    items: NDArray[np.int64],  # (gold,)
    features: _Floats,  # (gold, truth, feature)
    truth: NDArray[np.int64],  # (gold,)
    own: _Floats,  # (gold, truth)
    ahead: float,
) -> tuple[_Across, bool]:
    """What folds of the gold have by the calibration that the others ask for, and without.

    And whether new labels are right more often than old ones, by more than a standard error.
    """
    _, topic = _with_topics(scheme, groups, items, features, truth)
    order = np.lexsort((*features.reshape(len(items), -1).T, truth, topic))
    order = order[np.linspace(0, len(order) - 1, min(len(order), _SCORED[1])).astype(np.int64)]
    items, features, truth, own = items[order], features[order], truth[order], own[order]
    fold, found = np.arange(len(order)) % _FOLDS, np.empty_like(own)
    for number in range(_FOLDS):
        kept, out = fold != number, fold == number
        learnt = learn(scheme, groups, items[kept], features[kept], truth[kept], own[kept])
        topic = topics_of(groups, learnt.scheme.topics, int(items.max()) + 1)[items[out]]
        found[out] = learnt.blend(features[out], own[out], topic)
    rows = np.arange(len(truth))
    gained = (found.argmax(axis=1) == truth) * 1 - (own.argmax(axis=1) == truth)
    shown = bool(gained.sum() > np.sqrt(np.abs(gained).sum()))
    found = found if shown else _hold(found, own, ahead)
    right = [float((each.argmax(axis=1) == truth).mean()) for each in (own, found)]
    loss = [float(-np.log(np.maximum(p[rows, truth], 1e-6)).mean()) for p in (own, found)]
    return _Across(len(truth), (right[0], right[1]), (loss[0], loss[1])), shown


def _hold(new: _Floats, old: _Floats, ahead: float) -> _Floats:  # (item, truth)
    """New probabilities; where another label leads by less, with as much of the old as it takes."""
    rows, label = np.arange(len(old)), old.argmax(axis=1)
    over = np.maximum(new - new[rows, label][:, None], 0.0)
    lead = old[rows, label][:, None] - old
    part = np.where(over > 0, over / np.maximum(over + lead, 1e-300), 0.0).max(axis=1)
    held = (part > 0) & (over.max(axis=1) <= ahead)
    part = np.where(held, np.minimum(part + _MARGIN, 1.0), 0.0)[:, None]
    return np.asarray(part * old + (1.0 - part) * new)


def learn(
    scheme: FeatureScheme,
    groups: Groups,
    items: NDArray[np.int64],  # (gold,)
    features: _Floats,  # (gold, truth, feature)
    truth: NDArray[np.int64],  # (gold,)
    own: _Floats,  # (gold, truth)
    *,
    few: bool = False,
) -> Calibration:
    """The candidates that gold items ask for, or just a ``few`` of them, and what each is worth."""
    scheme, topic = _with_topics(scheme, groups, items, features, truth)
    order = np.lexsort((*features.reshape(len(items), -1).T, truth, topic))  # whatever theirs was
    features, truth, own, topic = features[order], truth[order], own[order], topic[order]
    evidence = [float(np.log(np.maximum(own[np.arange(len(truth)), truth], 1e-6)).sum())]
    coefficients, levels = [], []
    # With more threads they would only wait for one another, and bits would change.
    with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        for scales in _SCALES[1::2] if few else _SCALES:
            tried = _LEVELS[-1:] if few else (None, *_LEVELS)
            for level in tried if scheme.topics is not None else (None,):
                b, raised, likely = _candidate(scheme, features, truth, topic, scales, level)
                coefficients.append(b)
                levels.append(raised)
                evidence.append(likely)
    believed = np.array(evidence) + _prior(len(truth), few=few, topics=scheme.topics is not None)
    weights = np.exp(believed - believed.max())
    weights /= weights.sum()
    return Calibration(scheme, tuple(coefficients), tuple(levels), weights, len(items))


@lru_cache(maxsize=1)
def _libraries(modules: int) -> ThreadpoolController:  # noqa: ARG001 - tells when to look again
    """The libraries of linear algebra: looking for them takes longer than a small fit.

    What was found is kept until something more was imported, which may have brought another.
    """
    return ThreadpoolController()


def _littleness(gold: float) -> float:
    """1 for so few gold items that they hardly tell candidates apart, near 0 for many."""
    return min(1.0, (_LITTLE / gold) ** 2)


def _prior(gold: int, *, few: bool, topics: bool) -> _Floats:  # (no change, a candidate each)
    """Logs of what each candidate is believed before its evidence: the freer, the less.

    With few labels evidence hardly tells candidates apart, and the free ones can do harm.
    """
    if few:
        return np.zeros(1 + len(_SCALES[1::2]))
    tried = _FREE_LEVELS if topics else (1.0,)
    free = np.log(np.outer(_FREE_SCALES, tried).reshape(-1)) * _littleness(gold)
    whole = float(np.log(np.exp(free).sum()))
    return np.concatenate([[whole + np.log(_NO_CHANGE)], free])


def _candidate(
    scheme: FeatureScheme,
    features: _Floats,  # (item, truth, feature)
    truth: NDArray[np.int64],  # (item,)
    topic: NDArray[np.int32],  # (item,)
    scales: tuple[float, float],
    level: float | None,
) -> tuple[_Floats, _Floats, float]:
    """Coefficients, levels (topic, truth) and log evidence, with levels of such precision."""
    groups = scheme.groups
    mean = np.array([1.0 if group == "slope" else 0.0 for group in groups])
    plain, other = scales
    scale = {group: plain if group in _PLAIN else other for group in _PRECISION}
    scale["slope"] = plain ** (1.0 - 0.5 * _littleness(len(truth) / 2))
    precision = np.array([_PRECISION[group] * scale[group] for group in groups])
    topics = 0 if scheme.topics is None else len(scheme.topics)
    raised = np.zeros((topics + 1, features.shape[1]))
    if level is None:
        b, likely = _most_probable(features, truth, mean, precision)
        return b, raised, likely
    parts = scheme.level
    unit = np.concatenate([np.eye(topics), np.zeros((1, topics))])[topic]
    own = np.einsum("it,pk->iktp", unit, parts).reshape(*features.shape[:2], -1)
    every = np.concatenate([features, own], axis=2)
    more = np.zeros(own.shape[2])
    b, likely = _most_probable(
        every, truth, np.concatenate([mean, more]), np.concatenate([precision, more + level])
    )
    raised[:topics] = b[len(groups) :].reshape(topics, len(parts)) @ parts
    return b[: len(groups)], raised, likely


def _with_topics(
    scheme: FeatureScheme,
    groups: Groups,
    items: NDArray[np.int64],
    features: _Floats,
    truth: NDArray[np.int64],
) -> tuple[FeatureScheme, NDArray[np.int32]]:  # (item,)
    """The scheme with the topics that get a level, and the number of each gold item's, -1 for none.

    Topics are numbered by what their gold items are like, so that no name decides.
    """
    none = np.full(len(items), -1, dtype=np.int32)
    if groups is None:
        return scheme, none
    number, names, _ = groups
    topic = number[items]
    counts = np.bincount(topic, minlength=len(names))
    least = 1
    if (counts > 0).sum() > _TOPICS:
        least = int(np.sort(counts)[-_TOPICS - 1]) + 1
    chosen = np.flatnonzero(counts >= least)
    if len(chosen) < _FEWEST:
        return scheme, none
    rows = np.ascontiguousarray(features.reshape(len(items), -1)).view(np.uint64)
    odd = np.random.default_rng(0).integers(1, 2**63, rows.shape[1] + 1, dtype=np.uint64) | 1
    key = (rows * odd[:-1]).sum(axis=1) + truth.astype(np.uint64) * odd[-1]
    key ^= key >> np.uint64(29)
    sums = np.zeros(len(names), dtype=np.uint64)
    np.add.at(sums, topic, key)
    chosen = chosen[np.lexsort((sums[chosen], counts[chosen]))]
    place = np.full(len(names), -1, dtype=np.int32)
    place[chosen] = np.arange(len(chosen), dtype=np.int32)
    return replace(scheme, topics=names.take(pa.array(chosen))), place[topic]


def topics_of(groups: Groups, topics: Names | None, items: int) -> NDArray[np.int32]:  # (item,)
    """The number of each item's topic among those with a level of their own, -1 for none."""
    if topics is None or groups is None:
        return np.full(items, -1, dtype=np.int32)
    number, names, _ = groups
    return look_up(names, topics)[number]


def _softmax(score: _Floats) -> _Floats:
    shifted = np.exp(score - score.max(axis=1, keepdims=True))
    return normalise(shifted)


def _most_probable(
    features: _Floats,  # (item, truth, feature)
    truth: NDArray[np.int64],  # (item,)
    mean: _Floats,
    precision: _Floats,
) -> tuple[_Floats, float]:
    """The most probable coefficients by Newton's method, and the log evidence around them."""
    rows = np.arange(len(truth))

    def value(b: _Floats) -> tuple[float, _Floats]:
        score = features @ b
        score -= score.max(axis=1, keepdims=True)
        weight = np.exp(score)
        whole = weight.sum(axis=1)
        likely = float((score[rows, truth] - np.log(whole)).sum())
        return likely - 0.5 * float((precision * (b - mean) ** 2).sum()), weight / whole[:, None]

    b = mean.copy()
    best, p = value(b)
    bend = np.diag(precision)
    for _ in range(25):
        average = np.einsum("ik,ikf->if", p, features)
        gradient = (features[rows, truth] - average).sum(axis=0) - precision * (b - mean)
        scaled = (features * np.sqrt(p)[:, :, None]).reshape(-1, features.shape[2])
        bend = scaled.T @ scaled - average.T @ average + np.diag(precision)
        step = np.linalg.solve(bend, gradient)
        length = 1.0
        while True:
            reached, tried = value(b + length * step)
            if reached >= best - 1e-9 or length < 1e-3:
                break
            length *= 0.5
        b = b + length * step
        gained, best, p = reached - best, reached, tried
        if gained < 1e-6 * len(truth):
            break
    evidence = best + 0.5 * float(np.log(precision).sum()) - 0.5 * float(np.linalg.slogdet(bend)[1])
    return b, evidence
