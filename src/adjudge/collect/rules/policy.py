"""The policy of a project, and the decisions about a judge that follow from it.

Everything here is pure: a record of where a judge stands goes in, a decision comes out. No
database, no clock. The same functions run live, in a regrade, in the replay of a log and in a
simulated experiment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args
from unicodedata import category

from adjudge.collect.rules.links import check_parameter, check_template
from adjudge.collect.rules.trust import Trust, is_below
from adjudge.collect.values.judging import CHANNELS, Stage
from adjudge.collect.values.project import Mix
from adjudge.errors import BadSetting, UnknownName

_RunsOut = Literal["repeat", "none", "finish"]
_Panel = Literal["none", "prolific"]
_Closing = Literal["fixed", "adaptive"]
_TrainingRule = Literal["share", "correct"]

_MONEY = ("pay_per_page", "pay_failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The settings of a project, each checked; the defaults are the paper's where it gives one.

    As JSON they are stored with the project under a version number, which every line of the log
    carries.
    """

    judgments_per_item: int = 5
    judgments_by_arm: bool = False  # so many in each arm, not over all arms together
    closing: _Closing = "fixed"
    least_judgments: int = 2
    most_judgments: int | None = None
    sure: float = 0.9
    queries_per_page: int = 5
    results_per_query: int = 5
    lease_minutes: float = 60.0
    max_pages: int | None = None
    set_aside_after: int = 3
    training: bool = True
    training_pairs: int = 20
    training_rule: _TrainingRule = "share"
    training_pass: float = 0.7
    training_tries: int = 1
    training_mix: Mix = "any"
    screening: bool = True
    screening_golds: int = 5
    screening_pairs: int = 20
    screening_mix: Mix = "any"
    gold_runs_out: _RunsOut = "repeat"
    feedback: bool = True
    images: bool = True
    previews: bool = False
    trust: Trust = "share"
    trust_training: bool = False  # answers in the training count as golds too
    warn_below: float = 0.7
    block_below: float = 0.6
    confidence: float = 0.9
    least_golds: int = 5
    golds_after_warning: int = 1
    refresher_pairs: int = 0
    refresher_after: int = 3
    refreshers: int = 2
    flag_seconds: float = 0.5
    flag_same_label: float = 0.97
    flag_work_share: float = 0.5
    flag_least: int = 40
    flags_block: bool = False
    pay_per_page: Decimal = Decimal("0.00")
    pay_failed: Decimal = Decimal("0.00")
    pay_blocked: bool = True
    budget: Decimal | None = None
    budget_judgments: int | None = None
    currency: str = "USD"
    code_finished: str = ""
    code_failed: str = ""
    code_blocked: str = ""
    code_nothing_left: str = ""
    panel: _Panel = "none"
    participant_parameter: str = ""
    return_link: str = ""
    require_consent: bool = True
    consent: str = ""
    channels: tuple[str, ...] = CHANNELS
    address_per_minute: int = 30
    address_per_hour: int = 300
    newcomers_per_minute: int = 0
    newcomers_per_hour: int = 0

    def __post_init__(self) -> None:
        for name, least, most in _WHOLE:
            _whole(name, getattr(self, name), least, most)
        for name, most in _WHOLE_OR_NONE:
            if getattr(self, name) is not None:
                _whole(name, getattr(self, name), 1, most)
        for name in _SHARES:
            _number(name, getattr(self, name), 0, 1)
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise BadSetting(name, getattr(self, name), "true or false")
        for name, longest in _TEXTS.items():
            _text(name, getattr(self, name), longest)
        _number("lease_minutes", self.lease_minutes, 0.1, 60 * 24 * 30)
        _number("flag_seconds", self.flag_seconds, 0, 3600)
        for name, choice in _CHOICES:
            _one_of(name, getattr(self, name), get_args(choice))
        check_parameter("participant_parameter", self.participant_parameter)
        check_template("return_link", self.return_link)
        if self.block_below > self.warn_below:
            wanted = f"at most warn_below, {self.warn_below}"
            raise BadSetting("block_below", self.block_below, wanted)
        for name in ("training_mix", "screening_mix"):
            object.__setattr__(self, name, _mix(name, getattr(self, name)))
        for name in _MONEY if self.budget is None else (*_MONEY, "budget"):
            object.__setattr__(self, name, _money(name, getattr(self, name)))
        _check_closing(self)
        object.__setattr__(self, "channels", _channels(self.channels))

    @property
    def most_of_an_item(self) -> int:
        """The most judgments that adaptive closing asks for, of any item."""
        return self.judgments_per_item if self.most_judgments is None else self.most_judgments

    @property
    def arm_limit(self) -> int | None:
        """The most open and trusted judgments an arm gives an item; None: arms share a number."""
        return self.judgments_per_item if self.judgments_by_arm else None

    def judgments_needed(self, arms: int) -> int:
        """How many trusted judgments close an item of a project with so many arms.

        Where it closes when it is sure, how many it needs at first.
        """
        if self.closing == "adaptive":
            return self.least_judgments
        return self.judgments_per_item * (max(1, arms) if self.judgments_by_arm else 1)

    @property
    def pairs_per_page(self) -> int:
        """How many pairs a full page has, gold and work."""
        return self.queries_per_page * self.results_per_query

    @property
    def screening_share(self) -> float:
        """The share of gold among the pairs a judge sees: 5 with every 20 is a fifth."""
        if not self.screening or self.screening_golds == 0:
            return 0.0
        return self.screening_golds / (self.screening_golds + self.screening_pairs)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Policy:
        """A policy from settings that differ from the defaults, as JSON or a form gives them."""
        known = [field.name for field in dataclasses.fields(cls)]
        for name in settings:
            if name not in known:
                raise UnknownName("policy setting", str(name), known)
        return cls(**settings)

    def changed(self, settings: Mapping[str, Any]) -> Policy:
        """The same policy with some settings changed."""
        return Policy.from_dict({**self.to_dict(), **settings})

    def to_dict(self) -> dict[str, Any]:
        """Every setting as JSON has it: money as text, tuples as lists."""
        plain: dict[str, Any] = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Decimal):
                value = str(value)
            elif isinstance(value, tuple):
                value = list(value)
            elif isinstance(value, Mapping):
                value = dict(value)
            plain[field.name] = value
        return plain


