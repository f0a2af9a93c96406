"""Rogan-Gladen: the formula by hand, and that its interval holds."""

from __future__ import annotations

import numpy as np
import pytest

from adjudge.errors import BadData
from adjudge.evaluation.estimation._difference import rogan_gladen


def test_the_formula_by_hand() -> None:
    """Sensitivity 3/4, specificity 5/6, 40 of 100 labelled so: (.4 + 5/6 - 1) / (3/4 + 5/6 - 1)."""
    labelled = np.zeros(100, dtype=np.bool_)
    labelled[:40] = True
    item = np.array([0, 1, 2, 50, 3, 51, 52, 53, 54, 55])
    truly = np.array([True] * 4 + [False] * 6)
    value, low, high = rogan_gladen(labelled, item, truly, 0.95)
    assert value == pytest.approx((0.4 + 5 / 6 - 1) / (3 / 4 + 5 / 6 - 1))
    assert low < value < high


def test_its_interval_holds() -> None:
    random = np.random.default_rng(5)
    hits, rounds = 0, 1000
    truth = random.random(3000) < 0.3
    labelled = np.where(truth, random.random(3000) < 0.8, random.random(3000) < 0.15)
    for _ in range(rounds):
        item = random.choice(3000, 150, replace=False)
        _, low, high = rogan_gladen(labelled, item, truth[item], 0.95)
        hits += low <= truth.mean() <= high
    assert 0.93 <= hits / rounds <= 0.98


@pytest.mark.parametrize("same", [True, False])
def test_gold_of_one_class_is_complained_of(same: bool) -> None:
    with pytest.raises(BadData, match="gold has one class only"):
        rogan_gladen(np.ones(9, dtype=np.bool_), np.arange(3), np.full(3, same), 0.95)


def test_labels_that_say_nothing_are_complained_of() -> None:
    labelled = np.tile([True, False], 20)
    with pytest.raises(BadData, match="labels say next to nothing about this share"):
        rogan_gladen(labelled, np.arange(40), np.repeat([True, False], 20), 0.95)
