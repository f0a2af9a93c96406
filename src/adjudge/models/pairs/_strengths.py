"""Strengths by iteration: Newman's sweeps, with ties and positions between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.kernels import pairs as kernels
from adjudge.models.model import Progress, Step
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_NO_CURVE = 1e-9  # added to the curvature of the lean
_DAMPED = 0.75  # all at once, full steps of two items alone would go to and fro for ever
_FURTHEST = 30.0  # of a log strength


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What is fitted, and how far it is held back."""

    davidson: bool  # ties have a weight of their own; else they are half a win each
    position: bool
    prior: float  # wins and losses against an item of strength 1
    iterations: int = 10_000
    tolerance: float = 1e-9  # of log strengths
    agree: tuple[float, float] | None = None  # Beta prior of judges; None: all answer with it
    lean_spread: float = 0.5  # of judges' leans about their mean


@dataclass(slots=True, kw_only=True, eq=False)
class Strengths:
    """Where the iterations have come to."""

    strength: _Floats  # (item,)
    lean: _Floats  # (judge,)
    right: _Floats  # (judge,)
    position: float = 0.0  # the mean of leans
    tied: float = 0.0
    converged: bool = False
    sweeps: int = 0


def fit_strengths(cells: PairCells, rules: Rules, progress: Progress | None = None) -> Strengths:
    """The strengths that make comparisons most probable if all judges answer with the order."""
    found = Strengths(
        strength=np.ones(cells.items),
        lean=np.zeros(1),
        right=np.ones(1),
        tied=1.0 if rules.davidson else 0.0,
    )
    for sweep in range(rules.iterations):
        moved = _sweep(cells, rules, found)
        found.sweeps = sweep + 1
        if progress is not None and sweep % 10 == 0:
            progress(Step("fitting", sweep, rules.iterations, f"last change {moved:.1e}"))
        if moved < rules.tolerance:
            found.converged = True
            break
    return found


def _sweep(cells: PairCells, rules: Rules, found: Strengths) -> float:
    """One sweep over the cells and what follows from it; how far anything moved."""
    strength = found.strength
    up = rules.prior / (1.0 + strength)
    down = rules.prior * strength / (1.0 + strength)
    totals = np.zeros(4)
    kernels.iterate(*cells.arrays, strength, found.lean, found.tied, up, down, totals)
    log = np.log(strength)
    with np.errstate(divide="ignore", invalid="ignore"):
        step = np.log(up) - np.log(down)
        step *= _DAMPED
        new = np.clip(log + step, -_FURTHEST, _FURTHEST)
    new = np.where(np.isfinite(new), new, log)
    if rules.prior == 0:
        new -= new.mean()
    else:  # their common level is the prior's alone: sweeps would take thousands to find it
        chance = 1.0 / (1.0 + np.exp(-new))
        pull = float((1.0 - 2.0 * chance).sum() / (2.0 * chance * (1.0 - chance)).sum())
        new += min(max(pull, -1.0), 1.0)
    moved = float(np.abs(new - log).max(initial=0.0))
    found.strength = np.exp(new)
    if rules.davidson:
        least = 0.5 * rules.prior  # ties or decisions may be lacking
        tied = (totals[0] + least) / max(totals[1] + least, 1e-300)
        tied = min(max(tied, 1e-9), 1e9)
        moved = max(moved, abs(np.log(tied / found.tied)))
        found.tied = tied
    if rules.position:  # a Newton step of the lean to what is shown first
        step = np.clip(totals[2] / (totals[3] + _NO_CURVE), -1.0, 1.0)
        found.lean = np.clip(found.lean + step, -10.0, 10.0)
        found.position = float(found.lean[0])
        moved = max(moved, abs(float(step)))
    return moved
