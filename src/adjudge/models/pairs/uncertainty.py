"""How sure scores are: the inverse of the information that comparisons give about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import coo_array
from scipy.sparse.linalg import cg

from adjudge.kernels import pairs as kernels
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_DENSE = 3_000  # items up to which the whole covariance is kept
_DRAWN = 200  # draws above that


def cell_information(
    cells: PairCells, strength: _Floats, lean: _Floats, tied: float, right: _Floats
) -> _Floats:  # (cell, 5)
    """What each cell tells of its items and its judge, and the chances of its outcomes."""
    out = np.empty((len(cells.a), 5))
    kernels.information(
        cells.a, cells.b, cells.judge, cells.side, cells.many, strength, lean, tied, right, out
    )
    return out


def spread_of(
    cells: PairCells,
    strength: _Floats,
    lean: _Floats,
    tied: float,
    right: _Floats,
    prior: float,
    seed: int,
) -> tuple[_Floats | None, _Floats | None]:
    """The covariance of log strengths, or draws of their deviation where items are very many."""
    told = cell_information(cells, strength, lean, tied, right)[:, 0]
    own = 2.0 * prior * strength / (1.0 + strength) ** 2
    if cells.items <= _DENSE:
        return _covariance(cells, told, own), None
    return None, _draws(cells, told, own, seed)


def _covariance(cells: PairCells, told: _Floats, own: _Floats) -> _Floats:
    size = cells.items
    half = np.bincount(cells.a * size + cells.b, -told, size * size).reshape(size, size)
    matrix = np.asarray(half + half.T, dtype=np.float64)
    np.fill_diagonal(matrix, own - matrix.sum(axis=1))
    if not own.any():
        matrix += 1.0 / size  # the common level is not known, and not wanted
    factor, fault = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    if fault:
        return np.asarray(np.linalg.pinv(matrix))
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    below = np.tril(inverse, -1)
    return np.asarray(below + below.T + np.diag(np.diag(inverse)))


def _draws(cells: PairCells, told: _Floats, own: _Floats, seed: int) -> _Floats:  # (draw, item)
    """Normal draws with that information, by noise on every cell and a linear system each."""
    size = cells.items
    ends = np.concatenate([cells.a, cells.b])
    others = np.concatenate([cells.b, cells.a])
    twice = np.concatenate([told, told])
    diagonal = own + np.bincount(ends, weights=twice, minlength=size)
    every = np.arange(size)
    matrix = coo_array(
        (
            np.concatenate([-twice, diagonal]),
            (np.concatenate([ends, every]), np.concatenate([others, every])),
        ),
        shape=(size, size),
    ).tocsr()
    rng = np.random.default_rng(seed)
    scale = coo_array((1.0 / np.maximum(diagonal, 1e-12), (every, every))).tocsr()
    out = np.empty((_DRAWN, size))
    for number in range(_DRAWN):
        noise = np.sqrt(told) * rng.standard_normal(len(told))
        pull: Any = np.bincount(cells.a, noise, size) - np.bincount(cells.b, noise, size)
        pull += np.sqrt(own) * rng.standard_normal(size)
        found, _ = cg(matrix, pull, rtol=1e-4, maxiter=500, M=scale)
        out[number] = found - found.mean()
    return out
