"""Who a requester is: by the session of a browser, never by what a request says."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import Depends
from starlette.requests import Request
from starlette.responses import Response

from adjudge.collect.consensus.reports import CalledJudges
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.members import MemberRole, may
from adjudge.collect.values.requesting import ProjectHead, Requester
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.errors import NotFound

# Forms of a project that take another role than a manager's; the services hold every role too.
_LEAST: dict[str, MemberRole] = {
    "/item": "reviewer",
    "/contests/{contest}": "reviewer",
    "/consensus": "reviewer",
    "/gold/suggestions/fit": "reviewer",
    "/plan": "reviewer",
    "/dry-run": "reviewer",
    "/members/{member}/remove": "viewer",  # themselves
    "/members/{member}": "owner",
    "/members/links": "owner",
    "/members/links/{link}/revoke": "owner",
    "/delete": "owner",
}
_ENDED = "session-ended:"  # a setting of this name, with the session's id, for each that ended

# What a page says after a form was sent; the address names it, and can say nothing else.
_DONE = {
    "made": "The project is made. Open it to judges when it is ready.",
    "starter": "The starter project is open to judges.",
    "password": "The password is changed.",
    "token-revoked": "The token is revoked.",
    "requester": "The requester can log in now.",
    "state": "The state is changed.",
    "blocked": "The judge is blocked; their judgments are untrusted, and their items open again.",
    "unblocked": "The judge is unblocked, and their judgments count again.",
    "renamed": "The name is changed.",
    "messaged": "They see the message on their next page, until they say that they have read it.",
    "bulk-block": "The judges are blocked; their judgments are untrusted, their items open again.",
    "bulk-unblock": "The judges are unblocked, and their judgments count again.",
    "notices": "Who is told is changed, from now on.",
    "noticed": "A test is on its way; load the page again to see how it went.",
    "imported": "The files are imported.",
    "gold": "The gold is changed, and every answer to it graded again.",
    "settled": "The judge will see your answer.",
    "designed": "Every gold has one role now: training or screening.",
    "approved": "The item is gold now, and given out as work no more.",
    "declined": "The item will not be suggested again.",
    "reconsidered": "The item may be suggested again.",
    "plan-used": "The policy is changed to what the plan recommends.",
    "guidelines": "The guidelines are changed.",
    "policy": "The policy is changed; the log has its new version.",
    "panel": "What the panel asks for is set; the overview says what is still missing.",
    "arms": "The arms are set; the log has their new version.",
    "invited": "The invitations are made.",
    "invite-revoked": "The invitation is revoked; who came by it can judge no more.",
    "adjudicated": "The label is final; the consensus is being fitted again.",
    "reopened": "The item is open again, as far as it needs judgments.",
    "more-asked": "The item is open again, for that many judgments more.",
    "skipped": "The item is skipped: it is given to nobody any more.",
    "read": "The files are read, and their items stored. Look it over, then open it to judges.",
    "restored": "The project is made again from its archive, a draft that nobody has judged: "
    "the answers stay in the archive. Look it over, then open it.",
    "saved": "It is saved.",
    "opened": "The project is open: give judges the link below.",
    "opened-to-invited": "The project is open to those whom you invite.",
    "grades": "The labels have their grades; the formats that rate with numbers can be made.",
    "asked": "The consensus is asked for; it appears here when it is ready.",
    "deleted": "The project is deleted.",
    "member-invited": "The link is made: send it to one person.",
    "member-link-revoked": "The link is revoked.",
    "member-role": "The role is changed.",
    "member-removed": "They are a member no more.",
    "member-joined": "You are a member of this project now.",
    "left": "You are a member of that project no more.",
    "guest-ended": "They can make projects of their own now.",
}


def read_notice(request: Request) -> str:
    """What the form that led here has done."""
    return _DONE.get(request.query_params.get("done", ""), "")


class LoginNeeded(Exception):
    """Nobody is logged in with this browser."""


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

    def show(self, template: str, *, status: int = 200, **context: Any) -> Response:
        """A page with their name on it."""
        return state_of(self.request).pages.show(
            self.request, template, status=status, requester=self.requester, **context
        )

    def show_project(self, tab: str, template: str, slug: str, **context: Any) -> Response:
        """A page of one project of theirs."""
        project: ProjectHead = context.pop("project", None) or self.services.projects.get_head(slug)
        here = f"{root(self.request)}/projects/{quote(slug)}"
        context.setdefault("done", read_notice(self.request))
        powers: tuple[MemberRole, ...] = ("reviewer", "manager", "owner")
        may_do = {least: may(project.role, least) for least in powers}
        pairs = is_of_pairs(project.labels)
        context |= {"may": may_do, "of_pairs": pairs, "names": _NamesHere(self.services, slug)}
        return self.show(template, project=project, here=here, tab=tab, **context)


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
    changed = settings.get(password_stamp(requester.requester)) not in (None, session.stamp)
    if changed or settings.get(_ENDED + session.id) is not None:
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
    state.pages.session(request).log_in(requester.requester, str(stamp), time.time())


def end_session(request: Request) -> None:
    """Log out, here and for whoever has a copy of the cookie: its id is no session's any more.

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


def password_stamp(requester: str) -> str:
    """The name of the setting that changes with a requester's password."""
    return f"password-stamp:{requester}"


async def on_login_needed(request: Request, _: Exception) -> Response:
    """Lead to the login, and from there back."""
    path = request.scope["path"].removeprefix(root(request))
    query = f"?{request.url.query}" if request.url.query else ""
    wanted = path + query if request.method == "GET" else "/projects"
    return go(request, f"/login?next={quote(wanted)}")
