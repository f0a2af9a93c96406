"""Whole numbers before and after a sweep."""

from __future__ import annotations

import numpy as np

from adjudge.engines._part import Sums, product_of, zeros


def test_products_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 10**9, 300)
    logs = -rng.integers(0, 28 * 2**40, 300)
    wanted = sum(int(n) * int(log) for n, log in zip(numbers, logs, strict=True))
    order = rng.permutation(300)
    assert product_of(numbers, logs) == wanted
    assert product_of(numbers[order], logs[order]) == wanted


def test_zeros_begin_with_a_line() -> None:
    for size in (0, 1, 7, 100_000):
        made = zeros(size)
        assert made.shape == (size,)
        assert not made.any()
        assert made.ctypes.data % 64 == 0 or not size


def test_sums_add_up() -> None:
    one = Sums(np.array([1, 2]), np.array([3]), 4)
    two = one.add(Sums(np.array([10, 20]), np.array([30]), 40))
    assert (two.counts.tolist(), two.classes.tolist(), two.likelihood) == ([11, 22], [33], 44)
