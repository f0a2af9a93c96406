"""What the routes of the API share: how they are named, who calls, what is sent and returned."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, Generic, TypeVar

from fastapi import APIRouter, Depends, Request, Security
from fastapi import Path as InPath
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import ConfigDict
from pydantic_core import to_jsonable_python
from starlette.responses import JSONResponse, Response

from adjudge.collect.rules.sent import ApiModel
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.requesting import MemberRole
from adjudge.collect.web._login import LoggedIn
from adjudge.collect.web._state import state_of
from adjudge.errors import Refused

_Value = TypeVar("_Value")


Slug = Annotated[str, InPath(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=80)]
PublicId = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]


# -- what comes back


@dataclasses.dataclass(frozen=True, slots=True)
class Listed(Generic[_Value]):
    """A list of things."""

    results: Sequence[_Value]


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
            return JSONResponse(to_jsonable_python(value), status_code=status)

        super().__init__(path, answer, **given)


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
    "/item/adjudicate": "reviewer",
    "/item/reopen": "reviewer",
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
