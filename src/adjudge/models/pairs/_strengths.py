"""Strengths by iteration: Newman's sweeps, with ties, positions and judges between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from adjudge.kernels import pairs as kernels
from adjudge.models.model import Progress, Step
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_ALL_ALONE = 1e9  # spread of a lean that has no others to go by
_DAMPED = 0.75  # all at once, full steps of two items alone would go to and fro for ever
_FURTHEST = 30.0  # of a log strength
_SETTLED, _SETTLED_AGAIN = 10, 2  # sweeps before the first leap, from nowhere and from near by
_REMEMBERED = 12  # sweeps that a leap is made of
_RIDGE = 1e-10
_NEVER = 1e-300
_MANY, _PART = 100_000, 8  # cells from which every eighth says first about where strengths are
_ROUGH = 1e-3


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

    @classmethod
    def start(cls, cells: PairCells, rules: Rules) -> Strengths:
        """Everybody alike."""
        right = 1.0
        if rules.agree is not None:
            right = rules.agree[0] / sum(rules.agree)
        return cls(
            strength=np.ones(cells.items),
            lean=np.zeros(cells.judges),
            right=np.full(cells.judges, right),
            tied=1.0 if rules.davidson else 0.0,
        )


def fit_strengths(cells: PairCells, rules: Rules, progress: Progress | None = None) -> Strengths:
    """The strengths that make the comparisons most probable, under the rules."""
    found, settled = Strengths.start(cells, rules), _SETTLED
    if rules.agree is not None and len(cells.a) > _MANY:  # most of the way by some of the cells
        settled = _SETTLED_AGAIN
        few = replace(rules, tolerance=max(rules.tolerance, _ROUGH))
        found = fit_strengths(cells.every(_PART), few, progress)
        found.converged = False
    arrays = cells.arrays
    held = np.asarray(np.bincount(cells.judge, cells.many, cells.judges), dtype=np.float64)
    leap = _Leap()
    for sweep in range(rules.iterations):
        moved = _sweep(cells, rules, found, arrays, held)
        found.sweeps = sweep + 1
        if progress is not None and sweep % 10 == 0:
            progress(Step("fitting", sweep, rules.iterations, f"last change {moved:.1e}"))
        if moved < rules.tolerance:
            found.converged = True
            break
        if rules.agree is not None and sweep >= settled:  # else a sweep goes far enough
            leap.after(found, moved)
    return found


@dataclass(slots=True, eq=False)
class _Leap:
    """Steps far ahead between sweeps, where skill and strength creep together to their place.

    Anderson acceleration (D. G. Anderson 1965, doi:10.1145/321296.321305): of the last sweeps, each
    from a place by a step, the mixture whose steps cancel best says where they lead. The sweep from
    there decides: if it moves more than the last one did, the leap is undone and begins anew.
    """

    at: _Floats | None = None  # where the next sweep begins
    places: list[_Floats] = field(default_factory=list)  # where sweeps ended
    steps: list[_Floats] = field(default_factory=list)  # and how they got there
    kept: tuple[_Floats, float] | None = None  # where the leap began, and how far the sweep moved

    def after(self, found: Strengths, moved: float) -> None:
        """Look at where a sweep has come to, and leap or go back."""
        reached = _place_of(found)
        if self.kept is not None and moved > 2.0 * self.kept[1]:
            _put(found, self.kept[0])
            self.at, self.places, self.steps, self.kept = self.kept[0], [], [], None
            return
        if self.at is not None:
            self.places.append(reached)
            self.steps.append(reached - self.at)
            del self.places[:-_REMEMBERED], self.steps[:-_REMEMBERED]
        self.at = reached
        if len(self.places) < 2:
            return
        turns, ways = np.diff(self.steps, axis=0), np.diff(self.places, axis=0)
        square = turns @ turns.T
        square[np.diag_indices_from(square)] *= 1.0 + _RIDGE
        ahead = -np.linalg.lstsq(square, turns @ self.steps[-1], rcond=None)[0] @ ways
        if ahead @ self.steps[-1] <= 0:  # where steps grow: behind them lies a pass, not the top
            self.kept = None
            return
        self.kept = (reached, moved)
        _put(found, reached + ahead)
        self.at = _place_of(found)


def _place_of(found: Strengths) -> _Floats:
    """All that iterates, on scales without bounds."""
    right = np.log(found.right / (1.0 - found.right))
    more = [np.log(max(found.tied, _NEVER)), found.position]
    return np.concatenate([np.log(found.strength), found.lean, right, more])


def _put(found: Strengths, place: _Floats) -> None:
    """Bring what iterates to a place."""
    items, judges = len(found.strength), len(found.lean)
    log, lean, right = np.split(place[:-2], [items, items + judges])
    found.strength = np.exp(np.clip(log, -_FURTHEST, _FURTHEST))
    found.lean = np.clip(lean, -10.0, 10.0)
    found.right = 1.0 / (1.0 + np.exp(-np.clip(right, -13.0, 13.0)))
    if found.tied > 0:
        found.tied = float(np.exp(np.clip(place[-2], -20.0, 20.0)))
    found.position = float(place[-1])


def _sweep(
    cells: PairCells, rules: Rules, found: Strengths, arrays: tuple[object, ...], held: _Floats
) -> float:
    """One sweep over the cells and what follows from it; how far anything moved."""
    strength, many = found.strength, cells.judges
    up = rules.prior / (1.0 + strength)
    down = rules.prior * strength / (1.0 + strength)
    totals, agreed = np.zeros(2 + 2 * many), np.zeros(many)
    given = (*arrays, strength, found.lean, found.tied)
    if rules.agree is not None:
        kernels.crowd(*given, up, down, totals, found.right, agreed)
    else:
        kernels.iterate(*given, up, down, totals)
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
    if rules.position:
        moved = max(moved, _move_leans(found, totals, rules))
    if rules.agree is not None:
        alpha, beta = rules.agree
        right = np.clip((agreed + alpha) / (held + alpha + beta), 1e-6, 1.0 - 1e-6)
        moved = max(moved, float(np.abs(right - found.right).max(initial=0.0)))
        found.right = right
    return moved


def _move_leans(found: Strengths, totals: _Floats, rules: Rules) -> float:
    """A Newton step of every judge's lean to what is shown first, about their common mean."""
    slope, curve = totals[2::2], totals[3::2]
    alone = len(found.lean) == 1
    hold = 1.0 / _ALL_ALONE if alone else rules.lean_spread**-2
    step = (slope - (found.lean - found.position) * hold) / (curve + hold)
    step = np.clip(step, -1.0, 1.0)
    found.lean = np.clip(found.lean + step, -10.0, 10.0)
    if alone:
        found.position = float(found.lean[0])
        return float(np.abs(step).max())
    before = found.position
    found.position = float(found.lean.sum() * hold / (1.0 + len(found.lean) * hold))
    return max(float(np.abs(step).max()), abs(found.position - before))
