"""The settings of a policy, each declared once: title, description, bounds and default.

Forms, the API schema, the command line and the docs read this declaration. Settings that are
shown together are one model, whose title is the heading above them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from adjudge.collect.values.judging import CHANNELS, Channel
from adjudge.collect.values.project import Mix
from adjudge.collect.values.texts import check_text

_LONGEST = 1_000
_MOST_SHARES = 1e12  # the sum of all
MIX = "any, uniform, or a share of at least 0 for each label, not all of them 0"


def _check_mix(value: Mix) -> Mix:
    """Refuse other words, and shares of labels that are negative or all zero."""
    if isinstance(value, str):
        known = value in ("any", "uniform")
    else:
        fit = all(share >= 0 and len(check_text(name)) <= _LONGEST for name, share in value.items())
        known = fit and 0 < sum(value.values()) <= _MOST_SHARES
    if not known:
        raise ValueError(MIX)
    return value if isinstance(value, str) else dict(value)


def _to_amount(value: object) -> object:
    """Let amounts be texts or numbers, as JSON has them; true and false are none."""
    return None if isinstance(value, bool) else value


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_PLACE = re.compile(r"\{([^{}]*)\}")
_HERE = ("localhost", "127.0.0.1", "::1")
_RESERVED = ("dry_run", "arm", "code", "outcome")  # no panel's id may go by these names


def check_parameter(value: str) -> str:
    """Refuse a name that a parameter of a link cannot have; empty is none."""
    if value and (not _NAME.fullmatch(value) or value in _RESERVED):
        expected = "a name of letters, digits and _ such as PROLIFIC_PID; not " + ", ".join(
            _RESERVED
        )
        raise ValueError(expected)
    return value


def check_template(value: str) -> str:
    """Refuse a template that is no https link, or whose placeholders cannot be filled."""
    if not value:
        return value
    if len(value) > _LONGEST or any(sign <= " " or sign in '\\"<>`\x7f' for sign in value):
        raise ValueError(f"a link of at most {_LONGEST:,} characters without spaces")
    scheme, host = _server(value)
    if not host:
        raise ValueError("https://HOST/..., with placeholders after the host only")
    if scheme != "https" and not (scheme == "http" and host in _HERE):
        raise ValueError("a link that begins with https://")
    for place in _PLACE.findall(value):
        if not _NAME.fullmatch(place):
            raise ValueError(f"{{{place}}} to be {_PLACES}")
    if "{" in _PLACE.sub("", value) or "}" in _PLACE.sub("", value):
        raise ValueError(f"every brace to belong to one of {_PLACES}")
    return value


def _server(link: str) -> tuple[str, str]:
    """The scheme and the host of a link; no host where it is not plain text."""
    try:
        parts = urlsplit(link)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "", ""
    if any(sign in parts.netloc for sign in "@{}"):
        return parts.scheme, ""
    return parts.scheme, host or ""


_PLACES = "{code}, {participant}, {outcome}, or {NAME} of a parameter in the judge's own link"


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The link with its placeholders filled in; a value that is not there is empty.

    >>> fill_template("https://panel.example/done?code={code}&who={participant}",
    ...               {"code": "A1", "participant": "x&code=B2"})
    'https://panel.example/done?code=A1&who=x%26code%3DB2'
    """
    return _PLACE.sub(lambda place: _escape(values.get(place[1], "")), template)


def _escape(value: str) -> str:
    """A value for a path or a query. Dots alone are dropped: they would climb up a path."""
    return quote(value, safe="", errors="replace") if value.strip(".") else ""


_Count = Annotated[int, Field(ge=1, le=1000)]
_Share = Annotated[float, Field(ge=0, le=1)]
_Pairs = Annotated[int, Field(ge=1, le=10_000)]
_Limit = Annotated[int, Field(ge=0, le=1_000_000)]
_Few = Annotated[int, Field(ge=1, le=100)]
_Money = Annotated[Decimal, Field(ge=0, le=1_000_000, strict=False), BeforeValidator(_to_amount)]
_Text = Annotated[str, AfterValidator(check_text)]
_Code = Annotated[_Text, Field(max_length=200)]
_Mix = Annotated[str | Mapping[str, float], AfterValidator(_check_mix)]


def _setting(default: Any, title: str, description: str, **bounds: Any) -> Any:
    """Declare a setting; the bounds are those of ``pydantic.Field``."""
    return Field(default, title=title, description=description, **bounds)


