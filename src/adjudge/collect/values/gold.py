"""Gold as a requester sees it: how judges did on it, its design, its forecast, suggestions."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar

from adjudge.collect.values.judging import accuracy_of

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldDesign(Generic[_Key]):
    """A training and a screening set that have no gold in common, and what is wrong with them."""

    training: tuple[_Key, ...]
    screening: tuple[_Key, ...]
    missing: dict[str, dict[str, int]]  # set -> label -> golds that the mix wants and nobody has
    counts: dict[str, dict[str, int]]  # set -> label -> golds in it
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldForecast:
    """How much gold a project needs, so that no judge meets one twice.

    ``typical`` is for a judge who does an equal share of the work, ``busiest`` for one who does all
    that they may. ``by_label`` splits the typical need by the mixes of the policy.
    """

    items: int
    judgments: int
    pages: int
    judges: int
    pages_a_judge: float
    pages_at_most: int
    training: int
    screening: int  # golds that a typical judge is screened with
    typical: int
    busiest: int
    have: int
    by_label: dict[str, tuple[int, ...]]  # label -> needed, had
    shown_each: float  # judges that each gold is shown to, on average
    by_role: dict[str, dict[str, int]] = field(default_factory=dict)  # set -> label -> golds
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """An item that could become gold, if a person agrees with the label."""

    item: str
    topic: str
    label: str
    probability: float
    judgments: int
    agreement: float  # share of its judgments that give the label


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldRow:
    """One gold, how judges did on it, and what they say against it."""

    item: str
    topic: str
    query: str
    title: str
    accepted: tuple[str, ...]
    reason: str
    reasons: dict[str, str]
    role: str
    active: bool
    version: int
    shown: int
    answered: int
    missed: int
    labels: dict[str, int]  # label -> answers
    contests: int  # not yet settled
    doubt: float = 0.0  # 0 to 1: see ``adjudge.collect.services._gold_review``
    best_say: str | None = None  # the label of the best judges, where it is not accepted

    @property
    def missed_share(self) -> float | None:
        """Missed among answered."""
        return accuracy_of(self.missed, self.answered)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedGold(Suggestion):
    """An item that could become gold, with all that a person needs to agree or not."""

    query: str
    need: str
    title: str
    text: str
    url: str
    votes: dict[str, tuple[str, ...]]  # label -> trusted judges who gave it


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A judge's "I disagree" with a gold."""

    contest: int
    item: str
    query: str
    title: str
    judge: str
    given: str
    accepted: tuple[str, ...]
    text: str
    time: datetime
    settled: bool
    upheld: bool | None
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Regrade:
    """What an edit of gold changed."""

    item: str
    answers: int  # answers graded again
    changed: int  # of them, now graded otherwise
    judges: int  # whose tallies changed
    unblocked: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()  # failed the training before, passed now
    upheld: int = 0  # contests that the edit settles