_WHOLE = (
    ("judgments_per_item", 1, 1000),
    ("least_judgments", 1, 1000),
    ("queries_per_page", 1, 100),
    ("results_per_query", 1, 100),
    ("set_aside_after", 1, 1000),
    ("training_pairs", 0, 10_000),
    ("training_tries", 1, 100),
    ("screening_golds", 0, 1000),
    ("screening_pairs", 1, 10_000),
    ("least_golds", 1, 10_000),
    ("golds_after_warning", 1, 10_000),
    ("refresher_pairs", 0, 100),
    ("refresher_after", 1, 10_000),
    ("refreshers", 0, 1000),
    ("flag_least", 1, 1_000_000),
    ("address_per_minute", 0, 1_000_000),
    ("address_per_hour", 0, 1_000_000),
    ("newcomers_per_minute", 0, 1_000_000),
    ("newcomers_per_hour", 0, 1_000_000),
)
_WHOLE_OR_NONE = (
    *(("max_pages", 1_000_000), ("most_judgments", 1000), ("budget_judgments", 1_000_000_000)),
)
_SHARES = (
    *("training_pass", "warn_below", "block_below", "confidence"),
    *("flag_same_label", "flag_work_share"),
)
_FLAGS = (
    *("judgments_by_arm", "training", "screening", "feedback", "images", "previews"),
    *("flags_block", "pay_blocked", "require_consent", "trust_training"),
)
_CHOICES = (
    *(("closing", _Closing), ("trust", Trust), ("training_rule", _TrainingRule)),
    *(("gold_runs_out", _RunsOut), ("panel", _Panel)),
)
_TEXTS = {  # the most characters of each
    "currency": 20,
    **dict.fromkeys(("code_finished", "code_failed", "code_blocked", "code_nothing_left"), 200),
    "participant_parameter": 200,
    "return_link": 2_000,
    "consent": 20_000,
}


