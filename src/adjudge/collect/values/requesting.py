"""What passes between a requester and the services: plain values, no database, no web."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from adjudge.collect.values.arms import ArmFunnel
from adjudge.collect.values.judging import accuracy_of
from adjudge.collect.values.project import OtherResult
from adjudge.evaluation.diagnosis.advice import Limits

ProjectState = Literal["draft", "open", "paused", "closed"]

PROJECT_STATES: tuple[ProjectState, ...] = ("draft", "open", "paused", "closed")

Scope = Literal["judge", "requester"]

MemberRole = Literal["viewer", "reviewer", "manager", "owner"]
MEMBER_ROLES: tuple[MemberRole, ...] = ("viewer", "reviewer", "manager", "owner")  # each may more
ROLE_WORDS: dict[MemberRole, str] = {
    "viewer": "sees everything, changes nothing",
    "reviewer": "also adjudicates items, answers judges who disagree, and asks for fits",
    "manager": "also changes items, gold, policy, and who judges",
    "owner": "also says who the members are, and deletes the project",
}


def may(role: MemberRole, least: MemberRole) -> bool:
    """Whether a role is at least another."""
    return MEMBER_ROLES.index(role) >= MEMBER_ROLES.index(least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Someone who may do something in a project."""

    member: str  # public id of the requester
    name: str
    role: MemberRole
    since: datetime
    maker: bool  # whose project it is: their role does not change


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLink:
    """A link by which one person becomes a member."""

    link: str  # the key
    project: str  # slug
    title: str  # the project's name
    role: MemberRole
    note: str  # whom it is for; the owner's own words
    made: datetime
    expires: datetime
    revoked: bool
    member: str | None  # the name of who came by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Requester:
    """Someone who may log in: sees the projects that they are a member of, an admin everyone's."""

    requester: str  # random public id
    name: str  # what they log in with
    admin: bool
    made: datetime
    guest: bool = False  # came by a link to one project, and makes none of their own
    disabled: bool = False  # may not log in


@dataclass(frozen=True, slots=True, kw_only=True)
class _AnyToken:
    token: str  # public id
    name: str
    scope: Scope
    made: datetime
    expires: datetime | None
    revoked: bool
    used: datetime | None  # last use, to the minute


