"""Items, gold, further questions, arms and links as the API has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.members import MemberLink
from adjudge.collect.values.project import Beside, GoldEntry, Item
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.values.requesting import Invite
from adjudge.collect.web._api_values import (
    ApiModel,
    Guide,
    Key,
    Line,
    Name,
    Paragraph,
    Passage,
    Reason,
    Shares,
    Short,
)
from adjudge.errors import BadSetting

_Mixed = Literal["any", "uniform", "population"] | Shares


class _BesideIn(ApiModel):
    """The right result of a pair."""

    document: Name
    title: Paragraph = ""
    text: Passage = ""
    url: Paragraph = ""
    image: Paragraph = ""


class ItemIn(ApiModel):
    """One item to judge; with a result beside it, a pair of which the better is asked for."""

    name: Name
    topic: Line = ""
    query: Paragraph = ""
    document: Line = ""
    need: Paragraph = ""
    category: Line = ""
    title: Paragraph = ""
    text: Passage = ""
    url: Paragraph = ""
    image: Paragraph = ""
    beside: _BesideIn | None = None


class GoldIn(ApiModel):
    """The known answer to an item."""

    item: Name
    accepted: list[Name] = Field(min_length=1, max_length=100)
    reason: Reason = ""
    reasons: dict[Line, Reason] = Field(default={}, max_length=100)
    role: Literal["training", "screening", "both"] = "both"


class QuestionIn(ApiModel):
    """A further question: on a scale of its own (labels), in words, or how sure they are."""

    name: Key
    text: Line = ""
    kind: Literal["labels", "words", "confidence"] = "labels"
    labels: Line = ""
    required: bool = True
    share: Annotated[float, Field(gt=0, le=1)] = 1.0

    def value(self) -> FurtherQuestion:
        """As the service takes it."""
        return FurtherQuestion(**self.model_dump())


class ArmIn(ApiModel):
    """An arm: its name, and what differs from the project."""

    name: Key
    training_mix: _Mixed | None = None
    screening_mix: _Mixed | None = None
    feedback: bool | None = None
    refresher_pairs: Annotated[int, Field(ge=0, le=100)] | None = None
    pay_per_page: Short | None = None
    pay_failed: Short | None = None
    guidelines: Guide | None = None

    def given(self) -> dict[str, Any]:
        """As a file of arms has it."""
        return self.model_dump(exclude_none=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteOut(Invite):
    """An invitation with its link."""

    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLinkOut(MemberLink):
    """A link that makes a member, with its address."""

    address: str


def item_of(body: ItemIn) -> Item:
    """An item from what was sent."""
    for part in (body, body.beside):
        for name in ("url", "image"):
            address = "" if part is None else getattr(part, name)
            if address and not address.lower().startswith(("http://", "https://")):
                raise BadSetting(f"{name} of {body.name}", address, "http:// or https://")
    beside = None if body.beside is None else Beside(**body.beside.model_dump())
    given = {**body.model_dump(), "beside": beside}
    # Items of one query belong together, also where the caller has no ids for queries.
    given["topic"] = body.topic or (topic_id(body.query) if body.query else body.name)
    return Item(**given)


def gold_of(body: GoldIn) -> GoldEntry:
    """A gold from what was sent."""
    return GoldEntry(**{**dict(body), "accepted": tuple(body.accepted)})
