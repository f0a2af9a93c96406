"""The API for requesters, of judges as people: what they are called, what is written to them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.values.requesting import JudgeDetail
from adjudge.collect.web.api_projects import services_of
from adjudge.collect.web.api_router import api_router
from adjudge.collect.web.api_values import (
    ApiInput,
    ApiOutput,
    Key,
    PublicId,
    Short,
    Slug,
    send,
)

router = api_router("projects")
_Words = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"^[^\x00]*$")]


class NameIn(ApiInput):
    """What a judge is to be called; empty for what they are called by themselves."""

    name: Short


class MessageIn(ApiInput):
    """What is written to which judges."""

    judges: list[Key] = Field(min_length=1, max_length=1_000)
    text: _Words


class SentOut(ApiOutput):
    """To how many judges a message goes."""

    judges: int


@router.put("/projects/{project}/judges/{judge}/name", response_model=JudgeDetail)
def _rename_judge(request: Request, project: Slug, judge: PublicId, body: NameIn) -> Response:
    """Call a judge by another name."""
    return send(services_of(request, project).judges.rename(project, judge, body.name))


@router.post("/projects/{project}/messages", response_model=SentOut)
def _send_message(request: Request, project: Slug, body: MessageIn) -> Response:
    """Write to judges, who see it on their next page until they have read it."""
    judges = services_of(request, project).judges
    return send({"judges": judges.send_message(project, body.judges, body.text)})
