"""The requester's page of members, and the page of a link that makes one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.values.members import MEMBER_ROLES, ROLE_WORDS, MemberRole, may
from adjudge.collect.web._forms import PROVEN, SentForm, new_password
from adjudge.collect.web._joining import member_link
from adjudge.collect.web._login import LoggedIn, LoginNeeded, Who, require_login, start_session
from adjudge.collect.web._pages import go
from adjudge.collect.web._state import state_of
from adjudge.collect.web.logs import event
from adjudge.errors import Refused

router = APIRouter(include_in_schema=False)
_HERE = "/projects/{project}/members"
_LONGEST = 3_650  # days that a link may last


@router.get(_HERE)
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
        "requester/members.html",
        project,
        project=summary,
        members=who.services.members.get_all(project),
        links=links,
        now=datetime.now(UTC),
        roles=ROLE_WORDS,
    )


def _role(text: str) -> MemberRole:
    for role in MEMBER_ROLES:
        if role == text:
            return role
    raise Refused("bad-form", f"role = {text!r}: wanted {', '.join(MEMBER_ROLES)}")


@router.post(f"{_HERE}/links")
def _invite(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Make a link for one person."""
    days = form.number("days")
    if not 1 <= days <= _LONGEST:
        raise Refused("bad-form", f"days = {days}: wanted 1 to {_LONGEST:,}")
    who.services.members.invite(
        project,
        _role(form.need("role", most=20)),
        note=form.text("note", most=200),
        expires=datetime.now(UTC) + timedelta(days=days),
    )
    return go(request, f"/projects/{project}/members?done=member-invited#links")


@router.post(f"{_HERE}/links/{{link}}/revoke", dependencies=[PROVEN])
def _revoke(request: Request, project: str, link: str) -> Response:
    """Revoke a link."""
    require_login(request).services.members.revoke_link(project, link)
    return go(request, f"/projects/{project}/members?done=member-link-revoked#links")


@router.post(f"{_HERE}/{{member}}")
def _set_role(request: Request, project: str, member: str, form: SentForm, who: Who) -> Response:
    """Give a member another role."""
    who.services.members.set_role(project, member, _role(form.need("role", most=20)))
    return go(request, f"/projects/{project}/members?done=member-role")


@router.post(f"{_HERE}/{{member}}/remove", dependencies=[PROVEN])
def _remove(request: Request, project: str, member: str, who: Who) -> Response:
    """Let somebody be a member no more."""
    who.services.members.remove(project, member)
    if member == who.requester.requester:
        return go(request, "/projects?done=left")
    return go(request, f"/projects/{project}/members?done=member-removed")


# -- becoming one


def _known(request: Request) -> LoggedIn | None:
    try:
        return require_login(request)
    except LoginNeeded:
        return None


@router.get("/member/{link}")
def _arrive(request: Request, link: str) -> Response:
    """The page of a link: join with the account that one has, or make one."""
    return _landing(request, link)


def _landing(
    request: Request, link: str, name: str = "", problem: str = "", status: int = 200
) -> Response:
    who = _known(request)
    found = state_of(request).services.members.find_link(link)
    return state_of(request).pages.show(
        request,
        "requester/join.html",
        status=status,
        requester=None if who is None else who.requester,
        link=found,
        words="; ".join(ROLE_WORDS[one] for one in MEMBER_ROLES if may(found.role, one)).replace(
            ", changes nothing; also", "; also"
        ),
        name=name,
        problem=problem,
    )


@router.post("/member/{link}", dependencies=[PROVEN])
def _join(request: Request, link: str, who: Who) -> Response:
    """Become a member with the account that is logged in."""
    joined = who.services.members.join(link)
    return go(request, f"/projects/{joined.project}?done=member-joined")


@router.post("/member/{link}/account")
def _join_new(request: Request, link: str, form: SentForm) -> Response:
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
    return go(request, f"/projects/{found.project}?done=member-joined")
