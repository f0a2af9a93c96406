"""What passes between a judge and the service: plain values, no database, no web."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Literal

Channel = Literal["open", "invite", "panel", "api"]
CHANNELS: tuple[Channel, ...] = ("open", "invite", "panel", "api")

DRY_RUN: Literal["dry-run"] = "dry-run"  # somebody who tries the project out: nothing counts
Kind = Literal["person", "model", "dry-run"]

Stage = Literal["consent", "training", "working", "warned", "finished", "failed", "blocked"]

CANNOT_JUDGE = "can't judge"
PAGE_BROKEN = "page broken"
OTHERS: tuple[str, ...] = (CANNOT_JUDGE, PAGE_BROKEN)

LONGEST_COMMENT = 2_000  # characters; also of an answer in words


def accuracy_of(right: int, seen: int) -> float | None:
    """Share of golds right; None where none was seen."""
    return right / seen if seen else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Someone who came to a project, and by which way.

    ``key`` is who they are in that channel: a participant id, an invitation, a session, a token.
    The same channel and key is the same judge, in any session and on any device. ``parameters``
    are kept as given (study id, session id of a panel).
    """

    project: str  # the project's slug
    channel: Channel
    key: str
    parameters: dict[str, str] = field(default_factory=dict)
    kind: Kind = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectView:
    """What a judge may know of a project before and while judging."""

    slug: str
    name: str
    state: str  # "draft", "open", "paused" or "closed"
    guidelines: str  # Markdown; the arm's own where the judge's arm has some
    labels: tuple[str, ...]
    others: tuple[str, ...]
    consent: str  # Markdown, "" where the policy asks for none
    training_pairs: int  # 0: no training
    training_rule: str  # "share" right passes, or so many "correct"
    training_pass: float
    training_tries: int
    pairs_per_page: int
    screened: bool  # whether there are known answers among the work
    pay_per_page: Decimal
    short_pages: str  # "by-items": a page with few items is paid by its items; or "full"
    pay_failed: Decimal  # what a judge who failed the training is paid
    currency: str
    least_pages: int  # for the full completion code; 0: any
    feedback: bool
    page_minutes: float  # that a page is kept for its judge
    images: bool  # whether pictures of results are loaded from where they are
    previews: bool  # whether results can be opened in a frame next to the work
    of_pairs: bool = False  # whether two results are shown next to each other

    @property
    def pays(self) -> bool:
        """Whether judges are paid anything."""
        return self.pay_per_page > 0 or self.pay_failed > 0


MOST_PAGES_LEFT = 10  # that are counted


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeView:
    """The present state of a judge: all that their own pages may show."""

    judge: str  # random public id
    project: str  # slug
    kind: Kind
    stage: Stage
    reason: str  # one sentence for the judge: why they are at this stage
    judged: int  # pairs they have answered outside training
    pages: int  # pages they have answered outside training
    open_items: bool  # whether a page could be made for them now
    page: str | None  # the page they have open, to resume
    training_done: int  # pairs answered in the present try
    training_pairs: int  # pairs in a try; 0 where there is no training
    training_right: int
    tries_left: int  # further tries after the present one
    # None where the policy gives no feedback: counts would show how many golds a page had.
    gold_seen: int | None  # screening golds answered that count
    gold_right: int | None
    accuracy: float | None  # gold_right / gold_seen; None before the first
    warned: bool  # whether they were warned, now or before
    pay: Decimal  # earned so far
    currency: str
    completion_code: str | None
    return_link: str | None = None  # back to the panel they came from, with the code in it
    notice: tuple[str, ...] = ()  # sentences to show once with the next page
    message: str = ""  # from the requester, until they say that they have read it


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideRow:
    """The right one of two results, as it is shown."""

    title: str
    text: str
    url: str
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(BesideRow):
    """One result to judge, as it is shown; of a pair, the left one with the right one."""

    row: int  # 1, 2, ... by position on the page
    asked: tuple[str, ...] = ()  # further questions about it, by their names
    beside: BesideRow | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A further question of a page, as it is shown."""

    name: str
    text: str
    labels: tuple[str, ...]  # none: it is answered in words
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The rows of one query on a page."""

    query: str
    need: str
    category: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a judge said of one row: a label, or one of the others."""

    row: int
    label: str
    comment: str = ""
    seconds: float | None = None
    answers: dict[str, str] = field(default_factory=dict)  # to further questions, by their names


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page of rows that is theirs until it expires. Nothing in it shows which rows are gold."""

    page: str  # random public id
    kind: Literal["training", "work"]
    key: str  # to be sent back with the answers: makes a submit idempotent
    expires: datetime
    groups: tuple[Group, ...]
    labels: tuple[str, ...]
    others: tuple[str, ...]
    answers: tuple[Answer, ...] = ()  # saved or, in training, already given
    feedback: tuple[Feedback, ...] = ()  # in training: mistakes already made on this page
    questions: tuple[AskedQuestion, ...] = ()  # besides the label; none in training
    colours: dict[str, str] = field(default_factory=dict)  # of labels that have one
    why: str = ""  # of a refresher: why this training comes in the middle of work

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every row of the page, in order."""
        return tuple(row for group in self.groups for row in group.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Feedback on one gold that was answered: every one in training, the missed in work."""

    row: int
    given: str
    accepted: tuple[str, ...]
    reason: str
    right: bool
    contested: bool = False
    of_pairs: bool = False  # whether the labels are sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of an answer: what is stored, the feedback, and the judge's state now."""

    page: str
    feedback: tuple[Feedback, ...]
    judge: JudgeView
    stored: int  # answers of this page that are stored
    again: bool = False  # True if the answers were stored before: the same as the first time
    differing: int = 0  # of answers that came again: how many are others than those stored
