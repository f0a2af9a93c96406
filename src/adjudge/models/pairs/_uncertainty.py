"""How sure scores are: the inverse of the information that comparisons give about them.

Where judges have a skill, the information on both together is taken off: a judge who may be
better or worse than they look leaves the distances between items open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.sparse import coo_array
from scipy.sparse.linalg import cg
from threadpoolctl import threadpool_limits

from adjudge.kernels import pairs as kernels
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_DENSE = 3_000  # items up to which the full covariance is kept
_DRAWN = 200  # draws above that


def prior_information(strength: _Floats, prior: float) -> _Floats:  # (item,)
    """The information of that many wins and losses against an item of strength 1, per item."""
    return np.asarray(2.0 * prior * strength / (1.0 + strength) ** 2)


def cell_information(
    cells: PairCells, strength: _Floats, lean: _Floats, tied: float, right: _Floats
) -> _Floats:  # (4, cell)
    """The information in each cell: on its items, its judge's skill, both together, the lean."""
    out = np.empty((4, len(cells.a)))
    kernels.information(*cells.arrays, strength, lean, tied, right, out)
    return out


def spread_of(
    cells: PairCells,
    found: _Floats,  # (4, cell) of ``cell_information``
    right: _Floats,  # (judge,)
    own: _Floats,  # (item,)
    seed: int,
    agree: tuple[float, float] | None = None,
    less: Callable[[], _Floats] | None = None,  # (item, item)
) -> tuple[_Floats | None, _Floats | None]:
    """The covariance of log strengths, or draws of their deviation where items are very many.

    ``own`` is the information on each item from the prior or grades, not comparisons. ``agree`` is
    the prior of judges who have a skill; without it they answer with the order. ``less`` is the
    information that is confounded with something else; draws take that as known.
    """
    skill = None
    if agree is not None:
        held = agree[0] / right**2 + agree[1] / (1.0 - right) ** 2
        skill = _SkillDoubt(info=found[1], both=found[2], held=np.asarray(held))
    if cells.items <= _DENSE:
        doubt = None if less is None else less()
        with threadpool_limits(1, "blas"):  # more would mostly wait for one another, at full speed
            return _covariance(cells, found[0], own, skill, doubt), None
    return None, _draws(cells, found[0], own, skill, seed)


@dataclass(frozen=True, slots=True, eq=False)
class _SkillDoubt:
    """What cells say of the skill of their judges, alone and together with the difference."""

    info: _Floats  # (cell,)
    both: _Floats  # (cell,)
    held: _Floats  # (judge,) by the prior


def _shared(cells: PairCells, skill: _SkillDoubt) -> Any:
    """The information about each item that is confounded with that about judges."""
    own = np.bincount(cells.judge, skill.info, cells.judges) + skill.held
    weight = skill.both / np.sqrt(own)[cells.judge]
    rows = np.concatenate([cells.a, cells.b])
    columns = np.concatenate([cells.judge, cells.judge])
    shape = (cells.items, cells.judges)
    joint = coo_array((np.concatenate([weight, -weight]), (rows, columns)), shape=shape).tocsr()
    return (joint @ joint.T).toarray()


def _covariance(
    cells: PairCells,
    info: _Floats,
    own: _Floats,
    skill: _SkillDoubt | None,
    less: _Floats | None,
) -> _Floats:
    size = cells.items
    half = np.bincount(cells.a * size + cells.b, -info, size * size).reshape(size, size)
    matrix = np.asarray(half + half.T, dtype=np.float64)
    np.fill_diagonal(matrix, own - matrix.sum(axis=1))
    if skill is not None:
        matrix -= _shared(cells, skill)
    if less is not None:
        matrix -= less
    if not own.any():
        matrix += 1.0 / size  # the common level is not known, and not needed
    factor, fault = lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    if fault:
        return np.asarray(np.linalg.pinv(matrix))
    inverse, _ = lapack.dpotri(factor, lower=1, overwrite_c=1)
    below = np.tril(inverse, -1)
    return np.asarray(below + below.T + np.diag(np.diag(inverse)))


def _draws(
    cells: PairCells, info: _Floats, own: _Floats, skill: _SkillDoubt | None, seed: int
) -> _Floats:  # (draw, item)
    """Normal draws with that information, by noise on every cell and a linear system each.

    Judges of a skill are drawn with the items, behind them.
    """
    items, judges = cells.items, 0 if skill is None else cells.judges
    size = items + judges
    ends = [(cells.a, cells.b, -info), (cells.b, cells.a, -info)]
    diagonal = own + np.bincount(cells.a, info, items) + np.bincount(cells.b, info, items)
    judge = items + cells.judge.astype(np.int64)
    if skill is not None:
        ends += [(cells.a, judge, skill.both), (judge, cells.a, skill.both)]
        ends += [(cells.b, judge, -skill.both), (judge, cells.b, -skill.both)]
        theirs = np.bincount(cells.judge, skill.info, judges) + skill.held
        diagonal = np.concatenate([diagonal, theirs])
    every = np.arange(size)
    ends.append((every, every, diagonal))
    rows, columns, values = (np.concatenate(part) for part in zip(*ends, strict=True))
    matrix = coo_array((values, (rows, columns)), shape=(size, size)).tocsr()
    rng = np.random.default_rng(seed)
    scale = coo_array((1.0 / np.maximum(diagonal, 1e-12), (every, every))).tocsr()
    out = np.empty((_DRAWN, items))
    for number in range(_DRAWN):
        chance = rng.standard_normal(len(info))
        noise = np.sqrt(info) * chance
        pull: Any = np.bincount(cells.a, noise, size) - np.bincount(cells.b, noise, size)
        pull[:items] += np.sqrt(own) * rng.standard_normal(items)
        if skill is not None:
            with_it = skill.both / np.sqrt(np.maximum(info, 1e-300))
            alone = np.sqrt(np.maximum(skill.info - with_it**2, 0.0))
            other = with_it * chance + alone * rng.standard_normal(len(info))
            pull += np.bincount(judge, other, size)
            pull[items:] += np.sqrt(skill.held) * rng.standard_normal(judges)
        found, _ = cg(matrix, pull, rtol=1e-4, maxiter=500, M=scale)
        out[number] = found[:items] - found[:items].mean()
    return out
