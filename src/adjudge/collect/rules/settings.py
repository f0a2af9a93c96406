"""The settings of a policy, each declared once: title, description, bounds and default.

Forms, the API schema, the command line and the docs read this declaration. Settings that are
shown together are one model, whose title is the heading above them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Annotated, Literal
from unicodedata import category

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from adjudge.collect.rules._links import check_parameter, check_template
from adjudge.collect.values.judging import CHANNELS, Channel
from adjudge.collect.values.project import Mix

MIX = "any, uniform, or a share of at least 0 for each label, not all of them 0"


def _check_text(value: str) -> str:
    """Refuse what not every database can store and not every page can show."""
    if any(category(c) in ("Cc", "Cs") and c not in "\n\t\r" for c in value):
        raise ValueError("a text without control characters")
    return value


def _check_mix(value: Mix) -> Mix:
    """Refuse other words, and shares of labels that are negative or all zero."""
    if isinstance(value, str):
        known = value in ("any", "uniform")
    else:
        known = all(share >= 0 for share in value.values()) and sum(value.values()) > 0
    if not known:
        raise ValueError(MIX)
    return value if isinstance(value, str) else dict(value)


def _to_amount(value: object) -> object:
    """Let amounts be texts or numbers, as JSON has them; true and false are none."""
    return None if isinstance(value, bool) else value


_Share = Annotated[float, Field(ge=0, le=1)]
_Pairs = Annotated[int, Field(ge=1, le=10_000)]
_Limit = Annotated[int, Field(ge=0, le=1_000_000)]
_Few = Annotated[int, Field(ge=1, le=100)]
_Money = Annotated[Decimal, Field(ge=0, le=1_000_000, strict=False), BeforeValidator(_to_amount)]
_Text = Annotated[str, AfterValidator(_check_text)]
_Code = Annotated[_Text, Field(max_length=200)]
_Mix = Annotated[str | Mapping[str, float], AfterValidator(_check_mix)]


class _Part(BaseModel):
    """Settings that are shown together."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class PagesAndItems(_Part):
    """How many judgments items get, and what pages look like."""

    model_config = ConfigDict(title="Pages and items")

    judgments_per_item: int = Field(
        5,
        ge=1,
        le=1000,
        title="Trusted judgments per item",
        description="An item closes when it has this many. Lowered, no item loses judgments.",
    )
    judgments_by_arm: bool = Field(
        False,
        title="Count judgments per arm",
        description="Each arm needs this number of its own. Off: all arms share it.",
    )
    closing: Literal["fixed", "adaptive"] = Field(
        "fixed",
        title="When an item closes",
        description="fixed: at that number of judgments. adaptive: when its label is sure enough.",
    )
    least_judgments: int = Field(
        2,
        ge=1,
        le=1000,
        title="Adaptive: at least",
        description="No item closes with fewer judgments.",
    )
    most_judgments: int | None = Field(
        None,
        ge=1,
        le=1000,
        title="Adaptive: at most",
        description="Every item closes at this number. Empty: the trusted judgments per item.",
    )
    sure: float = Field(
        0.9,
        ge=0.5,
        le=1,
        title="Adaptive: how sure",
        description="Probability of its label at which an item closes, from 0.5 to 1.",
    )
    queries_per_page: _Few = Field(
        5,
        title="Queries per page",
        description="More where queries have few results, fewer where few queries are left.",
    )
    results_per_query: _Few = Field(
        5,
        title="Results per query",
        description="More where fewer queries are open than a page has.",
    )
    lease_minutes: float = Field(
        60.0,
        ge=0.1,
        le=60 * 24 * 30,
        title="Minutes a page is reserved for its judge",
        description="Then its items go to others.",
    )
    max_pages: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        title="Pages per judge",
        description="Most pages of work for one judge. Empty: no limit.",
    )
    set_aside_after: int = Field(
        3,
        ge=1,
        le=1000,
        title="Set an item aside after",
        description="This many judges who could not judge it.",
    )


