"""The API for owners: members of a project, their roles, and the links that make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.values.members import Member, MemberLink
from adjudge.collect.web._api_models import MemberLinkOut
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import (
    ApiModel,
    Listed,
    PublicId,
    Short,
    Slug,
    plain,
    send,
    send_list,
)
from adjudge.collect.web._joining import member_link

router = api_router("members")
_Role = Literal["viewer", "reviewer", "manager", "owner"]


class _MemberLinkIn(ApiModel):
    """Which role a link gives, whom it is for, and how long it lasts."""

    role: _Role
    note: Short = ""
    days: Annotated[int, Field(ge=1, le=3_650)] = 7


class _RoleIn(ApiModel):
    """The role that a member is to have."""

    role: _Role


@router.get("/projects/{project}/members", response_model=Listed[Member])
def _list_members(request: Request, project: Slug) -> Response:
    """Who made the project, and its members."""
    return send_list(services_of(request, project).members.get_all(project))


@router.put("/projects/{project}/members/{member}", status_code=204)
def _set_member_role(request: Request, project: Slug, member: PublicId, body: _RoleIn) -> Response:
    """Give a member another role."""
    services_of(request, project).members.set_role(project, member, body.role)
    return Response(status_code=204)


@router.delete("/projects/{project}/members/{member}", status_code=204)
def _remove_member(request: Request, project: Slug, member: PublicId) -> Response:
    """Let somebody be a member no more; everybody may leave."""
    services_of(request, project).members.remove(project, member)
    return Response(status_code=204)


@router.get("/projects/{project}/member-links", response_model=Listed[MemberLinkOut])
def _list_member_links(request: Request, project: Slug) -> Response:
    """Every link that makes a member, newest first."""
    links = services_of(request, project).members.get_links(project)
    return send_list([_addressed(request, link) for link in links])


@router.post("/projects/{project}/member-links", response_model=MemberLinkOut, status_code=201)
def _make_member_link(request: Request, project: Slug, body: _MemberLinkIn) -> Response:
    """Make a link by which one person becomes a member."""
    expires = datetime.now(UTC) + timedelta(days=body.days)
    services = services_of(request, project)
    made = services.members.invite(project, body.role, note=body.note, expires=expires)
    return send(_addressed(request, made), 201)


@router.delete("/projects/{project}/member-links/{link}", status_code=204)
def _revoke_member_link(request: Request, project: Slug, link: PublicId) -> Response:
    """Revoke a link."""
    services_of(request, project).members.revoke_link(project, link)
    return Response(status_code=204)


def _addressed(request: Request, link: MemberLink) -> dict[str, Any]:
    return {**plain(link), "address": member_link(request, link)}
