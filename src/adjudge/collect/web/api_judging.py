"""The API for those who judge: scripts, and models, by the same routing, gold and trust."""

from __future__ import annotations

from fastapi import APIRouter, Request, Security
from fastapi.security import HTTPBearer
from starlette.responses import Response

from adjudge.collect.values.judging import Arrival, JudgeView, Outcome, ProjectView
from adjudge.collect.web.api_values import (
    FAULTS,
    AnswersIn,
    ArrivalIn,
    ArrivalOut,
    ContestIn,
    DraftIn,
    LabelIn,
    NextOut,
    Position,
    PublicId,
    Slug,
    Ticket,
    send,
)
from adjudge.collect.web.keys import Forged
from adjudge.collect.web.state import state_of
from adjudge.errors import Refused

BEARER = HTTPBearer(auto_error=False, description="A token from the account page.")
router = APIRouter(tags=["judging"], responses=FAULTS, dependencies=[Security(BEARER)])


def _judge(request: Request, ticket: str) -> str:
    """The judge of a ticket, which serves only with the token that it was given to."""
    state = state_of(request)
    holder = state.tokens.holder(request)
    try:
        judge, token = state.keys.open("ticket", ticket)
    except (Forged, ValueError, TypeError):
        token = None
    if token != holder.token.token:
        raise Refused("ticket-forged", "this ticket was not given to the holder of this token")
    return str(judge)


@router.get("/projects/{project}/guidelines", response_model=ProjectView)
def read_guidelines(request: Request, project: Slug) -> Response:
    """What a judge has to know: guidelines, labels, training, pay."""
    state_of(request).tokens.holder(request).may_judge(project)
    return send(state_of(request).judging.project(project))


@router.post("/projects/{project}/arrivals", response_model=ArrivalOut)
def arrive(request: Request, project: Slug, body: ArrivalIn) -> Response:
    """Come to a project, for the first time or again; the ticket is good for all that follows."""
    state = state_of(request)
    holder = state.tokens.holder(request)
    holder.may_judge(project)
    arrival = Arrival(
        project=project,
        channel="api",
        key=f"{holder.token.token}:{body.key}",
        parameters=body.parameters,
        kind=body.kind,
    )
    view = state.judging.arrive(arrival)
    if body.consent:
        view = state.judging.consent(view.judge)
    ticket = state.keys.sign("ticket", [view.judge, holder.token.token])
    return send({"ticket": ticket, "judge": view})


@router.get("/judges/{ticket}", response_model=JudgeView)
def read_judge(request: Request, ticket: Ticket) -> Response:
    """Where the judge stands."""
    return send(state_of(request).judging.state(_judge(request, ticket)))


@router.post("/judges/{ticket}/consent", response_model=JudgeView)
def agree(request: Request, ticket: Ticket) -> Response:
    """Agree to take part."""
    return send(state_of(request).judging.consent(_judge(request, ticket)))


@router.post("/judges/{ticket}/page", response_model=NextOut)
def next_page(request: Request, ticket: Ticket) -> Response:
    """The page that is open, or a new one; none where there is nothing to do."""
    judge, judging = _judge(request, ticket), state_of(request).judging
    page = judging.page(judge)
    return send({"page": page, "judge": judging.state(judge) if page is None else None})


@router.post("/judges/{ticket}/pages/{page}", response_model=Outcome)
def submit(request: Request, ticket: Ticket, page: PublicId, body: AnswersIn) -> Response:
    """Send the answers to a page. Sent twice, they are stored once."""
    judge, state = _judge(request, ticket), state_of(request)
    answers = [answer.value() for answer in body.answers]
    outcome = state.judging.submit(judge, page, body.key, answers)
    state.metrics.count("judgments", 0 if outcome.again else outcome.stored)
    return send(outcome)


@router.get("/judges/{ticket}/pages/{page}", response_model=Outcome)
def read_outcome(request: Request, ticket: Ticket, page: PublicId) -> Response:
    """What came of a page that was answered."""
    return send(state_of(request).judging.outcome(_judge(request, ticket), page))


@router.put("/judges/{ticket}/pages/{page}/draft", status_code=204)
def keep_draft(request: Request, ticket: Ticket, page: PublicId, body: DraftIn) -> Response:
    """Keep answers that are not yet sent."""
    answers = [answer.value() for answer in body.answers]
    state_of(request).judging.save(_judge(request, ticket), page, answers)
    return Response(status_code=204)


@router.post("/judges/{ticket}/pages/{page}/rows/{row}", response_model=Outcome)
def answer_training(
    request: Request, ticket: Ticket, page: PublicId, row: Position, body: LabelIn
) -> Response:
    """Answer one row of a training page, and be told at once."""
    judging, judge = state_of(request).judging, _judge(request, ticket)
    return send(judging.answer_training(judge, page, row, body.label))


@router.post("/judges/{ticket}/pages/{page}/contests", status_code=204)
def contest(request: Request, ticket: Ticket, page: PublicId, body: ContestIn) -> Response:
    """Disagree with a gold that was missed."""
    state_of(request).judging.contest(_judge(request, ticket), page, body.row, body.text)
    return Response(status_code=204)


@router.post("/judges/{ticket}/finish", response_model=JudgeView)
def finish(request: Request, ticket: Ticket) -> Response:
    """Stop, and get the completion code."""
    return send(state_of(request).judging.finish(_judge(request, ticket)))