class Training(_Part):
    """What judges do before the work."""

    model_config = ConfigDict(title="Training")

    training: bool = Field(
        True, title="Training before the work", description="Judges first pass known items."
    )
    training_pairs: int = Field(
        20, ge=0, le=10_000, title="Items in the training", description="Each has a gold label."
    )
    training_rule: Literal["share", "correct"] = Field(
        "share",
        title="What passes the training",
        description=(
            "share: enough of its items right. correct: that many items right, within as many "
            "times the items as there are tries."
        ),
    )
    training_pass: _Share = Field(
        0.7, title="Share right to pass", description="From 0 to 1; for the rule share."
    )
    training_tries: _Few = Field(
        1, title="Tries", description="How often a judge may do the training."
    )
    training_mix: _Mix = Field(
        "any",
        title="Labels in the training",
        description=(
            "any, uniform, or a share per label, such as Spam: 0.2, Good: 0.8. Where a label has "
            "too little gold, other labels fill up."
        ),
    )


class HiddenGold(_Part):
    """The gold that is mixed into the work."""

    model_config = ConfigDict(title="Hidden gold")

    screening: bool = Field(
        True, title="Hidden gold in the work", description="It looks like any other item."
    )
    screening_golds: int = Field(
        5, ge=0, le=1000, title="Gold items", description="Among this many other items:"
    )
    screening_pairs: _Pairs = Field(
        20, title="Other items", description="Items of work for the gold items above."
    )
    screening_mix: _Mix = Field(
        "any",
        title="Labels of hidden gold",
        description="any, uniform, or a share per label, as in the training.",
    )
    gold_runs_out: Literal["repeat", "none", "finish"] = Field(
        "repeat",
        title="When a judge has seen all gold",
        description=(
            "repeat: show the gold seen longest ago. none: go on without. finish: end their work."
        ),
    )


class JudgesView(_Part):
    """What judges see."""

    model_config = ConfigDict(title="What judges see")

    feedback: bool = Field(
        True,
        title="Tell judges which hidden gold they missed",
        description="The training always does.",
    )
    images: bool = Field(
        True,
        title="Show pictures of results",
        description="The judge's browser loads them from their own server. Off: as links.",
    )
    previews: bool = Field(
        False,
        title="Open results in a frame next to the work",
        description="The page in it can run its own scripts, but cannot reach this page.",
    )


class Trust(_Part):
    """When judges are warned and blocked."""

    model_config = ConfigDict(title="Trust")

    trust: Literal["share", "beta"] = Field(
        "share",
        title="How trust is measured",
        description="share: accuracy on the gold seen so far. beta: its posterior probability.",
    )
    trust_training: bool = Field(
        False,
        title="Trust counts the training too",
        description="The present try. Off: hidden gold only.",
    )
    warn_below: _Share = Field(
        0.7, title="Warn below", description="Accuracy on gold, from 0 to 1."
    )
    block_below: _Share = Field(
        0.6, title="Block below", description="Accuracy on gold of a judge who was warned."
    )
    confidence: _Share = Field(
        0.9,
        title="How sure to be, with beta",
        description="Probability that the accuracy is below the line, from 0 to 1.",
    )
    least_golds: _Pairs = Field(
        5, title="Gold items before a decision", description="Nobody is warned earlier."
    )
    golds_after_warning: _Pairs = Field(
        1,
        title="Gold items between warning and block",
        description="Answered after the warning.",
    )


class Refreshers(_Part):
    """Short trainings between the work."""

    model_config = ConfigDict(title="Refreshers")

    refresher_pairs: int = Field(
        0, ge=0, le=100, title="Items in a refresher", description="0: no refreshers."
    )
    refresher_after: _Pairs = Field(
        3,
        title="Missed gold items that start one",
        description="In work, since the last refresher.",
    )
    refreshers: int = Field(2, ge=0, le=1000, title="Refreshers per judge", description="At most.")


