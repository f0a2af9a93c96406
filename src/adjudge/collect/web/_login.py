"""Who a requester is: by the session of a browser or a token, never by what a request says."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from inspect import Parameter, signature
from threading import Lock
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from adjudge.collect.consensus.refit import is_outdated
from adjudge.collect.consensus.reports import CalledJudges
from adjudge.collect.services.accounts import password_stamp
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.requesting import MemberRole, ProjectHead, Requester, Token, may
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._sections import SECTIONS, find_section
from adjudge.collect.web._state import state_of
from adjudge.errors import AdjudgeError, NotFound, Refused, Unavailable

# Forms of a project that take another role than a manager's; the services hold every role too.
_LEAST: dict[str, MemberRole] = {
    "/dismiss": "viewer",  # for themselves
    "/dry-run": "reviewer",
    "/delete": "owner",
    "/item": "reviewer",
    "/items/adjudicate": "reviewer",
    "/results": "reviewer",
    "/results/plan": "reviewer",
    "/results/systems/upload": "reviewer",
    "/settings/gold/contests/{contest}": "reviewer",
    "/settings/gold/suggestions/fit": "reviewer",
    "/settings/notifications/ask": "owner",
    "/settings/members/{member}/remove": "viewer",  # themselves
    "/settings/members/{member}": "owner",
    "/settings/members/links": "owner",
    "/settings/members/links/{link}/revoke": "owner",
    "/settings/members/tokens/{token}/revoke": "owner",
}
_ENDED = "session-ended:"  # a setting of this name, with the session's id, for each that ended
_SECONDS = 5.0  # that a token is believed without asking the database again
_MOST_TOKENS = 1_000
_WITH_FITS = ("Items", "Judges", "Results")  # sections whose pages show what fits say


class LoginNeeded(Exception):
    """Nobody is logged in with this browser."""


class _PageRoute(APIRoute):
    """A route of pages: a path that its function returns is where the browser is led to."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        asked = signature(endpoint)
        logs_in = given.get("methods") == ["GET"] and "who" in asked.parameters
        takes_request = "request" in asked.parameters

        @wraps(endpoint)
        def answer(**values: Any) -> Response:
            if logs_in:
                values["who"] = require_login(values["request"])
                if not takes_request:
                    del values["request"]
            found: Response | str = endpoint(**values)
            if isinstance(found, Response):
                return found
            request = values["request"] if "request" in values else values["who"].request
            return go(request, found)

        if logs_in:  # in the thread of the page itself: a dependency would take another
            needed = [one for one in asked.parameters.values() if one.name != "who"]
            if not takes_request:
                needed.append(Parameter("request", Parameter.KEYWORD_ONLY, annotation=Request))
            answer.__signature__ = asked.replace(parameters=needed)  # type: ignore[attr-defined]
        given["response_model"] = None
        super().__init__(path, answer, **given)


def page_router(prefix: str = "") -> APIRouter:
    """Return a router of pages; each of its functions takes ``who`` or ``request``."""
    return APIRouter(prefix=prefix, include_in_schema=False, route_class=_PageRoute)


@dataclass
class _NamesHere:
    """What judges and gold of a project are called, read when a page first names one."""

    services: RequesterServices
    slug: str

    @cached_property
    def _judges(self) -> CalledJudges:
        return CalledJudges(self.services.judges.get_names(self.slug))

    @cached_property
    def _golds(self) -> dict[int, str]:
        return self.services.gold.get_items(self.slug)

    def of(self, judge: str) -> str:
        """The name of a judge, or their public id."""
        return self._judges.names.get(judge, judge)

    def within(self, text: str) -> str:
        """A sentence with the names of judges in the place of their public ids."""
        return self._judges.within(text)

    def gold(self, number: int) -> str:
        """The item of a gold that the log has by its number; empty where it is gone."""
        return self._golds.get(number, "")


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """A requester who is logged in: their services, and how their pages are shown."""

    request: Request
    requester: Requester
    services: RequesterServices
    status: int = 200
    context: Mapping[str, Any] = field(default_factory=dict)  # of the form that is shown again

    def again(self, fault: AdjudgeError, status: int = 422, **context: Any) -> LoggedIn:
        """Return the same, to show a page again with what is wrong and what was sent.

        A fault that no form can correct is raised again.
        """
        beyond = isinstance(fault, Refused) and fault.code in ("role", "admin-only")
        if beyond or isinstance(fault, NotFound | Unavailable):
            raise fault
        return self.showing(status, problem=fault.sentence, **context)

    def showing(self, status: int = 200, **context: Any) -> LoggedIn:
        """Return the same, to show a page with other values than its own."""
        return replace(self, status=status, context=context)

    def show(self, template: str, **context: Any) -> Response:
        """Return a page with their name on it."""
        done = self.request.query_params.get("done", "")
        given = {"problem": "", "done": done, **context, **self.context}
        return state_of(self.request).pages.show(
            self.request,
            f"requester/{template}.html",
            status=self.status,
            requester=self.requester,
            **given,
        )

    def show_project(self, tab: str, template: str, slug: str, **context: Any) -> Response:
        """Return a page of one of their projects."""
        given = self._about(slug, context)
        section, pages = find_section(tab, of_pairs=given["of_pairs"])
        return self.show(
            template,
            tab=tab,
            section=section,
            sections=SECTIONS,
            pages_here=pages,
            outdated=(section in _WITH_FITS or tab == "Gold") and is_outdated(self.services, slug),
            **given,
        )

    def show_part(self, template: str, slug: str, **context: Any) -> Response:
        """Return a part of such a page, which its script asks for."""
        return self.show(template, **self._about(slug, context))

    def _about(self, slug: str, context: dict[str, Any]) -> dict[str, Any]:
        """What pages of a project have in common, and the values of one."""
        project: ProjectHead = context.pop("project", None) or self.services.projects.get_head(slug)
        powers: tuple[MemberRole, ...] = ("viewer", "reviewer", "manager", "owner")
        return {
            "project": project,
            "here": f"{root(self.request)}/projects/{quote(slug)}",
            "may": {least: may(project.role, least) for least in powers},
            "of_pairs": is_of_pairs(project.labels),
            "ramp": _ramp(project),
            "names": _NamesHere(self.services, slug),
            **context,
        }


