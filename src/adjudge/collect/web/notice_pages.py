"""The requester's page of what is told when things happen: by a webhook, by mail."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.services.notices import EVENTS
from adjudge.collect.web._forms import PROVEN, SentForm
from adjudge.collect.web._joining import origin
from adjudge.collect.web._login import LoggedIn, require_login
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.errors import Refused

router = APIRouter(prefix="/projects/{project}/notices", include_in_schema=False)


@router.get("")
def _show_notices(request: Request, project: str) -> Response:
    """Who is told what, and how the last messages went."""
    return _notices(require_login(request), project)


def _notices(who: LoggedIn, project: str, problem: str = "", status: int = 200) -> Response:
    settings = state_of(who.request).settings
    return who.show_project(
        "Settings",
        "requester/notices.html",
        project,
        status=status,
        chosen=who.services.notices.get(project),
        events=EVENTS,
        deliveries=who.services.notices.get_deliveries(project),
        mails=bool(settings.smtp),
        private=settings.private_webhooks,
        problem=problem,
    )


@router.post("")
def _set_notices(request: Request, project: str, form: SentForm) -> Response:
    """Change who is told what."""
    who = require_login(request)
    emails = form.text("emails", most=10_000).replace(",", "\n").split()
    try:
        who.services.notices.set(
            project,
            webhook=form.text("webhook", most=2_000),
            emails=emails,
            events=form.lists.get("event", []),
            base=f"{origin(request)}{root(request)}/projects/{project}",
        )
    except Refused as refusal:
        return _notices(who, project, str(refusal), 422)
    return go(request, f"/projects/{project}/notices?done=notices")


@router.post("/test", dependencies=[PROVEN])
def _try_notices(request: Request, project: str) -> Response:
    """Send a message by every way, to see whether it arrives."""
    who = require_login(request)
    try:
        who.services.notices.test(project)
    except Refused as refusal:
        status = 429 if refusal.code == "too-many" else 422
        return _notices(who, project, str(refusal), status)
    return go(request, f"/projects/{project}/notices?done=noticed")
