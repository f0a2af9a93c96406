"""The requester's pages that change a project: policy, guidelines; and exports."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from adjudge.collect.consensus import refit
from adjudge.collect.web import policy_form
from adjudge.collect.web.forms import SentForm
from adjudge.collect.web.login import LoggedIn, require_login
from adjudge.collect.web.pages import go
from adjudge.errors import BadSetting, NotFound, Refused

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)
_CHUNK = 65_536


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
    known = who.services.projects.get(project)
    if form.text("name", most=1_000) != known.name.strip():
        raise Refused("bad-form", "the name that was typed is not the name of the project")
    who.services.projects.delete(project)
    return go(request, "/projects?done=deleted")


@router.get("/export")
def _exports(request: Request, project: str) -> Response:
    """What can be taken out, in every format."""
    from adjudge.collect.managing import exporting

    who = require_login(request)
    return who.show_project(
        "Export", "requester/export.html", project, formats=exporting.list_exports()
    )


@router.get("/export/{format}")
def _export(request: Request, project: str, format: str) -> Response:
    """One file."""
    return send_export(require_login(request), project, format)


def send_export(who: LoggedIn, project: str, format: str) -> Response:
    """An export as a download, written whole before the first byte is sent."""
    from adjudge.collect.managing import exporting

    entry = next((entry for entry in exporting.list_exports() if entry.name == format), None)
    if entry is None:
        raise NotFound("export", format)
    labels = None
    if entry.kind == "labels":
        model = who.request.query_params.get("model", refit.DEFAULT)
        labels = refit.table(who.services, project, model)
    file = tempfile.SpooledTemporaryFile(max_size=4_000_000)  # noqa: SIM115 - closed when sent
    try:
        who.services.exports.write(project, format, file, labels=labels)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return StreamingResponse(
        _chunks(file),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{project}-{format}{entry.extension}"'
        },
    )


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
