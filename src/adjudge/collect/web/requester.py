"""The requester's way in, their account, the list of their projects, and the members of each."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import Depends, Request
from starlette.responses import Response

from adjudge.collect.services.notices import RecipientState
from adjudge.collect.values.requesting import MEMBER_ROLES, ROLE_WORDS, Scope, may
from adjudge.collect.web._forms import PROVEN, SentForm, new_password
from adjudge.collect.web._joining import member_link, place_of
from adjudge.collect.web._login import (
    LoggedIn,
    LoginNeeded,
    Who,
    end_session,
    mark_of,
    page_router,
    require_login,
    start_session,
)
from adjudge.collect.web._pages import go
from adjudge.collect.web._state import state_of
from adjudge.collect.web.logs import event
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, Refused, Unavailable

router = page_router()
_MEMBERS = "/projects/{project}/settings/members"
_LONGEST_WAIT = 8.0  # seconds that a try at a password is held back
_MOST_COUNTED = 100  # wrong tries at a name that are remembered
_SHOWN = 100  # projects whose cost and accuracy are counted, the newest
_LONGEST = 3_650  # days that a link may last
_ANSWERS: tuple[RecipientState, ...] = ("confirmed", "stopped")
_SCOPES: tuple[Scope, ...] = ("judge", "requester")


def _outside(
    request: Request, template: str, problem: str = "", status: int = 200, **context: Any
) -> Response:
    """Return a page for which nobody has to be logged in."""
    given = {"requester": None, "problem": problem, **context}
    return state_of(request).pages.show(
        request, f"requester/{template}.html", status=status, **given
    )


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
    return _outside(request, "setup", problem, status, token=token, name=name)


@router.post("/setup/{token}")
def _set_up(request: Request, token: str, form: SentForm) -> Response | str:
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
            attempts.withdraw([address])
        if refusal.code == "set-up-done":
            raise
        return _setup(request, token, name, str(refusal), 422)
    attempts.withdraw([address])
    event("set-up")
    start_session(request, requester)
    return "/projects"


@router.get("/login")
def _show_login(request: Request) -> Response:
    """The login."""
    return _login(request, "", "", request.query_params.get("next", ""))


def _login(request: Request, name: str, problem: str, after: str, status: int = 200) -> Response:
    fresh = state_of(request).services.accounts.needs_setup()
    return _outside(request, "login", problem, status, name=name, next=after[:500], fresh=fresh)


async def _slow_down(request: Request, form: SentForm) -> None:
    """Let a try at a name that many got wrong wait, wherever they came from; nobody is locked out.

    A browser that logged in with the name before does not wait.
    """
    state, name = state_of(request), form.text("name", most=200)
    if mark_of(request, name) in state.pages.session(request).known:
        return
    tries = state.attempts.count(_everywhere(name), state.settings.login_minutes * 60)
    over = tries - state.settings.login_attempts
    if over >= 0:
        await asyncio.sleep(min(_LONGEST_WAIT, 0.25 * 2 ** min(over, 10)))


def _everywhere(name: str) -> str:
    return f"name:{name.casefold()}"


@router.post("/login", dependencies=[Depends(_slow_down)])
def _log_in(request: Request, form: SentForm) -> Response | str:
    """Log in; guesses are counted by address, by name and address, and slowed down by name."""
    state = state_of(request)
    name, after = form.text("name", most=200), form.text("next", most=500)
    mark = mark_of(request, name)
    here = f"{_everywhere(name)} {_address(request)}"
    # A browser that logged in before has a count of its own: others near it do not lock it out.
    known = mark in state.pages.session(request).known
    who = (f"known:{mark}",) if known else (here, _address(request))
    _begin_attempt(request, *who)
    try:
        requester = state.services.accounts.log_in(name, form.fields.get("password", "")[:1_000])
    except Unavailable:
        state.attempts.withdraw(who)
        raise
    except Refused as refusal:
        if refusal.code != "bad-login":
            raise
        window = state.settings.login_minutes * 60
        state.attempts.admit([_everywhere(name)], [(_MOST_COUNTED, window)])
        state.metrics.count("login-failed")
        event("login-failed")
        return _login(request, name, "Name or password is wrong.", after, 401)
    state.attempts.withdraw(who)
    state.attempts.forget([here, f"known:{mark}"])  # what is wrong from this address stays counted
    start_session(request, requester)
    # Only within this server: a path, and not one that a browser takes for another host.
    safe = after.startswith("/") and not after.startswith(("//", "/\\")) and "\\" not in after
    return after if safe else "/projects"


def _begin_attempt(request: Request, *names: str) -> None:
    """Count a try at a password, or refuse it. Refused: ``too-many``."""
    state = state_of(request)
    limit = (state.settings.login_attempts, state.settings.login_minutes * 60)
    wait = state.attempts.admit(names, [limit])
    if wait > 0:
        state.metrics.count("login-limited")
        minutes = max(1, round(wait / 60))
        raise Refused(
            "too-many",
            f"there were too many wrong tries; please wait {count_of(minutes, 'minute')}",
            seconds=wait,
        )


def _address(request: Request) -> str:
    return f"address:{place_of(request.client.host if request.client else '')}"


@router.post("/logout", dependencies=[PROVEN])
def _log_out(request: Request) -> str:
    """Log out."""
    end_session(request)
    return "/login"


@router.get("/account")
def _account(who: Who) -> Response:
    """Password, API tokens, and for an admin the other requesters."""
    projects = who.services.projects.get_all()
    project = who.request.query_params.get("project", "")
    return who.show(
        "account",
        tokens=who.services.accounts.get_tokens(),
        projects=projects,
        called={project.slug: project.name for project in projects},
        asked={"name": "", "scope": "judge", "days": "90", "project": project},
        requesters=who.services.accounts.get_all() if who.requester.admin else [],
        secret="",
    )


@router.post("/account/password")
def _change_password(request: Request, form: SentForm, who: Who) -> Response | str:
    """Change one's own password; their other sessions end."""
    name = (f"password:{who.requester.requester}",)
    _begin_attempt(request, *name)
    try:
        who.services.accounts.log_in(who.requester.name, form.fields.get("old", "")[:1_000])
    except Refused:
        return _account(who.showing(422, problem="The present password is wrong."))
    state_of(request).attempts.forget(name)
    try:
        who.services.accounts.change_password(who.requester.requester, new_password(form))
    except Refused as refusal:
        return _account(who.again(refusal))
    start_session(request, who.requester)
    return "/account?done=password"


