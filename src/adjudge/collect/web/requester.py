"""The requester's way in, their account and the list of their projects."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.web._forms import PROVEN, SentForm, new_password
from adjudge.collect.web._login import (
    LoggedIn,
    Who,
    end_session,
    password_stamp,
    read_notice,
    require_login,
    start_session,
)
from adjudge.collect.web._pages import go
from adjudge.collect.web._state import state_of
from adjudge.collect.web.logs import event
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, Refused, Unavailable

router = APIRouter(include_in_schema=False)


@router.get("/")
def _home(request: Request) -> Response:
    """The list of projects is where a requester begins."""
    return go(request, "/projects")


@router.get("/setup/{token}")
def _show_setup(request: Request, token: str) -> Response:
    """The one-time set-up link."""
    if not state_of(request).services.accounts.needs_setup():
        raise Refused("set-up-done", "this server is set up already: please log in")
    return _setup(request, token, "", "")


def _setup(request: Request, token: str, name: str, problem: str, status: int = 200) -> Response:
    pages = state_of(request).pages
    return pages.show(
        request,
        "requester/setup.html",
        status=status,
        requester=None,
        token=token,
        name=name,
        problem=problem,
    )


@router.post("/setup/{token}")
def _set_up(request: Request, token: str, form: SentForm) -> Response:
    """Make the first requester."""
    services, attempts = state_of(request).services, state_of(request).attempts
    name = form.text("name", most=200)
    address = _address(request)
    _begin_attempt(request, address)
    try:
        password = new_password(form)
        requester = services.accounts.set_up(token, name, password)
    except Refused as refusal:
        if refusal.code != "bad-token":
            attempts.withdraw(address)
        if refusal.code == "set-up-done":
            raise
        return _setup(request, token, name, str(refusal), 422)
    attempts.succeeded(address)
    event("set-up")
    start_session(request, requester)
    return go(request, "/projects")


@router.get("/login")
def _show_login(request: Request) -> Response:
    """The login."""
    return _login(request, "", "", request.query_params.get("next", ""))


def _login(request: Request, name: str, problem: str, after: str, status: int = 200) -> Response:
    return state_of(request).pages.show(
        request,
        "requester/login.html",
        status=status,
        requester=None,
        name=name,
        problem=problem,
        next=after[:500],
        fresh=state_of(request).services.accounts.needs_setup(),
    )


@router.post("/login")
def _log_in(request: Request, form: SentForm) -> Response:
    """Log in; guesses are counted, by name and by address."""
    state = state_of(request)
    name, after = form.text("name", most=200), form.text("next", most=500)
    who = (f"name:{name.casefold()}", _address(request))
    _begin_attempt(request, *who)
    try:
        requester = state.services.accounts.log_in(name, form.fields.get("password", "")[:1_000])
    except Unavailable:
        state.attempts.withdraw(*who)
        raise
    except Refused as refusal:
        if refusal.code != "bad-login":
            raise
        state.metrics.count("login-failed")
        event("login-failed")
        return _login(request, name, "Name or password is wrong.", after, 401)
    state.attempts.succeeded(*who)
    start_session(request, requester)
    # Only within this server: a path, and not one that a browser takes for another host.
    safe = after.startswith("/") and not after.startswith(("//", "/\\")) and "\\" not in after
    return go(request, after if safe else "/projects")


def _begin_attempt(request: Request, *names: str) -> None:
    """Count a try at a password, or refuse it. Refused: ``too-many``."""
    wait = state_of(request).attempts.begin(*names)
    if wait > 0:
        state_of(request).metrics.count("login-limited")
        minutes = max(1, round(wait / 60))
        raise Refused(
            "too-many",
            f"there were too many wrong tries; please wait {count_of(minutes, 'minute')}",
            seconds=wait,
        )


def _address(request: Request) -> str:
    return f"address:{request.client.host if request.client else ''}"


@router.post("/logout", dependencies=[PROVEN])
def _log_out(request: Request) -> Response:
    """Log out."""
    end_session(request)
    return go(request, "/login")


@router.get("/account")
def _show_account(request: Request) -> Response:
    """Password, API tokens, and for an admin the other requesters."""
    return _account(require_login(request))


def _account(
    who: LoggedIn,
    *,
    secret: str = "",
    problem: str = "",
    asked: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    """``asked``: what the form of a token was sent with."""
    projects = who.services.projects.get_all()
    begun = {"name": "", "scope": "judge", "days": "90"}
    begun["project"] = who.request.query_params.get("project", "")
    return who.show(
        "requester/account.html",
        status=status,
        tokens=who.services.accounts.get_tokens(),
        projects=projects,
        called={project.slug: project.name for project in projects},
        asked={**begun, **(asked or {})},
        requesters=who.services.accounts.get_all() if who.requester.admin else [],
        secret=secret,
        problem=problem,
        done=read_notice(who.request),
    )


@router.post("/account/password")
def _change_password(request: Request, form: SentForm, who: Who) -> Response:
    """Change one's own password; every other session of theirs ends."""
    name = (f"name:{who.requester.name.casefold()}",)
    _begin_attempt(request, *name)
    try:
        who.services.accounts.log_in(who.requester.name, form.fields.get("old", "")[:1_000])
    except Refused:
        return _account(who, problem="The present password is wrong.", status=422)
    state_of(request).attempts.succeeded(*name)
    try:
        who.services.accounts.change_password(who.requester.requester, new_password(form))
    except Refused as refusal:
        return _account(who, problem=str(refusal), status=422)
    services = state_of(request).services
    services.settings.keep(password_stamp(who.requester.requester), secrets.token_hex(8))
    start_session(request, who.requester)
    return go(request, "/account?done=password")


