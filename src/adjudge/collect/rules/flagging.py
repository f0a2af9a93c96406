"""Which judges a requester should look at: too fast to have read, one label for all, or gold alone.

Gold says whether a judge can do the work, not whether they do it where it is not gold. Three rules
say what gold does not, each by figures that a requester can look up. A flag accuses nobody: it is a
reason to look, and by itself changes nothing.

- Speed: the median time of a pair, from giving a page out to its answer. What a browser says of the
  time is not asked: a page cannot have taken less than that.
- One label: the same label on nearly everything, where others gave it to so much less of the same
  items that chance does not make it (one in a thousand, by the binomial distribution).
- Work unlike gold: how far they agree with others on work beyond chance lies below a share of what
  their gold lets expect, given how the others agree with each other on the same items, and by more
  than three standard errors below all of it.

Everything is an array over answers; no loop over judgments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from adjudge.collect.rules.policy import Policy
from adjudge.collect.values.requesting import Flag
from adjudge.data.source import count_of

_CHANCE = 0.001  # of one label on so much of the work, if they were like the others
_SURELY = 3.0  # standard errors: about one in a thousand
_USUAL = 0.8  # accuracy, where there is no gold


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkAnswers:
    """Trusted answers to work, one per place; judges, items and labels by number from 0."""

    judge: NDArray[np.int64]
    item: NDArray[np.int64]
    label: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFacts:
    """What else is known of each judge, in the order of their numbers."""

    pace: NDArray[np.float64]  # median seconds per item; NaN where it is not known
    pages: NDArray[np.int64]
    gold_seen: NDArray[np.int64]
    gold_right: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkAgreement:
    """How each judge's answers to work compare with others' answers to the same items."""

    answers: NDArray[np.int64]  # (judge,) on items that others answered too
    agrees: NDArray[np.float64]  # (judge,) mean share of the others with the same label
    error: NDArray[np.float64]  # (judge,) its standard error
    others: NDArray[np.float64]  # (judge,) how the others agree with each other there
    given: NDArray[np.float64]  # (judge, label) shares of the judge's labels
    around: NDArray[np.float64]  # (judge, label) shares of the others' labels on the same items


def _measure_agreement(work: WorkAnswers, judges: int, labels: int) -> _WorkAgreement:
    """Compare each judge with the others, on the items that both have answered."""
    counts = np.zeros((int(work.item.max(initial=-1)) + 1, labels))  # (item, label)
    np.add.at(counts, (work.item, work.label), 1.0)
    total = counts.sum(axis=1)
    pairs = (counts * (counts - 1)).sum(axis=1)
    usual = pairs.sum() / max(1.0, (total * (total - 1)).sum())
    kept = total[work.item] > 1
    judge, item, label = work.judge[kept], work.item[kept], work.label[kept]
    same, rest = counts[item, label] - 1, total[item] - 1
    agrees = same / rest
    # Of one other answer nobody can say how it agrees with others: then as all do on average.
    among = np.where(rest > 1, (pairs[item] - 2 * same) / np.maximum(1.0, rest * (rest - 1)), usual)
    answers = np.bincount(judge, minlength=judges)
    divisor = np.maximum(1, answers)

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(judge, weights=values, minlength=judges) / divisor

    own = label[:, None] == np.arange(labels)  # (answer, label)
    others = (counts[item] - own) / rest[:, None]
    average = mean(agrees)
    return _WorkAgreement(
        answers=answers,
        agrees=average,
        error=np.sqrt(np.maximum(0.0, mean(agrees**2) - average**2) / divisor),
        others=mean(among),
        given=np.stack([mean(own[:, place].astype(float)) for place in range(labels)], axis=1),
        around=np.stack([mean(others[:, place]) for place in range(labels)], axis=1),
    )


def flag_judges(
    work: WorkAnswers, facts: JudgeFacts, policies: Sequence[Policy], labels: Sequence[str]
) -> list[tuple[Flag, ...]]:
    """The flags of each judge, by the policy of each, in the order of their numbers."""
    judges = len(policies)
    agreement = _measure_agreement(work, judges, len(labels))
    lines = {
        name: np.array([float(getattr(policy, name)) for policy in policies])
        for name in ("flag_seconds", "flag_same_label", "flag_work_share", "flag_least")
    }
    enough = agreement.answers >= lines["flag_least"]
    flags: list[list[Flag]] = [[] for _ in range(judges)]
    for place in np.flatnonzero(facts.pace < lines["flag_seconds"]):
        flags[place].append(_speed(facts, int(place), lines["flag_seconds"][place]))
    for place in np.flatnonzero(enough & _of_one_label(agreement, lines["flag_same_label"])):
        flags[place].append(_one_label(agreement, int(place), labels))
    unlike = _is_unlike_gold(agreement, facts, lines["flag_work_share"], len(labels))
    for place in np.flatnonzero(enough & unlike):
        flags[place].append(_work_unlike_gold(agreement, facts, int(place)))
    return [tuple(found) for found in flags]


def _of_one_label(agreement: _WorkAgreement, line: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether judges give one label so often that others' answers do not explain it."""
    from scipy.special import bdtrc

    every = np.arange(len(agreement.answers))
    most = agreement.given.argmax(axis=1)
    share, around = agreement.given[every, most], agreement.around[every, most]
    times = np.rint(share * agreement.answers)
    chance = bdtrc(np.maximum(0, times - 1), agreement.answers, np.clip(around, 0, 1))
    found: NDArray[np.bool_] = (line > 0) & (share >= line) & (chance < _CHANCE)
    return found


