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
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ttest_1samp

from adjudge.data.judgments import PERSON, Judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.scale import Scale, as_number
from adjudge.errors import BadData, BadSetting, Remedy, UnknownName, shown
from adjudge.evaluation.agreement import without_repeats
from adjudge.evaluation.model_judges.answers import take_answers
from adjudge.evaluation.model_judges.soft_judgments import soft_judgments
from adjudge.evaluation.scores import tabulate
from adjudge.evaluation.significance import adjust

ScoreName = Literal["accuracy", "neg-rmse"]
_SCORES = ("accuracy", "neg-rmse")
_SLACK = 1e-9  # scores nearer than this are equal, whatever the rounding
_HALF = 0.5  # winning rate from which a model passes
_LEAST_ITEMS = 30  # items shared with a person, from which the t-test holds
_FEW_PEOPLE = 3
_FEW_OTHERS = 2.5  # people per item, below which most are compared with one other
_EPSILON = 0.2  # what a model is allowed for being cheaper: 0.2 for experts, 0.1 for crowds
_NAN = float("nan")
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _AgainstPerson:
    """A model against one person: how often each is as near to the others, and the test."""

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
    """The verdict on every model, and warnings about the data behind it."""

    verdicts: tuple[_Verdict, ...]
    score: ScoreName
    epsilon: float
    warnings: tuple[str, ...]

    def __getitem__(self, model: str) -> _Verdict:
        for one in self.verdicts:
            if one.model == model:
                return one
        raise UnknownName("model", model, [one.model for one in self.verdicts])


def check_test(score: str, epsilon: float) -> None:
    """Refuse a score or an epsilon that the test does not have."""
    if score not in _SCORES:
        raise BadSetting("score", score, f"one of {', '.join(_SCORES)}")
    if not 0 <= epsilon < 1:
        raise BadSetting("epsilon", epsilon, "a number from 0 to 1, such as 0.2")


def may_replace(
    judgments: ModelAnswers | Judgments | str | Path | Any,
    *,
    people: str | None = None,
    score: ScoreName = "accuracy",
    epsilon: float = _EPSILON,
    q: float = 0.05,
    least_items: int = _LEAST_ITEMS,
) -> Replacement:
    """Test whether models may replace people, by the alternative annotator test.

    ``judgments`` are files, a table or Judgments of people and models. ``people`` is a regular
    expression for the names of people; without it a column kind or family says who is one.
    ``score`` is accuracy, or neg-rmse of grades.
    """
    check_test(score, epsilon)
    if not 0 < q < 1:
        raise BadSetting("q", q, "a rate between 0 and 1, such as 0.05")
    if least_items < 2:
        raise BadSetting("least_items", least_items, "at least 2 items per person")
    table = take_answers(judgments, people).judgments
    panel = _Panel(table, score)
    soft, names = soft_judgments(table), table.judges.to_pylist()
    verdicts, most = [], 0
    for code in np.flatnonzero(~panel.people).tolist():
        own = soft.judge == code
        label = np.full(table.item_count, -1, dtype=np.int64)
        label[soft.item[own]] = soft.label[own]
        person, model_holds, person_holds = panel.contests(label)
        times = np.bincount(person, minlength=len(names))
        most = max(most, int(times.max()))
        chosen = np.flatnonzero(times >= least_items).tolist()
        tested = _test(person, model_holds, person_holds, chosen, epsilon)
        against = tuple(
            _AgainstPerson(person=names[who], rejected=row["p_adjusted"] <= q, **row)
            for who, row in zip(chosen, tested, strict=True)
        )
        verdicts.append(_Verdict(model=names[code], people=against))
    used = {one.person for verdict in verdicts for one in verdict.people}
    if not used:
        raise BadData(
            f"no person has {least_items:,} items that another person and a model judged too (the "
            f"most is {most:,}); expected more judgments, or a smaller least_items",
            expected=f"{least_items} items per person",
        )
    warnings = []
    if len(used) < _FEW_PEOPLE:
        warnings.append(
            f"only {len(used)} {'person' if len(used) == 1 else 'people'} could be compared; "
            f"expected {_FEW_PEOPLE} or more, since each is a vote on the verdict"
        )
    if float(panel.total[panel.total >= 2].mean()) < _FEW_OTHERS:
        warnings.append(
            "most items have one other person to compare with, whose mistakes count as the model's"
        )
    return Replacement(
        verdicts=tuple(verdicts), score=score, epsilon=epsilon, warnings=tuple(warnings)
    )


