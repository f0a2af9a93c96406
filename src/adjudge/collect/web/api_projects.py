"""The API for requesters: all that their pages can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Query, Request, UploadFile
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adjudge.collect.rules.policy import Policy
from adjudge.collect.services.arms import read_arms
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.gold import Contest, GoldRow, Regrade
from adjudge.collect.values.project import Project
from adjudge.collect.values.requesting import (
    DisagreementTopic,
    Imported,
    Invite,
    JudgeDetail,
    JudgeRow,
    LogEntry,
    Progress,
    ProjectSummary,
)
from adjudge.collect.values.sides import PAIR_SCALE
from adjudge.collect.web import _uploading
from adjudge.collect.web._api_models import (
    ArmIn,
    GoldIn,
    InviteOut,
    ItemIn,
    QuestionIn,
    gold_of,
    item_of,
)
from adjudge.collect.web._api_router import api_router, caller_of, services_of
from adjudge.collect.web._api_values import (
    ApiModel,
    Comment,
    Guide,
    Key,
    Line,
    Listed,
    Name,
    PublicId,
    Reason,
    Short,
    Slug,
    plain,
    send,
    send_list,
)
from adjudge.collect.web._forms import clean
from adjudge.collect.web._joining import invite_link
from adjudge.collect.web._state import state_of
from adjudge.collect.web.export_pages import send_export
from adjudge.data.scale import Scale
from adjudge.errors import Refused

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview

router = api_router("projects")
_Number = Annotated[int, Field(ge=0, le=2**53)]


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


class _PanelIn(ApiModel):
    """A panel by its name, and settings of one's own that go with it."""

    panel: Literal["prolific"]
    settings: dict[str, Any] = Field(default_factory=dict)


class _ReasonIn(ApiModel):
    """Why, for the log."""

    reason: Line = ""


class _GoldEdit(ApiModel):
    """A change of gold; what is not given stays."""

    item: Name
    accepted: list[Name] | None = Field(default=None, min_length=1, max_length=100)
    reason: Reason | None = None
    reasons: dict[Line, Reason] | None = None
    role: Literal["training", "screening", "both"] | None = None
    active: bool | None = None


class _SettleIn(ApiModel):
    """The answer to a judge who disagreed."""

    upheld: bool
    answer: Comment = ""


class _InvitesIn(ApiModel):
    """Whom invitations are for, one each."""

    notes: list[Short] = Field(min_length=1, max_length=1_000)


class _PolicyOut(ApiModel):
    """A policy, every setting of it, and its version."""

    version: int
    policy: Policy


class _PanelOut(_PolicyOut):
    """A policy for a panel, and what is still missing."""

    warnings: list[str]


class _ImportOut(ApiModel):
    """What files hold, and what storing them changed; with ``check`` nothing is stored."""

    stored: bool
    items: int
    golds: int
    notes: list[str]
    changes: Imported | None = None


@router.get("/projects", response_model=Listed[ProjectSummary])
def _list_projects(request: Request) -> Response:
    """The caller's projects."""
    only = state_of(request).tokens.holder(request).token.project
    projects = services_of(request).projects.get_all()
    return send_list([p for p in projects if only is None or p.slug == only])


@router.post("/projects", response_model=ProjectSummary, status_code=201)
def _create_project(request: Request, body: _ProjectIn) -> Response:
    """Make a project, as a draft."""
    services = services_of(request)
    services.projects.check_may_create()
    pairs = any(item.beside is not None for item in body.items) and not body.labels
    scale = PAIR_SCALE if pairs else Scale.parse(body.labels, relevant=body.relevant)
    gold = [entry.accepted[0] for entry in body.golds]
    arms = [arm.given() for arm in body.arms]
    project = Project(
        name=body.name,
        scale=scale,
        guidelines=body.guidelines,
        items=tuple(item_of(item) for item in body.items),
        golds=tuple(gold_of(gold) for gold in body.golds),
        policy=body.policy,
        arms=read_arms(arms, labels=scale.labels, gold=gold) if arms else (),
        questions=tuple(one.value() for one in body.questions),
        colours=body.colours,
    )
    return send(services.projects.create(project), 201)


