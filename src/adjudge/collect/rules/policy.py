"""The policy of a project: every setting of it, checked, and as JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args
from unicodedata import category

from adjudge.collect.rules._links import check_parameter, check_template
from adjudge.collect.values.judging import CHANNELS
from adjudge.collect.values.project import Mix
from adjudge.errors import BadSetting, UnknownName

_RunsOut = Literal["repeat", "none", "finish"]
_Panel = Literal["none", "prolific"]
_Closing = Literal["fixed", "adaptive"]
_TrainingRule = Literal["share", "correct"]
_Trust = Literal["share", "beta"]

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
    trust: _Trust = "share"
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
    def work_per_page(self) -> float:
        """How many pairs of work a full page has, gold left out."""
        return max(1.0, self.pairs_per_page * (1 - self.screening_share))

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
    *(("closing", _Closing), ("trust", _Trust), ("training_rule", _TrainingRule)),
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