class _Panel:
    """The judgments of people: one per person and item."""

    def __init__(self, judgments: Judgments, score: ScoreName) -> None:
        self.people = np.asarray(judgments.kind) == PERSON
        once = without_repeats(judgments)
        mine = self.people[once.judge]
        self.item, self.person = once.item[mine].astype(np.int64), once.judge[mine]
        self.label = once.label[mine].astype(np.int64)
        shape = judgments.item_count, len(judgments.scale.labels)
        self.counts = tabulate(shape, self.item, self.label).astype(np.float64)
        self.total = self.counts.sum(axis=1)  # (item,) people who judged it
        self.distance, self.score = _distance(judgments.scale, score), score
        if int(self.people.sum()) < 2:
            raise BadData(
                "expected two people or more, so that each can be compared with the others; got "
                f"{int(self.people.sum())}",
                expected="two people",
            )
        if not (self.total >= 2).any():
            raise BadData(
                "no item was judged by two people; expected items that several people judged",
                expected="items that two people judged",
            )

    def contests(
        self, label: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]:
        """Compare a model with each person on each item that both and another person judged.

        ``label`` is the model's of each item, -1 for none. Return the person, whether the model is
        at least as near to the others as the person, and whether the person is as the model.
        """
        kept = (label[self.item] >= 0) & (self.total[self.item] >= 2)
        item, own = self.item[kept], self.label[kept]
        given, rest = label[item], self.total[item] - 1
        cost = self.counts @ self.distance  # (item, label) distance to all people together
        far = np.maximum(cost[item, given] - self.distance[given, own], 0.0) / rest
        near = cost[item, own] / rest  # the distance from oneself is 0
        if self.score == "neg-rmse":
            far, near = np.sqrt(far), np.sqrt(near)
        return self.person[kept], far <= near + _SLACK, near <= far + _SLACK


def _test(
    person: NDArray[np.int32],  # (contest,)
    model_holds: NDArray[np.bool_],  # (contest,)
    person_holds: NDArray[np.bool_],  # (contest,)
    chosen: list[int],  # persons with enough items
    epsilon: float,
) -> list[dict[str, Any]]:
    """Test a model against each person; the rate is controlled over people."""
    gap = person_holds.astype(np.float64) - model_holds
    rows: list[dict[str, Any]] = []
    for own in (person == who for who in chosen):
        p = float(gap[own][0] >= epsilon)  # without spread the test has no value
        if np.ptp(gap[own]) > 0:
            p = float(ttest_1samp(gap[own], epsilon, alternative="less").pvalue)
        holds = {"model_holds": model_holds[own].mean(), "person_holds": person_holds[own].mean()}
        rows.append({"items": int(own.sum()), "p": p} | {k: float(v) for k, v in holds.items()})
    adjusted = adjust(np.array([row["p"] for row in rows]), dependent=True)
    return [row | {"p_adjusted": q} for row, q in zip(rows, adjusted.tolist(), strict=True)]


def _distance(scale: Scale, score: ScoreName) -> _Floats:  # (label, label)
    """Return how far labels are apart: 0 or 1, or the squared difference of their numbers."""
    if score == "accuracy":
        return np.asarray(1.0 - np.eye(len(scale.labels)))
    words = [label for label in scale.labels if as_number(label) is None]
    if words and not scale.ordinal:
        raise BadData(
            f"neg-rmse needs labels that are numbers or in order, and {shown(words[0])} is "
            "neither; accuracy takes any labels",
            value=words[0],
            expected="grades",
            code="no-grades",
            remedies=(Remedy("labels", "<".join(scale.labels[:3])),),
        )
    values = scale.values
    return np.asarray((values[:, None] - values[None, :]) ** 2)