@dataclass(frozen=True, slots=True, kw_only=True)
class Token(_AnyToken):
    """An API token, without its secret, of which only a hash is kept."""

    project: str | None  # slug; None: every project of its requester
    requester: str  # public id of who made it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectToken(_AnyToken):
    """A token that is bound to a project, as its owners see it."""

    holder: str  # the name of whose it is


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """One invitation to judge: its key goes into a signed link."""

    invite: str  # the key: random, and the judge's key in the channel "invite"
    project: str
    note: str  # whom it is for; the requester's own words
    made: datetime
    expires: datetime | None
    revoked: bool
    judge: str | None  # who came by it


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectHead:
    """A project without what has to be counted, and the role in it of whoever asks."""

    slug: str
    name: str
    state: ProjectState
    owner: str  # requester's name
    made: datetime
    labels: tuple[str, ...]
    policy_version: int
    role: MemberRole = "owner"  # the server itself and admins are owners
    ordinal: bool = False  # whether the labels have an order


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectSummary(ProjectHead):
    """One line of the list of projects."""

    items: int
    closed: int
    golds: int
    judges: int
    judgments: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectActivity:
    """What a project has cost, how right its judges are on gold, and when they last answered."""

    cost: Decimal
    currency: str
    gold_seen: int
    gold_right: int
    last: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The budget of a project, and how much of it is spent or in judges' hands."""

    money: Decimal | None  # None: no limit
    earned: Decimal
    in_hand: Decimal  # pages that are out, and what judges in training may come to
    judgments: int | None  # answers to work; None: no limit
    judged: int
    rows_in_hand: int
    spent: bool  # no further page fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Savings:
    """What adaptive closing saves, compared with a fixed number of judgments.

    Accuracy is what to expect: the mean probability of the label, as the last fit knows judges.
    """

    closed: int
    judgments: int  # trusted, of the closed items
    per_item: float
    fixed: int  # judgments_per_item
    saved: int  # judgments, against the fixed number; negative where it took more
    saved_share: float
    saved_money: Decimal
    accuracy: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a project is, what it cost, and why items are open."""

    items: int
    closed: int
    open: int
    set_aside: int
    withdrawn: int
    why_open: dict[str, int]  # sentence -> items: "not judged yet", "in judges' hands", ...
    by_trusted: dict[int, int]  # trusted judgments -> items
    needed: int  # trusted judgments needed in all
    trusted: int
    lacking: int  # trusted judgments that open items are still without
    surplus: int
    untrusted: int
    others: int  # answers such as "can't judge"
    pages: int  # answered work pages
    open_pages: int
    judges: dict[str, int]  # stage -> judges
    funnel: tuple[ArmFunnel, ...]
    gold_accuracy: float | None  # over every counted screening answer
    gold_seen: int  # such answers
    gold_right: int
    cost: Decimal
    cost_to_finish: Decimal
    currency: str
    warnings: tuple[str, ...]  # no gold, too little gold, gold that can be recognised
    savings: Savings | None = None  # of adaptive closing
    budget: Budget | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """A reason to look at a judge: the rule, and the figures it rests on, in a sentence."""

    rule: Literal["speed", "one-label", "work-unlike-gold"]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeGroup:
    """Judges who arrived together, and what would change if they were left out."""

    judges: tuple[str, ...]
    names: tuple[str, ...]
    first: datetime  # arrival
    last: datetime
    gold_seen: int
    gold_accuracy: float | None
    seconds: float | None  # median per item, by the pages
    alike: float | None  # share of pairs of their judgments of an item that agree
    like_others: float | None  # share of pairs of theirs and others' that agree
    judgments: int  # trusted
    changed: int  # items whose majority label would be another
    lost: int  # items that nobody else judged
    reopened: int  # closed items that would lack judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRow:
    """One line of the list of judges."""

    judge: str
    channel: str
    kind: str
    arm: str
    stage: str
    reason: str
    by_hand: bool  # blocked by a requester
    came: datetime
    last: datetime | None
    pages: int
    judged: int
    others: int
    gold_seen: int
    gold_right: int
    accuracy: float | None
    training_seen: int
    training_right: int
    seconds: float | None  # median per item
    pay: Decimal
    flags: tuple[Flag, ...] = ()  # reasons to look at them
    name: str = ""  # what the requester calls them; the public id where nothing else is known
    message: str = ""  # written to them, and not yet read

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of all flags."""
        return tuple(flag.reason for flag in self.flags)

    def heed_flags(self, fitted: dict[str, Any]) -> dict[str, Any]:
        """What a fit says of them, with advice to watch at best if they are flagged now."""
        if not fitted.get("advice"):
            return fitted
        advice, why = Limits.heed_flags(fitted["advice"], fitted["why"], self.reasons)
        return {**fitted, "advice": advice, "why": why}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeElsewhere:
    """How the same person did in another project."""

    project: str  # slug
    title: str  # the project's name
    judge: str
    stage: str
    judged: int
    gold_seen: int
    gold_right: int
    accuracy: float | None
    last: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log."""

    entry: int
    time: datetime
    event: str
    actor: str  # "system", "judge", or a requester's name
    judge: str | None
    policy_version: int
    figures: dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldAnswer:
    """One answer of a judge to a gold."""

    item: str
    query: str
    title: str
    label: str
    accepted: tuple[str, ...]
    right: bool | None  # None: the gold does not count any more
    kind: Literal["training", "work"]
    time: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RefresherRow:
    """One refresher of a judge: what led to it, how it went, and their screening gold around it."""

    number: int
    time: datetime
    confused: tuple[tuple[str | int, ...], ...]  # accepted, given, how often
    pairs: int
    right: int
    before_seen: int  # golds since the refresher before, or the start
    before_right: int
    after_seen: int  # golds until the next refresher, or now
    after_right: int

    @property
    def before(self) -> float | None:
        """Accuracy on screening gold before it."""
        return accuracy_of(self.before_right, self.before_seen)

    @property
    def after(self) -> float | None:
        """Accuracy on screening gold after it."""
        return accuracy_of(self.after_right, self.after_seen)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeDetail:
    """A judge: tallies, confusion against gold, answers to gold, history, refreshers."""

    row: JudgeRow
    labels: tuple[str, ...]  # columns of the confusion: labels, then the others
    truths: tuple[str, ...]  # rows of the confusion: first accepted label of the gold
    confusion: tuple[tuple[int, ...], ...]  # (truth, label)
    golds: tuple[GoldAnswer, ...]  # newest first
    history: tuple[LogEntry, ...]  # newest first
    refreshers: tuple[RefresherRow, ...] = ()
    participant: str = ""  # their id at the panel that they came from
    parameters: dict[str, str] = field(default_factory=dict)  # of their link: study, session


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
    standing: str  # trusted, surplus, pending, untrusted
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
    beside: OtherResult | None = None  # the right result of a pair
    events: tuple[ItemEvent, ...] = ()  # everything that happened to it, the latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementRow:
    """One item on which trusted judges differ."""

    item: str
    title: str
    url: str
    counts: dict[str, int]  # label -> trusted judgments
    entropy: float  # bits
    comments: tuple[str, ...]
    commented: tuple[str, ...]  # the judges who made the comments, in their order
    who: dict[str, tuple[str, ...]] = field(default_factory=dict)  # label -> judges


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementTopic:
    """The items of one query on which judges differ, the most split first."""

    topic: str
    query: str
    need: str
    entropy: float  # mean bits of its judged items
    items: tuple[DisagreementRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import of items and gold changed."""

    added: int
    changed: int
    withdrawn: int
    golds_added: int
    golds_changed: int
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPace:
    """Judgments of work over time."""

    since: datetime | None  # the beginning of the first bar
    bar_seconds: float
    bars: tuple[int, ...]  # judgments in each, to the present one
    per_day: float | None  # over the last day, or since the first, an hour at least
    lacking: int  # trusted judgments that are still needed
    days_left: float | None  # at this pace; None where nothing is lacking or nobody is at work
    ends: datetime | None
