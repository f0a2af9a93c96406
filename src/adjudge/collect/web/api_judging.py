"""The API for those who judge: scripts, and models, by the same routing, gold and trust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path as InPath
from fastapi import Request
from pydantic import Field

from adjudge.collect.rules.sent import ApiModel, Comment, Key, Line, Name, Property
from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView
from adjudge.collect.web._api import PublicId, Slug, api_router
from adjudge.collect.web._security import Forged
from adjudge.collect.web._state import state_of
from adjudge.errors import NotFound

router = api_router("judging")

_Ticket = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_.-]+$", max_length=400)]
_Position = Annotated[int, InPath(ge=1, le=100_000)]


class _ArrivalIn(ApiModel):
    """Who comes to judge: the same key of the same token is the same judge, always."""

    key: Key
    kind: Literal["person", "model"] = "model"
    parameters: dict[Property, Line] = Field(default={}, max_length=20)
    consent: bool = False


class _AnswerIn(ApiModel):
    """One answer: a label of the scale or one of the others, and answers to further questions."""

    row: int = Field(ge=1, le=100_000)
    label: Name
    comment: Comment = ""
    seconds: float | None = Field(default=None, ge=0, le=86_400, allow_inf_nan=False)
    answers: dict[Property, Comment] = Field(default={}, max_length=20)


class _DraftIn(ApiModel):
    """Answers that are kept but not yet sent."""

    answers: list[_AnswerIn] = Field(max_length=10_000)

    def values(self) -> list[Answer]:
        """Return the answers."""
        return [Answer(**dict(answer)) for answer in self.answers]


class _AnswersIn(_DraftIn):
    """The answers to a page, with its key: sent twice, they are stored once."""

    key: Key


class _LabelIn(ApiModel):
    """The answer to one row of a training page."""

    label: Name


class _ContestIn(ApiModel):
    """Why a gold is wrong."""

    row: int = Field(ge=1, le=100_000)
    text: Annotated[Comment, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class ArrivalOut:
    """A judge, and the ticket by which the holder of this token acts for them."""

    ticket: str
    judge: JudgeView


@dataclass(frozen=True, slots=True)
class NextOut:
    """The next page, or none, and the state of the judge."""

    page: Page | None
    judge: JudgeView | None


def _judge(request: Request, ticket: str) -> str:
    """Return the judge of a ticket, which is valid only with the token it was given to."""
    state = state_of(request)
    holder = state.tokens.holder(request)
    try:
        judge, token = state.keys.open("ticket", ticket)
    except (Forged, ValueError, TypeError):
        token = None
    if token != holder.token.token:
        raise NotFound("ticket", ticket)
    return str(judge)


@router.get("/projects/{project}/guidelines")
def _read_guidelines(request: Request, project: Slug) -> ProjectView:
    """What a judge has to know: guidelines, labels, training, pay."""
    state_of(request).tokens.holder_in(request, project)
    return state_of(request).judging.project(project)


@router.post("/projects/{project}/arrivals")
def _arrive(request: Request, project: Slug, body: _ArrivalIn) -> ArrivalOut:
    """Arrive at a project, for the first time or again; other requests use the ticket."""
    state = state_of(request)
    holder = state.tokens.holder_in(request, project, "manager")
    key = f"{holder.token.token}:{body.key}"
    arrival = Arrival(
        project=project, channel="api", key=key, parameters=body.parameters, kind=body.kind
    )
    view = state.judging.arrive(arrival)
    if body.consent:
        view = state.judging.consent(view.judge)
    ticket = state.keys.sign("ticket", [view.judge, holder.token.token])
    return ArrivalOut(ticket, view)


@router.get("/judges/{ticket}")
def _read_judge(request: Request, ticket: _Ticket) -> JudgeView:
    """The state of the judge."""
    return state_of(request).judging.state(_judge(request, ticket))


@router.post("/judges/{ticket}/consent")
def _agree(request: Request, ticket: _Ticket) -> JudgeView:
    """Agree to take part."""
    return state_of(request).judging.consent(_judge(request, ticket))


@router.post("/judges/{ticket}/page")
def _next_page(request: Request, ticket: _Ticket) -> NextOut:
    """The open page, or a new one; none if there is nothing to do."""
    judge, judging = _judge(request, ticket), state_of(request).judging
    page = judging.page(judge)
    return NextOut(page, judging.state(judge) if page is None else None)


@router.post("/judges/{ticket}/pages/{page}")
def _submit(request: Request, ticket: _Ticket, page: PublicId, body: _AnswersIn) -> Outcome:
    """Send the answers to a page. Sent twice, they are stored once."""
    judge, state = _judge(request, ticket), state_of(request)
    outcome = state.judging.submit(judge, page, body.key, body.values())
    state.metrics.count("judgments", 0 if outcome.again else outcome.stored)
    return outcome


@router.get("/judges/{ticket}/pages/{page}")
def _read_outcome(request: Request, ticket: _Ticket, page: PublicId) -> Outcome:
    """The outcome of a page that was answered."""
    return state_of(request).judging.outcome(_judge(request, ticket), page)


@router.put("/judges/{ticket}/pages/{page}/draft", status_code=204)
def _keep_draft(request: Request, ticket: _Ticket, page: PublicId, body: _DraftIn) -> None:
    """Keep answers that are not yet sent."""
    state_of(request).judging.save(_judge(request, ticket), page, body.values())


@router.post("/judges/{ticket}/pages/{page}/rows/{row}")
def _answer_training(
    request: Request, ticket: _Ticket, page: PublicId, row: _Position, body: _LabelIn
) -> Outcome:
    """Answer one row of a training page, with feedback at once."""
    judge = _judge(request, ticket)
    return state_of(request).judging.answer_training(judge, page, row, body.label)


@router.post("/judges/{ticket}/pages/{page}/contests", status_code=204)
def _contest(request: Request, ticket: _Ticket, page: PublicId, body: _ContestIn) -> None:
    """Disagree with a gold that was missed."""
    state_of(request).judging.contest(_judge(request, ticket), page, body.row, body.text)


@router.post("/judges/{ticket}/finish")
def _finish(request: Request, ticket: _Ticket) -> JudgeView:
    """Stop, and get the completion code."""
    return state_of(request).judging.finish(_judge(request, ticket))