def _whole(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise BadSetting(name, value, f"a whole number from {least} to {most:,}")


def _one_of(name: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise BadSetting(name, value, f"{', '.join(words[:-1])} or {words[-1]}")


def _check_closing(policy: Policy) -> None:
    """Refuse settings of adaptive closing that do not go together."""
    _number("sure", policy.sure, 0.5, 1)
    if policy.closing == "fixed":
        return
    least, most = policy.least_judgments, policy.most_of_an_item
    if least > most:
        raise BadSetting("least_judgments", least, f"at most the most, {most}")
    if policy.judgments_by_arm:
        raise BadSetting("judgments_by_arm", True, "false with adaptive closing")


def _number(name: str, value: object, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise BadSetting(name, value, f"a number from {least:g} to {most:,g}")


def _text(name: str, value: object, longest: int) -> None:
    """A text that every database can store and every page can show."""
    if not isinstance(value, str):
        raise BadSetting(name, value, "a text")
    if len(value) > longest:
        raise BadSetting(name, value, f"at most {longest:,} characters")
    if any(category(c) in ("Cc", "Cs") and c not in "\n\t\r" for c in value):
        raise BadSetting(name, value, "a text without control characters")


def _mix(name: str, value: Mix) -> Mix:
    """A label mix, checked: a word, or shares of labels that are not all zero."""
    if isinstance(value, str):
        if value not in ("any", "uniform"):
            raise BadSetting(name, value, "any, uniform, or a share for each label")
        return value
    shares = dict(value)
    for label, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not share >= 0:
            raise BadSetting(f"{name} of {label}", share, "a share of at least 0")
    if not sum(shares.values()) > 0:
        raise BadSetting(name, shares, "at least one share above 0")
    return shares


def _money(name: str, value: object) -> Decimal:
    """An amount of money, exact."""
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise BadSetting(name, value, "an amount such as 0.20") from None
    if not amount.is_finite() or amount < 0 or amount > 1_000_000:
        raise BadSetting(name, value, "an amount from 0 to 1,000,000")
    return amount


def _channels(value: object) -> tuple[str, ...]:
    """The ways a judge may come, checked."""
    if isinstance(value, str) or not isinstance(value, tuple | list):
        raise BadSetting("channels", value, f"a list of {', '.join(CHANNELS)}")
    for channel in value:
        if channel not in CHANNELS:
            raise UnknownName("channel", str(channel), CHANNELS)
    return tuple(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Where a judge stands, as far as decisions need it.

    ``seen`` and ``right`` count the screening golds answered since they came, or since a requester
    last unblocked them: that is a fresh start. ``warned_at`` is ``seen`` when they were warned.
    """

    stage: Stage
    seen: int = 0
    right: int = 0
    warned_at: int | None = None
    by_hand: bool = False  # blocked by a requester: only a requester unblocks
    before: Stage | None = None  # the stage before a block by hand, or at the finish
    attempt: int = 1  # the present try at the training
    training_seen: int = 0  # in the present try
    training_right: int = 0

    @property
    def accuracy(self) -> float | None:
        """Share of screening golds right; None before the first."""
        return self.right / self.seen if self.seen else None


_Event = Literal[
    "training-passed", "training-failed", "training-again", "warned", "recovered", "blocked",
    "unblocked", "blocked-at-finish",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What follows from a record: the record after it, and the events to log, with figures."""

    record: Record
    events: tuple[_Event, ...] = ()

    @property
    def stage(self) -> Stage:
        """The stage after the decision."""
        return self.record.stage


def first_stage(policy: Policy, *, training_golds: int) -> Stage:
    """The stage of a judge who has just arrived."""
    if policy.require_consent:
        return "consent"
    return stage_after_consent(policy, training_golds=training_golds)


def stage_after_consent(policy: Policy, *, training_golds: int) -> Stage:
    """Training where the policy and the gold have one, else work."""
    return "training" if training_length(policy, training_golds) else "working"


def training_length(policy: Policy, training_golds: int) -> int:
    """How many pairs the training has: the policy's number, or as much gold as there is."""
    return min(policy.training_pairs, training_golds) if policy.training else 0


def after_training(record: Record, policy: Policy, *, pairs: int) -> Decision:
    """The decision after answers in training: still at it, passed, failed, or another try."""
    if record.stage != "training" or training_left(record, policy, pairs=pairs):
        return Decision(record=record)
    by_share = policy.training_rule == "share"
    right, seen = record.training_right, record.training_seen
    if passes(right, seen, policy) if by_share else right >= pairs:
        return Decision(record=replace(record, stage="working"), events=("training-passed",))
    if by_share and record.attempt < policy.training_tries:
        again = replace(record, attempt=record.attempt + 1, training_seen=0, training_right=0)
        return Decision(record=again, events=("training-again",))
    return Decision(record=replace(record, stage="failed"), events=("training-failed",))


def training_left(record: Any, policy: Policy, *, pairs: int) -> int:
    """How many pairs of the training are still to be shown, at the least; 0 ends a try.

    By the rule ``share`` a try has so many pairs. By ``correct`` it goes on until so many were
    answered rightly, as in the paper ("each worker has to complete 20 query-result pairs
    successfully"), and ends unpassed when ``training_tries`` times as many were shown.
    """
    if policy.training_rule == "share":
        return max(0, pairs - int(record.training_seen))
    most = policy.training_tries * pairs
    return max(0, min(pairs - int(record.training_right), most - int(record.training_seen)))


def passes(right: int, seen: int, policy: Policy) -> bool:
    """Whether a try at the training reaches what the policy wants."""
    if policy.training_rule == "correct":
        return right >= policy.training_pairs
    return right >= policy.training_pass * seen - 1e-9


def after_page(record: Record, policy: Policy) -> Decision:
    """The decision after a page of work whose golds are already in the record's tallies.

    Below the warning line they are warned, once. Below the blocking line they are blocked, but only
    after a warning and further golds. A warned judge whose accuracy recovers works on as before;
    falling below the line again brings no second warning.
    """
    if record.stage not in ("working", "warned"):
        return Decision(record=record)
    low = _below(record, policy, policy.warn_below)
    if record.warned_at is None:
        if not low:
            return Decision(record=record)
        warned = replace(record, stage="warned", warned_at=record.seen)
        return Decision(record=warned, events=("warned",))
    further = record.seen - record.warned_at
    if further >= policy.golds_after_warning and _below(record, policy, policy.block_below):
        return Decision(record=replace(record, stage="blocked"), events=("blocked",))
    if low:
        return Decision(record=replace(record, stage="warned"))
    events: tuple[_Event, ...] = ("recovered",) if record.stage == "warned" else ()
    return Decision(record=replace(record, stage="working"), events=events)


def at_finish(record: Record, policy: Policy) -> Decision:
    """The decision on a judge whose way ends, at their own wish or since there is no more.

    Who goes needs no warning: below the blocking line they end as blocked, however few golds they
    have met. Otherwise a page answered at random would be trusted of everyone who leaves after it.
    """
    at_work = record.stage in ("working", "warned")
    if at_work and _below(record, policy, policy.block_below, least=1):
        blocked = replace(record, stage="blocked", before="finished")
        return Decision(record=blocked, events=("blocked-at-finish",))
    return Decision(record=replace(record, stage="finished"))


def ended_blocked(record: Record) -> bool:
    """Whether a judge was blocked when they finished."""
    return record.stage == "blocked" and record.before == "finished" and not record.by_hand


def after_regrade(record: Record, policy: Policy, *, passed: bool = False) -> Decision:
    """The decision after gold was edited and the record's tallies were counted again.

    A regrade only ever puts right: it lifts a block or a warning that the tallies no longer bear
    out, and lets a judge through who failed the training (``passed``). It never warns or blocks:
    the next page does, if need be. A block by hand stays.
    """
    if record.stage in ("failed", "training") and passed:
        return Decision(record=replace(record, stage="working"), events=("training-passed",))
    if record.stage == "warned" and not _below(record, policy, policy.warn_below):
        recovered = replace(record, stage="working", warned_at=None)
        return Decision(record=recovered, events=("recovered",))
    if record.stage != "blocked" or record.by_hand:
        return Decision(record=record)
    at_the_end = ended_blocked(record)
    if _below(record, policy, policy.block_below, least=1 if at_the_end else None):
        return Decision(record=record)
    if at_the_end:
        ended = replace(record, stage="finished", before=None)
        return Decision(record=ended, events=("unblocked",))
    if _below(record, policy, policy.warn_below):
        return Decision(record=replace(record, stage="warned"), events=("unblocked",))
    free = replace(record, stage="working", warned_at=None)
    return Decision(record=free, events=("unblocked",))


def blocked_by_hand(record: Record) -> Record:
    """The record after a requester blocked the judge."""
    before = None if record.stage == "blocked" else record.stage
    return replace(record, stage="blocked", by_hand=True, before=before or record.before)


def unblocked_by_hand(record: Record) -> Record:
    """The record after a requester unblocked the judge: a fresh start, tallies from zero.

    One who was blocked before they came to work goes on where they were.
    """
    early = record.before in ("consent", "training", "failed")
    stage: Stage = record.before if early and record.before else "working"
    return replace(record, stage=stage, by_hand=False, before=None, seen=0, right=0, warned_at=None)


def resumed(record: Record, policy: Policy) -> Record:
    """The record of a finished judge who takes up work again."""
    low = record.warned_at is not None and _below(record, policy, policy.warn_below)
    return replace(record, stage="warned" if low else "working")


def _below(record: Record, policy: Policy, line: float, least: int | None = None) -> bool:
    trained = policy.trust_training
    return is_below(
        record.right + (record.training_right if trained else 0),
        record.seen + (record.training_seen if trained else 0),
        line,
        trust=policy.trust,
        confidence=policy.confidence,
        least=policy.least_golds if least is None else least,
    )
