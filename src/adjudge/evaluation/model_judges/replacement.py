"""The alternative annotator test: whether LLM judges may replace people, and its power.

Each person h is left out in turn. Against the others' labels, W_f is 1 on an item where the model
scores at least as well as h, W_h where h scores at least as well as the model. The null hypothesis
mean(W_h - W_f) >= epsilon is tested by a t-test for each h, at a false discovery rate q over people
(Benjamini and Yekutieli). The winning rate is the share of people for whom it is rejected; at one
half or more the model may replace people. The advantage probability is the mean of W_f over people.

Calderon, Reichart and Dror (2025), "The Alternative Annotator Test for LLM-as-a-Judge: How to
Statistically Justify Replacing Human Annotators with LLMs", ACL, arXiv:2501.10970.

The power is simulated: each person of a pilot wins, ties or loses against the model with certain
chances. A simulated study draws people from the pilot, their chances from what the pilot leaves
open (a Dirichlet distribution), and so many contests of each; then it runs the test. Contests of
different people are drawn independently, though in a real study they share items: the chance that
all fail together is somewhat larger than simulated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.judgments import Judgments
from adjudge.data.names import Codes
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting
from adjudge.evaluation.model_judges._contests import (
    Contests,
    Panel,
    ScoreName,
    panel_of,
    split_people,
)
from adjudge.evaluation.model_judges._non_inferiority import (
    NonInferiority,
    compare_rankings,
    compare_scores,
)
from adjudge.evaluation.scores import columns_of, reals
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
    """Whether a model may replace people, on all items or on those of one group."""

    model: str
    group: str | None  # None: all items
    people: tuple[_AgainstPerson, ...]
    labels: NonInferiority | None  # None where nobody could be compared
    ranking: NonInferiority | None = None  # None where there are no runs
    reason: str = ""

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

    verdicts: tuple[_Verdict, ...]  # all items first, then by group
    score: ScoreName
    rule: _Rule
    left_out: tuple[str, ...]  # people with too few items
    panel: Panel

    def __getitem__(self, model: str) -> _Verdict:
        """The verdict on a model, on all items."""
        for one in self.verdicts:
            if one.model == model and one.group is None:
                return one
        raise BadSetting("model", model, f"one of {', '.join(self.panel.models)}")

    @property
    def overall(self) -> tuple[_Verdict, ...]:
        """The verdicts on all items, one a model."""
        return tuple(one for one in self.verdicts if one.group is None)

    @property
    def warnings(self) -> tuple[str, ...]:
        """When not to trust it, in sentences."""
        told = []
        people = self.panel.people
        used = {one.person for verdict in self.overall for one in verdict.people}
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

    def to_table(self) -> Any:
        """One row per model, or per model and group."""
        rows = self.verdicts
        columns = columns_of(rows, text=("model", "verdict"))
        if any(one.group is not None for one in rows):
            groups = columns_of(rows, text=("group",))
            columns = {"model": columns.pop("model"), **groups, **columns}
        columns |= columns_of(rows, real=("winning_rate", "advantage_probability"))
        columns["people"] = pa.array([len(one.people) for one in rows], pa.int64())
        contests = [sum(person.items for person in one.people) for one in rows]
        columns["contests"] = pa.array(contests, pa.int64())
        names = ("difference", "difference_low", "non_inferior")
        columns |= _compared([one.labels for one in rows], names)
        if any(one.ranking for one in rows):
            names = ("ranking_difference", "ranking_low", "ranking_non_inferior")
            columns |= _compared([one.ranking for one in rows], names)
        return pa.table(columns | columns_of(rows, text=("reason",)))

    def people_table(self) -> Any:
        """One row per model and person."""
        rows = [(one, person) for one in self.verdicts for person in one.people]
        people = [person for _, person in rows]
        return pa.table(
            {
                **columns_of([one for one, _ in rows], text=("model", "group")),
                **columns_of(
                    people,
                    text=("person",),
                    whole=("items",),
                    real=("model_holds", "person_holds", "p", "p_adjusted"),
                ),
                "rejected": pa.array([person.rejected for person in people], pa.bool_()),
            }
        )


def _compared(
    found: Sequence[NonInferiority | None], names: tuple[str, str, str]
) -> dict[str, Any]:
    """The difference from people, its lower bound, and whether it is no worse; null if untested."""
    difference, low, holds = names
    return {
        difference: reals([None if one is None else one.difference for one in found]),
        low: reals([None if one is None else one.low for one in found]),
        holds: pa.array([None if one is None else one.holds for one in found], pa.bool_()),
    }


def may_replace(
    people: Judgments | str | Path | Any,
    models: Judgments | str | Path | Any = None,
    *,
    score: ScoreName = "accuracy",
    epsilon: float = _EPSILON,
    q: float = 0.05,
    least_items: int = _LEAST_ITEMS,
    by: str | Mapping[str, str] | None = None,
    margin: float | None = None,
    runs: Sequence[Run] = (),
    measure: str = "nDCG@10",
    resamples: int = 1000,
    seed: int = 0,
) -> Replacement:
    """Whether models may replace people, by the alternative annotator test.

    ``people`` and ``models`` are files, tables or Judgments; one that holds both is told apart by a
    column ``kind`` or ``family``. ``by`` makes a verdict for each group of items too: ``"topic"``,
    a regular expression in the items' names, or a mapping of items to groups; false discoveries
    are then controlled over people and groups together. ``margin`` is how much worse than a
    person's the model's mean score may be for its labels to be called no worse (0.05, or a
    twentieth of the range of the grades). With ``runs``, it is also said whether a model ranks them
    by ``measure`` no worse than a person does.
    """
    rule = _Rule(epsilon=epsilon, q=q, least_items=least_items)
    if margin is not None and not 0 <= margin < np.inf:
        raise BadSetting("margin", margin, "a number from 0 up, such as 0.05")
    panel = panel_of(*split_people(people, models), score)
    groups = None if by is None else _group_items(panel.people, by)
    bootstrap = {"resamples": resamples, "seed": seed}
    whole: list[_Verdict] = []
    parted: list[_Verdict] = []
    for code, model in enumerate(panel.models):
        contests = panel.contests(code)
        whole += _verdicts(panel, model, {None: contests}, rule, margin, bootstrap)
        if groups is not None:
            parts: dict[str | None, Contests] = {
                name: contests.select(groups[1][contests.item] == at)
                for at, name in enumerate(groups[0])
            }
            parted += _verdicts(panel, model, parts, rule, margin, bootstrap)
    if runs:
        ranks: dict[str, Any] = {"measure": measure, "least_items": least_items, **bootstrap}
        whole = [
            replace(one, ranking=compare_rankings(panel, code, runs, **ranks))
            for code, one in enumerate(whole)
        ]
    if not any(one.people for one in whole):
        raise BadData(_too_few(panel, least_items), expected=f"{least_items} items a person")
    tested = {one.person for verdict in whole for one in verdict.people}
    return Replacement(
        verdicts=(*whole, *parted),
        score=score,
        rule=rule,
        left_out=tuple(name for name in panel.people.judges.to_pylist() if name not in tested),
        panel=panel,
    )


def _verdicts(
    panel: Panel,
    model: str,
    parts: Mapping[str | None, Contests],
    rule: _Rule,
    margin: float | None,
    bootstrap: Mapping[str, int],
) -> list[_Verdict]:
    """The verdicts on a model, one a part of the items, all under one false discovery rate."""
    kept = {name: _enough(contests, rule.least_items) for name, contests in parts.items()}
    found = []
    for name, people in zip(kept, _test(panel, list(kept.values()), rule), strict=True):
        reason = "" if people else f"no person has {rule.least_items:,} items with the model"
        labels = compare_scores(panel, kept[name], margin=margin, **bootstrap) if people else None
        found.append(_Verdict(model=model, group=name, people=people, labels=labels, reason=reason))
    return found


def _enough(contests: Contests, least: int) -> Contests:
    """The contests with people who have enough of them."""
    times = np.bincount(contests.person, minlength=1)
    return contests.select(times[contests.person] >= least)


def _test(
    panel: Panel, parts: Sequence[Contests], rule: _Rule
) -> list[tuple[_AgainstPerson, ...]]:  # for each part, those who were tested
    """Test a model against each person in each part; the rate is controlled over all of them."""
    rows: list[tuple[Any, ...]] = []
    for part, contests in enumerate(parts):
        person, code = np.unique(contests.person, return_inverse=True)
        model = contests.model_holds.astype(np.float64)
        theirs = contests.person_holds.astype(np.float64)
        gap = theirs - model
        times, total, squares, *holds = (
            np.bincount(code, weights=weights).astype(np.float64)
            for weights in (np.ones(len(code)), gap, gap**2, model, theirs)
        )
        p = one_sided_p(times, total, squares, rule.epsilon)
        shares = (part / times for part in holds)
        rows += zip([part] * len(person), person, times, *shares, p, strict=True)
    adjusted = adjust(np.array([row[-1] for row in rows]), dependent=True)
    found: list[list[_AgainstPerson]] = [[] for _ in parts]
    for (part, person, times, model, theirs, p), fair in zip(rows, adjusted, strict=True):
        found[part].append(
            _AgainstPerson(
                person=panel.people.judges[int(person)].as_py(),
                items=int(times),
                model_holds=float(model),
                person_holds=float(theirs),
                p=float(p),
                p_adjusted=float(fair),
                rejected=bool(fair <= rule.q),
            )
        )
    return [tuple(people) for people in found]


def _group_items(
    judgments: Judgments, by: str | Mapping[str, str]
) -> tuple[tuple[str, ...], Codes]:  # (group,), (item,)
    """The groups of the items, and each one's, -1 for none: by topic, pattern, or a mapping.

    A pattern stands for its first group, or for all that it finds: ``_([a-z]+)$`` puts
    ``17_fluency`` into ``fluency``.
    """
    if by == "topic":
        if judgments.topics is None or judgments.topic is None:
            raise BadData(
                "the items have no topics; wanted a column topic, or a pattern in the items' names",
                expected="topics",
            )
        return tuple(judgments.topics.to_pylist()), judgments.topic
    items = judgments.items.to_pylist()
    found = _by_pattern(items, by) if isinstance(by, str) else [by.get(item) for item in items]
    names = tuple(dict.fromkeys(name for name in found if name is not None))
    if not names:
        raise BadSetting("by", by, f"groups of items such as {items[0]!r}")
    place = {name: at for at, name in enumerate(names)}
    code = [-1 if name is None else place[name] for name in found]
    return names, np.array(code, dtype=np.int32)


def _by_pattern(items: list[str], pattern: str) -> list[str | None]:
    try:
        rule = re.compile(pattern)
    except re.error as fault:
        raise BadSetting("by", pattern, f"topic, or a regular expression ({fault})") from None
    matches = [rule.search(item) for item in items]
    return [None if found is None else found[min(rule.groups, 1)] for found in matches]


def _too_few(panel: Panel, least: int) -> str:
    """Why nobody could be tested."""
    most = 0
    for code in range(len(panel.models)):
        most = max(most, int(np.bincount(panel.contests(code).person, minlength=1).max()))
    return (
        f"no person has {least:,} items that another person and a model judged too (the most is "
        f"{most:,}); wanted more judgments, or a smaller least_items"
    )


_ITEMS = (30, 50, 100, 200, 400)
_PEOPLE = (3, 5, 10)
_WANTED = 0.8  # power that is usually asked for
_PRIOR = 0.5  # contests of each outcome that a person is taken to have had before the pilot


@dataclass(frozen=True, slots=True, kw_only=True)
class _Power:
    """The chance that a model passes in a study of so many people with so many items each."""

    model: str
    people: int
    items: int
    power: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerTable:
    """The power of every size of a study, for every model."""

    rows: tuple[_Power, ...]
    studies: int

    def smallest(self, model: str) -> _Power | None:
        """The study with fewest judgments of people in which the model passes 4 times of 5."""
        able = [row for row in self.rows if row.model == model and row.power >= _WANTED]
        return min(able, key=lambda row: (row.people * row.items, row.people), default=None)

    def to_table(self) -> Any:
        """One row per model and size: model, people, items, power."""
        return pa.table(
            columns_of(self.rows, text=("model",), whole=("people", "items"), real=("power",))
        )


def simulate_power(
    pilot: Replacement,
    *,
    people: Sequence[int] = _PEOPLE,
    items: Sequence[int] = _ITEMS,
    studies: int = 2000,
    seed: int = 0,
) -> PowerTable:
    """How often each model would pass in studies of other sizes than the pilot's."""
    if studies < 1:
        raise BadSetting("studies", studies, "at least 1 simulated study")
    for name, sizes in (("people", people), ("items", items)):
        if not sizes or min(sizes) < 2:
            raise BadSetting(name, tuple(sizes), "sizes of 2 and more")
    rows = []
    for verdict in pilot.overall:
        if not verdict.people:
            continue
        shares = np.array([(1 - p.person_holds, 1 - p.model_holds) for p in verdict.people])
        items_of = np.array([p.items for p in verdict.people])
        won, lost = (shares * items_of[:, None]).T
        outcomes = np.stack([won, items_of - won - lost, lost], axis=1)  # (person, 3)
        for many, each in product(people, items):
            random = np.random.default_rng((seed, many, each))
            passed = _studies(outcomes, many, each, studies, pilot, random)
            rows.append(_Power(model=verdict.model, people=many, items=each, power=passed))
    return PowerTable(rows=tuple(rows), studies=studies)


