"""Draws of the truth: as often as they should be, the same whatever else is drawn."""

from __future__ import annotations

import numpy as np

from adjudge.kernels.truths import draw_given, draw_judged


def test_truths_are_drawn_as_often_as_their_weights_say() -> None:
    weight = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    row = np.repeat([0, 1], 50_000)
    out = np.empty(row.size, dtype=np.int16)
    draw_given(weight, row, np.uint64(7), np.arange(row.size), out)
    shares = np.bincount(out[:50_000], minlength=3) / 50_000
    assert np.abs(shares - weight[0]).max() < 4 * np.sqrt(0.25 / 50_000)
    assert (out[50_000:] == 1).all()


def test_judged_items_are_drawn_from_their_posterior() -> None:
    """Prior (.5, .5), two judges: P(1 | labels 1, 0) = .9 .4 / (.9 .4 + .2 .7) = .72."""
    theta = np.array([[[0.8, 0.2], [0.1, 0.9]], [[0.7, 0.3], [0.4, 0.6]]])
    count = 40_000
    offsets = np.arange(count + 1) * 2
    judge, label = np.tile([0, 1], count), np.tile(np.array([1, 0], dtype=np.int8), count)
    out = np.empty(count, dtype=np.int16)
    known = np.full(count, -1, dtype=np.int16)
    known[:10] = 0
    draw_judged(
        offsets,
        judge,
        label,
        np.zeros(count, dtype=np.int32),
        known,
        np.log(np.array([[0.5, 0.5]])),
        np.log(theta),
        np.uint64(3),
        np.arange(count),
        out,
    )
    assert (out[:10] == 0).all()
    assert abs(out[10:].mean() - 0.72) < 4 * np.sqrt(0.72 * 0.28 / count)


def test_an_item_is_drawn_the_same_with_any_other_items() -> None:
    weight = np.full((1, 4), 0.25)
    every = np.empty(1000, dtype=np.int16)
    draw_given(weight, np.zeros(1000, np.int64), np.uint64(9), np.arange(1000), every)
    some = np.array([5, 999, 17])
    few = np.empty(3, dtype=np.int16)
    draw_given(weight, np.zeros(3, np.int64), np.uint64(9), some, few)
    assert few.tolist() == every[some].tolist()
