"""The alternative annotator test: whether LLM judges may replace people.

Each person h is left out in turn. Against the others' labels, W_f is 1 on an item where the model
scores at least as well as h, W_h where h scores at least as well as the model. The null hypothesis
mean(W_h - W_f) >= epsilon is tested by a t-test for each h, at a false discovery rate q over people
(Benjamini and Yekutieli). The winning rate is the share of people for whom it is rejected; at one
half or more the model may replace people. The advantage probability is the mean of W_f over people.

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge: How to
Statistically Justify Replacing Human Annotators with LLMs", ACL, arXiv:2501.10970.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.data.judgments import Judgments
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.model_judges._contests import (
    Contests,
    Panel,
    ScoreName,
    panel_of,
    split_people,
)
from adjudge.evaluation.significance import adjust, one_sided_p

_HALF = 0.5  # the winning rate from which a model passes
_LEAST_ITEMS = 30  # contests with a person, below which the t-test is not to be trusted
_FEW_PEOPLE = 3
_FEW_OTHERS = 2.5  # people an item, below which most are compared with a single other
_NAN = float("nan")
_EPSILON = 0.2  # what a model is allowed for being cheaper; 0.2 beside experts, 0.1 beside a crowd


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """The settings of the test."""

    epsilon: float
    q: float
    least_items: int

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < 1:
            raise BadSetting("epsilon", self.epsilon, "a number from 0 to 1, such as 0.2")
        if not 0 < self.q < 1:
            raise BadSetting("q", self.q, "a rate between 0 and 1, such as 0.05")
        if self.least_items < 2:
            raise BadSetting("least_items", self.least_items, "at least 2 items a person")


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgainstPerson:
    """A model against one person: how often each holds, and the test."""

    person: str
    items: int
    model_holds: float  # share of items where the model is at least as near to the others
    person_holds: float
    p: float
    p_adjusted: float
    rejected: bool  # that the person is better by epsilon or more


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdict:
    """Whether a model may replace people."""

    model: str
    people: tuple[_AgainstPerson, ...]

    @property
    def verdict(self) -> str:
        """``passed``, ``failed``, or ``untested`` where no person has enough items."""
        if not self.people:
            return "untested"
        return "passed" if self.winning_rate >= _HALF else "failed"

    @property
    def winning_rate(self) -> float:
        """The share of people whom the model does as well as, up to epsilon."""
        return float(np.mean([one.rejected for one in self.people])) if self.people else _NAN

    @property
    def advantage_probability(self) -> float:
        """How often the model is at least as near to the others as a person, over people."""
        return float(np.mean([one.model_holds for one in self.people])) if self.people else _NAN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replacement:
    """The verdicts on every model, and on what they rest."""

    verdicts: tuple[_Verdict, ...]
    score: ScoreName
    rule: _Rule
    left_out: tuple[str, ...]  # people with too few items
    panel: Panel

    def __getitem__(self, model: str) -> _Verdict:
        """The verdict on a model."""
        for one in self.verdicts:
            if one.model == model:
                return one
        raise BadSetting("model", model, f"one of {', '.join(self.panel.models)}")

    @property
    def warnings(self) -> tuple[str, ...]:
        """When not to trust it, in sentences."""
        told = []
        people = self.panel.people
        used = {one.person for verdict in self.verdicts for one in verdict.people}
        if len(used) < _FEW_PEOPLE:
            told.append(
                f"only {len(used)} {'person' if len(used) == 1 else 'people'} could be compared; "
                f"wanted {_FEW_PEOPLE} or more, since each is a vote on the verdict"
            )
        pairs = people.counts_per_item.astype(np.float64)
        if float(pairs[pairs >= 2].mean()) < _FEW_OTHERS:
            told.append(
                "most contests are before one other person: their mistakes count as the model's"
            )
        return tuple(told)


def may_replace(
    people: Judgments | str | Path | Any,
    models: Judgments | str | Path | Any = None,
    *,
    score: ScoreName = "accuracy",
    epsilon: float = _EPSILON,
    q: float = 0.05,
    least_items: int = _LEAST_ITEMS,
) -> Replacement:
    """Whether models may replace people, by the alternative annotator test.

    ``people`` and ``models`` are files, tables or Judgments; one that holds both is told apart by a
    column ``kind`` or ``family``. ``score`` is accuracy, or neg-rmse of grades.
    """
    rule = _Rule(epsilon=epsilon, q=q, least_items=least_items)
    panel = panel_of(*split_people(people, models), score)
    verdicts = []
    for code, model in enumerate(panel.models):
        contests = panel.contests(code)
        times = np.bincount(contests.person, minlength=1)
        enough = contests.select(times[contests.person] >= least_items)
        verdicts.append(_Verdict(model=model, people=_test(panel, enough, rule)))
    if not any(one.people for one in verdicts):
        raise BadData(_too_few(panel, least_items), expected=f"{least_items} items a person")
    used = {one.person for verdict in verdicts for one in verdict.people}
    left_out = tuple(name for name in panel.people.judges.to_pylist() if name not in used)
    return Replacement(
        verdicts=tuple(verdicts), score=score, rule=rule, left_out=left_out, panel=panel
    )


def _test(panel: Panel, contests: Contests, rule: _Rule) -> tuple[_AgainstPerson, ...]:
    """Test a model against each person; the rate is controlled over all of them."""
    if not len(contests):
        return ()
    person, code = np.unique(contests.person, return_inverse=True)
    model = contests.model_holds.astype(np.float64)
    theirs = contests.person_holds.astype(np.float64)
    gap = theirs - model
    times, total, squares, *holds = (
        np.bincount(code, weights=weights).astype(np.float64)
        for weights in (np.ones(len(code)), gap, gap**2, model, theirs)
    )
    p = one_sided_p(times, total, squares, rule.epsilon)
    adjusted = adjust(p, dependent=True)
    return tuple(
        _AgainstPerson(
            person=panel.people.judges[int(who)].as_py(),
            items=int(items),
            model_holds=float(first / items),
            person_holds=float(second / items),
            p=float(alone),
            p_adjusted=float(fair),
            rejected=bool(fair <= rule.q),
        )
        for who, items, first, second, alone, fair in zip(
            person, times, *holds, p, adjusted, strict=True
        )
    )


def _too_few(panel: Panel, least: int) -> str:
    """Why nobody could be tested."""
    most = 0
    for code in range(len(panel.models)):
        most = max(most, int(np.bincount(panel.contests(code).person, minlength=1).max()))
    return (
        f"no person has {least:,} items that another person and a model judged too (the most is "
        f"{most:,}); wanted more judgments, or a smaller least_items"
    )
