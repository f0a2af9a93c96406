"""The API for requesters: judges as people, what is told when things happen, and the pace."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.services.notices import Delivery, Notifications
from adjudge.collect.values.requesting import JudgeDetail, ProjectPace
from adjudge.collect.web._api_router import api_router, services_of
from adjudge.collect.web._api_values import (
    ApiModel,
    Key,
    Line,
    Listed,
    PublicId,
    Short,
    Slug,
    send,
    send_list,
)

router = api_router("projects")
_Words = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\x00]*$")]


class _NameIn(ApiModel):
    """What a judge is to be called; empty for what they are called by themselves."""

    name: Short


class _MessageIn(ApiModel):
    """What is written to which judges."""

    judges: list[Key] = Field(min_length=1, max_length=1_000)
    text: _Words


class _NotificationsIn(ApiModel):
    """Who is to be told what."""

    webhook: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")] = ""
    emails: list[Short] = Field(default=[], max_length=20)
    events: list[Short] = Field(default=[], max_length=20)
    address: Line = ""


class _SentOut(ApiModel):
    """To how many judges a message goes."""

    judges: int


@router.put("/projects/{project}/judges/{judge}/name", response_model=JudgeDetail)
def _rename_judge(request: Request, project: Slug, judge: PublicId, body: _NameIn) -> Response:
    """Call a judge by another name."""
    return send(services_of(request, project).judges.rename(project, judge, body.name))


@router.post("/projects/{project}/messages", response_model=_SentOut)
def _send_message(request: Request, project: Slug, body: _MessageIn) -> Response:
    """Write to judges, who see it on their next page until they have read it."""
    judges = services_of(request, project).judges
    return send({"judges": judges.send_message(project, body.judges, body.text)})


@router.get("/projects/{project}/pace", response_model=ProjectPace)
def _read_pace(request: Request, project: Slug) -> Response:
    """Judgments over time, how fast they come, and when the project may be done."""
    return send(services_of(request, project).projects.get_pace(project))


@router.get("/projects/{project}/notifications", response_model=Notifications)
def _read_notifications(request: Request, project: Slug) -> Response:
    """Who is told what, with the secret that signs."""
    return send(services_of(request, project).notices.get(project))


@router.put("/projects/{project}/notifications", response_model=Notifications)
def _set_notifications(request: Request, project: Slug, body: _NotificationsIn) -> Response:
    """Change who is told what."""
    made = services_of(request, project).notices.set(
        project, webhook=body.webhook, emails=body.emails, events=body.events, base=body.address
    )
    return send(made)


@router.get("/projects/{project}/deliveries", response_model=Listed[Delivery])
def _list_deliveries(request: Request, project: Slug) -> Response:
    """The newest messages to webhooks and by mail, and how they went."""
    return send_list(services_of(request, project).notices.get_deliveries(project))
