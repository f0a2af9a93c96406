"""The API for those who judge: scripts, and models, by the same routing, gold and trust."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from adjudge.collect.values.judging import Arrival, JudgeView, Outcome, ProjectView
from adjudge.collect.web.api_router import api_router
from adjudge.collect.web.api_values import (
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
from adjudge.errors import NotFound

router = api_router("judging")


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


@router.post("/projects/{project}/arrivals", response_model=ArrivalOut)
def _arrive(request: Request, project: Slug, body: ArrivalIn) -> Response:
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
def _read_judge(request: Request, ticket: Ticket) -> Response:
    """Where the judge stands."""
    return send(state_of(request).judging.state(_judge(request, ticket)))


@router.post("/judges/{ticket}/consent", response_model=JudgeView)
def _agree(request: Request, ticket: Ticket) -> Response:
    """Agree to take part."""
    return send(state_of(request).judging.consent(_judge(request, ticket)))


@router.post("/judges/{ticket}/page", response_model=NextOut)
def _next_page(request: Request, ticket: Ticket) -> Response:
    """The page that is open, or a new one; none where there is nothing to do."""
    judge, judging = _judge(request, ticket), state_of(request).judging
    page = judging.page(judge)
    return send({"page": page, "judge": judging.state(judge) if page is None else None})


@router.post("/judges/{ticket}/pages/{page}", response_model=Outcome)
def _submit(request: Request, ticket: Ticket, page: PublicId, body: AnswersIn) -> Response:
    """Send the answers to a page. Sent twice, they are stored once."""
    judge, state = _judge(request, ticket), state_of(request)
    answers = [answer.value() for answer in body.answers]
    outcome = state.judging.submit(judge, page, body.key, answers)
    state.metrics.count("judgments", 0 if outcome.again else outcome.stored)
    return send(outcome)


@router.get("/judges/{ticket}/pages/{page}", response_model=Outcome)
def _read_outcome(request: Request, ticket: Ticket, page: PublicId) -> Response:
    """What came of a page that was answered."""
    return send(state_of(request).judging.outcome(_judge(request, ticket), page))


@router.put("/judges/{ticket}/pages/{page}/draft", status_code=204)
def _keep_draft(request: Request, ticket: Ticket, page: PublicId, body: DraftIn) -> Response:
    """Keep answers that are not yet sent."""
    answers = [answer.value() for answer in body.answers]
    state_of(request).judging.save(_judge(request, ticket), page, answers)
    return Response(status_code=204)


@router.post("/judges/{ticket}/pages/{page}/rows/{row}", response_model=Outcome)
def _answer_training(
    request: Request, ticket: Ticket, page: PublicId, row: Position, body: LabelIn
) -> Response:
    """Answer one row of a training page, and be told at once."""
    judging, judge = state_of(request).judging, _judge(request, ticket)
    return send(judging.answer_training(judge, page, row, body.label))


@router.post("/judges/{ticket}/pages/{page}/contests", status_code=204)
def _contest(request: Request, ticket: Ticket, page: PublicId, body: ContestIn) -> Response:
    """Disagree with a gold that was missed."""
    state_of(request).judging.contest(_judge(request, ticket), page, body.row, body.text)
    return Response(status_code=204)


@router.post("/judges/{ticket}/finish", response_model=JudgeView)
def _finish(request: Request, ticket: Ticket) -> Response:
    """Stop, and get the completion code."""
    return send(state_of(request).judging.finish(_judge(request, ticket)))
