"""Rank and regularisation of a factorisation, chosen by cross-validation over observed labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting
from adjudge.kernels import factors as kernels
from adjudge.models.factorisation import FitPlan, FittedFactors, factorise
from adjudge.models.model import Progress, Step
from adjudge.models.sparse import Sparse

RANKS = (10, 30, 50)
REGULARISATIONS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)  # the published four, and beyond
_ENOUGH = 25  # steps of ALS from which the held-out error changes in its third digit at most


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tried:
    """One rank and regularisation, and the error on labels that were held out."""

    rank: int
    regularisation: float
    rmse: float


def choose_rank(
    matrix: Sparse,
    plan: FitPlan,
    *,
    ranks: tuple[int, ...] = RANKS,
    regularisations: tuple[float, ...] = REGULARISATIONS,
    folds: int = 5,
    threads: int = 1,
    progress: Progress | None = None,
) -> tuple[FitPlan, tuple[_Tried, ...]]:
    """The plan with the rank and regularisation of least held-out error, and all that were tried.

    Folds are drawn under the plan's seed. Fits by ALS are not followed to the end. Ranks above the
    smaller side of the matrix become that side; of equals, the smaller rank and the stronger
    regularisation win.
    """
    if folds < 2:
        raise BadSetting("folds", folds, "at least 2")
    most = max(1, min(matrix.shape))
    sizes = tuple(dict.fromkeys(min(rank, most) for rank in sorted(ranks)))
    folds = min(folds, len(matrix))
    if folds < 2:  # one label leaves nothing to hold out
        return _with_rank(plan, sizes[0], max(regularisations)), ()
    rng = np.random.default_rng(plan.seed)
    fold = rng.permutation(np.arange(len(matrix)) % folds)
    short = plan
    if plan.method == "als":
        short = replace(plan, iterations=min(plan.iterations, _ENOUGH))
    grid = [(rank, ridge) for rank in sizes for ridge in sorted(regularisations, reverse=True)]
    errors = dict.fromkeys(grid, 0.0)
    total = folds * len(grid)
    for held_out in range(folds):
        train = matrix.part(fold != held_out)
        for at, (rank, ridge) in enumerate(grid):
            fit = factorise(train, _with_rank(short, rank, ridge), threads=threads)
            errors[rank, ridge] += squared_error(matrix, fold == held_out, fit, train.mean)
            if progress is not None:
                done = held_out * len(grid) + at + 1
                progress(Step("choosing", done, total, f"rank {rank}, {ridge:g}"))
    tried = tuple(
        _Tried(rank=rank, regularisation=ridge, rmse=float(np.sqrt(error / len(matrix))))
        for (rank, ridge), error in errors.items()
    )
    best = min(tried, key=lambda entry: entry.rmse)
    return _with_rank(plan, best.rank, best.regularisation), tried


def squared_error(
    matrix: Sparse, mask: NDArray[np.bool_], fit: FittedFactors, mean: float
) -> float:
    """The sum of squared errors of a fit on the values under the mask."""
    rows = matrix.by_item
    predicted = np.empty(len(matrix))
    kernels.predict_cells(
        rows.offsets, rows.column, 0, matrix.shape[0], fit.own, fit.held, predicted
    )
    left = rows.value + matrix.mean - (predicted + mean)
    return float(np.sum(left[mask] ** 2))


def _with_rank(plan: FitPlan, rank: int, regularisation: float) -> FitPlan:
    """The same plan with another rank and regularisation."""
    return replace(plan, rank=rank, regularisation=regularisation)
