"""Beliefs by kind: each is moved to its own gold, and no gold item by its own."""

from __future__ import annotations

import numpy as np

from adjudge.evaluation.estimation._rankings import by_kind
from adjudge.evaluation.estimation._sampling import Sample, sample_of


def made(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, Sample]:
    """Beliefs that are right of kind 0 and far too low of kind 1; gold of one item in four."""
    random = np.random.default_rng(seed)
    kind = np.repeat([0, 1], 400)
    belief = random.dirichlet([2, 2, 2], 800)
    p = belief * np.exp(np.outer(kind, [0.0, 1.0, 2.0]))
    p /= p.sum(axis=1, keepdims=True)
    truth = (random.random(800)[:, None] > np.cumsum(p, axis=1)[:, :2]).sum(axis=1)
    at = np.arange(0, 800, 4)
    sample = sample_of(at, truth[at].astype(np.int16), 800, np.full(200, 0.25), None, "gold")
    return belief, kind, truth, sample


def test_each_kind_is_believed_to_be_what_its_gold_is() -> None:
    belief, kind, truth, sample = made()
    found = by_kind(belief, kind, sample, folds=5, seed=0)
    assert np.allclose(found.sum(axis=1), 1)
    for one in (0, 1):
        own = kind == one
        apart = [
            np.abs(p[own].mean(axis=0) - np.bincount(truth[own]) / 400) for p in (belief, found)
        ]
        assert apart[1].max() < 0.07
        if one == 1:
            assert apart[0].max() > 0.2


def test_a_gold_item_is_not_moved_by_its_own_gold() -> None:
    belief, kind, _, sample = made()
    before = by_kind(belief, kind, sample, folds=5, seed=0)
    other = sample.truth.copy()
    other[7] = (other[7] + 1) % 3
    changed = sample_of(sample.item, other, 800, sample.chance, None, "gold")
    after = by_kind(belief, kind, changed, folds=5, seed=0)
    assert np.array_equal(before[sample.item[7]], after[sample.item[7]])
    assert not np.allclose(before[kind == 0], after[kind == 0])
    assert np.array_equal(before[kind == 1], after[kind == 1])
