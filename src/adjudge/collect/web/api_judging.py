"""The API for those who judge: scripts, and models, by the same routing, gold and trust."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path as InPath
from fastapi import Request
from pydantic import Field
from starlette.responses import Response

from adjudge.collect.values.judging import Answer, Arrival, JudgeView, Outcome, Page, ProjectView
from adjudge.collect.web._api_router import api_router
from adjudge.collect.web._api_values import (
    ApiModel,
    Comment,
    Key,
    Line,
    Name,
    PublicId,
    Short,
    Slug,
    send,
)
from adjudge.collect.web._keys import Forged
from adjudge.collect.web._state import state_of
from adjudge.errors import NotFound

router = api_router("judging")

_Ticket = Annotated[str, InPath(pattern=r"^[A-Za-z0-9_.-]+$", max_length=400)]
_Position = Annotated[int, InPath(ge=1, le=100_000)]


class _ArrivalIn(ApiModel):
    """Who comes to judge: the same key of the same token is the same judge, always."""

    key: Key
    kind: Literal["person", "model"] = "model"
    parameters: dict[Short, Line] = Field(default={}, max_length=20)
    consent: bool = False


class _AnswerIn(ApiModel):
    """One answer: a label of the scale or one of the others, and answers to further questions."""

    row: int = Field(ge=1, le=100_000)
    label: Name
    comment: Comment = ""
    seconds: float | None = Field(default=None, ge=0, le=86_400, allow_inf_nan=False)
    answers: dict[Short, Comment] = Field(default={}, max_length=20)

    def value(self) -> Answer:
        """As the service takes it."""
        return Answer(**dict(self))


class _AnswersIn(ApiModel):
    """The answers to a page, with its key: sent twice, they are stored once."""

    key: Key
    answers: list[_AnswerIn] = Field(max_length=10_000)


class _DraftIn(ApiModel):
    """Answers that are kept but not yet sent."""

    answers: list[_AnswerIn] = Field(max_length=10_000)


class _LabelIn(ApiModel):
    """The answer to one row of a training page."""

    label: Name


class _ContestIn(ApiModel):
    """Why a gold is wrong."""

    row: int = Field(ge=1, le=100_000)
    text: Annotated[Comment, Field(min_length=1)]


class _ArrivalOut(ApiModel):
    """A judge, and the ticket by which the holder of this token acts for them."""

    ticket: str
    judge: JudgeView


class _NextOut(ApiModel):
    """The next page, or none and where the judge stands."""

    page: Page | None
    judge: JudgeView | None


def _judge(request: Request, ticket: str) -> str:
    """The judge of a ticket, which serves only with the token that it was given to."""
    state = state_of(request)
    holder = state.tokens.holder(request)
    try:
        judge, token = state.keys.open("ticket", ticket)
    except (Forged, ValueError, TypeError):
        token = None
    if token != holder.token.token:
        raise NotFound("ticket", ticket)
    return str(judge)


@router.get("/projects/{project}/guidelines", response_model=ProjectView)
def _read_guidelines(request: Request, project: Slug) -> Response:
    """What a judge has to know: guidelines, labels, training, pay."""
    state_of(request).tokens.holder_in(request, project)
    return send(state_of(request).judging.project(project))


@router.post("/projects/{project}/arrivals", response_model=_ArrivalOut)
def _arrive(request: Request, project: Slug, body: _ArrivalIn) -> Response:
    """Come to a project, for the first time or again; the ticket is good for all that follows."""
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
    return send({"ticket": ticket, "judge": view})


@router.get("/judges/{ticket}", response_model=JudgeView)
def _read_judge(request: Request, ticket: _Ticket) -> Response:
    """Where the judge stands."""
    return send(state_of(request).judging.state(_judge(request, ticket)))


@router.post("/judges/{ticket}/consent", response_model=JudgeView)
def _agree(request: Request, ticket: _Ticket) -> Response:
    """Agree to take part."""
    return send(state_of(request).judging.consent(_judge(request, ticket)))


@router.post("/judges/{ticket}/page", response_model=_NextOut)
def _next_page(request: Request, ticket: _Ticket) -> Response:
    """The page that is open, or a new one; none where there is nothing to do."""
    judge, judging = _judge(request, ticket), state_of(request).judging
    page = judging.page(judge)
    return send({"page": page, "judge": judging.state(judge) if page is None else None})


@router.post("/judges/{ticket}/pages/{page}", response_model=Outcome)
def _submit(request: Request, ticket: _Ticket, page: PublicId, body: _AnswersIn) -> Response:
    """Send the answers to a page. Sent twice, they are stored once."""
    judge, state = _judge(request, ticket), state_of(request)
    answers = [answer.value() for answer in body.answers]
    outcome = state.judging.submit(judge, page, body.key, answers)
    state.metrics.count("judgments", 0 if outcome.again else outcome.stored)
    return send(outcome)


@router.get("/judges/{ticket}/pages/{page}", response_model=Outcome)
def _read_outcome(request: Request, ticket: _Ticket, page: PublicId) -> Response:
    """What came of a page that was answered."""
    return send(state_of(request).judging.outcome(_judge(request, ticket), page))


@router.put("/judges/{ticket}/pages/{page}/draft", status_code=204)
def _keep_draft(request: Request, ticket: _Ticket, page: PublicId, body: _DraftIn) -> Response:
    """Keep answers that are not yet sent."""
    answers = [answer.value() for answer in body.answers]
    state_of(request).judging.save(_judge(request, ticket), page, answers)
    return Response(status_code=204)


@router.post("/judges/{ticket}/pages/{page}/rows/{row}", response_model=Outcome)
def _answer_training(
    request: Request, ticket: _Ticket, page: PublicId, row: _Position, body: _LabelIn
) -> Response:
    """Answer one row of a training page, and be told at once."""
    judging, judge = state_of(request).judging, _judge(request, ticket)
    return send(judging.answer_training(judge, page, row, body.label))


@router.post("/judges/{ticket}/pages/{page}/contests", status_code=204)
def _contest(request: Request, ticket: _Ticket, page: PublicId, body: _ContestIn) -> Response:
    """Disagree with a gold that was missed."""
    state_of(request).judging.contest(_judge(request, ticket), page, body.row, body.text)
    return Response(status_code=204)


@router.post("/judges/{ticket}/finish", response_model=JudgeView)
def _finish(request: Request, ticket: _Ticket) -> Response:
    """Stop, and get the completion code."""
    return send(state_of(request).judging.finish(_judge(request, ticket)))