@router.post("/account/tokens")
def _make_token(form: SentForm, who: Who) -> Response:
    """Make an API token, and show its secret this once."""
    days = form.number("days") if form.text("days") else None
    expires = None if days is None else datetime.now(UTC) + timedelta(days=min(days, 36_500))
    scope, project = form.choice("scope", _SCOPES), form.text("project", most=200) or None
    try:
        _, secret = who.services.accounts.make_token(
            form.need("name", most=200), scope=scope, project=project, expires=expires
        )
    except (Refused, BadSetting) as fault:
        asked = {name: form.text(name) for name in ("name", "scope", "days", "project")}
        return _account(who.again(fault, asked=asked))
    return _account(who.showing(secret=secret))


@router.post("/account/tokens/{token}/revoke", dependencies=[PROVEN])
def _revoke_token(request: Request, token: str, who: Who) -> str:
    """Revoke an API token."""
    who.services.accounts.revoke_token(token)
    state_of(request).tokens.forget()
    return "/account?done=token-revoked"


@router.post("/account/requesters")
def _add_requester(form: SentForm, who: Who) -> Response | str:
    """Let somebody else log in, as an admin may."""
    try:
        who.services.accounts.add(
            form.need("name", most=200), new_password(form), admin=bool(form.text("admin"))
        )
    except Refused as refusal:
        return _account(who.again(refusal))
    return "/account?done=requester"


@router.post("/account/requesters/{requester}/projects", dependencies=[PROVEN])
def _end_guest(requester: str, who: Who) -> str:
    """Let somebody who came by a link make projects of their own, as an admin may."""
    who.services.accounts.end_guest(requester)
    return "/account?done=guest-ended"


@router.get("/projects")
def _projects(who: Who) -> Response:
    """The requester's projects."""
    projects = who.services.projects.get_all()
    return who.show(
        "projects",
        projects=projects,
        activity={
            one.slug: who.services.projects.get_activity(one.slug)
            for one in projects[:_SHOWN]
            if one.judges
        },
    )


@router.post("/projects/starter", dependencies=[PROVEN])
def _make_starter(who: Who) -> str:
    """Make the starter project, to look around in."""
    from adjudge.collect import starter

    made = who.services.projects.create(starter.make_starter())
    who.services.projects.set_state(made.slug, "open")
    return f"/projects/{made.slug}?done=starter"


# -- mail


@router.get("/mail/{project}/{key}")
def _show_recipient(request: Request, project: str, key: str) -> Response:
    """The page of a recipient of mail, by the link in it; scanners of mail change nothing by it."""
    found = state_of(request).services.notices.find_recipient(project, key)
    return _outside(request, "recipient", found=found, here=f"/mail/{project}/{key}")


