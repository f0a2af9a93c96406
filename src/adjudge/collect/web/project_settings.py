"""The requester's pages that change a project: policy, guidelines."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from adjudge.collect.web import policy_form
from adjudge.collect.web.forms import SentForm
from adjudge.collect.web.login import LoggedIn, require_login
from adjudge.collect.web.pages import go
from adjudge.errors import BadSetting, Refused

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)


@router.get("/settings")
def _show_settings(request: Request, project: str) -> Response:
    """Policy and guidelines."""
    return _settings(require_login(request), project)


def _settings(who: LoggedIn, project: str, problem: str = "", status: int = 200) -> Response:
    policy, version = who.services.projects.get_policy(project)
    return who.show_project(
        "Settings",
        "requester/settings.html",
        project,
        status=status,
        basics=policy_form.basics(policy),
        parts=policy_form.parts(policy),
        version=version,
        guidelines=who.services.projects.read(project).guidelines,
        problem=problem,
    )


@router.post("/settings/policy")
def _set_policy(request: Request, project: str, form: SentForm) -> Response:
    """Change the policy."""
    who = require_login(request)
    policy, _ = who.services.projects.get_policy(project)
    try:
        changed = policy_form.settings(form, policy)
        if changed:
            who.services.projects.set_policy(project, changed)
    except BadSetting as fault:
        return _settings(who, project, str(fault), 422)
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
        raise Refused("bad-form", "the name that was typed is not the name of the project")
    who.services.projects.delete(project)
    return go(request, "/projects?done=deleted")