def _ramp(project: ProjectHead) -> dict[str, str]:
    """The colour of each label: of ordered ones a ramp from light to dark."""
    last = max(len(project.labels) - 1, 1)
    if not project.ordinal:
        return {label: f"n{at % 5}" for at, label in enumerate(project.labels)}
    return {label: f"r{round(4 * at / last)}" for at, label in enumerate(project.labels)}


def require_login(request: Request) -> LoggedIn:
    """The requester of a request, or an error that leads to the login.

    Refused: ``role`` where a form of a project takes more than their role in it.
    """
    state = state_of(request)
    session = state.pages.session(request)
    if not session.requester:
        raise LoginNeeded
    try:
        requester = state.services.accounts.get(session.requester)
    except NotFound:
        session.log_out()
        raise LoginNeeded from None
    settings = state.services.settings
    if requester.disabled:
        session.log_out()
        raise LoginNeeded
    stamp, ended = password_stamp(requester.requester), _ENDED + session.id
    kept = settings.get_all((stamp, ended))
    if kept.get(stamp, session.stamp) != session.stamp or ended in kept:
        session.log_out()  # the password was changed since, or they logged out with this cookie
        raise LoginNeeded
    services = state.services.acting_for(requester)
    if request.method == "POST" and "project" in request.path_params:
        path: str = request.scope["route"].path
        least = _LEAST.get(path.removeprefix("/projects/{project}"), "manager")
        services.projects.check_role(request.path_params["project"], least)
    return LoggedIn(request, requester, services)


Who = Annotated[LoggedIn, Depends(require_login)]  # of a route that runs in a thread


def start_session(request: Request, requester: Requester) -> None:
    """Make the browser's session the requester's."""
    state = state_of(request)
    stamp = state.services.settings.get(password_stamp(requester.requester)) or ""
    mark = mark_of(request, requester.name)
    state.pages.session(request).log_in(requester.requester, str(stamp), time.time(), mark)


def mark_of(request: Request, name: str) -> str:
    """The mark of a name in the cookies of browsers that logged in with it."""
    return state_of(request).keys.digest("known", name.casefold())[:16]


def end_session(request: Request) -> None:
    """Log out, here and for whoever has a copy of the cookie: its id is no longer valid.

    What has ended is remembered until the cookie would have expired by itself.
    """
    state = state_of(request)
    session = state.pages.session(request)
    if session.requester:
        settings, now = state.services.settings, time.time()
        for name, ended in settings.find(_ENDED).items():
            if now - ended > state.settings.session_hours * 3600:
                settings.forget(name)
        settings.keep(_ENDED + session.id, now)
    session.log_out()


@dataclass(frozen=True, slots=True)
class _Holder:
    """Who sent a request to the API."""

    token: Token
    requester: Requester

    def may_request(self) -> None:
        """Refuse unless the token has the powers of a requester."""
        if self.token.scope != "requester":
            raise Refused(
                "token-scope", "this token may only judge; expected one of scope requester"
            )


class Tokens:
    """Tokens as they come in, each remembered for a few seconds under a hash of its secret."""

    def __init__(self, services: RequesterServices) -> None:
        self._services = services
        self._lock = Lock()
        self._known: OrderedDict[bytes, tuple[float, _Holder]] = OrderedDict()

    def holder(self, request: Request) -> _Holder:
        """Whose token a request came with."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise Refused(
                "token-missing", "there is no token; expected 'Authorization: Bearer ...'"
            )
        secret = secret.strip()
        if len(secret) > 500 or not secret.isascii():
            raise Refused("bad-token", "this token is not known, or not valid any more")
        name, now = hashlib.sha256(secret.encode()).digest(), time.monotonic()
        with self._lock:
            known = self._known.get(name)
        if known is not None and now - known[0] < _SECONDS:
            return known[1]
        holder = _Holder(*self._services.accounts.check_token(secret))
        with self._lock:
            self._known[name] = (now, holder)
            while len(self._known) > _MOST_TOKENS:
                self._known.popitem(last=False)
        return holder

    def holder_in(self, request: Request, project: str, least: MemberRole = "viewer") -> _Holder:
        """Whose token a request about a project came with, and has at least a role in it.

        A project that is not the token's, or not its requester's, is as if it were not there.
        """
        holder = self.holder(request)
        if holder.token.project is not None and holder.token.project != project:
            raise NotFound("project", project)
        self._services.acting_for(holder.requester).projects.check_role(project, least)
        return holder

    def forget(self) -> None:
        """Ask the database again for every token."""
        with self._lock:
            self._known.clear()
