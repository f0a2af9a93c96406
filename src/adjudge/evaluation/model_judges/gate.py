"""The gate of a release: requirements on a judge or its numbers, against the card of its audit.

A requirement is met where the interval of its measure meets it entirely, failed where no part of
the interval does, and open otherwise. A card whose model, prompt, rubric, settings or scale differ
from those of the new judgments is stale, and so is one that is too old: then nothing is decided.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from adjudge.data.gold import Gold, take_gold
from adjudge.data.judgments import PERSON, Judgments, take_judgments
from adjudge.data.model_answers import ModelAnswers
from adjudge.data.names import look_up
from adjudge.data.runs import Run
from adjudge.errors import BadData, BadSetting, UnknownName
from adjudge.evaluation.estimation._targets import PLAIN
from adjudge.evaluation.model_judges._shifts import Labels, Shifts, measure_shifts
from adjudge.evaluation.model_judges.answers import take_answers
from adjudge.evaluation.model_judges.card import Card, identity
from adjudge.evaluation.model_judges.corrected import LEAST_GOLD, correct_targets
from adjudge.evaluation.model_judges.rates import NEEDS, Rates
from adjudge.evaluation.model_judges.soft_judgments import soft_judgments
from adjudge.evaluation.scores import Score

PASSED, FAILED, OPEN = "passed", "failed", "cannot tell"
CODES = {PASSED: 0, FAILED: 1, OPEN: 3}
MAX_AGE = 180  # days
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_REQUIREMENT = re.compile(r"\s*(\S.*?)\s*(>=|<=|>|<)\s*([-+0-9.eE]+)\s*")
_SHIFTS = ("judge-shift", "system-shift")
_OF_RUNS = re.compile(r"(.+)\(([^()]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One requirement with what was measured."""

    text: str
    measure: str
    outcome: str
    reason: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The outcome of a gate."""

    judge: str
    requirements: tuple[Requirement, ...]
    stale: tuple[str, ...]  # what the card does not fit
    unbound: tuple[str, ...]  # what the card does not know
    shifts: Shifts | None

    @property
    def outcome(self) -> str:
        """Passed, failed, or cannot tell."""
        each = {one.outcome for one in self.requirements}
        if self.stale:
            return OPEN
        return FAILED if FAILED in each else OPEN if OPEN in each else PASSED

    @property
    def code(self) -> int:
        """The exit code: 0 passed, 1 failed, 3 cannot tell."""
        return CODES[self.outcome]

    def to_table(self) -> Any:
        """One row per requirement."""
        return pa.Table.from_pylist([asdict(one) for one in self.requirements])

    def to_json(self) -> dict[str, Any]:
        """All of it as data."""
        found = {"outcome": self.outcome, "code": self.code, **asdict(self)}
        if self.shifts is not None:
            found["shifts"]["possible"] = [one.name for one in self.shifts.possible]
            found["shifts"]["sentence"] = self.shifts.sentence
        return found


def parse_requirements(text: str) -> list[tuple[str, str, float]]:
    """Return measure, sign and bound of requirements such as ``kappa>=0.6,tnr>=0.8``."""
    found = []
    for part in re.split(r",(?![^()]*\))", text):
        match = _REQUIREMENT.fullmatch(part)
        try:
            bound = float(match[3]) if match is not None else np.nan
        except ValueError:
            bound = np.nan
        if match is None or not np.isfinite(bound):
            expected = "a measure, a sign and a number, such as kappa>=0.6 or nDCG@10(A-B)>0"
            raise BadSetting("require", part.strip(), expected)
        known = (*NEEDS, *_SHIFTS, *PLAIN)
        if match[1].partition(":")[0] not in known and _OF_RUNS.fullmatch(match[1]) is None:
            raise UnknownName("measure", match[1], (*known, "nDCG@10(A)", "nDCG@10(A-B)"))
        found.append((match[1], match[2], bound))
    return found


def gate(
    judgments: ModelAnswers | Judgments | str | Path | Any,
    card: Card | str | Path,
    require: str,
    *,
    gold: Gold | str | Path | Any = None,
    anchors: Judgments | str | Path | Any = None,
    runs: Sequence[Run | str | Path] = (),
    people: str | None = None,
    prompt: str | None = None,
    rubric: str | None = None,
    max_age: int = MAX_AGE,
    by_estimate: bool = False,
    today: date | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Gate:
    """Check requirements on new judgments of an audited judge.

    ``gold`` is gold for the new judgments; without it the gold in the card is used. ``anchors`` are
    the labels that the judge gave fixed items before; without them those in the card. ``prompt``
    and ``rubric`` are texts that have to match the card. With ``by_estimate`` a
    requirement is decided without the interval of its measure.
    """
    required = parse_requirements(require)
    known = card if isinstance(card, Card) else Card.read(card)
    answers = take_answers(judgments, people)
    code = _judge_of(answers, known)
    given = identity(answers, code, prompt=prompt, rubric=rubric)
    # If fewer labels are in use, the scale is the same.
    if set(given["labels"]) <= set(known.labels):
        given["labels"] = known.labels
    stale = known.differences(given)
    old = ((today or datetime.now(UTC).date()) - date.fromisoformat(known.created)).days
    if old > max_age:
        stale += (f"age: the card is {old:,} days old, of at most {max_age:,}",)
    shifts = None
    if stale:
        checked = [
            Requirement(text=_write(one), measure=one[0], outcome=OPEN, reason="the card is stale")
            for one in required
        ]
    else:
        table = answers.judgments
        own = table.select(judgments=table.judge == code).with_scale(known.scale)
        truth = known.gold_labels if gold is None else take_gold(gold)
        systems = [run if isinstance(run, Run) else Run.read(run) for run in runs]
        fixed = dict(known.anchors) if anchors is None else _labels_of(take_judgments(anchors))
        work = _Gate(own, known, truth, fixed, systems, resamples, seed)
        checked = [_decide(one, work.measure(one[0]), by_estimate=by_estimate) for one in required]
        shifts = work.shifts
    return Gate(
        judge=known.judge,
        requirements=tuple(checked),
        stale=stale,
        unbound=known.unbound,
        shifts=shifts,
    )


def _judge_of(answers: ModelAnswers, card: Card) -> int:
    """Return the judge of the card: the LLM judge of its name, or the only one."""
    kinds = answers.judgments.kind
    names = answers.judgments.judges.to_pylist()
    llm = [at for at in range(len(names)) if kinds is None or kinds[at] != PERSON]
    named = [at for at in llm if names[at] == card.judge]
    if not named and len(llm) != 1:
        raise UnknownName("judge", card.judge, [names[at] for at in llm])
    return (named or llm)[0]


def _labels_of(judgments: Judgments) -> dict[str, str]:
    """Return the commonest label of each item."""
    soft = soft_judgments(judgments)
    items = judgments.items.take(pa.array(soft.item)).to_pylist()
    labels = [judgments.scale.labels[at] for at in soft.label.tolist()]
    return dict(zip(items, labels, strict=True))


def _write(requirement: tuple[str, str, float]) -> str:
    measure, sign, bound = requirement
    return f"{measure}{sign}{bound:g}"


def _decide(requirement: tuple[str, str, float], score: Score, *, by_estimate: bool) -> Requirement:
    """Decide a requirement by the interval of its measure."""
    name, sign, bound = requirement
    text, meets = _write(requirement), _SIGNS[sign]
    if not score.defined:
        return Requirement(text=text, measure=name, outcome=OPEN, reason=score.reason or "")
    ends = [score.low, score.high] if not by_estimate else [score.value]
    met = {meets(score.value if end is None else end, bound) for end in ends}
    outcome, reason = OPEN, "a part of the interval meets it: more gold decides"
    if met == {True}:
        outcome, reason = PASSED, "met" if by_estimate else "the entire interval meets it"
    elif met == {False}:
        outcome, reason = FAILED, "not met" if by_estimate else "no part of the interval meets it"
    interval = {"value": score.value, "low": score.low, "high": score.high}
    return Requirement(text=text, measure=name, outcome=outcome, reason=reason, **interval)


class _Gate:
    """What is measured of new judgments."""

    def __init__(
        self,
        own: Judgments,  # of the judge
        card: Card,
        gold: Gold,
        anchors: dict[str, str],
        runs: Sequence[Run],
        resamples: int,
        seed: int,
    ) -> None:
        self.own, self.card, self.gold, self.runs, self.seed = own, card, gold, runs, seed
        self.known = gold.align(own)
        soft = soft_judgments(own)
        self.label = np.full(own.item_count, -1, dtype=np.int64)
        self.label[soft.item] = soft.label
        has = self.known >= 0
        self.rates = Rates.count(
            card.scale, self.known[has], self.label[has], resamples=resamples, seed=seed
        )
        self.shifts = self._shifts(anchors)

    def measure(self, name: str) -> Score:
        """Measure what a requirement names; undefined, with the reason, where it cannot."""
        if name.partition(":")[0] in NEEDS:
            return self.rates.measure(name)
        if name.partition(":")[0] in _SHIFTS:
            return self._shift(name)
        match = _OF_RUNS.fullmatch(name)
        if match is not None:
            return self._estimate(name, self.own, match[1], self._runs_of(match[2]))
        have = int((self.known[self.fresh] >= 0).sum())
        if have >= LEAST_GOLD:
            return self._estimate(name, self.own.select(items=self.fresh), name, [])
        if name == "mean-grade" or (name == "share" and len(self.card.labels) == 2):
            return replace(self.shifts.level, name=name)
        return Score.undefined(name, f"needs {LEAST_GOLD} gold items of the new items, has {have}")

    def _estimate(self, name: str, own: Judgments, target: str, runs: list[Run]) -> Score:
        try:
            (found,) = correct_targets(own, self.gold, [target], runs, seed=self.seed)
        except BadData as fault:
            return Score.undefined(name, fault.sentence)
        if found.refused:
            return Score.undefined(name, found.refused)
        return Score(name=name, value=found.estimate, low=found.low, high=found.high)

    def _runs_of(self, named: str) -> list[Run]:
        """Return the runs that a measure names: A, or A-B."""
        if not self.runs:
            raise BadSetting("runs", None, f"the runs that {named} names")
        by_name = {run.name: run for run in self.runs}
        if named in by_name:
            return [by_name[named]]
        for first, run in by_name.items():
            rest = named.removeprefix(f"{first}-")
            if rest != named and rest in by_name:
                return [run, by_name[rest]]
        raise UnknownName("run", named, list(by_name))

    def _shift(self, name: str) -> Score:
        found = self.shifts
        for score in (found.judge, found.system, *found.by_class):
            if score.name == name:
                return score
        return Score.undefined(name, "needs 10 anchors of that class")

    def _shifts(self, anchors: dict[str, str]) -> Shifts:
        """Measure what changed since the audit, of the judge and of the system."""
        card, scale = self.card, self.card.scale
        items = list(anchors)
        at = look_up(pa.array(items, pa.large_string()), self.own.items)
        before = np.array([scale.label_code(anchors[item]) for item in items], dtype=np.int64)
        kept = (at >= 0) & (before >= 0)
        at, before = at[kept], before[kept]
        truth = self.known[at].astype(np.int64)
        fixed = np.zeros(self.own.item_count, dtype=np.bool_)
        fixed[at] = True
        times = np.bincount(self.label[~fixed], minlength=len(scale.labels))
        self.fresh = ~fixed if not fixed.all() else fixed
        values = scale.values
        table: NDArray[np.int64] = card.counted.table
        return measure_shifts(
            values[before],
            values[self.label[at]],
            truth,
            scale.truth_values,
            [Labels.of(values, row) for row in table],
            Labels.of(values, np.array([card.mix.get(label, 0) for label in scale.labels])),
            Labels.of(values, times),
            scale.truths,
        )
