"""Beliefs by kind of document: in a place that counts, or not.

Where gold was drawn for a ranking, most of it is of documents that runs place high. What is learnt
from these, that their truth is higher than judges say, does not hold for all the others, of which
the best ranking of a topic is made. So the beliefs of each kind h are moved by what its own gold
says,

    p(i, k) ~ belief(i, k) exp(v[h(i), k]),    v[h, k] ~ N(0, 2^2),

for a gold item by the gold of other folds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adjudge.evaluation.estimation.sampling import Sample

_Floats = NDArray[np.float64]
_SPREAD = 2.0  # sd of a move: wide, so that a handful of gold items decides
_STEPS = 50
_CLOSE = 1e-6


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
    for _ in range(_STEPS):
        p = known * np.exp(move)
        p /= p.sum(axis=1, keepdims=True)
        slope = (told - p).sum(axis=0) - move / _SPREAD**2
        bend = np.diag(p.sum(axis=0)) - p.T @ p + np.eye(truths) / _SPREAD**2
        step = np.linalg.solve(bend, slope)
        move = move + step
        if np.abs(step).max() < _CLOSE:
            break
    moved = belief * np.exp(move)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))
