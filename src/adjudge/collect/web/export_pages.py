"""The requester's page of exports: what can be taken out, and why the rest cannot."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from adjudge.collect.consensus import refit
from adjudge.collect.web._forms import SentForm
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.collect.web.consensus_pages import question_of
from adjudge.data.scale import as_number
from adjudge.errors import BadSetting, NotFound

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)
_CHUNK = 65_536
_KINDS = (
    ("labels", "Labels", "The consensus: one label a pair."),
    ("comparisons", "Comparisons", "For 'adjudge rank-pairs', without the answers to gold."),
    ("judgments", "Judgments", "Who said what, without the answers to gold."),
    ("answers", "Answers", "Everything that was answered, training and gold too."),
    ("gold", "Gold", "The known labels."),
    ("topics", "Topics", "The words behind the ids."),
    ("items", "Items", "What is left out of labels."),
    ("panel", "Panel", "Who is to be paid."),
    ("everything", "The whole project", "To keep, or to make anew elsewhere."),
)


@router.get("/export")
def _exports(request: Request, project: str) -> Response:
    """What can be taken out, in every format."""
    return _show(require_login(request), project)


def _show(who: LoggedIn, project: str, problem: str = "", status: int = 200) -> Response:
    question, asked = question_of(who, project)
    ready = [fit for fit in refit.list_fits(who.services, project, question=question) if fit.made]
    given = who.request.query_params.get("model", "")
    model = given if given in {fit.model for fit in ready} else ""
    model = model or next((fit.model for fit in ready), refit.DEFAULT)
    labels = refit.read_table(who.services, project, model, question=question)
    scale = who.services.projects.get_scale(project)
    places: list[float | None] = [*map(float, range(len(scale.labels)))]
    if not scale.ordinal:
        places = [as_number(label) for label in scale.labels]
    grades = list(scale.grades) or places
    return who.show_project(
        "Export",
        "requester/export.html",
        project,
        status=status,
        kinds=_KINDS,
        found=who.services.exports.get_offers(project, labels, question=question),
        fits=ready,
        model=model,
        grades=list(zip(scale.labels, grades, strict=True)),
        problem=problem,
        question=question,
        questions=asked,
    )


@router.post("/export/grades")
def _set_grades(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Give each label its grade."""
    labels, given = form.lists.get("label", []), form.lists.get("grade", [])
    try:
        who.services.projects.set_grades(project, _read_grades(labels, given))
    except BadSetting as fault:
        return _show(who, project, str(fault), 422)
    return go(request, f"/projects/{project}/export?done=grades")


def _read_grades(labels: list[str], given: list[str]) -> dict[str, float]:
    """The grade of each label, as a form has them side by side."""
    grades: dict[str, float] = {}
    for label, text in zip(labels, given, strict=False):
        number = as_number(text.strip())
        if number is None or not -1e6 <= number <= 1e6:
            raise BadSetting("grade", text, f"a number as the grade of {label}")
        grades[label] = number
    return grades


@router.get("/export/{format}")
def _export(request: Request, project: str, format: str) -> Response:
    """One file."""
    return send_export(require_login(request), project, format)


def send_export(who: LoggedIn, project: str, format: str) -> Response:
    """An export as a download, written whole before the first byte is sent."""
    from adjudge.collect.services import exports

    entry = next((entry for entry in exports.list_exports() if entry.name == format), None)
    if entry is None:
        raise NotFound("export", format)
    question, _ = question_of(who, project)
    labels = None
    if entry.kind == "labels":
        model = who.request.query_params.get("model", refit.DEFAULT)
        labels = refit.read_table(who.services, project, model, question=question)
    file = tempfile.SpooledTemporaryFile(max_size=4_000_000)  # noqa: SIM115 - closed when sent
    try:
        who.services.exports.write(project, format, file, labels=labels, question=question)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    named = f"{project}-{question}" if question else project
    return StreamingResponse(
        _chunks(file),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{named}-{format}{entry.extension}"'
        },
    )


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
