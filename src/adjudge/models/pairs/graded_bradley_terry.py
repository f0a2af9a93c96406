"""GradedBradleyTerry: one strength an item, from comparisons and from grades together.

    P(i over k by judge j) = r_j P(i over k) + (1 - r_j) P(k over i)
    P(grade of i by judge j > g) = logistic(exp(a + u_j) (s_i - c_g - b_j))

Comparisons are those of ``CrowdBradleyTerry``: skill r_j, ties (Davidson), a lean to what is shown
first. Grades are cut from the same scale by rising cuts c_g, P. McCullagh (1980),
doi:10.1111/j.2517-6161.1980.tb01109.x; a grader is milder or stricter by b_j and sharper or blunter
by u_j, both normal about 0 with spreads that are learnt, and exp(a) says how closely grades follow
the scale at all. The point is the most probable one, by L-BFGS, with Laplace's correction for
strengths where it would else make grades ever sharper and strengths ever smaller. Intervals are
those of the normal approximation and allow for graders, cuts and the skill of judges not being
known, up to 3,000 items; above that graders and cuts are taken as known.

With comparisons alone or grades alone it is the model of that kind. P(grade) of an item is that by
a judge about whom nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from adjudge.data.comparisons import CANNOT_SAY, Comparisons
from adjudge.data.judges import LEVEL
from adjudge.data.judgments import Judgments, JudgmentsLike, takes_tables
from adjudge.data.names import Names, look_up
from adjudge.data.preferences import Preferences
from adjudge.errors import BadData, BadSetting, shown
from adjudge.models._notes import describe_unconverged
from adjudge.models.model import Progress
from adjudge.models.pairs._fitting import check_pair_settings, conclude_pairs, measure_held_out
from adjudge.models.pairs._grading import (
    BothKinds,
    GradedStrengths,
    Grades,
    fit_levels,
    grade_information,
    grader_spread,
    shared_with_graders,
)
from adjudge.models.pairs._strengths import Rules
from adjudge.models.pairs.cells import (
    Copies,
    check_connected,
    count_cells,
    weigh_copies,
    weigh_grades,
)
from adjudge.models.settings import FitPredict

_Floats = NDArray[np.float64]
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedBradleyTerry(FitPredict):
    """Strengths of items from comparisons and grades; judges of both; P(grade) of every item."""

    name: ClassVar[str] = "graded-bradley-terry"

    position: bool = True
    agree: tuple[float, float] = (8.0, 2.0)
    lean_spread: float = 0.5
    regularisation: float = 1.0
    copies: bool = True
    iterations: int = 500
    tolerance: float = 1e-4
    seed: int = 0

    def __post_init__(self) -> None:
        check_pair_settings(self)
        for name in ("regularisation", "tolerance"):
            if not getattr(self, name) > 0:
                raise BadSetting(name, getattr(self, name), "more than 0")

    @takes_tables
    def fit(
        self,
        comparisons: Comparisons | None,
        judgments: JudgmentsLike = None,
        *,
        progress: Progress | None = None,
    ) -> Preferences:
        """Items by log strength with intervals, and the probabilities of their grades."""
        comparisons = _empty(judgments) if comparisons is None else comparisons
        has_pairs = bool((comparisons.outcome != CANNOT_SAY).any())
        if not has_pairs and (judgments is None or not len(judgments)):
            raise BadData('all comparisons were answered with "can\'t say"', expected="comparisons")
        copies = weigh_copies(comparisons) if self.copies else Copies.none(comparisons)
        notes = copies.notes
        grades = Grades.none()
        more: tuple[str, ...] = ()
        if judgments is not None:
            _check_grades(judgments, comparisons if has_pairs else None)
            grade_weight, more = weigh_grades(judgments) if self.copies else (None, ())
            comparisons = Comparisons.join([comparisons, _empty(judgments, comparisons)])
            grades = _coded(judgments, comparisons, grade_weight)
        position = self.position and bool((comparisons.shown_first >= 0).any())
        cells = count_cells(comparisons, judges=True, sides=position, weight=copies.weight)
        if judgments is None:
            more = check_connected(cells, comparisons, 1.0)
        rules = Rules(
            davidson=bool(cells.wins[:, 2].any()),
            position=position,
            prior=self.regularisation,
            iterations=self.iterations,
            tolerance=self.tolerance,
            agree=self.agree,
            lean_spread=self.lean_spread,
        )
        given = BothKinds(cells=cells, rules=rules, grades=grades)
        found = fit_levels(given, progress)
        notes = tuple(dict.fromkeys((*notes, *more)))
        if not found.converged:
            notes = (*notes, describe_unconverged(self.iterations))
        answer = replace(
            _conclude(self, comparisons, given, found, copies, progress),
            weight=copies.weight,
            notes=notes,
        )
        if judgments is None:
            return answer
        return replace(
            answer,
            grades=_chances(found, answer),
            grade_names=judgments.scale.truths,
            judges=_with_graders(answer.judges, given, found),
            parameters=dict(answer.parameters) | _grade_parameters(found, judgments),
        )


def _check_grades(judgments: Judgments, comparisons: Comparisons | None) -> None:
    """Refuse labels that are not grades, and grades of other items than those compared."""
    scale = judgments.scale
    if len(scale.truths) < 2 or not (scale.ordinal or len(scale.truths) == 2):
        raise BadData(
            f"the labels {scale} have no order: expected two or more grades, such as 0 < 1 < 2",
            expected="grades",
        )
    if comparisons is not None and not (look_up(judgments.items, comparisons.items) >= 0).any():
        raise BadData(
            f"no item has both grades and comparisons (such as {shown(judgments.items[0].as_py())} "
            f"and {shown(comparisons.items[0].as_py())}); expected the same items",
            expected="the same items",
        )


def _empty(judgments: Judgments, others: Comparisons | None = None) -> Comparisons:
    """The items and judges of judgments, as comparisons of which there are none."""
    nothing = np.empty(0, dtype=np.int32)
    topics = None if others is None else others.topics
    return Comparisons(
        items=judgments.items,
        judges=judgments.judges,
        left=nothing,
        right=nothing,
        judge=nothing,
        outcome=nothing.astype(np.int8),
        topics=topics,
        topic=None if topics is None else nothing,
        kind=judgments.kind,
    )


def _coded(judgments: Judgments, everybody: Comparisons, weight: _Floats | None) -> Grades:
    """Grades by the codes of all items and judges; labels that mean no truth are left out."""
    label = np.asarray(judgments.scale.truth_of, dtype=np.int64)[judgments.label]
    kept = label >= 0

    def code(names: Names, own: Names, at: Any) -> NDArray[np.int64]:
        return np.asarray(look_up(own, names)[at[kept]], dtype=np.int64)

    return Grades(
        item=code(everybody.items, judgments.items, judgments.item),
        judge=code(everybody.judges, judgments.judges, judgments.judge),
        label=label[kept],
        weight=np.ones(int(kept.sum())) if weight is None else weight[kept],
        count=len(judgments.scale.truths),
    )


def _conclude(
    model: GradedBradleyTerry,
    comparisons: Comparisons,
    given: BothKinds,
    found: GradedStrengths,
    copies: Copies,
    progress: Progress | None,
) -> Preferences:
    family = np.arange(given.cells.judges)  # graders come behind those who compared
    family[: len(copies.family)] = copies.family
    info = grade_information(given, found).strength
    own = np.bincount(given.grades.item, info, given.cells.items)
    return conclude_pairs(
        model,
        comparisons,
        given.cells,
        given.rules,
        found.strengths(given.rules),
        measure_held_out(given, found.lean, family, progress),
        graded=np.asarray(own, dtype=np.float64),
        less=(lambda: shared_with_graders(given, found)) if len(info) else None,
    )


def _chances(found: GradedStrengths, answer: Preferences) -> _Floats:  # (item, grade)
    """P(grade) of every item by a judge about whom nothing is known, what is open averaged over."""
    spread = answer.spread
    if answer.covariance is not None:
        spread = np.sqrt(np.maximum(np.diag(answer.covariance), 0.0))
    wide = np.sqrt(spread**2 + found.spreads.shift**2)
    level = found.theta[:, None] + wide[:, None] * _NODES  # (item, node)
    steep = np.exp(found.common)
    weights = _WEIGHTS / _WEIGHTS.sum()
    above = [np.ones(len(level)), *(expit(steep * (level - c)) @ weights for c in found.cut)]
    return np.asarray(-np.diff(np.column_stack([*above, np.zeros(len(level))]), axis=1))


def _with_graders(table: Any, given: BothKinds, found: GradedStrengths) -> Any:
    """The table of judges with what their grades say of them; empty for who gave none."""
    grades = given.grades
    many = np.bincount(grades.judge, minlength=given.cells.judges)
    shift_sd, sharp_sd = grader_spread(given, found)
    half, none = -ndtri((1.0 - LEVEL) / 2), many == 0
    columns = {
        "shift": found.shift,
        "shift_low": found.shift - half * shift_sd,
        "shift_high": found.shift + half * shift_sd,
        "sharpness": found.steep,
        "sharpness_low": found.steep * np.exp(-half * sharp_sd),
        "sharpness_high": found.steep * np.exp(half * sharp_sd),
    }
    silent = table["comparisons"].to_numpy() == 0  # whose position bias is unknown
    for place, name in enumerate(table.column_names):
        if name.startswith("position"):
            values = pa.array(table[name].to_numpy(), mask=silent)
            table = table.set_column(place, name, values)
    table = table.append_column("judgments", pa.array(many))
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values, mask=none))
    return table


def _grade_parameters(
    found: GradedStrengths, judgments: Judgments
) -> dict[str, tuple[float, float, float]]:
    """The cuts on the scale of scores, and how sharply grades follow it."""
    names, level = judgments.scale.truths, float(found.theta.mean())
    cuts = {
        f"cut {low} | {high}": (float(cut) - level, np.nan, np.nan)
        for low, high, cut in zip(names, names[1:], found.cut, strict=False)
    }
    return {**cuts, "sharpness of grades": (float(np.exp(found.common)), np.nan, np.nan)}
