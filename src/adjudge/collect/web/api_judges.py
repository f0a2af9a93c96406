"""The API of judges: who they are, their invitations, and messages to them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import Request
from pydantic import Field

from adjudge.collect.rules.sent import ApiModel, Key, Line, Short
from adjudge.collect.values.requesting import (
    Invite,
    JudgeDetail,
    JudgeGroup,
    JudgeRow,
)
from adjudge.collect.web._api import Listed, PublicId, Services, Slug, api_router
from adjudge.collect.web._joining import invite_link

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


@dataclass(frozen=True, slots=True)
class SentOut:
    """To how many judges a message goes."""

    judges: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteOut(Invite):
    """An invitation with its link."""

    link: str


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