@router.get("/projects/{project}", response_model=ProjectSummary)
def _read_project(request: Request, project: Slug) -> Response:
    """One project."""
    return send(services_of(request, project).projects.get(project))


@router.delete("/projects/{project}", status_code=204)
def _delete_project(request: Request, project: Slug) -> Response:
    """Delete a project that is a draft or closed."""
    services_of(request, project).projects.delete(project)
    return Response(status_code=204)


@router.put("/projects/{project}/state", response_model=ProjectSummary)
def _set_state(request: Request, project: Slug, body: _StateIn) -> Response:
    """Open, pause or close a project."""
    return send(services_of(request, project).projects.set_state(project, body.state))


@router.put("/projects/{project}/guidelines", status_code=204)
def _set_guidelines(request: Request, project: Slug, body: _GuidelinesIn) -> Response:
    """Replace the guidelines."""
    services_of(request, project).projects.set_guidelines(project, body.guidelines)
    return Response(status_code=204)


@router.get("/projects/{project}/policy", response_model=_PolicyOut)
def _read_policy(request: Request, project: Slug) -> Response:
    """The policy and its version."""
    policy, version = services_of(request, project).projects.get_policy(project)
    return send({"version": version, "policy": policy.to_dict()})


@router.patch("/projects/{project}/policy", response_model=_PolicyOut)
def _set_policy(request: Request, project: Slug, body: dict[str, Any]) -> Response:
    """Change some settings of the policy."""
    policy, version = services_of(request, project).projects.set_policy(project, body)
    return send({"version": version, "policy": policy.to_dict()})


@router.put("/projects/{project}/panel", response_model=_PanelOut)
def _use_panel(request: Request, project: Slug, body: _PanelIn) -> Response:
    """Set what a panel asks for, such as Prolific's codes and tries; warnings say what is left."""
    services = services_of(request, project)
    policy, version = services.projects.use_panel(project, body.panel, body.settings)
    warnings = services.projects.get_progress(project).warnings
    return send({"version": version, "policy": policy.to_dict(), "warnings": list(warnings)})


@router.post("/projects/{project}/import", response_model=_ImportOut)
async def _import_files(
    request: Request,
    project: Slug,
    files: Annotated[list[UploadFile], Field(min_length=1)],
    check: bool = False,
) -> Response:
    """Add items and gold from files; with ``check`` only say what is wrong with them."""
    services = await run_in_threadpool(services_of, request, project)
    room = state_of(request).settings.upload_bytes
    taken = []
    for file in files:
        body = await file.read(room + 1)
        room -= len(body)
        if room < 0:
            raise HTTPException(413, "the files are too large together")
        taken.append((clean(file.filename or "file"), body))
    preview = await _uploading.read_more(request, taken, services, project)
    return await run_in_threadpool(_import, services, project, preview, check)


def _import(services: RequesterServices, project: str, preview: Preview, check: bool) -> Response:
    if preview.errors:
        faults = [{"at": error.place, "problem": error.problem} for error in preview.errors]
        more = preview.more_errors
        raise Refused("bad-form", str(preview.errors[0]), faults=faults, more_errors=more)
    counts = {"items": len(preview.items), "golds": len(preview.golds), "notes": preview.notes}
    if check:
        return send({"stored": False, **counts})
    changes = services.projects.add_items(project, preview.items, preview.golds)
    return send({"stored": True, **counts, "changes": changes})


@router.get("/projects/{project}/progress", response_model=Progress)
def _read_progress(request: Request, project: Slug) -> Response:
    """How far a project is, and what it costs."""
    return send(services_of(request, project).projects.get_progress(project))


@router.get("/projects/{project}/judges", response_model=Listed[JudgeRow])
def _list_judges(request: Request, project: Slug) -> Response:
    """Every judge."""
    return send_list(services_of(request, project).judges.get_all(project))


