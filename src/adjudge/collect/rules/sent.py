"""What is sent for a project, by the API or in an archive."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.judging import LONGEST_COMMENT
from adjudge.collect.values.project import GoldEntry, Item, OtherResult
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.errors import BadSetting

# No database stores NUL. What is shown on one line or names something has no control characters.
_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"


def _text(least: int, most: int, without: str = r"\x00") -> Any:
    """Text of a bounded length without some characters."""
    return Field(min_length=least, max_length=most, pattern=f"^[^{without}]*$")


Key = Annotated[str, _text(1, 200, _CONTROL)]
Short = Annotated[str, _text(0, 200, _CONTROL)]
Property = Annotated[str, _text(0, 200)]  # the name of a part of an object
Name = Annotated[str, _text(1, 1_000, _CONTROL)]
Line = Annotated[str, _text(0, 1_000, _CONTROL)]
Comment = Annotated[str, _text(0, LONGEST_COMMENT)]
Reason = Annotated[str, _text(0, 5_000)]
Paragraph = Annotated[str, _text(0, 10_000)]
Guide = Annotated[str, _text(0, 200_000)]
Passage = Annotated[str, _text(0, 100_000)]
_Share = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Shares = Annotated[dict[Name, _Share], Field(max_length=100)]
GoldRole = Literal["training", "screening", "both"]


class ApiModel(BaseModel):
    """What a caller sends: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        # The schema names a model after its class, without the underscore of a private one.
        cls.__name__ = cls.__qualname__ = cls.__name__.lstrip("_")


class _BesideIn(ApiModel):
    """The right result of a pair."""

    document: Name
    title: Paragraph = ""
    text: Passage = ""
    url: Paragraph = ""
    image: Paragraph = ""


class ItemIn(ApiModel):
    """One item to judge; with a second result, a pair of which the better is asked for."""

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

    def value(self) -> Item:
        """Return the item, once its addresses are found to be of the web."""
        for part in (self, self.beside):
            for name in ("url", "image"):
                address = getattr(part, name, "")
                if address and not address.lower().startswith(("http://", "https://")):
                    raise BadSetting(f"{name} of {self.name}", address, "http:// or https://")
        other = None if self.beside is None else OtherResult(**dict(self.beside))
        # Items of one query belong together, also where the caller has no ids for queries.
        topic = self.topic or (topic_id(self.query) if self.query else self.name)
        return Item(**{**dict(self), "beside": other, "topic": topic})


class GoldIn(ApiModel):
    """The known answer to an item."""

    item: Name
    accepted: list[Name] = Field(min_length=1, max_length=100)
    reason: Reason = ""
    reasons: dict[Line, Reason] = Field(default={}, max_length=100)
    role: GoldRole = "both"

    def value(self) -> GoldEntry:
        """Return the gold."""
        return GoldEntry(**{**dict(self), "accepted": tuple(self.accepted)})


class QuestionIn(ApiModel):
    """A further question: on a scale of its own (labels), in words, or how sure they are."""

    name: Key
    text: Line = ""
    kind: Literal["labels", "words", "confidence"] = "labels"
    labels: Line = ""
    required: bool = True
    share: Annotated[float, Field(gt=0, le=1)] = 1.0

    def value(self) -> FurtherQuestion:
        """Return the question."""
        return FurtherQuestion(**dict(self))


class ArmIn(ApiModel):
    """An arm: its name, and what differs from the project."""

    name: Key
    training_mix: Literal["any", "uniform", "population"] | Shares | None = None
    screening_mix: Literal["any", "uniform", "population"] | Shares | None = None
    feedback: bool | None = None
    refresher_pairs: Annotated[int, Field(ge=0, le=100)] | None = None
    pay_per_page: Short | None = None
    pay_failed: Short | None = None
    guidelines: Guide | None = None

    def given(self) -> dict[str, Any]:
        """Return the arm as a file of arms has it."""
        return self.model_dump(exclude_none=True)