def _is_unlike_gold(
    agreement: _WorkAgreement, facts: JudgeFacts, share: NDArray[np.float64], labels: int
) -> NDArray[np.bool_]:
    """Whether judges agree with others on work far less than their gold lets expect."""
    expected, doubt = _expect_agreement(agreement, facts, labels)
    chance = (agreement.given * agreement.around).sum(axis=1)
    far = agreement.agrees < chance + share * (expected - chance)
    surely = agreement.agrees + _SURELY * np.hypot(agreement.error, doubt) < expected
    found: NDArray[np.bool_] = (share > 0) & far & surely
    return found


def _expect_agreement(
    agreement: _WorkAgreement, facts: JudgeFacts, labels: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The agreement with others that a judge's gold lets expect on work, and its standard error.

    Who is right with probability a, and wrong in any way alike, agrees with others of probability b
    at a rate of a b + (1 - a) (1 - b) / (labels - 1), whatever the truths. Work may be harder than
    gold: the rate is scaled by how the others do agree with each other on it.
    """
    wrong = 1 / max(1, labels - 1)
    seen = facts.gold_seen.sum()
    everyone = facts.gold_right.sum() / seen if seen else _USUAL
    everyone = min(0.99, max(1 / max(2, labels) + 0.05, everyone))
    own = (facts.gold_right + 2 * everyone) / (facts.gold_seen + 2)  # few golds say little
    scale = agreement.others / (everyone**2 + wrong * (1 - everyone) ** 2)
    slope = scale * (everyone - wrong * (1 - everyone))
    expected = scale * (own * everyone + wrong * (1 - own) * (1 - everyone))
    return expected, slope * np.sqrt(own * (1 - own) / (facts.gold_seen + 2))


def _speed(facts: JudgeFacts, place: int, line: float) -> Flag:
    pages = int(facts.pages[place])
    return Flag(
        rule="speed",
        reason=f"{facts.pace[place]:.1f} seconds per item (median of {pages} "
        f"page{'' if pages == 1 else 's'}), below {line:g}: too fast to have read them",
    )


def _one_label(agreement: _WorkAgreement, place: int, labels: Sequence[str]) -> Flag:
    most = int(agreement.given[place].argmax())
    return Flag(
        rule="one-label",
        reason=f"{labels[most]} on {agreement.given[place, most]:.0%} of "
        f"{agreement.answers[place]} results; "
        f"others gave it on {agreement.around[place, most]:.0%} of the same",
    )


def _work_unlike_gold(agreement: _WorkAgreement, facts: JudgeFacts, place: int) -> Flag:
    gold = f"{facts.gold_right[place]} of {count_of(int(facts.gold_seen[place]), 'gold')} "
    gold += "is right" if facts.gold_right[place] == 1 else "are right"
    return Flag(
        rule="work-unlike-gold",
        reason=f"agrees with others on {agreement.agrees[place]:.0%} of {agreement.answers[place]} "
        f"results, and they with each other on {agreement.others[place]:.0%}; {gold}",
    )
