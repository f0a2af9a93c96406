"""The policy of a project: every setting of it, checked, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from adjudge.collect.rules.settings import (
    MIX,
    ComingIn,
    Flags,
    HiddenGold,
    JudgesView,
    PagesAndItems,
    Panel,
    Pay,
    Refreshers,
    Training,
    Trust,
)
from adjudge.collect.values.judging import CHANNELS
from adjudge.errors import BadSetting, UnknownName

# What was done before there was a setting for it.
_EARLIER: dict[str, Any] = {"short_pages": "full", "gold_before_closing": False}
FULL_PAGE = 0.85  # of a page's usual rows: six groups of four are as good as five of five


# The first settings are those of the last base.
class Policy(
    ComingIn, Panel, Pay, Flags, Refreshers, Trust, JudgesView, HiddenGold, Training, PagesAndItems
):
    """The settings of a project, each checked; the defaults are the paper's where it gives one.

    As JSON they are stored with the project under a version number, which every line of the log
    carries.
    """

    model_config = ConfigDict(title="Policy")

    def __init__(self, /, **settings: Any) -> None:
        try:
            super().__init__(**settings)
        except ValidationError as error:
            raise _refusal_of(error.errors(include_url=False)[0], settings) from None

    def model_post_init(self, _: object) -> None:
        """Refuse settings that do not go together."""
        if self.block_below > self.warn_below:
            expected = f"at most warn_below, {self.warn_below}"
            raise BadSetting("block_below", self.block_below, expected)
        if self.closing == "adaptive":
            if self.least_judgments > self.most_of_an_item:
                expected = f"at most the most, {self.most_of_an_item}"
                raise BadSetting("least_judgments", self.least_judgments, expected)
            if self.judgments_by_arm:
                raise BadSetting("judgments_by_arm", True, "false with adaptive closing")

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
        return cls(**settings)

    @classmethod
    def from_stored(cls, settings: Mapping[str, Any]) -> Policy:
        """A stored policy, with the rules of its time where a setting is later or refused now."""
        held = {**_EARLIER, **settings}
        for name in ("training_mix", "screening_mix"):
            try:
                cls(**{name: held.get(name, "any")})
            except BadSetting:
                del held[name]
        return cls(**held)

    def changed(self, settings: Mapping[str, Any]) -> Policy:
        """The same policy with some settings changed."""
        return Policy(**{**dict(self), **settings})

    def to_dict(self) -> dict[str, Any]:
        """Every setting as JSON has it: money as text, tuples as lists."""
        return self.model_dump(mode="json")


def settings_by_part() -> dict[str, list[str]]:
    """The names of settings that are shown together, by their heading."""
    parts = (cast(type[BaseModel], base) for base in reversed(Policy.__bases__))
    return {str(part.model_config["title"]): list(part.__annotations__) for part in parts}


def _refusal_of(error: ErrorDetails, settings: Mapping[str, Any]) -> BadSetting:
    """The error about the setting that pydantic refused."""
    name = str(error["loc"][0])
    if name not in Policy.model_fields:
        return UnknownName("policy setting", name, Policy.model_fields)
    own = error.get("ctx", {}).get("error")
    expected = _describe_expected(Policy.model_fields[name]) if own is None else str(own)
    return BadSetting(name, settings[name], expected)


def _describe_expected(field: FieldInfo) -> str:
    """What a setting may be, in words made of its declaration."""
    kinds = get_args(field.annotation) or (field.annotation,)
    if get_origin(field.annotation) is Literal:
        return f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    if bool in kinds:
        return "true or false"
    if str in kinds:
        return (
            MIX
            if len(kinds) > 1
            else f"a text of at most {_bound_of(field, 'max_length'):,} characters"
        )
    if get_origin(field.annotation) is tuple:
        return f"a list of {', '.join(CHANNELS)}"
    if int in kinds or float in kinds:
        number = "a whole number" if int in kinds else "a number"
        return f"{number} from {_bound_of(field, 'ge'):,} to {_bound_of(field, 'le'):,}"
    return "an amount from 0 to 1,000,000, such as 0.20"


def _bound_of(field: FieldInfo, name: str) -> Any:
    """A bound of a setting, by its name."""
    return next(getattr(one, name) for one in field.metadata if hasattr(one, name))
