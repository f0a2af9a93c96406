"""Strengths from comparisons and grades together: the most probable point and its information.

All that is fitted is in one vector: log strengths; each judge's lean and log odds to answer
with the order; the mean of leans and the log weight of ties; each grader's shift and log sharpness
about a common one; the lowest cut and the logs of the gaps above it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import coo_array
from scipy.special import expit

from adjudge.kernels import pairs as kernels
from adjudge.models.model import Progress, Step
from adjudge.models.pairs._strengths import Rules, Strengths
from adjudge.models.pairs._uncertainty import cell_information, prior_information
from adjudge.models.pairs.cells import PairCells

_Floats = NDArray[np.float64]
_CUT_SD = 10.0  # of the lowest cut, a priori
_GAP_SD = 2.0  # of the log of a gap, about 0
_SHARP_SD = 1.0  # of the common log sharpness
_TIED_SD = 1.0  # of the log weight of ties
_BY_JUDGMENT = ("item", "judge", "label", "weight")
_LEAST_SD, _ROUNDS, _SETTLED = 0.05, 20, 0.01


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grades:
    """Grades as numbers from 0, of the items and judges of the comparisons next to them."""

    item: NDArray[np.int64]  # (judgment,)
    judge: NDArray[np.int64]
    label: NDArray[np.int64]
    weight: _Floats
    count: int  # of grades

    @classmethod
    def none(cls) -> Grades:
        """Return no grades, for comparisons alone."""
        none = np.empty(0, dtype=np.int64)
        return cls(item=none, judge=none, label=none, weight=np.empty(0), count=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spreads:
    """Standard deviations that are learnt: of graders' shifts and log sharpness.

    A point alone would be made more probable without end by sharper grades and smaller strengths.
    Laplace's correction is half the log of the information on a strength: ``other`` by comparisons
    and a priori, and ``unit`` by each grade were its judge's sharpness 1.
    """

    shift: float = 0.5
    sharp: float = 0.5
    other: _Floats  # (item,)
    unit: _Floats  # (judgment,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradedStrengths:
    """Where the fit has come to."""

    theta: _Floats  # (item,)
    lean: _Floats  # (judge,)
    odds: _Floats  # (judge,)
    position: float
    log_tied: float
    shift: _Floats  # (judge,)
    sharp: _Floats  # (judge,) about the common one
    common: float
    cut: _Floats  # (grade - 1,)
    spreads: _Spreads
    converged: bool

    @property
    def steep(self) -> _Floats:  # (judge,)
        """How sharply each grader's grades follow the strengths."""
        return np.asarray(np.exp(self.common + self.sharp))

    def strengths(self, rules: Rules) -> Strengths:
        """What comparisons say, without the graders."""
        return Strengths(
            strength=np.exp(self.theta),
            lean=self.lean,
            right=expit(self.odds),
            position=self.position,
            tied=float(np.exp(self.log_tied)) if rules.davidson else 0.0,
            converged=self.converged,
            sweeps=rules.iterations,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BothKinds:
    """Comparisons by judges of a skill, and grades; with what is held fixed."""

    cells: PairCells
    rules: Rules
    grades: Grades = field(default_factory=Grades.none)

    @property
    def agree(self) -> tuple[float, float]:
        """The prior of judges' skill."""
        return self.rules.agree or (1.0, 1.0)

    @property
    def _sizes(self) -> list[int]:
        judges = self.cells.judges
        parts = [self.cells.items, judges, judges, 1, 1, judges, judges, 1]
        return [*parts, self.grades.count - 1]

    def without(self, judges: NDArray[np.bool_]) -> BothKinds:
        """All but the comparisons and grades of some judges."""
        kept = ~judges[self.grades.judge]
        parts = {name: getattr(self.grades, name)[kept] for name in _BY_JUDGMENT}
        cells = self.cells.select(~judges[self.cells.judge])
        return replace(self, cells=cells, grades=replace(self.grades, **parts))

    def strength_information(self, found: GradedStrengths) -> _Floats:  # (item,)
        """What is known of each strength, were everything else known."""
        info = grade_information(self, found).strength
        own, _ = _pair_curves(self, found)
        return np.asarray(own + np.bincount(self.grades.item, info, self.cells.items))

    def split(self, place: _Floats) -> list[_Floats]:
        """The parts of the vector, in the order above."""
        return np.split(place, np.cumsum(self._sizes)[:-1])

    def start(self) -> _Floats:
        """Nothing known of anybody; cuts by how many grades stand below them."""
        parts = self.split(np.zeros(sum(self._sizes)))
        parts[2][:] = np.log(self.agree[0] / self.agree[1])
        if self.grades.count > 1:
            share = np.bincount(self.grades.label, self.grades.weight, self.grades.count) + 0.5
            below = np.cumsum(share)[:-1] / share.sum()
            cut = 1.2 * np.log(below / (1.0 - below))
            parts[8][:] = np.append(cut[:1], np.log(np.diff(cut)))
        return np.concatenate(parts)

    def lost(self, place: _Floats, spreads: _Spreads) -> tuple[float, _Floats]:
        """The negative log posterior and its slopes."""
        theta, lean, odds, centre, log_tied, shift, sharp, common, gaps = self.split(place)
        slopes = self.split(np.zeros(len(place)))
        cut = _cuts(gaps)
        to_cut = np.zeros(len(cut))
        tied = float(np.exp(np.clip(log_tied[0], -20.0, 20.0))) if self.rules.davidson else 0.0
        given = self.grades
        total, slopes[4][0] = kernels.compared(
            *self.cells.arrays, theta, lean, odds, tied, slopes[0], slopes[1], slopes[2]
        )
        total += kernels.graded(
            *(given.item, given.judge, given.label, given.weight, theta, shift, sharp + common[0]),
            *(cut, slopes[0], slopes[5], slopes[6], to_cut),
        )
        info = spreads.unit * np.exp(2.0 * (sharp + common[0]))[given.judge]
        known = spreads.other + np.bincount(given.item, info, len(theta))
        total -= 0.5 * float(np.log(known).sum())
        slopes[6] -= np.bincount(given.judge, info / known[given.item], len(sharp))
        slopes[7][0] = slopes[6].sum()
        if len(cut):
            rest = np.cumsum(to_cut[::-1])[::-1]  # a gap moves every cut above it
            slopes[8][:] = np.append(rest[0], rest[1:] * np.exp(gaps[1:]))
        chance = expit(theta)
        total += self.rules.prior * float((np.log(chance) + np.log1p(-chance)).sum())
        slopes[0] += self.rules.prior * (1.0 - 2.0 * chance)
        right = expit(odds)
        alpha, beta = self.agree
        total += float((alpha * np.log(right) + beta * np.log1p(-right)).sum())
        slopes[2] += alpha - (alpha + beta) * right
        off = lean - centre[0]
        slopes[3][0] += off.sum() / self.rules.lean_spread**2
        gap_sd = np.append(_CUT_SD, np.full(max(len(gaps) - 1, 0), _GAP_SD))[: len(gaps)]
        for at, value, sd in (
            (1, off, self.rules.lean_spread),
            (3, centre, 1.0),
            (4, log_tied, _TIED_SD),
            (5, shift, spreads.shift),
            (6, sharp, spreads.sharp),
            (7, common, _SHARP_SD),
            (8, gaps, gap_sd),
        ):
            total -= 0.5 * float(((value / sd) ** 2).sum())
            slopes[at] -= value / np.square(sd)
        return -total, -np.concatenate(slopes)


def _cuts(gaps: _Floats) -> _Floats:
    """The cuts, from the lowest one and the logs of the gaps above it."""
    return np.cumsum(np.append(gaps[:1], np.exp(gaps[1:])))


def fit_levels(given: BothKinds, progress: Progress | None = None) -> GradedStrengths:
    """The most probable point; spreads by rounds of expected squares, as in EM."""
    steps = count(1)

    def report(_: _Floats) -> None:
        step = next(steps)
        if progress is not None:
            progress(Step("fitting", min(step, given.rules.iterations), given.rules.iterations))

    place, done, tolerance = given.start(), not len(given.grades.item), given.rules.tolerance
    spreads = _Spreads(other=np.ones(given.cells.items), unit=np.zeros(len(given.grades.item)))
    spreads = _spreads_of(given, _levels(given, place, spreads, converged=False), learn=False)
    found = _levels(given, place, spreads, converged=False)
    for _ in range(_ROUNDS):
        scale = 1.0 / np.sqrt(_curves(given, found))

        def lost(x: _Floats, scale: _Floats = scale, held: _Spreads = spreads) -> Any:
            value, slope = given.lost(x * scale, held)
            return value, slope * scale

        options = {"maxiter": given.rules.iterations, "gtol": tolerance, "ftol": 0.0, "maxcor": 20}
        best = minimize(
            lost, place / scale, jac=True, method="L-BFGS-B", callback=report, options=options
        )
        place = best.x * scale
        reached = float(np.abs(best.jac).max()) <= max(tolerance, 1e-3)
        found = _levels(given, place, spreads, converged=reached and done)
        if done:
            break
        new = _spreads_of(given, found)
        names = ("shift", "sharp")
        ratio = [abs(np.log(getattr(new, name) / getattr(spreads, name))) for name in names]
        spreads, done = new, max(ratio) < _SETTLED
    return found


def _levels(
    given: BothKinds, place: _Floats, spreads: _Spreads, *, converged: bool
) -> GradedStrengths:
    theta, lean, odds, centre, log_tied, shift, sharp, common, gaps = given.split(place)
    return GradedStrengths(
        theta=theta,
        lean=lean,
        odds=odds,
        position=float(centre[0]),
        log_tied=float(log_tied[0]),
        shift=shift,
        sharp=sharp,
        common=float(common[0]),
        cut=_cuts(gaps),
        spreads=spreads,
        converged=converged,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _GradeInformation:
    """Fisher's information in grades: of strength (less shift) and log sharpness, and of cuts."""

    strength: _Floats  # (judgment,)
    both: _Floats  # (judgment,)
    sharp: _Floats  # (judgment,)
    cut: _Floats  # (grade - 1, grade - 1)
    strength_cut: _Floats  # (judgment, grade - 1)
    sharp_cut: _Floats  # (judgment, grade - 1)


def grade_information(given: BothKinds, found: GradedStrengths) -> _GradeInformation:
    """The expected information in each grade."""
    grades = given.grades
    many, cuts, size = len(grades.item), len(found.cut), grades.weight
    steep = found.steep[grades.judge]
    level = found.theta[grades.item] - found.shift[grades.judge]
    x = steep[:, None] * (level[:, None] - found.cut)  # (judgment, cut)
    above = np.column_stack([np.ones(many), expit(x), np.zeros(many)])
    thin = np.column_stack([np.zeros(many), expit(x) * expit(-x), np.zeros(many)])
    chance = np.maximum(above[:, :-1] - above[:, 1:], 1e-12)  # (judgment, grade)
    arm = np.column_stack([np.zeros(many), x, np.zeros(many)]) * thin
    in_theta = steep[:, None] * (thin[:, :-1] - thin[:, 1:]) / chance  # slopes of log chance
    in_sharp = (arm[:, :-1] - arm[:, 1:]) / chance
    heavy = chance * size[:, None]
    cut, with_theta, with_sharp = np.zeros((cuts, cuts)), np.zeros((many, cuts)), None
    with_sharp = np.zeros((many, cuts))
    own = (
        steep[:, None] * thin[:, 1:-1]
    )  # a cut is the lower end of one grade, the upper of another
    for k in range(cuts):
        at, below = own[:, k] * size, slice(k, k + 2)
        with_theta[:, k] = at * (in_theta[:, k] - in_theta[:, k + 1])
        with_sharp[:, k] = at * (in_sharp[:, k] - in_sharp[:, k + 1])
        cut[k, k] = (at * own[:, k] * (1.0 / chance[:, below]).sum(axis=1)).sum()
        if k:
            cut[k, k - 1] = cut[k - 1, k] = -(at * own[:, k - 1] / chance[:, k]).sum()
    return _GradeInformation(
        strength=(heavy * in_theta**2).sum(axis=1),
        both=(heavy * in_theta * in_sharp).sum(axis=1),
        sharp=(heavy * in_sharp**2).sum(axis=1),
        cut=cut,
        strength_cut=with_theta,
        sharp_cut=with_sharp,
    )


def _curves(given: BothKinds, found: GradedStrengths) -> _Floats:
    """How sharply the log posterior bends in each of its parts alone."""
    cells, grades, spreads = given.cells, given.grades, found.spreads
    own, info = _pair_curves(given, found)
    by_grade = grade_information(given, found)
    judges = cells.judges
    theta = own + np.bincount(grades.item, by_grade.strength, cells.items)
    shift = np.bincount(grades.judge, by_grade.strength, judges)
    sharp = np.bincount(grades.judge, by_grade.sharp, judges)
    right = expit(found.odds)
    odds = np.bincount(cells.judge, info[1], judges) * right * (1 - right) + sum(given.agree)
    lean = np.bincount(cells.judge, info[0], judges) + given.rules.lean_spread**-2
    gaps = np.diag(by_grade.cut) * np.append(1.0, np.diff(found.cut) ** 2)[: len(found.cut)]
    return np.concatenate(
        [
            theta,
            lean,
            odds * right * (1 - right),
            [1.0 + judges * given.rules.lean_spread**-2],
            [1.0 + 0.25 * cells.wins[:, 2].sum()],
            shift + spreads.shift**-2,
            sharp + spreads.sharp**-2,
            [sharp.sum() + _SHARP_SD**-2],
            gaps + _GAP_SD**-2,
        ]
    )


def _pair_curves(given: BothKinds, found: GradedStrengths) -> tuple[_Floats, _Floats]:
    """The information of comparisons and prior on each strength; and of comparisons by cell."""
    cells = given.cells
    tied = np.exp(found.log_tied) if given.rules.davidson else 0.0
    info = cell_information(cells, np.exp(found.theta), found.lean, tied, expit(found.odds))
    own = np.bincount(cells.a, info[0], cells.items)
    own += np.bincount(cells.b, info[0], cells.items)
    return own + prior_information(np.exp(found.theta), given.rules.prior), info


def _spreads_of(given: BothKinds, found: GradedStrengths, *, learn: bool = True) -> _Spreads:
    """Spreads by the squares expected: of the point, and of what is not known about it."""
    grades, held = given.grades, found.spreads
    by_grade = grade_information(given, found)
    other, _ = _pair_curves(given, found)
    out, judges = {}, given.cells.judges
    judged = np.bincount(grades.judge, minlength=judges) > 0
    shift = np.bincount(grades.judge, by_grade.strength, judges)
    sharp = np.bincount(grades.judge, by_grade.sharp, judges)
    for name, value, info, first in (
        ("shift", found.shift[judged], shift[judged], 0.5),
        ("sharp", found.sharp[judged], sharp[judged], 0.5),
    ):
        squares = value**2 + 1.0 / (info + getattr(held, name) ** -2)
        sd = np.sqrt((squares.sum() + first**2) / (len(value) + 1.0))
        out[name] = max(float(sd), _LEAST_SD)
    unit = by_grade.strength / found.steep[grades.judge] ** 2
    return replace(held, **(out if learn else {}), other=other, unit=unit)


def shared_with_graders(given: BothKinds, found: GradedStrengths) -> Any:  # (item, item)
    """The information about strengths that is confounded with that about graders and cuts.

    Graders' shift and sharpness go first, two by two; what is left are cuts and the common
    sharpness, so that nothing has the size of items by judges.
    """
    info, grades, spreads = grade_information(given, found), given.grades, found.spreads
    items, judges = given.cells.items, given.cells.judges
    at = grades.judge

    def summed(values: _Floats) -> _Floats:
        return np.asarray(np.bincount(at, values, judges), dtype=np.float64)

    shift, cross = summed(info.strength) + spreads.shift**-2, -summed(info.both)
    sharp = summed(info.sharp) + spreads.sharp**-2
    determinant = shift * sharp - cross**2
    a, b, c = (
        sharp / determinant,
        -cross / determinant,
        shift / determinant,
    )  # the inverse of each judge's two by two

    def sparse(values: _Floats) -> Any:
        return coo_array((values, (grades.item, at)), shape=(items, judges)).tocsr()

    in_shift, in_sharp = sparse(-info.strength), sparse(info.both)
    wide = [*info.strength_cut.T, info.both]  # cuts, and the common sharpness
    small = np.column_stack([np.bincount(grades.item, part, items) for part in wide])
    to_shift = np.column_stack([-summed(part) for part in wide])
    to_sharp = np.column_stack([*(summed(part) for part in info.sharp_cut.T), summed(info.sharp)])
    # Items and the small part, each with judges taken off.
    lead_shift = in_shift * a + in_sharp * b
    lead_sharp = in_shift * b + in_sharp * c
    first = lead_shift @ in_shift.T + lead_sharp @ in_sharp.T
    small = small - (lead_shift @ to_shift + lead_sharp @ to_sharp)
    core = np.zeros((len(wide), len(wide)))
    core[:-1, :-1] = info.cut + np.eye(len(wide) - 1) * _CUT_SD**-2
    core[:-1, -1] = core[-1, :-1] = info.sharp_cut.sum(axis=0)
    core[-1, -1] = info.sharp.sum() + _SHARP_SD**-2
    core -= to_shift.T @ (a[:, None] * to_shift + b[:, None] * to_sharp)
    core -= to_sharp.T @ (b[:, None] * to_shift + c[:, None] * to_sharp)
    return first.toarray() + small @ np.linalg.solve(core, small.T)


def grader_spread(
    given: BothKinds, found: GradedStrengths
) -> tuple[_Floats, _Floats]:  # (judge,) each
    """The standard deviations of each grader's shift and log sharpness, strengths being known."""
    info, grades, judges = grade_information(given, found), given.grades, given.cells.judges
    shift = np.bincount(grades.judge, info.strength, judges) + found.spreads.shift**-2
    sharp = np.bincount(grades.judge, info.sharp, judges) + found.spreads.sharp**-2
    return 1.0 / np.sqrt(shift), 1.0 / np.sqrt(sharp)
