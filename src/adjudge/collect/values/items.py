"""Items as a requester looks at them: the list, and one with everything that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from adjudge.collect.values.project import Beside

FILTERS = ("all", "open", "done", "disputed", "unsure", "unjudged", "gold", "skipped")
SORTS = ("query", "unsure", "judgments", "newest")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedItem:
    """One line of the list of items."""

    item: str
    query: str
    title: str
    state: str  # open, closed, set aside, final, skipped
    gold: bool
    trusted: int
    needed: int
    counts: dict[str, int]  # label -> trusted judgments; of gold all answers
    label: str | None  # by the last fit, or as was decided; of gold what is accepted
    probability: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalLabel:
    """What somebody decided of an item."""

    label: str
    by: str
    reason: str
    time: datetime
    gold: bool  # whether fits take it for gold
    active: bool
    topic: str = ""
    document: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemJudgment:
    """One answer to an item."""

    judge: str
    label: str
    other: bool  # such as "can't judge"
    standing: str  # trusted, surplus, untrusted
    kind: str  # training or work
    right: bool | None  # of gold
    seconds: float | None
    comment: str
    time: datetime
    accuracy: float | None  # of the judge, on gold
    answers: dict[str, str] = field(default_factory=dict)  # to further questions
    swapped: bool = False  # of a pair: they saw the right one on the left


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEvent:
    """One thing that happened to an item."""

    time: datetime
    what: str  # such as given out, judged, adjudicated, opened again
    by: str = ""  # the requester who did it, or system; empty for what a judge did
    judge: str | None = None
    text: str = ""  # the label, the reason, what became of it


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDetail:
    """An item with its judgments, its consensus and what was decided of it."""

    item: str
    topic: str
    query: str
    need: str
    category: str
    document: str
    title: str
    text: str
    url: str
    image: str
    state: str
    gold: bool
    accepted: tuple[str, ...]  # of gold
    trusted: int
    needed: int
    leased: int
    label: str | None
    probability: float | None
    judgments: tuple[ItemJudgment, ...]
    final: FinalLabel | None
    history: tuple[FinalLabel, ...]  # what was decided before, the latest first
    labels: tuple[str, ...]  # of the project
    beside: Beside | None = None  # the right result of a pair
    events: tuple[ItemEvent, ...] = ()  # everything that happened to it, the latest first