def _studies(
    outcomes: NDArray[np.float64],  # (person, 3)
    people: int,
    items: int,
    studies: int,
    pilot: Replacement,
    random: np.random.Generator,
) -> float:
    """The share of simulated studies in which the model passes."""
    chosen = random.integers(0, len(outcomes), size=(studies, people))
    shape = random.standard_gamma(outcomes[chosen] + _PRIOR)  # normalised, it is Dirichlet
    chances = shape / shape.sum(axis=2, keepdims=True)
    counts = random.multinomial(items, chances).astype(np.float64)  # (study, person, 3)
    total = counts[:, :, 2] - counts[:, :, 0]
    squares = counts[:, :, 2] + counts[:, :, 0]
    p = one_sided_p(np.full(total.shape, float(items)), total, squares, pilot.rule.epsilon)
    return float((_rejected(p, pilot.rule.q) >= _HALF * people).mean())


def _rejected(p: NDArray[np.float64], q: float) -> NDArray[np.int64]:  # (study, person) -> (study,)
    """How many people each study rejects the hypothesis for, by Benjamini and Yekutieli."""
    many = p.shape[1]
    rank = np.arange(1, many + 1)
    under = np.sort(p, axis=1) <= rank * q / (many * (1.0 / rank).sum())
    return np.asarray(np.where(under, rank, 0).max(axis=1))
