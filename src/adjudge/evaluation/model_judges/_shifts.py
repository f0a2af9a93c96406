"""What changed since an audit: the judge, or the system whose outputs it judges.

Anchors are items judged at the audit and again now. What their labels change by is a change of the
judge, d_k in each true class k. At the audit the judge gave items of class k the mean label m_k;
the line a + b v_k through these means, with v_k the grade of the class, maps true grades to labels.
A mean label then means the mean grade (mean - a) / b, which for two classes is Rogan and Gladen's
estimate (1978, doi:10.1093/oxfordjournals.aje.a112510). So the system changed by

    (mean label now - a') / b' - (mean label then - a) / b,

with a' and b' the line through m_k + d_k. The interval follows by the delta method. Of paired
labels, two pseudo-observations keep the coverage where few labels change (Bonett and Price 2012,
doi:10.3102/1076998611411915). Mid-p sign tests decide whether the judge changed at all (McNemar's,
where labels are right or wrong; Fagerland and others 2013, doi:10.1186/1471-2288-13-91).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import binom
from scipy.stats import t as student

from adjudge.evaluation.scores import Score

LEAST_ANCHORS = 30
_LEAST_OF_CLASS = 10  # anchors of a class that have a change of their own
_LEVEL = 0.95
_STEP = 1e-6
_FLAT = 0.05  # slope below which labels do not depend on the true grade
_ENDLESS = 1e6  # degrees of freedom
_WIDER = 2.576 / 1.96  # of an interval at 0.99 next to one at 0.95
_CLOSER = 0.8  # how near to zero the system's change is, next to the judge's, to be explained by it
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """The grades of many labels: how many, their mean and variance."""

    count: int
    mean: float
    variance: float

    @classmethod
    def of(cls, values: _Floats, times: NDArray[np.int64]) -> Labels:
        """The labels of which each grade was given so many times."""
        count = int(times.sum())
        mean = float(values @ times) / max(count, 1)
        spread = float((values - mean) ** 2 @ times) / max(count - 1, 1)
        return cls(count=count, mean=mean, variance=spread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shifts:
    """How much the judge and the system changed, and which of them explains what is seen."""

    anchors: int
    judge: Score  # mean change of labels on anchors, in grades
    by_class: tuple[Score, ...]  # of the labels of each true class
    system: Score  # change of the true mean grade
    level: Score  # the true mean grade of the new items
    attribution: str  # judge, system, both or neither; empty if not known

    @property
    def possible(self) -> tuple[Score, ...]:
        """The changes that were not found and are not ruled out: within their intervals."""
        found = {
            "judge": (self.system,),
            "system": (self.judge,),
            "neither": (self.judge, self.system),
        }
        return found.get(self.attribution, ())

    @property
    def sentence(self) -> str:
        """What changed, and which change is not ruled out; empty if not known."""
        if not self.attribution:
            return ""
        said = {"both": "the judge and the system changed", "neither": "no change was found"}
        start = said.get(self.attribution, f"at least the {self.attribution} changed")
        open_ = []
        for score in self.possible:
            what = f"a change of the {score.name.removesuffix('-shift')}"
            if score.low is None or score.high is None:
                open_.append(f"{what} was not measured")
            else:
                open_.append(f"{what} is not ruled out ({score.low:+.3f} to {score.high:+.3f})")
        return "; ".join([start, *open_])


def measure_shifts(
    before: _Floats,  # (anchor,) grades of the labels at the audit
    after: _Floats,  # (anchor,) and now
    truth: NDArray[np.int64],  # (anchor,) true class, -1 where it is not known
    grades: _Floats,  # (truth,)
    classes: list[Labels],  # (truth,) labels of gold items at the audit
    then: Labels,  # of all items at the audit
    now: Labels,  # of the new items
    names: tuple[str, ...],  # (truth,)
) -> Shifts:
    """Measure what changed, from anchors judged twice and the labels of all items."""
    change = after - before
    if len(change) < LEAST_ANCHORS:
        return _unknown(len(change), f"needs {LEAST_ANCHORS} anchors, has {len(change)}")
    step = float(np.diff(np.unique(grades)).min(initial=1.0))
    overall = _mean_change(change, step)
    own = [change[truth == at] for at in range(len(grades))]
    moved = [d if len(d) >= _LEAST_OF_CLASS else change for d in own]
    known = [(float(d.mean()), float(d.var(ddof=1)) / len(d)) for d in moved]
    level, system = _system_change(grades, classes, known, then, now)
    of_class = [
        _score(f"judge-shift:{name}", *_mean_change(d, step), len(d) + 1)
        for name, d in zip(names, own, strict=True)
        if len(d) >= _LEAST_OF_CLASS
    ]
    worse = np.abs(after - grades[truth]) - np.abs(before - grades[truth])
    p = 2 * min(_mid_p(change), _mid_p(np.where(truth >= 0, worse, 0.0)))
    judge = _score("judge-shift", *overall, len(change) + 1)
    return Shifts(
        anchors=len(change),
        judge=judge,
        by_class=tuple(of_class),
        system=system,
        level=level,
        attribution=_attribute(p, judge, system, then, now),
    )


def _unknown(anchors: int, reason: str) -> Shifts:
    """Return undefined shifts, for too few anchors."""
    judge, system, level = (
        Score.undefined(name, reason) for name in ("judge-shift", "system-shift", "mean-grade")
    )
    return Shifts(
        anchors=anchors, judge=judge, by_class=(), system=system, level=level, attribution=""
    )


def _mean_change(change: _Floats, step: float) -> tuple[float, float]:
    """Return the mean change and its variance."""
    padded = np.concatenate([change, [step, -step]])
    return float(padded.mean()), float(padded.var()) / len(padded)


def _score(name: str, value: float, variance: float, freedom: float) -> Score:
    reach = float(student.ppf(0.5 + _LEVEL / 2, freedom)) * variance**0.5
    return Score(name=name, value=value, low=value - reach, high=value + reach)


def _system_change(
    grades: _Floats,
    classes: list[Labels],
    change: list[tuple[float, float]],
    then: Labels,
    now: Labels,
) -> tuple[Score, Score]:
    """Return the mean grade now and its change, by the delta method."""
    names = "mean-grade", "system-shift"
    seen = [at for at, one in enumerate(classes) if one.count >= 2]
    if len(seen) < 2 or min(then.count, now.count) < 2:
        reason = "needs gold of two classes and new items that are not anchors"
        return Score.undefined(names[0], reason), Score.undefined(names[1], reason)
    many, v = len(seen), grades[seen]
    weight = np.array([classes[at].count for at in seen], dtype=np.float64)
    parts = [(classes[at].mean, classes[at].variance / classes[at].count) for at in seen]
    parts += [change[at] for at in seen]
    parts += [(one.mean, one.variance / one.count) for one in (then, now)]
    x, variance = np.array(parts).T

    def level(x: _Floats) -> float:
        a, b = _line(v, x[:many] + x[many : 2 * many], weight)
        return float((x[-1] - a) / b)

    def shift(x: _Floats) -> float:
        a, b = _line(v, x[:many], weight)
        return level(x) - float((x[-2] - a) / b)

    if min(_line(v, m, weight)[1] for m in (x[:many], x[:many] + x[many : 2 * many])) < _FLAT:
        reason = "needs labels that rise with the true grade"
        return Score.undefined(names[0], reason), Score.undefined(names[1], reason)
    found = []
    for name, function in zip(names, (level, shift), strict=True):
        slope = _gradient(function, x)
        found.append(_score(name, function(x), float(slope**2 @ variance), _ENDLESS))
    return found[0], found[1]


def _line(v: _Floats, m: _Floats, weight: _Floats) -> tuple[float, float]:
    """Return the weighted line through points."""
    share = weight / weight.sum()
    middle, height = float(share @ v), float(share @ m)
    b = float(share @ ((v - middle) * (m - height))) / float(share @ (v - middle) ** 2)
    return height - b * middle, b


def _gradient(function: Callable[[_Floats], float], x: _Floats) -> _Floats:
    steps = np.eye(len(x)) * _STEP
    return np.array([(function(x + s) - function(x - s)) / (2 * _STEP) for s in steps])


def _mid_p(change: _Floats) -> float:
    """Return the two-sided mid-p value that rises and falls are equally many."""
    rises, falls = int((change > 0).sum()), int((change < 0).sum())
    if rises == falls:
        return 1.0
    few, many = min(rises, falls), rises + falls
    return float(2 * binom.cdf(few, many, 0.5) - binom.pmf(few, many, 0.5))


def _attribute(p: float, judge: Score, system: Score, then: Labels, now: Labels) -> str:
    """Return what explains the change that is seen.

    Where anchors do not show that the judge changed, a change of the mean label is the system's,
    unless the system's interval includes zero and the judge's change is further from zero. Where
    they do, the system changed as well only if its interval at level 0.99 is free of zero.
    """
    error = (then.variance / max(then.count, 1) + now.variance / max(now.count, 1)) ** 0.5
    off = abs(now.mean - then.mean) / error if error > 0 else 0.0
    moved = 2 * float(ndtr(-off)) <= 1 - _LEVEL
    if p <= 1 - _LEVEL:
        if system.defined:
            moved = _distance(system) > _WIDER
        return "both" if moved else "judge"
    if not moved:
        return "neither"
    return (
        "judge" if system.defined and _distance(system) < _CLOSER * _distance(judge) else "system"
    )


def _distance(score: Score) -> float:
    """Return how far a change is from none, in half widths of its interval."""
    if score.low is None or score.high is None or score.high <= score.low:
        return 0.0
    return abs(score.value) / ((score.high - score.low) / 2)