class Flags(_Part):
    """When judges are flagged."""

    model_config = ConfigDict(title="Flags")

    flag_seconds: float = Field(
        0.5,
        ge=0,
        le=3600,
        title="Flag judges who take fewer seconds per item",
        description="The median of their pages. 0: no such flag.",
    )
    flag_same_label: _Share = Field(
        0.97,
        title="Flag judges who give one label to this share",
        description="Where other judges differ. 0: no such flag.",
    )
    flag_work_share: _Share = Field(
        0.5,
        title="Flag work this far below gold",
        description=(
            "Share of the agreement with other judges that their gold accuracy predicts. "
            "0: no such flag."
        ),
    )
    flag_least: int = Field(
        40,
        ge=1,
        le=1_000_000,
        title="Judgments before a flag for labels",
        description="On items that other judges have judged too.",
    )
    flags_block: bool = Field(
        False, title="Block flagged judges", description="Off: only a requester blocks them."
    )


class Pay(_Part):
    """Pay, budget and completion codes."""

    model_config = ConfigDict(title="Pay and completion codes")

    pay_per_page: _Money = Field(
        Decimal("0.00"), title="Pay per page", description="However many items a page has."
    )
    pay_failed: _Money = Field(
        Decimal("0.00"),
        title="Pay for a failed training",
        description="Also for a training after which nothing was left to judge.",
    )
    pay_blocked: bool = Field(
        True, title="Pay blocked judges", description="For the pages they sent."
    )
    budget: _Money | None = Field(
        None,
        title="Budget",
        description="No page is given out that would exceed it. Empty: no budget.",
    )
    budget_judgments: int | None = Field(
        None,
        ge=1,
        le=1_000_000_000,
        title="Budget in judgments",
        description="The same, in judgments without gold. Empty: no budget.",
    )
    currency: _Text = Field(
        "USD", max_length=20, title="Currency", description="Shown with every amount."
    )
    code_finished: _Code = Field("", title="Completion code: finished", description="Empty: none.")
    code_failed: _Code = Field(
        "", title="Completion code: training failed", description="Empty: none."
    )
    code_blocked: _Code = Field("", title="Completion code: blocked", description="Empty: none.")
    code_nothing_left: _Code = Field(
        "",
        title="Completion code: nothing left to judge",
        description="For judges who came too late. Empty: the code of who finished.",
    )


class Panel(_Part):
    """The panel that judges come from."""

    model_config = ConfigDict(title="Panel")

    panel: Literal["none", "prolific"] = Field(
        "none",
        title="Panel whose rules are checked",
        description="The project's page warns where they are not met.",
    )
    participant_parameter: Annotated[str, AfterValidator(check_parameter)] = Field(
        "",
        max_length=200,
        title="Name of the participant's id",
        description="In the panel's link. Empty: PROLIFIC_PID or participant.",
    )
    return_link: Annotated[str, AfterValidator(check_template)] = Field(
        "",
        max_length=2_000,
        title="Link back to the panel",
        description=(
            "https, with {code}, {participant}, {outcome}, or {NAME} of any parameter in the "
            "judge's link."
        ),
    )


class ComingIn(_Part):
    """Who may come, and how."""

    model_config = ConfigDict(title="Coming in")

    require_consent: bool = Field(
        True, title="Ask for consent", description="People agree before they start."
    )
    consent: _Text = Field(
        "", max_length=20_000, title="Text of the consent", description="Markdown."
    )
    channels: Annotated[tuple[Channel, ...], Field(strict=False)] = Field(
        CHANNELS,
        title="Ways judges may come",
        description="open: the link. invite: by name. panel. api: scripts and models.",
    )
    address_per_minute: _Limit = Field(
        30,
        title="New judges per minute from one address",
        description="By the open link or a panel's. 0: no limit.",
    )
    address_per_hour: _Limit = Field(
        300,
        title="New judges per hour from one address",
        description="By the open link or a panel's. 0: no limit.",
    )
    newcomers_per_minute: _Limit = Field(
        0,
        title="New judges per minute in all",
        description="By the open link or a panel's. 0: no limit.",
    )
    newcomers_per_hour: _Limit = Field(
        0,
        title="New judges per hour in all",
        description="By the open link or a panel's. 0: no limit.",
    )
