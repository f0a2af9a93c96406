"""Probabilistic matrix factorisation: factors of items and judges whose products are the labels.

    minimise  1/2 sum_observed (R_ij - U_i . V_j)^2 + lambda/2 |U|^2 + lambda/2 |V|^2

over U (item, rank) and V (judge, rank), where R are the labels' numbers less their mean. R.
Salakhutdinov and A. Mnih (2007), "Probabilistic Matrix Factorization", NIPS.

Alternating least squares holds one side and solves the other exactly, row by row. On its own it
creeps: hundreds of sweeps fall by less than a thousandth together, and labels still change. So the
way that a sweep goes is taken for a direction, conjugate to the one before (H. De Sterck and M.
Winlaw 2015, doi:10.1002/nla.1963). Along a line the objective is a polynomial of fourth
degree, so that each step goes exactly to its lowest point, and the objective never rises.

A fit has converged where the gradient is nothing next to the pull of the regularisation, with which
the errors are in balance at a minimum: |gradient| <= tolerance * lambda * |factors|.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adjudge.errors import BadSetting
from adjudge.kernels import factors as kernels
from adjudge.models._sparse import Sparse, SparseRows, open_threads
from adjudge.models.loop import Loop, State
from adjudge.models.model import Progress, Step

RANKS = (10, 30, 50)

REGULARISATIONS = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 4.0)  # the published four, and beyond

_ENOUGH = 25  # steps of ALS from which the held-out error changes in its third digit at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
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
) -> tuple[FitPlan, tuple[Tried, ...]]:
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
    short = replace(plan, iterations=min(plan.iterations, _ENOUGH))
    grid = [(rank, ridge) for rank in sizes for ridge in sorted(regularisations, reverse=True)]
    errors = dict.fromkeys(grid, 0.0)
    total = folds * len(grid)
    for held_out in range(folds):
        train = matrix.part(fold != held_out)
        for at, (rank, ridge) in enumerate(grid):
            fit = factorise(train, _with_rank(short, rank, ridge), threads=threads)
            errors[rank, ridge] += _squared_error(matrix, fold == held_out, fit, train.mean)
            if progress is not None:
                done = held_out * len(grid) + at + 1
                progress(Step("choosing", done, total, f"rank {rank}, {ridge:g}"))
    tried = tuple(
        Tried(rank=rank, regularisation=ridge, rmse=float(np.sqrt(error / len(matrix))))
        for (rank, ridge), error in errors.items()
    )
    best = min(tried, key=lambda entry: entry.rmse)
    return _with_rank(plan, best.rank, best.regularisation), tried


def _squared_error(
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


ITERATIONS = 500  # where no number is named

_Pair = tuple[NDArray[np.float64], NDArray[np.float64]]  # of items, of judges

_ROUNDS = 4  # of orthogonal iteration, where a fit starts

_LEAST = 1e-3  # of the largest root of a singular value: noise in the start


@dataclass(frozen=True, slots=True, kw_only=True)
class FitPlan:
    """How to fit factors."""

    rank: int
    regularisation: float
    iterations: int = ITERATIONS
    tolerance: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class FittedFactors:
    """Factors in the order of the matrix, and the objective after each iteration."""

    own: NDArray[np.float64]  # (row, rank)
    held: NDArray[np.float64]  # (column, rank)
    objective: tuple[float, ...]
    converged: bool


def check_plan(plan: FitPlan) -> None:
    """Refuse settings that no fit can keep."""
    if plan.rank < 1:
        raise BadSetting("rank", plan.rank, "at least 1")
    if not 0 < plan.regularisation < np.inf:
        raise BadSetting("regularisation", plan.regularisation, "a number above 0")
    if plan.iterations < 1:
        raise BadSetting("iterations", plan.iterations, "at least 1")
    if not plan.tolerance >= 0:
        raise BadSetting("tolerance", plan.tolerance, "0 or more")


def _check_rank(rank: int, shape: tuple[int, int]) -> None:
    """Refuse a rank that the matrix cannot have."""
    items, judges = shape
    if rank > min(shape):
        raise BadSetting(
            "rank",
            rank,
            f"at most {min(shape):,}, the smaller side of the matrix of {items:,} items and "
            f"{judges:,} judges",
        )


def factorise(
    matrix: Sparse,
    plan: FitPlan,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> FittedFactors:
    """Fit factors of a matrix as planned."""
    check_plan(plan)
    _check_rank(plan.rank, matrix.shape)
    with open_threads(threads, len(matrix)) as each_block:
        problem = _Problem(matrix, plan, each_block)

        def step(now: State, _: int) -> tuple[State, float]:
            return now, problem.go()

        def settled(trace: Sequence[float]) -> bool:
            level = len(trace) > 1 and trace[-2] <= trace[-1]
            return level or (len(trace) > 0 and problem.steep <= plan.tolerance)

        loop = Loop(most=plan.iterations, progress=progress, note="objective {:,.4g}")
        _, trace, converged = loop.run("factors", {}, step, settled)
    return FittedFactors(problem.own, problem.held, trace, converged)


class _Problem:
    """Factors on their way down."""

    def __init__(self, matrix: Sparse, plan: FitPlan, each_block: Callable[..., list[Any]]) -> None:
        self.items, self.judges = matrix.by_item, matrix.by_judge
        self.ridge, self.each_block = plan.regularisation, each_block
        self.own, self.held = self._start(matrix.shape, plan)
        self.own, self.held = self._alternate()  # the sides in balance before the first direction
        self.slopes = self._slopes()
        self.before: _Pair | None = None
        self.step: _Pair | None = None
        self.slope = 0.0

    def _start(
        self, shape: tuple[int, int], plan: FitPlan
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The leading directions of the matrix with zeros where nothing is known, or nearly so.

        From a start at random, alternating least squares often ends in a poor minimum. A few
        rounds of orthogonal iteration, and a little noise in directions that the matrix lacks.
        """
        rng = np.random.default_rng(plan.seed)
        held = rng.standard_normal((shape[1], plan.rank))
        empty = np.zeros((shape[0], plan.rank)), np.zeros((shape[1], plan.rank))
        for _ in range(_ROUNDS):
            held = np.linalg.qr(held)[0]
            own = -self._gradient(self.items, empty[0], held)  # the matrix times held
            held = -self._gradient(self.judges, empty[1], own)
        held = np.linalg.qr(held)[0]
        own = -self._gradient(self.items, empty[0], held)
        size, turn = np.linalg.eigh(own.T @ own)
        root = np.maximum(size, 0.0) ** 0.25  # of the singular values
        root = np.maximum(root, _LEAST * root.max())
        noise = _LEAST * root.max() * rng.standard_normal(held.shape)
        inverse = np.where(root > 0, 1.0 / np.where(root > 0, root, 1.0), 0.0)
        return own @ turn * inverse, held @ turn * root + noise

    @property
    def steep(self) -> float:
        """The size of the gradient next to that of the regularisation's pull."""
        pull = self.ridge * np.sqrt(_dot((self.own, self.held), (self.own, self.held)))
        return float(np.sqrt(_dot(self.slopes, self.slopes)) / pull) if pull > 0 else 0.0

    def _alternate(self) -> _Pair:
        """Items solved against judges, judges against these items."""
        own, held = np.empty_like(self.own), np.empty_like(self.held)
        self._solve(self.items, self.held, own)
        self._solve(self.judges, own, held)
        return own, held

    def _solve(self, rows: SparseRows, held: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        given = rows.arrays
        self.each_block(
            rows.blocks,
            lambda start, stop: kernels.solve_rows(*given, start, stop, held, self.ridge, out),
        )

    def go(self) -> float:
        """One step along a direction conjugate to the last, to the lowest point; its objective."""
        slopes = self.slopes
        own, held = self._alternate()
        scaled = (self.own - own, self.held - held)
        slope = _dot(slopes, scaled)
        step = (-scaled[0], -scaled[1])
        if self.before is not None and self.step is not None and self.slope > 0:
            share = max(0.0, (slope - _dot(self.before, scaled)) / self.slope)
            bent = (step[0] + share * self.step[0], step[1] + share * self.step[1])
            if _dot(slopes, bent) < 0:
                step = bent
        length, value = self._lowest(step)
        self.own = self.own + length * step[0]
        self.held = self.held + length * step[1]
        self.before, self.step, self.slope = slopes, step, slope
        self.slopes = self._slopes()
        return value

    def _slopes(self) -> _Pair:
        """The gradient in the factors of items and of judges."""
        return (
            self._gradient(self.items, self.own, self.held),
            self._gradient(self.judges, self.held, self.own),
        )

    def _gradient(
        self, rows: SparseRows, own: NDArray[np.float64], held: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        out = np.empty_like(own)
        given = rows.arrays
        self.each_block(
            rows.blocks,
            lambda start, stop: kernels.gradient_rows(
                *given, start, stop, own, held, self.ridge, out
            ),
        )
        return out

    def _lowest(self, step: _Pair) -> tuple[float, float]:
        """How far along a step the objective is lowest, and its value there."""
        given = self.items.arrays

        def work(start: int, stop: int) -> NDArray[np.float64]:
            out = np.empty(5)
            kernels.along(*given, start, stop, self.own, self.held, *step, out)
            return out

        parts = np.array(self.each_block(self.items.blocks, work), dtype=np.float64)
        terms = np.array([math.fsum(column) for column in parts.T])  # exact in any order
        for now, change in ((self.own, step[0]), (self.held, step[1])):
            terms[:3] += self.ridge * np.array(
                [np.sum(now**2), 2.0 * np.sum(now * change), np.sum(change**2)]
            )
        curve = np.polynomial.Polynomial(0.5 * terms)
        turns = curve.deriv().trim().roots() if terms[1:].any() else np.zeros(0)
        level = np.append(np.real(turns[np.abs(np.imag(turns)) < 1e-9]), 0.0)
        values = curve(level)
        best = int(np.argmin(values))
        return float(level[best]), float(values[best])


def _dot(one: _Pair, other: _Pair) -> float:
    return float(np.sum(one[0] * other[0]) + np.sum(one[1] * other[1]))
