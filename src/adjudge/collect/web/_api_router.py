"""The routers of the API: how routes are named, how errors look, and who calls a route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import ConfigDict

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.members import MemberRole
from adjudge.collect.web._api_values import ApiModel
from adjudge.collect.web._login import LoggedIn
from adjudge.collect.web._state import state_of
from adjudge.errors import Refused


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


class _Operation(APIRoute):
    """A route whose name in the schema is its function's, without the underscore."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        given["name"] = given.get("name") or endpoint.__name__.lstrip("_")
        super().__init__(path, endpoint, **given)


# What takes another role than a manager's; the services hold every role too.
_LEAST: dict[str, MemberRole] = {
    "/contests/{contest}": "reviewer",
    "/consensus": "reviewer",
    "/plan": "reviewer",
    "/item/adjudicate": "reviewer",
    "/item/reopen": "reviewer",
    "/arms/report": "viewer",
    "/members/{member}": "viewer",  # to leave
}
_BEARER = HTTPBearer(auto_error=False, description="A token from the account page.")


def api_router(tag: str) -> APIRouter:
    """A router of the API: every route of it takes a token, and says what can go wrong."""
    return APIRouter(
        tags=[tag], responses=_FAULTS, dependencies=[Security(_BEARER)], route_class=_Operation
    )


def caller_of(request: Request, project: str | None) -> LoggedIn:
    """The requester of a token, held to the project that the token is for."""
    state = state_of(request)
    tokens = state.tokens
    if project is None:
        holder = tokens.holder(request)
    else:
        path: str = request.scope["route"].path.partition("/{project}")[2]
        least = "viewer" if request.method == "GET" else _LEAST.get(path, "manager")
        holder = tokens.holder_in(request, project, least)
    holder.may_request()
    if project is None and holder.token.project is not None and request.method != "GET":
        raise Refused("token-scope", "this token is for one project only")
    return LoggedIn(request, holder.requester, state.services.acting_for(holder.requester))


def services_of(request: Request, project: str | None = None) -> RequesterServices:
    """The services of a token's requester, held to the project that the token is for."""
    return caller_of(request, project).services
