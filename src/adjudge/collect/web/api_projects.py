"""The API of projects: made, changed, filled, watched and exported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Query, Request, UploadFile
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.sent import (
    ApiModel,
    ArmIn,
    GoldIn,
    Guide,
    ItemIn,
    Key,
    Line,
    QuestionIn,
    Short,
)
from adjudge.collect.services.arms import read_arms
from adjudge.collect.values.project import Project
from adjudge.collect.values.requesting import (
    DisagreementTopic,
    Imported,
    LogEntry,
    Progress,
    ProjectPace,
    ProjectSummary,
)
from adjudge.collect.values.sides import PAIR_SCALE
from adjudge.collect.values.texts import clean
from adjudge.collect.web import _uploading
from adjudge.collect.web._api import Caller, Listed, PublicId, Services, Slug, api_router
from adjudge.collect.web._state import state_of
from adjudge.collect.web.consensus_pages import send_export
from adjudge.data.scale import Scale
from adjudge.errors import Refused

router = api_router("projects")


class _ProjectIn(ApiModel):
    """A project: labels with commas between them, or < where they have an order.

    Pairs need no labels: they are left < tie < right, or ``left,right`` without ties.
    """

    name: Key
    labels: Line = ""
    relevant: list[Line] = Field(default=[], max_length=100)
    guidelines: Guide = ""
    items: list[ItemIn] = Field(default=[], max_length=200_000)
    golds: list[GoldIn] = Field(default=[], max_length=200_000)
    policy: dict[str, Any] = Field(default={})
    arms: list[ArmIn] = Field(default=[], max_length=50)
    questions: list[QuestionIn] = Field(default=[], max_length=20)
    colours: dict[Line, Short] = Field(default={}, max_length=100)


class _StateIn(ApiModel):
    """The state a project is to have."""

    state: Literal["open", "paused", "closed"]


class _GuidelinesIn(ApiModel):
    """Guidelines, in Markdown."""

    guidelines: Guide


@dataclass(frozen=True, slots=True)
class PolicyOut:
    """A policy, every setting of it, and its version."""

    version: int
    policy: Policy


@dataclass(frozen=True, slots=True)
class ImportOut:
    """What files hold, and what storing them changed; with ``check`` nothing is stored."""

    stored: bool
    items: int
    golds: int
    notes: list[str]
    changes: Imported | None = None


@router.get("/projects")
def _list_projects(caller: Caller) -> Listed[ProjectSummary]:
    """The caller's projects."""
    only = state_of(caller.request).tokens.holder(caller.request).token.project
    projects = caller.services.projects.get_all()
    return Listed([one for one in projects if only is None or one.slug == only])


@router.post("/projects", status_code=201)
def _create_project(services: Services, body: _ProjectIn) -> ProjectSummary:
    """Make a project, as a draft."""
    services.projects.check_may_create()
    pairs = any(item.beside is not None for item in body.items) and not body.labels
    scale = PAIR_SCALE if pairs else Scale.parse(body.labels, relevant=body.relevant)
    gold = [entry.accepted[0] for entry in body.golds]
    arms = [arm.given() for arm in body.arms]
    project = Project(
        name=body.name,
        scale=scale,
        guidelines=body.guidelines,
        items=tuple(item.value() for item in body.items),
        golds=tuple(gold.value() for gold in body.golds),
        policy=body.policy,
        arms=read_arms(arms, labels=scale.labels, gold=gold) if arms else (),
        questions=tuple(one.value() for one in body.questions),
        colours=body.colours,
    )
    return services.projects.create(project)


@router.get("/projects/{project}")
def _read_project(services: Services, project: Slug) -> ProjectSummary:
    """One project."""
    return services.projects.get(project)


@router.delete("/projects/{project}", status_code=204)
def _delete_project(services: Services, project: Slug) -> None:
    """Delete a project that is a draft or closed."""
    services.projects.delete(project)


@router.put("/projects/{project}/state")
def _set_state(services: Services, project: Slug, body: _StateIn) -> ProjectSummary:
    """Open, pause or close a project."""
    return services.projects.set_state(project, body.state)


@router.put("/projects/{project}/guidelines", status_code=204)
def _set_guidelines(services: Services, project: Slug, body: _GuidelinesIn) -> None:
    """Replace the guidelines."""
    services.projects.set_guidelines(project, body.guidelines)


@router.get("/projects/{project}/policy")
def _read_policy(services: Services, project: Slug) -> PolicyOut:
    """The policy and its version."""
    policy, version = services.projects.get_policy(project)
    return PolicyOut(version, policy)


@router.patch("/projects/{project}/policy")
def _set_policy(services: Services, project: Slug, body: dict[str, Any]) -> PolicyOut:
    """Change some settings of the policy."""
    policy, version = services.projects.set_policy(project, body)
    return PolicyOut(version, policy)


@router.post("/projects/{project}/import")
def _import_files(
    request: Request,
    services: Services,
    project: Slug,
    files: Annotated[list[UploadFile], Field(min_length=1)],
    check: bool = False,
) -> ImportOut:
    """Add items and gold from files; with ``check`` only say what is wrong with them."""
    room = state_of(request).settings.upload_bytes
    taken = []
    for file in files:
        body = file.file.read(room + 1)
        room -= len(body)
        if room < 0:
            raise HTTPException(413, "the files are too large together")
        taken.append((clean(file.filename or "file"), body))
    preview = _uploading.read_more(request, taken, services, project)
    if preview.errors:
        faults = [{"at": error.place, "problem": error.problem} for error in preview.errors]
        more = preview.more_errors
        raise Refused("bad-form", str(preview.errors[0]), faults=faults, more_errors=more)
    changes = None
    if not check:
        changes = services.projects.add_items(project, preview.items, preview.golds)
    items, golds, notes = len(preview.items), len(preview.golds), list(preview.notes)
    return ImportOut(not check, items, golds, notes, changes)


@router.get("/projects/{project}/progress")
def _read_progress(services: Services, project: Slug) -> Progress:
    """How far a project is, and what it costs."""
    return services.projects.get_progress(project)


@router.get("/projects/{project}/pace")
def _read_pace(services: Services, project: Slug) -> ProjectPace:
    """Judgments over time, how fast they come, and when the project may be done."""
    return services.projects.get_pace(project)


@router.get("/projects/{project}/disagreements")
def _list_disagreements(
    services: Services,
    project: Slug,
    search: Annotated[Short, Query()] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> Listed[DisagreementTopic]:
    """Queries on whose items trusted judges differ."""
    return Listed(services.projects.get_disagreements(project, search=search, limit=limit))


@router.get("/projects/{project}/log")
def _read_log(
    services: Services,
    project: Slug,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    judge: Annotated[Short | None, Query()] = None,
    event: Annotated[Short | None, Query()] = None,
) -> Listed[LogEntry]:
    """Every decision, newest first."""
    found = services.projects.get_log(project, before=before, limit=limit, judge=judge, event=event)
    return Listed(found)


@router.get(
    "/projects/{project}/export/{format}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def _export(caller: Caller, project: Slug, format: PublicId) -> Response:
    """The project in a format; the export page names them all."""
    return send_export(caller, project, format)
