"""The requester's pages that change a project: policy, guidelines, who is told what happens."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.services.notices import EVENTS
from adjudge.collect.web import _policy_form
from adjudge.collect.web._forms import PROVEN, Form, SentForm
from adjudge.collect.web._joining import origin
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.errors import BadSetting, Refused

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)


@router.get("/settings")
def _show_settings(request: Request, project: str) -> Response:
    """Policy and guidelines."""
    return _settings(require_login(request), project)


def _settings(
    who: LoggedIn,
    project: str,
    problem: str = "",
    status: int = 200,
    sent: Form | None = None,
    undeleted: str = "",
) -> Response:
    """``sent``: a policy that has a problem, to be shown as it was typed.

    ``undeleted``: why the project was not deleted.
    """
    policy, version = who.services.projects.get_policy(project)
    return who.show_project(
        "Settings",
        "requester/settings.html",
        project,
        status=status,
        basics=[_as_sent(field, sent) for field in _policy_form.basics(policy)],
        parts=[
            replace(
                part,
                flags=[_as_sent(field, sent) for field in part.flags],
                fields=[_as_sent(field, sent) for field in part.fields],
            )
            for part in _policy_form.parts(policy)
        ],
        undeleted=undeleted,
        version=version,
        guidelines=who.services.projects.read(project).guidelines,
        problem=problem,
    )


def _as_sent(field: _policy_form.Field, sent: Form | None) -> _policy_form.Field:
    """A setting as somebody typed it."""
    if sent is None:
        return field
    if field.kind == "flag":
        return replace(field, value=field.name in sent.fields)
    if field.kind == "several":
        return replace(field, value=tuple(sent.lists.get(field.name, [])))
    return replace(field, value=sent.fields.get(field.name, field.value))


@router.post("/settings/policy")
def _set_policy(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Change the policy."""
    policy, _ = who.services.projects.get_policy(project)
    try:
        changed = _policy_form.settings(form, policy)
        if changed:
            who.services.projects.set_policy(project, changed)
    except BadSetting as fault:
        return _settings(who, project, str(fault), 422, sent=form)
    return go(request, f"/projects/{project}/settings?done=policy")


@router.post("/settings/panel")
def _set_panel(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Set what a panel asks for."""
    who.services.projects.use_panel(project, form.need("panel", most=40))
    return go(request, f"/projects/{project}/settings?done=panel")


@router.post("/settings/guidelines")
def _set_guidelines(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Replace the guidelines."""
    text = form.text("guidelines", most=200_000)
    who.services.projects.set_guidelines(project, text)
    return go(request, f"/projects/{project}/settings?done=guidelines")


@router.post("/delete")
def _delete(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Delete the project, once its name is typed."""
    known = who.services.projects.get_head(project)
    if form.text("name", most=1_000) != known.name.strip():
        undeleted = f"The name of the project is “{known.name}”; it was not deleted."
        return _settings(who, project, status=422, undeleted=undeleted)
    who.services.projects.delete(project)
    return go(request, "/projects?done=deleted")


@router.get("/notices")
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


@router.post("/notices")
def _set_notices(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Change who is told what."""
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


@router.post("/notices/test", dependencies=[PROVEN])
def _try_notices(request: Request, project: str, who: Who) -> Response:
    """Send a message by every way, to see whether it arrives."""
    try:
        who.services.notices.test(project)
    except Refused as refusal:
        status = 429 if refusal.code == "too-many" else 422
        return _notices(who, project, str(refusal), status)
    return go(request, f"/projects/{project}/notices?done=noticed")
