"""What the routes of the API share: how they are named, who calls, what is sent and returned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache, wraps
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import APIRouter, Depends, Request, Security
from fastapi import Path as InPath
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.project import Beside, GoldEntry, Item
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.values.requesting import MemberRole
from adjudge.collect.web._login import LoggedIn
from adjudge.collect.web._state import state_of
from adjudge.errors import BadSetting, Refused

_Value = TypeVar("_Value")


def _text(least: int, most: int) -> Any:
    return Field(min_length=least, max_length=most, pattern=r"^[^\x00]*$")


# Text of a bounded length that any database can store: none stores NUL.
Key = Annotated[str, _text(1, 200)]
Short = Annotated[str, _text(0, 200)]
Name = Annotated[str, _text(1, 1_000)]
Line = Annotated[str, _text(0, 1_000)]
Comment = Annotated[str, _text(0, 2_000)]
Reason = Annotated[str, _text(0, 5_000)]
Paragraph = Annotated[str, _text(0, 10_000)]
Guide = Annotated[str, _text(0, 200_000)]
_Passage = Annotated[str, _text(0, 100_000)]
_Share = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Shares = Annotated[dict[Name, _Share], Field(max_length=100)]
GoldRole = Literal["training", "screening", "both"]

Slug = Annotated[str, InPath(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
PublicId = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]


# -- what comes back


@dataclasses.dataclass(frozen=True, slots=True)
class Listed(Generic[_Value]):
    """A list of things."""

    results: Sequence[_Value]


_PLAIN = frozenset({str, int, float, bool, type(None)})


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: dataclasses as objects, money as text, moments in ISO 8601."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is tuple or kind is list:
        return [part if type(part) in _PLAIN else _plain(part) for part in value]
    if kind is dict:
        return {str(name): _plain(part) for name, part in value.items()}
    if dataclasses.is_dataclass(kind):
        held = {}
        for name in _names(kind):
            part = getattr(value, name)
            held[name] = part if type(part) in _PLAIN else _plain(part)
        return held
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


class _Operation(APIRoute):
    """A route that is named after its function, and sends what the function returns."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        given["name"] = endpoint.__name__.lstrip("_")
        status = given.get("status_code") or 200

        @wraps(endpoint)
        def answer(**values: Any) -> Response:
            value = endpoint(**values)
            if isinstance(value, Response):
                return value
            if status == 204:
                return Response(status_code=status)
            return JSONResponse(_plain(value), status_code=status)

        super().__init__(path, answer, **given)


class ApiModel(BaseModel):
    """What a caller sends: nothing but what is named."""

    model_config = ConfigDict(extra="forbid")

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        # The schema names a model after its class, without the underscore of a private one.
        cls.__name__ = cls.__qualname__ = cls.__name__.lstrip("_")


class _Fault(ApiModel):
    """One thing that is wrong with a request."""

    at: str
    problem: str


class _ErrorBody(ApiModel):
    """What is wrong: a code for programs, a sentence for people, the number of the log line."""

    model_config = ConfigDict(extra="allow")
    code: str
    message: str
    request: str
    faults: list[_Fault] | None = None


class _Error(ApiModel):
    """The one shape of every error."""

    error: _ErrorBody


_WHEN = {
    400: "The request could not be read.",
    401: "There is no token, or it is not valid.",
    403: "The token may not do this.",
    404: "There is no such thing, or it is not the caller's.",
    409: "Not possible in the present state.",
    410: "The page or link has expired.",
    413: "Too large.",
    422: "A value is missing or wrong.",
    503: "The database is busy, full or gone; nothing was stored.",
}
_FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"model": _Error, "description": words} for status, words in _WHEN.items()
}
_BEARER = HTTPBearer(auto_error=False, description="A token from the account page.")


def api_router(tag: str) -> APIRouter:
    """Return a router of the API: its routes take a token, and declare what can go wrong."""
    return APIRouter(
        tags=[tag], responses=_FAULTS, dependencies=[Security(_BEARER)], route_class=_Operation
    )


# -- who calls

# What takes another role than a manager's; the services check every role too.
_LEAST: dict[str, MemberRole] = {
    "/contests/{contest}": "reviewer",
    "/consensus": "reviewer",
    "/plan": "reviewer",
    "/item/adjudicate": "reviewer",
    "/item/reopen": "reviewer",
    "/arms/report": "viewer",
    "/members/{member}": "viewer",  # to leave
}


def _caller_of(request: Request) -> LoggedIn:
    """Return the requester of a token, limited to the project that the token is for."""
    state = state_of(request)
    project = request.path_params.get("project")
    if project is None:
        holder = state.tokens.holder(request)
    else:
        path: str = request.scope["route"].path.partition("/{project}")[2]
        least = "viewer" if request.method == "GET" else _LEAST.get(path, "manager")
        holder = state.tokens.holder_in(request, project, least)
    holder.may_request()
    if project is None and holder.token.project is not None and request.method != "GET":
        raise Refused("token-scope", "this token is for one project only")
    return LoggedIn(request, holder.requester, state.services.acting_for(holder.requester))


def _services_of(request: Request) -> RequesterServices:
    return _caller_of(request).services


Caller = Annotated[LoggedIn, Depends(_caller_of)]
Services = Annotated[RequesterServices, Depends(_services_of)]


# -- what is sent for a project, in whole or in part


class _BesideIn(ApiModel):
    """The right result of a pair."""

    document: Name
    title: Paragraph = ""
    text: _Passage = ""
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
    text: _Passage = ""
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
        beside = None if self.beside is None else Beside(**dict(self.beside))
        # Items of one query belong together, also where the caller has no ids for queries.
        topic = self.topic or (topic_id(self.query) if self.query else self.name)
        return Item(**{**dict(self), "beside": beside, "topic": topic})


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
