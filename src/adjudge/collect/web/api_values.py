"""The values of the API: what is sent, checked, and what comes back, as the schema tells them."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from adjudge.collect.values.judging import Answer, JudgeView, Page

_Value = TypeVar("_Value")


def _text(least: int, most: int) -> Any:
    return Field(min_length=least, max_length=most, pattern=r"^[^\x00]*$")


# Text of a bounded length that any database can store: none stores NUL.
Key = Annotated[str, _text(1, 200)]
Short = Annotated[str, _text(0, 200)]
Name = Annotated[str, _text(1, 1_000)]
Line = Annotated[str, _text(0, 1_000)]
_SomeComment = Annotated[str, _text(1, 2_000)]
Comment = Annotated[str, _text(0, 2_000)]
Reason = Annotated[str, _text(0, 5_000)]
Paragraph = Annotated[str, _text(0, 10_000)]
Passage = Annotated[str, _text(0, 100_000)]
Guide = Annotated[str, _text(0, 200_000)]

Slug = Annotated[str, InPath(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
PublicId = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]
Ticket = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_.-]+$", max_length=400)]
Position = Annotated[int, InPath(ge=1, le=100_000)]


class ApiInput(BaseModel):
    """What a caller sends: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")


class ApiOutput(BaseModel):
    """What a caller gets: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")


# -- experiments

_Share = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Shares = Annotated[dict[Name, _Share], Field(max_length=100)]
_Mixed = Literal["any", "uniform", "population"] | Shares


class ArmIn(ApiInput):
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


# -- judging


class ArrivalIn(ApiInput):
    """Who comes to judge: the same key of the same token is the same judge, always."""

    key: Key
    kind: Literal["person", "model"] = "model"
    parameters: dict[Short, Line] = Field(default={}, max_length=20)
    consent: bool = False


class AnswerIn(ApiInput):
    """One answer: a label of the scale or one of the others, and answers to further questions."""

    row: int = Field(ge=1, le=100_000)
    label: Name
    comment: Comment = ""
    seconds: float | None = Field(default=None, ge=0, le=86_400, allow_inf_nan=False)
    answers: dict[Short, Comment] = Field(default={}, max_length=20)

    def value(self) -> Answer:
        """As the service takes it."""
        return Answer(
            row=self.row,
            label=self.label,
            comment=self.comment,
            seconds=self.seconds,
            answers=self.answers,
        )


class AnswersIn(ApiInput):
    """The answers to a page, with its key: sent twice, they are stored once."""

    key: Key
    answers: list[AnswerIn] = Field(max_length=10_000)


class DraftIn(ApiInput):
    """Answers that are kept but not yet sent."""

    answers: list[AnswerIn] = Field(max_length=10_000)


class LabelIn(ApiInput):
    """The answer to one row of a training page."""

    label: Name


class ContestIn(ApiInput):
    """Why a gold is wrong."""

    row: int = Field(ge=1, le=100_000)
    text: _SomeComment


class ArrivalOut(ApiOutput):
    """A judge, and the ticket by which the holder of this token acts for them."""

    ticket: str
    judge: JudgeView


class NextOut(ApiOutput):
    """The next page, or none and where the judge stands."""

    page: Page | None
    judge: JudgeView | None


class Listed(ApiOutput, Generic[_Value]):
    """A list of things."""

    results: list[_Value]


# -- plain values


_PLAIN = frozenset({str, int, float, bool, type(None)})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def plain(value: Any) -> Any:
    """A value as JSON has it: dataclasses as objects, money as text, moments in ISO 8601."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [part if type(part) in _PLAIN else plain(part) for part in value]
    if kind is dict:
        return {str(name): plain(part) for name, part in value.items()}
    if dataclasses.is_dataclass(kind):
        held = {}
        for name in _names(kind):
            part = getattr(value, name)
            held[name] = part if type(part) in _PLAIN else plain(part)
        return held
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def send(value: Any, status: int = 200) -> Response:
    """A value as a response; what ``response_model`` says of it stands in the schema."""
    return JSONResponse(plain(value), status_code=status)


def send_list(values: Any, status: int = 200) -> Response:
    """A list of things as a response."""
    return send({"results": values}, status)
