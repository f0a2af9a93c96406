"""Faults as answers: one JSON shape for programs, one page for people, never a bare 500."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError, OperationalError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from adjudge.collect.web._login import LoginNeeded
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.collect.web.logs import LOG
from adjudge.errors import AdjudgeError, NotFound, Refused, Unavailable

_STATUS = {  # of Refused; 409 for those not named
    "bad-form": 422,
    "rows-missing": 422,
    "form-forged": 403,
    "not-joined": 403,
    "admin-only": 403,
    "blocked": 403,
    "channel-closed": 403,
    "invite-unknown": 403,
    "invite-revoked": 403,
    "link-forged": 403,
    "token-scope": 403,
    "role": 403,
    "guest": 403,
    "invite-expired": 410,
    "link-expired": 410,
    "page-expired": 410,
    "bad-login": 401,
    "bad-token": 401,
    "token-missing": 401,
    "too-many": 429,
    "crowded": 429,
}
_TITLES = {
    400: "That could not be read",
    401: "Please log in",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Not possible now",
    410: "Too late",
    413: "Too large",
    422: "Something is missing or wrong",
    429: "Too many tries",
    500: "Something went wrong here",
    503: "Not available for a moment",
}
_TITLE_OF = {"crowded": "Please come back in a moment"}  # where the status says too little
_UNAVAILABLE = {  # what the database itself said is in the log
    "database-busy": "the database is busy; nothing was stored, please try again in a moment",
    "database-full": "the disk of the database is full; nothing was stored, please try again later",
    "database-gone": "the database cannot be reached; nothing was stored, please try again later",
}
_LONGEST = 1_000  # characters of a message
_MOST_FAULTS = 20  # of one request that are listed
_CODES = {
    400: "bad-request",
    401: "not-logged-in",
    403: "not-allowed",
    404: "not-found",
    405: "method-not-allowed",
    413: "too-large",
    422: "bad-request",
    500: "fault",
    503: "unavailable",
}


def _answer(request: Request, status: int, code: str, message: str, **more: Any) -> Response:
    """An error as JSON for the API, as a page for a browser."""
    if len(message) > _LONGEST:  # it may repeat what was sent
        message = f"{message[: _LONGEST // 2]} ... {message[-_LONGEST // 2 :]}"
    headers = {"Retry-After": "5"} if status == 503 else {}
    if status == 429 and "seconds" in more:
        headers["Retry-After"] = str(math.ceil(more["seconds"]))
    if status == 401 and _is_api(request):
        headers["WWW-Authenticate"] = "Bearer"
    if _is_api(request):
        error = {"code": code, "message": message, "request": request.state.request_id, **more}
        return JSONResponse({"error": error}, status_code=status, headers=headers)
    sentence = message[:1].upper() + message[1:]
    if not sentence.endswith((".", "!", "?")):
        sentence += "."
    back, name = _back(request, status)
    if code == "crowded" and request.method == "GET":  # the same link, with the id that it carries
        path, query = request.scope["path"].removeprefix(root(request)), request.url.query
        back, name = f"{root(request)}{path}?{query}", "Try again"
    page = state_of(request).pages.show(
        request,
        "error.html",
        status=status,
        title=_TITLE_OF.get(code) or _TITLES.get(status, "Not possible"),
        message=sentence,
        back=back,
        back_name=name,
    )
    page.headers.update(headers)
    return page


def _is_api(request: Request) -> bool:
    path: str = request.scope["path"]
    return path.removeprefix(root(request)).startswith(("/api/", "/healthz", "/readyz", "/metrics"))


def _back(request: Request, status: int) -> tuple[str, str]:
    """Where a person goes on from an error."""
    parts = request.scope["path"].removeprefix(root(request)).split("/")
    if len(parts) > 2 and parts[1] == "j":
        return (f"{root(request)}/j/{parts[2]}", "Go on") if status != 404 else ("", "")
    if status not in (401, 403, 404) and request.scope.get("path_params", {}).get("project"):
        return f"{root(request)}/projects/{parts[2]}", "Back to the project"
    return f"{root(request)}/projects", "To the projects"


async def _on_refused(request: Request, fault: Refused) -> Response:
    return _answer(request, _STATUS.get(fault.code, 409), fault.code, str(fault), **fault.evidence)


async def _on_not_found(request: Request, fault: NotFound) -> Response:
    message = str(fault)
    if request.scope["path"].removeprefix(root(request)).startswith("/j/"):
        message += " for this browser; if you were sent a link, please open that one again"
    return _answer(request, 404, "not-found", message)


async def _on_bad_data(request: Request, fault: AdjudgeError) -> Response:
    return _answer(request, 422, "bad-data", fault.sentence)


async def _on_unavailable(request: Request, fault: Unavailable | OperationalError) -> Response:
    code = fault.code if isinstance(fault, Unavailable) else "database-gone"
    state_of(request).metrics.count(code)
    LOG.error(code, extra={"request": request.state.request_id, "why": _why(fault)})
    return _answer(request, 503, code, _UNAVAILABLE.get(code, _UNAVAILABLE["database-gone"]))


def _why(fault: BaseException) -> str:
    """Return what the database said, without the statement and its values."""
    inner = fault.orig if isinstance(fault, DBAPIError) else fault.__cause__ or fault
    if isinstance(inner, DBAPIError):
        inner = inner.orig or inner
    return f"{type(inner).__name__}: {inner}".splitlines()[0]


async def _on_http(request: Request, fault: HTTPException) -> Response:
    status = fault.status_code
    message = {
        404: "there is nothing at this address",
        405: f"{request.method} is not possible at this address",
    }.get(status) or fault.detail
    response = _answer(request, status, _CODES.get(status, "not-possible"), message)
    response.headers.update(fault.headers or {})
    return response


async def _on_invalid(request: Request, fault: RequestValidationError) -> Response:
    faults = [
        {"at": ".".join(map(str, entry["loc"]))[:_LONGEST], "problem": entry["msg"][:_LONGEST]}
        for entry in fault.errors()[:_MOST_FAULTS]
    ]
    message = "{at}: {problem}".format(**faults[0])
    return _answer(request, 422, "bad-request", message, faults=faults)


async def _on_login_needed(request: Request, _: LoginNeeded) -> Response:
    """Lead to the login, and from there back."""
    path = request.scope["path"].removeprefix(root(request))
    query = f"?{request.url.query}" if request.url.query else ""
    back = path + query if request.method == "GET" else "/projects"
    return go(request, f"/login?next={quote(back)}")


async def on_fault(request: Request, fault: Exception) -> Response:
    """What nobody foresaw; the middleware has written it to the log."""
    if isinstance(fault, OperationalError):
        return await _on_unavailable(request, fault)
    return _answer(
        request, 500, "fault", "something went wrong here; it is noted, please try again later"
    )


_HANDLERS: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    Refused: _on_refused,
    NotFound: _on_not_found,
    Unavailable: _on_unavailable,
    OperationalError: _on_unavailable,
    AdjudgeError: _on_bad_data,
    RequestValidationError: _on_invalid,
    HTTPException: _on_http,
    LoginNeeded: _on_login_needed,
}


def install(app: FastAPI) -> None:
    """Let the app answer faults in our shape."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)
