"""The API of people: judges and their invitations, messages, notifications, members."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import Request
from pydantic import Field

from adjudge.collect.rules.sent import ApiModel, Key, Line, Short
from adjudge.collect.services.notices import Delivery, Notifications
from adjudge.collect.values.requesting import (
    Invite,
    JudgeDetail,
    JudgeGroup,
    JudgeRow,
    Member,
    MemberLink,
    ProjectToken,
)
from adjudge.collect.web._api import Listed, PublicId, Services, Slug, api_router
from adjudge.collect.web._joining import invite_link, member_link, origin
from adjudge.collect.web._pages import root
from adjudge.collect.web._state import state_of

router = api_router("judges")
_Words = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\x00]*$")]


class _ReasonIn(ApiModel):
    """Why, for the log."""

    reason: Line = ""


class _NameIn(ApiModel):
    """What a judge is to be called; empty for what they are called by themselves."""

    name: Short


class _MessageIn(ApiModel):
    """What is written to which judges."""

    judges: list[Key] = Field(min_length=1, max_length=1_000)
    text: _Words


class _InvitesIn(ApiModel):
    """Whom invitations are for, one each."""

    notes: list[Short] = Field(min_length=1, max_length=1_000)


class _NotificationsIn(ApiModel):
    """Who gets which notifications."""

    webhook: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")] = ""
    emails: list[Short] = Field(default=[], max_length=20)
    events: list[Short] = Field(default=[], max_length=20)


class _RoleIn(ApiModel):
    """The role that a member is to have."""

    role: Literal["viewer", "reviewer", "manager", "owner"]


class _MemberLinkIn(_RoleIn):
    """Which role a link gives, whom it is for, and how long it lasts."""

    note: Short = ""
    days: Annotated[int, Field(ge=1, le=3_650)] = 7


@dataclass(frozen=True, slots=True)
class SentOut:
    """To how many judges a message goes."""

    judges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteOut(Invite):
    """An invitation with its link."""

    link: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLinkOut(MemberLink):
    """A link that makes a member, with its address."""

    address: str


@router.get("/projects/{project}/judges")
def _list_judges(services: Services, project: Slug) -> Listed[JudgeRow]:
    """Every judge."""
    return Listed(services.judges.get_all(project))


@router.get("/projects/{project}/judge-groups")
def _list_groups(services: Services, project: Slug) -> Listed[JudgeGroup]:
    """Judges who arrived together, and what would change if each group were left out."""
    return Listed(services.judges.get_groups(project))


@router.get("/projects/{project}/judges/{judge}")
def _read_judge_detail(services: Services, project: Slug, judge: PublicId) -> JudgeDetail:
    """One judge: confusion, answers to gold, history."""
    return services.judges.get(project, judge)


@router.post("/projects/{project}/judges/{judge}/block")
def _block_judge(services: Services, project: Slug, judge: PublicId, body: _ReasonIn) -> JudgeRow:
    """Block a judge."""
    return services.judges.block(project, judge, body.reason)


@router.post("/projects/{project}/judges/{judge}/unblock")
def _unblock_judge(services: Services, project: Slug, judge: PublicId, body: _ReasonIn) -> JudgeRow:
    """Unblock a judge."""
    return services.judges.unblock(project, judge, body.reason)


@router.put("/projects/{project}/judges/{judge}/name")
def _rename_judge(services: Services, project: Slug, judge: PublicId, body: _NameIn) -> JudgeDetail:
    """Call a judge by another name."""
    return services.judges.rename(project, judge, body.name)


@router.post("/projects/{project}/messages")
def _send_message(services: Services, project: Slug, body: _MessageIn) -> SentOut:
    """Write to judges, who see it on their next page until they have read it."""
    return SentOut(services.judges.send_message(project, body.judges, body.text))


def _with_link(request: Request, invite: Invite) -> InviteOut:
    return InviteOut(**asdict(invite), link=invite_link(request, invite))


@router.get("/projects/{project}/invites")
def _list_invites(request: Request, services: Services, project: Slug) -> Listed[InviteOut]:
    """Every invitation, with its link."""
    return Listed([_with_link(request, one) for one in services.judges.get_invites(project)])


@router.post("/projects/{project}/invites", status_code=201)
def _make_invites(
    request: Request, services: Services, project: Slug, body: _InvitesIn
) -> Listed[InviteOut]:
    """Make an invitation for each note."""
    made = services.judges.invite(project, body.notes)
    return Listed([_with_link(request, one) for one in made])


@router.delete("/projects/{project}/invites/{invite}", status_code=204)
def _revoke_invite(services: Services, project: Slug, invite: PublicId) -> None:
    """Revoke an invitation."""
    services.judges.revoke_invite(project, invite)


@router.get("/projects/{project}/notifications")
def _read_notifications(services: Services, project: Slug) -> Notifications:
    """Who gets which notifications, with the secret that signs."""
    return services.notices.get(project)


@router.put("/projects/{project}/notifications")
def _set_notifications(
    request: Request, services: Services, project: Slug, body: _NotificationsIn
) -> Notifications:
    """Change who gets which notifications."""
    server = f"{origin(request)}{root(request)}"
    return services.notices.set(project, **dict(body), server=server)


@router.get("/projects/{project}/deliveries")
def _list_deliveries(services: Services, project: Slug) -> Listed[Delivery]:
    """The newest messages to webhooks and by mail, and how they went."""
    return Listed(services.notices.get_deliveries(project))


@router.get("/projects/{project}/members")
def _list_members(services: Services, project: Slug) -> Listed[Member]:
    """Who made the project, and its members."""
    return Listed(services.members.get_all(project))


@router.put("/projects/{project}/members/{member}", status_code=204)
def _set_member_role(services: Services, project: Slug, member: PublicId, body: _RoleIn) -> None:
    """Give a member another role."""
    services.members.set_role(project, member, body.role)


@router.delete("/projects/{project}/members/{member}", status_code=204)
def _remove_member(services: Services, project: Slug, member: PublicId) -> None:
    """Let somebody be a member no more; everybody may leave."""
    services.members.remove(project, member)


@router.get("/projects/{project}/tokens")
def _list_project_tokens(services: Services, project: Slug) -> Listed[ProjectToken]:
    """Every token that is bound to the project, with whose it is."""
    return Listed(services.members.get_tokens(project))


@router.delete("/projects/{project}/tokens/{token}", status_code=204)
def _revoke_project_token(
    request: Request, services: Services, project: Slug, token: PublicId
) -> None:
    """Revoke a token that is bound to the project."""
    services.members.revoke_token(project, token)
    state_of(request).tokens.forget()


def _with_address(request: Request, link: MemberLink) -> MemberLinkOut:
    return MemberLinkOut(**asdict(link), address=member_link(request, link))


@router.get("/projects/{project}/member-links")
def _list_member_links(
    request: Request, services: Services, project: Slug
) -> Listed[MemberLinkOut]:
    """Every link that makes a member, newest first."""
    return Listed([_with_address(request, one) for one in services.members.get_links(project)])


@router.post("/projects/{project}/member-links", status_code=201)
def _make_member_link(
    request: Request, services: Services, project: Slug, body: _MemberLinkIn
) -> MemberLinkOut:
    """Make a link by which one person becomes a member."""
    expires = datetime.now(UTC) + timedelta(days=body.days)
    made = services.members.invite(project, body.role, note=body.note, expires=expires)
    return _with_address(request, made)


@router.delete("/projects/{project}/member-links/{link}", status_code=204)
def _revoke_member_link(services: Services, project: Slug, link: PublicId) -> None:
    """Revoke a link."""
    services.members.revoke_link(project, link)
