"""Integers before and after a sweep."""

from __future__ import annotations

import numpy as np

from adjudge.engines._part import zeros
from adjudge.engines.sweeps import sum_products


def test_products_are_exact_in_any_order() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.integers(0, 10**9, 300)
    logs = -rng.integers(0, 28 * 2**40, 300)
    expected = sum(int(n) * int(log) for n, log in zip(numbers, logs, strict=True))
    order = rng.permutation(300)
    assert sum_products(numbers, logs) == expected
    assert sum_products(numbers[order], logs[order]) == expected


def test_zeros_begin_with_a_line() -> None:
    for size in (0, 1, 7, 100_000):
        made = zeros(size)
        assert made.shape == (size,)
        assert not made.any()
        assert made.ctypes.data % 64 == 0 or not size
