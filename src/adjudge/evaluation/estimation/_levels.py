"""How far topics, and kinds of documents, lie from what is believed of their items.

Beliefs about items are right on average, but all items of a topic may be better than believed, or
worse. A mean does not mind. What the best ranking of a topic could have does: ten of the highest
grade are enough for it, so that topics without them are not made good by topics with many. Each
topic is given a level for each truth,

    p(i, k) ~ belief(i, k) exp(u[t(i), k]),    u[t, k] ~ N(0, tau^2),

with the tau of most evidence (Laplace's approximation), learnt from gold that had no part in its
own items' beliefs. Truths are drawn with levels that are drawn too.

Where gold was drawn for a ranking, most of it is of documents that runs place high. What is learnt
from these, that their truth is higher than judges say, does not hold for all the others, of which
the best ranking of a topic is made. So ``by_kind`` moves the beliefs of each kind of document h, in
a place that counts or not, by what its own gold says,

    p(i, k) ~ belief(i, k) exp(v[h(i), k]),    v[h, k] ~ N(0, 2^2),

for a gold item by the gold of other folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.estimation._sampling import Sample

_WIDE = 2.0  # sd of a move: wide, so that a handful of gold items decides

_MOVES = 50


def by_kind(
    belief: _Floats,  # (member, truth) of gold items, made without their own gold
    kind: NDArray[np.int64],  # (member,)
    sample: Sample,
    *,
    folds: int,
    seed: int,
) -> _Floats:  # (member, truth)
    """The beliefs, moved for each kind by what gold says of it."""
    safe = np.maximum(belief, _CLOSE)
    safe = safe / safe.sum(axis=1, keepdims=True)
    found = safe.copy()
    fold = np.random.default_rng([seed, 13]).permutation(len(sample)) % folds
    for one in np.unique(kind):
        own = kind[sample.item] == one
        every = np.flatnonzero(kind == one)
        found[every] = _moved(safe[every], safe[sample.item[own]], sample.truth[own])
        for part in range(folds):
            out, others = own & (fold == part), own & (fold != part)
            at = sample.item[out]
            found[at] = _moved(safe[at], safe[sample.item[others]], sample.truth[others])
    return np.asarray(found)


def _moved(belief: _Floats, known: _Floats, truth: NDArray[np.int16]) -> _Floats:
    """Beliefs, moved as the known ones (gold, truth) have to be for their truths: by Newton."""
    truths = belief.shape[1]
    told = np.eye(truths)[truth]
    move = np.zeros(truths)
    for _ in range(_MOVES):
        p = known * np.exp(move)
        p /= p.sum(axis=1, keepdims=True)
        slope = (told - p).sum(axis=0) - move / _WIDE**2
        bend = np.diag(p.sum(axis=0)) - p.T @ p + np.eye(truths) / _WIDE**2
        step = np.linalg.solve(bend, slope)
        move = move + step
        if np.abs(step).max() < _CLOSE:
            break
    moved = belief * np.exp(move)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


_Floats = NDArray[np.float64]

_SPREADS = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5)  # tau

_STEPS = 30

_CLOSE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """What gold says of each topic's levels: their means, and roots of their covariances."""

    mean: _Floats  # (topic, truth)
    root: _Floats  # (topic, truth, truth)

    def draw(self, draws: int, random: np.random.Generator) -> _Floats:  # (draw, topic, truth)
        """Levels drawn, each second draw the mirror of the one before."""
        half = random.normal(size=((draws + 1) // 2, *self.mean.shape))
        both = np.stack([half, -half], axis=1).reshape(-1, *self.mean.shape)[:draws]
        return np.asarray(self.mean + np.einsum("tkl,dtl->dtk", self.root, both))


def levels_of(
    belief: _Floats,  # (gold, truth) made without the item's own gold
    topic: NDArray[np.int64],  # (gold,)
    truth: NDArray[np.int16],  # (gold,)
    topics: int,
) -> Levels | None:
    """The levels that gold asks for; none where topics are no more apart than believed."""
    own = np.maximum(belief, _CLOSE)
    own = own / own.sum(axis=1, keepdims=True)
    told = np.eye(belief.shape[1])[truth]
    best, found = float(np.log((own * told).sum(axis=1)).sum()), None
    for tau in _SPREADS:
        evidence, levels = _fitted(own, told, topic, topics, tau)
        if evidence > best:
            best, found = evidence, levels
    return found


def _fitted(
    own: _Floats, told: _Floats, topic: NDArray[np.int64], topics: int, tau: float
) -> tuple[float, Levels]:
    """The log evidence of a spread, and the levels with it: Newton's method, all topics at once."""
    truths = own.shape[1]
    prior = np.eye(truths) / tau**2
    level = np.zeros((topics, truths))
    bend = np.broadcast_to(prior, (topics, truths, truths))
    for _ in range(_STEPS):
        p = own * np.exp(level[topic])
        p /= p.sum(axis=1, keepdims=True)
        slope = -level / tau**2
        np.add.at(slope, topic, told - p)
        each = np.einsum("ik,kl->ikl", p, np.eye(truths)) - np.einsum("ik,il->ikl", p, p)
        bend = np.zeros((topics, truths, truths))
        np.add.at(bend, topic, each)
        bend += prior
        step = np.linalg.solve(bend, slope[:, :, None])[:, :, 0]
        level = level + step
        if np.abs(step).max() < _CLOSE:
            break
    p = own * np.exp(level[topic])
    likely = float(np.log((p * told).sum(axis=1) / p.sum(axis=1)).sum())
    likely -= 0.5 * float((level**2).sum()) / tau**2
    likely -= topics * truths * float(np.log(tau)) + 0.5 * float(np.linalg.slogdet(bend)[1].sum())
    return likely, Levels(level, np.linalg.cholesky(np.linalg.inv(bend)))