@router.get("/projects/{project}/judges/{judge}", response_model=JudgeDetail)
def _read_judge_detail(request: Request, project: Slug, judge: PublicId) -> Response:
    """One judge: confusion, answers to gold, history."""
    return send(services_of(request, project).judges.get(project, judge))


@router.post("/projects/{project}/judges/{judge}/block", response_model=JudgeRow)
def _block_judge(request: Request, project: Slug, judge: PublicId, body: _ReasonIn) -> Response:
    """Block a judge."""
    return send(services_of(request, project).judges.block(project, judge, body.reason))


@router.post("/projects/{project}/judges/{judge}/unblock", response_model=JudgeRow)
def _unblock_judge(request: Request, project: Slug, judge: PublicId, body: _ReasonIn) -> Response:
    """Unblock a judge."""
    return send(services_of(request, project).judges.unblock(project, judge, body.reason))


@router.get("/projects/{project}/disagreements", response_model=Listed[DisagreementTopic])
def _list_disagreements(
    request: Request,
    project: Slug,
    search: Annotated[Short, Query()] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> Response:
    """Queries on whose items trusted judges differ."""
    projects = services_of(request, project).projects
    return send_list(projects.get_disagreements(project, search=search, limit=limit))


@router.get("/projects/{project}/golds", response_model=Listed[GoldRow])
def _list_golds(request: Request, project: Slug) -> Response:
    """Every gold, with misses and contests."""
    return send_list(services_of(request, project).gold.get_all(project))


@router.patch("/projects/{project}/golds", response_model=Regrade)
def _edit_gold(request: Request, project: Slug, body: _GoldEdit) -> Response:
    """Change a gold, and grade every answer to it again."""
    given = body.model_dump()
    return send(services_of(request, project).gold.edit(project, given.pop("item"), **given))


@router.get("/projects/{project}/contests", response_model=Listed[Contest])
def _list_contests(
    request: Request, project: Slug, settled: Annotated[bool | None, Query()] = False
) -> Response:
    """What judges say against gold."""
    return send_list(services_of(request, project).gold.get_contests(project, settled=settled))


@router.post("/projects/{project}/contests/{contest}", response_model=Contest)
def _settle_contest(request: Request, project: Slug, contest: _Number, body: _SettleIn) -> Response:
    """Answer a judge who disagreed."""
    services = services_of(request, project)
    return send(services.gold.settle(project, contest, upheld=body.upheld, answer=body.answer))


@router.get("/projects/{project}/log", response_model=Listed[LogEntry])
def _read_log(
    request: Request,
    project: Slug,
    before: Annotated[int | None, Query(ge=0, le=2**53)] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
    judge: Annotated[Short | None, Query()] = None,
    event: Annotated[Short | None, Query()] = None,
) -> Response:
    """Every decision, newest first."""
    services = services_of(request, project)
    return send_list(
        services.projects.get_log(project, before=before, limit=limit, judge=judge, event=event)
    )


@router.get("/projects/{project}/invites", response_model=Listed[InviteOut])
def _list_invites(request: Request, project: Slug) -> Response:
    """Every invitation, with its link."""
    return send_list(_linked(request, services_of(request, project).judges.get_invites(project)))


@router.post("/projects/{project}/invites", response_model=Listed[InviteOut], status_code=201)
def _make_invites(request: Request, project: Slug, body: _InvitesIn) -> Response:
    """Make an invitation for each note."""
    made = services_of(request, project).judges.invite(project, body.notes)
    return send_list(_linked(request, made), 201)


def _linked(request: Request, invites: list[Invite]) -> list[dict[str, Any]]:
    return [{**plain(invite), "link": invite_link(request, invite)} for invite in invites]


@router.delete("/projects/{project}/invites/{invite}", status_code=204)
def _revoke_invite(request: Request, project: Slug, invite: PublicId) -> Response:
    """Revoke an invitation."""
    services_of(request, project).judges.revoke_invite(project, invite)
    return Response(status_code=204)


@router.get(
    "/projects/{project}/export/{format}",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
)
def _export(request: Request, project: Slug, format: PublicId) -> Response:
    """The project in a format; the export page names them all."""
    return send_export(caller_of(request, project), project, format)
