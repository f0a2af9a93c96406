"""The routers of the API: what every route takes, what it is called, and how its errors look."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict

from adjudge.collect.web.api_values import ApiOutput


class Fault(ApiOutput):
    """One thing that is wrong with a request."""

    at: str
    problem: str


class ErrorBody(BaseModel):
    """What is wrong: a code for programs, a sentence for people, the number of the log line."""

    model_config = ConfigDict(extra="allow")
    code: str
    message: str
    request: str
    faults: list[Fault] | None = None


class Error(ApiOutput):
    """The one shape of every error."""

    error: ErrorBody


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
    status: {"model": Error, "description": words} for status, words in _WHEN.items()
}


class _Operation(APIRoute):
    """A route whose name in the schema is its function's, without the underscore."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        given["name"] = given.get("name") or endpoint.__name__.lstrip("_")
        super().__init__(path, endpoint, **given)


_BEARER = HTTPBearer(auto_error=False, description="A token from the account page.")


def api_router(tag: str) -> APIRouter:
    """A router of the API: every route of it takes a token, and says what can go wrong."""
    return APIRouter(
        tags=[tag], responses=_FAULTS, dependencies=[Security(_BEARER)], route_class=_Operation
    )