class _Part(BaseModel):
    """Settings that are shown together."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PagesAndItems(_Part):
    """How many judgments items get, and what pages look like."""

    model_config = ConfigDict(title="Pages and items")

    judgments_per_item: _Count = _setting(
        5,
        "Trusted judgments per item",
        "An item closes when it has this many. Lowered, no item loses judgments.",
    )
    judgments_by_arm: bool = _setting(
        False,
        "Count judgments per arm",
        "Each arm needs this number of its own. Off: all arms share it.",
    )
    closing: Literal["fixed", "adaptive"] = _setting(
        "fixed",
        "When an item closes",
        "fixed: at that number of judgments. adaptive: when its label is sure enough.",
    )
    least_judgments: _Count = _setting(
        2, "Adaptive: at least", "No item closes with fewer judgments."
    )
    most_judgments: int | None = _setting(
        None,
        "Adaptive: at most",
        "Every item closes at this number. Empty: the trusted judgments per item.",
        ge=1,
        le=1000,
    )
    sure: float = _setting(
        0.9,
        "Adaptive: how sure",
        "Probability of its label at which an item closes, from 0.5 to 1.",
        ge=0.5,
        le=1,
    )
    queries_per_page: _Few = _setting(
        5,
        "Queries per page",
        "More where queries have few results, fewer where few queries are left.",
    )
    results_per_query: _Few = _setting(
        5, "Results per query", "More where fewer queries are open than a page has."
    )
    lease_minutes: float = _setting(
        60.0,
        "Minutes a page is reserved for its judge",
        "Then its items go to others.",
        ge=0.1,
        le=60 * 24 * 30,
    )
    max_pages: int | None = _setting(
        None,
        "Pages per judge",
        "Most pages of work for one judge. Empty: no limit.",
        ge=1,
        le=1_000_000,
    )
    set_aside_after: _Count = _setting(
        3, "Set an item aside after", "This many judges who could not judge it."
    )


class Training(_Part):
    """What judges do before the work."""

    model_config = ConfigDict(title="Training")

    training: bool = _setting(True, "Training before the work", "Judges first pass known items.")
    training_pairs: int = _setting(
        20, "Items in the training", "Each has a gold label.", ge=0, le=10_000
    )
    training_rule: Literal["share", "correct"] = _setting(
        "share",
        "What passes the training",
        "share: enough of its items right. correct: that many items right, within as many "
        "times the items as there are tries.",
    )
    training_pass: _Share = _setting(0.7, "Share right to pass", "From 0 to 1; for the rule share.")
    training_tries: _Few = _setting(1, "Tries", "How often a judge may do the training.")
    training_mix: _Mix = _setting(
        "any",
        "Labels in the training",
        "any, uniform, or a share per label, such as Spam: 0.2, Good: 0.8. Where a label has "
        "too little gold, other labels fill up.",
    )


class HiddenGold(_Part):
    """The gold that is mixed into the work."""

    model_config = ConfigDict(title="Hidden gold")

    screening: bool = _setting(True, "Hidden gold in the work", "It looks like any other item.")
    screening_golds: int = _setting(5, "Gold items", "Among this many other items:", ge=0, le=1000)
    screening_pairs: _Pairs = _setting(20, "Other items", "Items of work for the gold items above.")
    screening_mix: _Mix = _setting(
        "any", "Labels of hidden gold", "any, uniform, or a share per label, as in the training."
    )
    gold_runs_out: Literal["repeat", "none", "finish"] = _setting(
        "repeat",
        "When a judge has seen all gold",
        "repeat: show the gold seen longest ago. none: go on without. finish: end their work.",
    )


class JudgesView(_Part):
    """What judges see."""

    model_config = ConfigDict(title="What judges see")

    feedback: bool = _setting(
        True, "Tell judges which hidden gold they missed", "The training always does."
    )
    images: bool = _setting(
        True,
        "Show pictures of results",
        "The judge's browser loads them from their own server. Off: as links.",
    )
    previews: bool = _setting(
        False,
        "Open results in a frame next to the work",
        "The page in it can run its own scripts, but cannot reach this page.",
    )


class Trust(_Part):
    """When judges are warned and blocked."""

    model_config = ConfigDict(title="Trust")

    trust: Literal["share", "beta"] = _setting(
        "share",
        "How trust is measured",
        "share: accuracy on the gold seen so far. beta: its posterior probability.",
    )
    trust_training: bool = _setting(
        False, "Trust counts the training too", "The present try. Off: hidden gold only."
    )
    warn_below: _Share = _setting(0.7, "Warn below", "Accuracy on gold, from 0 to 1.")
    block_below: _Share = _setting(
        0.6, "Block below", "Accuracy on gold of a judge who was warned."
    )
    confidence: _Share = _setting(
        0.9,
        "How sure to be, with beta",
        "Probability that the accuracy is below the threshold, from 0 to 1.",
    )
    least_golds: _Pairs = _setting(5, "Gold items before a decision", "Nobody is warned earlier.")
    golds_after_warning: _Pairs = _setting(
        1, "Gold items between warning and block", "Answered after the warning."
    )
    gold_before_closing: bool = _setting(
        True,
        "Close items only by judges checked on gold",
        "Judgments wait until their judge has answered the gold items before a decision, and is or "
        "has left above the blocking threshold.",
    )


class Refreshers(_Part):
    """Short trainings between the work."""

    model_config = ConfigDict(title="Refreshers")

    refresher_pairs: int = _setting(0, "Items in a refresher", "0: no refreshers.", ge=0, le=100)
    refresher_after: _Pairs = _setting(
        3, "Missed gold items that start one", "In work, since the last refresher."
    )
    refreshers: int = _setting(2, "Refreshers per judge", "At most.", ge=0, le=1000)


class Flags(_Part):
    """When judges are flagged."""

    model_config = ConfigDict(title="Flags")

    flag_seconds: float = _setting(
        0.5,
        "Flag judges who take fewer seconds per item",
        "The median of their pages. 0: no such flag.",
        ge=0,
        le=3600,
    )
    flag_same_label: _Share = _setting(
        0.97,
        "Flag judges who give one label to this share",
        "Where other judges differ. 0: no such flag.",
    )
    flag_work_share: _Share = _setting(
        0.5,
        "Flag work this far below gold",
        "Share of the agreement with other judges that their gold accuracy predicts. "
        "0: no such flag.",
    )
    flag_least: int = _setting(
        40,
        "Judgments before a flag for labels",
        "On items that other judges have judged too.",
        ge=1,
        le=1_000_000,
    )
    flags_block: bool = _setting(
        False, "Block flagged judges", "Off: only a requester blocks them."
    )


class Pay(_Part):
    """Pay, budget and completion codes."""

    model_config = ConfigDict(title="Pay and completion codes")

    pay_per_page: _Money = _setting(Decimal("0.00"), "Pay per page", "For a full page.")
    short_pages: Literal["by-items", "full"] = _setting(
        "by-items",
        "Pay of pages with few items",
        "by-items: a page with less than 85% of the usual items is paid by its items. "
        "full: every page is paid alike.",
    )
    pay_failed: _Money = _setting(
        Decimal("0.00"),
        "Pay for a failed training",
        "Also for a training after which nothing was left to judge.",
    )
    pay_blocked: bool = _setting(True, "Pay blocked judges", "For the pages they sent.")
    budget: _Money | None = _setting(
        None, "Budget", "No page is given out that would exceed it. Empty: no budget."
    )
    budget_judgments: int | None = _setting(
        None,
        "Budget in judgments",
        "The same, in judgments without gold. Empty: no budget.",
        ge=1,
        le=1_000_000_000,
    )
    currency: _Text = _setting("USD", "Currency", "Shown with every amount.", max_length=20)
    code_finished: _Code = _setting("", "Completion code: finished", "Empty: none.")
    code_failed: _Code = _setting("", "Completion code: training failed", "Empty: none.")
    code_blocked: _Code = _setting("", "Completion code: blocked", "Empty: none.")
    code_nothing_left: _Code = _setting(
        "",
        "Completion code: nothing left to judge",
        "For judges who came too late. Empty: the code of who finished.",
    )
    least_pages: int = _setting(
        0,
        "Pages for the full code",
        "Judges who stop earlier, though there is work, get the next code. 0: any.",
        ge=0,
        le=1_000_000,
    )
    code_partial: _Code = _setting("", "Completion code: fewer pages", "Empty: none.")
    own_codes: bool = _setting(
        False,
        "A code of their own for each participant",
        "The code, and a part that only this participant gets. Not for Prolific.",
    )


class Panel(_Part):
    """The panel that judges come from."""

    model_config = ConfigDict(title="Panel")

    panel: Literal["none", "prolific"] = _setting(
        "none", "Panel whose rules are checked", "The project's page warns where they are not met."
    )
    participant_parameter: Annotated[str, AfterValidator(check_parameter)] = _setting(
        "",
        "Name of the participant's id",
        "In the panel's link. Empty: PROLIFIC_PID or participant.",
        max_length=200,
    )
    return_link: Annotated[str, AfterValidator(check_template)] = _setting(
        "",
        "Link back to the panel",
        "https, with {code}, {participant}, {outcome}, or {NAME} of any parameter in the "
        "judge's link.",
        max_length=2_000,
    )


class ComingIn(_Part):
    """Who may come, and how."""

    model_config = ConfigDict(title="Coming in")

    require_consent: bool = _setting(True, "Ask for consent", "People agree before they start.")
    consent: _Text = _setting("", "Text of the consent", "Markdown.", max_length=20_000)
    channels: Annotated[tuple[Channel, ...], Field(strict=False)] = _setting(
        CHANNELS,
        "Ways judges may come",
        "open: the link. invite: by name. panel. api: scripts and models.",
    )
    address_per_minute: _Limit = _setting(
        30, "New judges per minute from one address", "By the open link or a panel's. 0: no limit."
    )
    address_per_hour: _Limit = _setting(
        300, "New judges per hour from one address", "By the open link or a panel's. 0: no limit."
    )
    newcomers_per_minute: _Limit = _setting(
        0, "New judges per minute in all", "By the open link or a panel's. 0: no limit."
    )
    newcomers_per_hour: _Limit = _setting(
        0, "New judges per hour in all", "By the open link or a panel's. 0: no limit."
    )