@router.post("/account/tokens")
def _make_token(form: SentForm, who: Who) -> Response:
    """Make an API token, and show its secret this once."""
    days = form.text("days", most=6)
    if days and not days.isdecimal():
        raise Refused("bad-form", f"days = {days!r} is no whole number")
    expires = datetime.now(UTC) + timedelta(days=min(int(days), 36_500)) if days else None
    scope = form.need("scope", most=20)
    if scope not in ("judge", "requester"):
        raise Refused("bad-form", f"scope = {scope!r}: wanted judge or requester")
    project = form.text("project", most=200) or None
    try:
        _, secret = who.services.accounts.make_token(
            form.need("name", most=200),
            scope="judge" if scope == "judge" else "requester",
            project=project,
            expires=expires,
        )
    except (Refused, BadSetting) as fault:
        return _account(who, problem=str(fault), asked=form.fields, status=422)
    return _account(who, secret=secret)


@router.post("/account/tokens/{token}/revoke", dependencies=[PROVEN])
def _revoke_token(request: Request, token: str, who: Who) -> Response:
    """Revoke an API token."""
    who.services.accounts.revoke_token(token)
    state_of(request).tokens.forget()
    return go(request, "/account?done=token-revoked")


@router.post("/account/requesters")
def _add_requester(request: Request, form: SentForm, who: Who) -> Response:
    """Let somebody else log in, as an admin may."""
    try:
        who.services.accounts.add(
            form.need("name", most=200), new_password(form), admin=bool(form.text("admin"))
        )
    except Refused as refusal:
        if refusal.code == "admin-only":
            raise
        return _account(who, problem=str(refusal), status=422)
    return go(request, "/account?done=requester")


@router.post("/account/requesters/{requester}/projects", dependencies=[PROVEN])
def _end_guest(request: Request, requester: str, who: Who) -> Response:
    """Let somebody who came by a link make projects of their own, as an admin may."""
    who.services.accounts.end_guest(requester)
    return go(request, "/account?done=guest-ended")


@router.get("/projects")
def _projects(request: Request, who: Who) -> Response:
    """The requester's projects."""
    return who.show(
        "requester/projects.html",
        projects=who.services.projects.get_all(),
        done=read_notice(request),
        tour=who.services.settings.get(_toured(who)) is None,
    )


def _toured(who: LoggedIn) -> str:
    """The setting that says that a requester has left the tour."""
    return f"toured:{who.requester.requester}"


@router.post("/account/tour", dependencies=[PROVEN])
def _leave_tour(request: Request, who: Who) -> Response:
    """Show the tour no more."""
    who.services.settings.keep(_toured(who), True)
    return go(request, "/projects")


@router.post("/projects/starter", dependencies=[PROVEN])
def _make_starter(request: Request, who: Who) -> Response:
    """Make the starter project, to look around in."""
    from adjudge.collect import starter

    made = who.services.projects.create(starter.make_starter())
    who.services.projects.set_state(made.slug, "open")
    return go(request, f"/projects/{made.slug}?done=starter")
