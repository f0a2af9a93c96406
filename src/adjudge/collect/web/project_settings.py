"""The requester's pages that change a project: policy, guidelines."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.web import _policy_form
from adjudge.collect.web._forms import Form, SentForm
from adjudge.collect.web._login import LoggedIn, require_login
from adjudge.collect.web._pages import go
from adjudge.errors import BadSetting

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
def _set_policy(request: Request, project: str, form: SentForm) -> Response:
    """Change the policy."""
    who = require_login(request)
    policy, _ = who.services.projects.get_policy(project)
    try:
        changed = _policy_form.settings(form, policy)
        if changed:
            who.services.projects.set_policy(project, changed)
    except BadSetting as fault:
        return _settings(who, project, str(fault), 422, sent=form)
    return go(request, f"/projects/{project}/settings?done=policy")


@router.post("/settings/panel")
def _set_panel(request: Request, project: str, form: SentForm) -> Response:
    """Set what a panel asks for."""
    who = require_login(request)
    who.services.projects.use_panel(project, form.need("panel", most=40))
    return go(request, f"/projects/{project}/settings?done=panel")


@router.post("/settings/guidelines")
def _set_guidelines(request: Request, project: str, form: SentForm) -> Response:
    """Replace the guidelines."""
    who = require_login(request)
    text = form.text("guidelines", most=200_000)
    who.services.projects.set_guidelines(project, text)
    return go(request, f"/projects/{project}/settings?done=guidelines")


@router.post("/delete")
def _delete(request: Request, project: str, form: SentForm) -> Response:
    """Delete the project, once its name is typed."""
    who = require_login(request)
    known = who.services.projects.get_head(project)
    if form.text("name", most=1_000) != known.name.strip():
        undeleted = f"The name of the project is “{known.name}”; it was not deleted."
        return _settings(who, project, status=422, undeleted=undeleted)
    who.services.projects.delete(project)
    return go(request, "/projects?done=deleted")
