"""What to do about a judge: keep, train, drop, or watch until there is more to go by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from adjudge.data.source import count_of
from adjudge.errors import BadSetting
from adjudge.evaluation.skill import Skill

# With fewer judgments even a judge who is always right cannot be told from chance on two truths.
_LEAST = 10
# Of two judges of skill 0.1, one label more in 20 is right than by chance: not worth its price.
_USEFUL = 0.1
# To drop a judge who is worth keeping costs about three times as much as to keep one who is not:
# their work is lost, and so may they be; what the other does, the model discounts. 3 / (3 + 1).
_DROP = 0.75
# Of judges who are let alone, not more than one in ten should turn out to be useless.
_DOUBT = 0.1
# A judge who is so surely better than chance knows something, and can be taught the rest.
_SURE = 0.05
# A quarter of a truth's items is a mistake that a word with the judge can mend.
_MISTAKE = 0.25
# What all judges do nearly as often is a matter for the guidelines, not for one of them.
_EXCESS = 0.1
# A quarter of a grade moves one label in four to its neighbour.
_BIAS = 0.25
# Nine judgments in ten with one label: they do not look, or do not care.
_SINGLE = 0.9
_BY_CHANCE = 0.001  # an average judge would do so on the same items once in a thousand times

_KEEP, _TRAIN, _DROPPED, _WATCH = "keep", "train", "drop", "watch"
ADVICE = (_KEEP, _TRAIN, _WATCH, _DROPPED)  # in the order that pages show


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The thresholds of the advice.

    - Fewer than ``least`` judgments on items that others judged too, or on gold: watch.
    - Probability of ``drop`` or more that their skill is below ``useful``: drop; likewise above
      ``doubt`` if one label makes up ``single`` of their judgments or more, and that not because of
      the items.
    - Commonest mistake in a share of ``mistake`` or more of a truth, and that clearly by ``excess``
      more than all judges together; or clearly biased, by ``bias`` grades or more; and no better
      than chance with a probability of ``sure`` at most: train.
    - Probability above ``doubt`` that their skill is below ``useful``: watch.
    - Else: keep.
    """

    least: int = _LEAST
    useful: float = _USEFUL
    drop: float = _DROP
    doubt: float = _DOUBT
    sure: float = _SURE
    mistake: float = _MISTAKE
    excess: float = _EXCESS
    single: float = _SINGLE
    bias: float = _BIAS

    def __post_init__(self) -> None:
        if self.least < 0:
            raise BadSetting("least", self.least, "a number of judgments, 0 or more")
        for entry in fields(self)[1:8]:
            value = getattr(self, entry.name)
            if not 0 <= value <= 1:
                raise BadSetting(entry.name, value, "a share from 0 to 1")
        if self.doubt > self.drop:
            raise BadSetting("doubt", self.doubt, f"no more than drop, {self.drop}")
        if not self.bias >= 0:
            raise BadSetting("bias", self.bias, "a number of grades, 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evidence:
    """What the advice on every judge rests on."""

    judgments: NDArray[np.int64]  # (judge,)
    told: NDArray[np.int64]  # (judge,) those on items that others judged too, or on gold
    accuracy: NDArray[np.float64]  # (3, judge) value, low, high
    bits: NDArray[np.float64]  # (judge,)
    skill: Skill
    bias: NDArray[np.float64]  # (3, judge) NaN where grades have no order
    mistake: NDArray[np.float64]  # (3, judge) rate of the commonest, NaN where there is none
    usual: NDArray[np.float64]  # (judge,) rate of that mistake over all judges together
    confused: list[tuple[str, str]]  # (judge,) its truth and label
    favourite: list[str]  # (judge,) the label they give most often
    favoured: NDArray[np.float64]  # (judge,) how often they give it, as a share
    deserved: NDArray[np.float64]  # (judge,) how often an average judge would, on the same items


def advise(found: Evidence, limits: Limits) -> tuple[list[str], list[str]]:  # (judge,), (judge,)
    """The advice on each judge, and a sentence that says why."""
    skill = found.skill
    few = found.told < limits.least
    unsure = skill.p_useless > limits.doubt
    drop = (skill.p_useless >= limits.drop) | (unsure & _single(found, limits))
    with np.errstate(invalid="ignore"):
        rate, low, _ = found.mistake
        wrong = (rate >= limits.mistake) & (low > found.usual + limits.excess)
        value, below, above = found.bias
        leans = (np.abs(value) >= limits.bias) & ((below > 0) | (above < 0))
    able = skill.p_chance <= limits.sure
    case = np.select([few, drop, wrong & able, leans & able, unsure], range(5), 5)
    advice = np.array([_WATCH, _DROPPED, _TRAIN, _TRAIN, _WATCH, _KEEP])[case].tolist()
    tell = (_few, _drop, _wrong, _leans, _unsure, _keep)
    return advice, [tell[which](found, judge) for judge, which in enumerate(case.tolist())]


def _single(found: Evidence, limits: Limits) -> NDArray[np.bool_]:  # (judge,)
    """Who gives one label only, where an average judge on the same items would not."""
    hits = found.favoured * found.judgments
    misses = found.judgments - hits
    with np.errstate(invalid="ignore"):
        chance = betainc(np.maximum(hits, 1e-9), misses + 1.0, np.clip(found.deserved, 0.0, 1.0))
    return np.asarray((found.favoured >= limits.single) & (chance <= _BY_CHANCE))


def _few(found: Evidence, judge: int) -> str:
    return f"{_count(found, judge)}: too few to say"


def _drop(found: Evidence, judge: int) -> str:
    if found.skill.high[judge] < 0:
        return (
            f"worse than chance: {_skill(found, judge)}; {_count(found, judge)}; "
            "the scale may have been read the wrong way round: ask before you drop"
        )
    text = f"hardly better than chance: {_skill(found, judge)}"
    if found.favoured[judge] >= _SINGLE:
        text += f"; gave {found.favourite[judge]} in {found.favoured[judge]:.0%} of judgments"
    return f"{text}; {_count(found, judge)}"


def _unsure(found: Evidence, judge: int) -> str:
    return f"too near to chance to say: {_skill(found, judge)}; {_count(found, judge)}"


def _wrong(found: Evidence, judge: int) -> str:
    truth, label = found.confused[judge]
    how = _interval(found.mistake[:, judge], "{:.0%}")
    return (
        f"rates {truth} as {label} in {how} of cases; "
        f"all judges together in {found.usual[judge]:.0%}"
    )


def _leans(found: Evidence, judge: int) -> str:
    value, low, high = found.bias[:, judge]
    high_or_low = "high" if value > 0 else "low"
    near, far = sorted((abs(low), abs(high)))
    how = _interval((abs(value), near, far), "{:.2f}")
    return f"rates {how} grades too {high_or_low} on average"


def _keep(found: Evidence, judge: int) -> str:
    return f"{_right(found, judge)}; {found.bits[judge]:.2f} bits a judgment"


def _skill(found: Evidence, judge: int) -> str:
    skill = found.skill
    how = _interval((skill.value[judge], skill.low[judge], skill.high[judge]), "{:.2f}")
    return f"skill {how}, where 0 is chance and 1 perfect"


def _right(found: Evidence, judge: int) -> str:
    return f"right in {_interval(found.accuracy[:, judge], '{:.0%}')}"


def _count(found: Evidence, judge: int) -> str:
    number, told = int(found.judgments[judge]), int(found.told[judge])
    text = count_of(number, "judgment")
    if told < number:
        text += f", {f'{told:,}' if told else 'none'} of them on items that others judged"
    return text


def _interval(values: Sequence[float] | NDArray[np.float64], form: str) -> str:
    value, low, high = map(form.format, values)
    return f"{value} ({low} to {high})".replace("-0.00", "0.00")
