"""Rows solved, gradients and completed votes against plain NumPy twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.kernels import factors as kernels


def sparse_rows(rng: np.random.Generator, rows: int, columns: int, most: int):
    """Random observed values grouped by row, some rows empty."""
    counts = rng.integers(0, min(most, columns) + 1, rows)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    column = np.concatenate(
        [np.zeros(0, dtype=np.int64)] + [rng.permutation(columns)[:n] for n in counts]
    ).astype(np.int32)
    return offsets, column, rng.normal(size=len(column))


shapes = given(
    rows=st.integers(1, 6),
    columns=st.integers(1, 90),
    rank=st.integers(1, 53),
    ridge=st.sampled_from([1e-3, 0.1, 2.0]),
    seed=st.integers(0, 10_000),
)


@shapes
def test_rows_are_ridge_regressions(
    rows: int, columns: int, rank: int, ridge: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    offsets, column, value = sparse_rows(rng, rows, columns, columns)
    held = rng.normal(size=(columns, rank))
    out = np.full((rows, rank), np.nan)
    kernels.solve_rows(offsets, column, value, 0, rows, held, ridge, out)
    for row in range(rows):
        seen = slice(offsets[row], offsets[row + 1])
        f, r = held[column[seen]], value[seen]
        expected = np.linalg.solve(f.T @ f + ridge * np.eye(rank), f.T @ r)
        assert out[row] == pytest.approx(expected, rel=1e-6, abs=1e-7)


@shapes
def test_error_gradient_and_line_equal_their_numpy_twins(
    rows: int, columns: int, rank: int, ridge: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    given_rows = sparse_rows(rng, rows, columns, columns)
    offsets, column, value = given_rows
    row = np.repeat(np.arange(rows), np.diff(offsets))
    own, held = rng.normal(size=(rows, rank)), rng.normal(size=(columns, rank))
    left = value - np.einsum("md,md->m", own[row], held[column])
    slope = np.empty_like(own)
    kernels.gradient_rows(*given_rows, 0, rows, own, held, ridge, slope)
    expected = ridge * own
    np.subtract.at(expected, row, left[:, None] * held[column])
    assert slope == pytest.approx(expected, rel=1e-9, abs=1e-9)
    predicted = np.empty(len(value))
    kernels.predict_cells(offsets, column, 0, rows, own, held, predicted)
    assert predicted == pytest.approx(value - left, abs=1e-9)
    du, dv = rng.normal(size=own.shape), rng.normal(size=held.shape)
    terms = np.empty(5)
    kernels.along(*given_rows, 0, rows, own, held, du, dv, terms)
    for t in (-0.3, 0.0, 0.7):
        moved = value - np.einsum("md,md->m", (own + t * du)[row], (held + t * dv)[column])
        assert np.polynomial.Polynomial(terms)(t) == pytest.approx(np.sum(moved**2), rel=1e-8)


def test_votes_go_to_the_label_of_the_completed_value() -> None:
    own = np.array([[1.0], [-1.0], [0.0]])
    across = np.array([[-0.9, 0.4, 0.6, 1.4]])  # four columns
    middles = np.array([0.5, 1.5])  # labels 0, 1, 2
    named = np.array([[0, 1, 1], [1, 0, 0]])
    weight = np.array([1, 1, 10, 100])
    votes = np.empty((3, 2), dtype=np.int64)
    none = np.zeros(4, dtype=np.int64)
    kernels.vote_rows(0, 3, own, across, 1.0, middles, 1e-9, named, none, weight, votes)
    # Row 0 completes to 0.1, 1.4, 1.6, 2.4; row 1 to 1.9, 0.6, 0.4, -0.4; row 2 to 1 throughout.
    assert votes.tolist() == [[2, 222], [220, 4], [0, 224]]
    turned = np.array([0, 0, 0, 1])
    kernels.vote_rows(0, 1, own, across, 1.0, middles, 1e-9, named, turned, weight, votes)
    assert votes[0].tolist() == [202, 22]
    kernels.vote_rows(2, 3, own, across, 0.5, middles, 1e-9, named, none, weight, votes)
    assert votes[2].tolist() == [112, 112]  # in the middle: half a vote to either side
    right = np.zeros(4, dtype=np.int64)
    known = np.array([1, 0, 1], dtype=np.int16)
    kernels.right_rows(np.array([0, 1, 2]), own, across, 1.0, middles, 1e-9, named[0], known, right)
    assert right.tolist() == [2, 4, 6, 6]  # twice the rows on which a column is right
    middle = np.empty(2)
    kernels.middle_rows(np.array([0, 2]), own, across, middle)
    assert middle.tolist() == [0.5, 0.0]