@router.post("/mail/{project}/{key}")
def _answer_mail(request: Request, project: str, key: str, form: SentForm) -> str:
    """Keep whether a recipient wants mail about a project."""
    state = form.choice("do", _ANSWERS)
    state_of(request).services.notices.answer(project, key, state)
    return f"/mail/{project}/{key}"


# -- members


@router.get(_MEMBERS)
def _members(request: Request, project: str, who: Who) -> Response:
    """Who may do what, and links for others."""
    summary = who.services.projects.get_head(project)
    links = []
    if may(summary.role, "owner"):
        links = [
            (link, member_link(request, link)) for link in who.services.members.get_links(project)
        ]
    return who.show_project(
        "Members",
        "members",
        project,
        project=summary,
        members=who.services.members.get_all(project),
        links=links,
        tokens=who.services.members.get_tokens(project) if may(summary.role, "owner") else [],
        now=datetime.now(UTC),
        roles=ROLE_WORDS,
    )


@router.post(f"{_MEMBERS}/links")
def _invite_member(project: str, form: SentForm, who: Who) -> str:
    """Make a link for one person."""
    days = form.number("days")
    if not 1 <= days <= _LONGEST:
        raise Refused("bad-form", f"days: expected 1 to {_LONGEST:,}; got {days}")
    who.services.members.invite(
        project,
        form.choice("role", MEMBER_ROLES),
        note=form.text("note", most=200),
        expires=datetime.now(UTC) + timedelta(days=days),
    )
    return f"/projects/{project}/settings/members?done=member-invited#links"


@router.post(f"{_MEMBERS}/links/{{link}}/revoke", dependencies=[PROVEN])
def _revoke_link(project: str, link: str, who: Who) -> str:
    """Revoke a link."""
    who.services.members.revoke_link(project, link)
    return f"/projects/{project}/settings/members?done=member-link-revoked#links"


@router.post(f"{_MEMBERS}/tokens/{{token}}/revoke", dependencies=[PROVEN])
def _revoke_project_token(project: str, token: str, who: Who) -> str:
    """Revoke a token that is bound to the project."""
    who.services.members.revoke_token(project, token)
    state_of(who.request).tokens.forget()
    return f"/projects/{project}/settings/members?done=token-revoked#tokens"


@router.post(f"{_MEMBERS}/{{member}}")
def _set_role(project: str, member: str, form: SentForm, who: Who) -> str:
    """Give a member another role."""
    who.services.members.set_role(project, member, form.choice("role", MEMBER_ROLES))
    return f"/projects/{project}/settings/members?done=member-role"


@router.post(f"{_MEMBERS}/{{member}}/remove", dependencies=[PROVEN])
def _remove(project: str, member: str, who: Who) -> str:
    """Remove a member."""
    who.services.members.remove(project, member)
    if member == who.requester.requester:
        return "/projects?done=left"
    return f"/projects/{project}/settings/members?done=member-removed"


# -- becoming a member


def _known(request: Request) -> LoggedIn | None:
    try:
        return require_login(request)
    except LoginNeeded:
        return None


@router.get("/member/{link}")
def _arrive(request: Request, link: str) -> Response:
    """The page of a link: join with the account that one has, or make one."""
    return _landing(request, link, "")


def _landing(
    request: Request, link: str, name: str, problem: str = "", status: int = 200
) -> Response:
    who, found = _known(request), state_of(request).services.members.find_link(link)
    words = "; ".join(ROLE_WORDS[one] for one in MEMBER_ROLES if may(found.role, one))
    return _outside(
        request,
        "join",
        problem,
        status,
        requester=None if who is None else who.requester,
        link=found,
        words=words.replace(", changes nothing; also", "; also"),
        name=name,
    )


@router.post("/member/{link}", dependencies=[PROVEN])
def _join(link: str, who: Who) -> str:
    """Become a member with the account that is logged in."""
    joined = who.services.members.join(link)
    return f"/projects/{joined.project}?done=member-joined"


@router.post("/member/{link}/account")
def _join_new(request: Request, link: str, form: SentForm) -> Response | str:
    """Make an account, and become a member with it."""
    members, name = state_of(request).services.members, form.text("name", most=200)
    found = members.find_link(link)
    try:
        requester = members.join_new(link, name, new_password(form))
    except Refused as refusal:
        if refusal.code not in ("bad-form", "name-taken"):
            raise
        return _landing(request, link, name, str(refusal), 422)
    event("member-account")
    start_session(request, requester)
    return f"/projects/{found.project}?done=member-joined"
