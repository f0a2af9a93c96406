"""The requester's pages of one project: progress, disagreements, gold, log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from adjudge.collect.services.projects import entry_link
from adjudge.collect.values.requesting import PROJECT_STATES
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.web import _uploading
from adjudge.collect.web._forms import Form, SentForm, read_form
from adjudge.collect.web._joining import dry_run_link, origin
from adjudge.collect.web._login import Who, require_login
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.collect.web._uploading import KeptFiles
from adjudge.errors import NotFound, Refused

if TYPE_CHECKING:
    from adjudge.collect.importing import Preview

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)
_LOG_LINES = 100
_MOST_GOLDS = 500  # shown: the most doubtful


@router.get("")
def _show_overview(request: Request, project: str) -> Response:
    """How far the project is."""
    return _overview(request, project)


def _overview(
    request: Request, project: str, preview: object = None, status: int = 200, kept: str = ""
) -> Response:
    who = require_login(request)
    policy, _ = who.services.projects.get_policy(project)
    link = f"{origin(request)}{root(request)}/j/{project}"
    progress = who.services.projects.get_progress(project)
    return who.show_project(
        "Overview",
        "requester/overview.html",
        project,
        status=status,
        progress=progress,
        pace=who.services.projects.get_pace(project, progress),
        link=link if "open" in policy.channels else "",
        panel_link=entry_link(link, policy) if "panel" in policy.channels else "",
        panel=policy.panel,
        arms=[arm.name for arm in who.services.arms.get_all(project)],
        preview=preview,
        kept=kept,
    )


@router.post("/dry-run")
def _dry_run(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Go the way of a judge, without anything counting."""
    who.services.projects.get_head(project)  # theirs, or it is not there
    link = dry_run_link(request, project, form.text("arm", most=200))
    return go(request, link.removeprefix(origin(request) + root(request)))


@router.get("/progress")
def _progress(request: Request, project: str, who: Who) -> Response:
    """The part of the overview that is asked for again and again."""
    figures = who.services.projects.get_progress(project)
    here = f"{root(request)}/projects/{project}"
    of_pairs = is_of_pairs(who.services.projects.get_head(project).labels)
    return state_of(request).pages.show(
        request, "requester/progress.html", progress=figures, here=here, of_pairs=of_pairs
    )


@router.post("/state")
def _set_state(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Open, pause or close the project."""
    wanted = form.need("state", most=20)
    for state in PROJECT_STATES:
        if state == wanted:
            who.services.projects.set_state(project, state)
            return go(request, f"/projects/{project}?done=state")
    raise Refused("bad-form", f"state = {wanted!r}: wanted {', '.join(PROJECT_STATES)}")


@router.post("/upload")
async def _take_upload(request: Request, project: str) -> Response:
    """Add items and gold from files, or show what is wrong with them."""
    who = await run_in_threadpool(require_login, request)  # before the files are read
    await run_in_threadpool(who.services.projects.get_head, project)
    form = await read_form(request)
    files = form.files or await run_in_threadpool(KeptFiles(who).find, form.text("kept", most=40))
    if not files:
        raise Refused("bad-form", "there is no file in what was sent")
    preview = await _uploading.read_more(request, files, who.services, project)
    return await run_in_threadpool(_upload, request, project, form, preview)


def _upload(request: Request, project: str, form: Form, preview: Preview) -> Response:
    who = require_login(request)
    if preview.errors:
        return _overview(request, project, preview, 422)
    if form.text("do") == "check":
        return _overview(request, project, preview, kept=KeptFiles(who).keep(form.files))
    who.services.projects.add_items(project, preview.items, preview.golds)
    if kept := form.text("kept", most=40):
        KeptFiles(who).forget(kept)
    return go(request, f"/projects/{project}?done=imported")


@router.get("/disagreements")
def _disagreements(request: Request, project: str, who: Who) -> Response:
    """Where trusted judges differ, by query."""
    search = request.query_params.get("search", "")[:200]
    topics = who.services.projects.get_disagreements(project, search=search)
    return who.show_project(
        "Disagreements", "requester/disagreements.html", project, topics=topics, search=search
    )


@router.get("/gold")
def _gold(project: str, who: Who) -> Response:
    """Every gold, the most doubtful first."""
    golds = who.services.gold.get_all(project)
    return who.show_project(
        "Gold",
        "requester/gold.html",
        project,
        golds=golds[:_MOST_GOLDS],
        total=len(golds),
        contests=who.services.gold.get_contests(project),
    )


@router.get("/gold/edit")
def _show_gold(request: Request, project: str, who: Who) -> Response:
    """One gold, to be changed."""
    item = request.query_params.get("item", "")
    found = [entry for entry in who.services.gold.get_all(project) if entry.item == item]
    if not found:
        raise NotFound("gold", item)
    said = [contest for contest in who.services.gold.get_contests(project) if contest.item == item]
    return who.show_project(
        "Gold", "requester/gold_edit.html", project, gold=found[0], contests=said
    )


@router.post("/gold")
def _edit_gold(request: Request, project: str, form: SentForm) -> Response:
    """Change a gold; every answer to it is graded again."""
    services = require_login(request).services
    services.gold.edit(
        project,
        form.need("item", most=10_000),
        accepted=form.lists.get("accepted", []),
        reason=form.text("reason", most=5_000),
        role=form.need("role", most=20),
        active=bool(form.text("active")),
    )
    return go(request, f"/projects/{project}/gold?done=gold")


@router.post("/contests/{contest}")
def _settle(request: Request, project: str, contest: int, form: SentForm) -> Response:
    """Answer a judge who disagreed."""
    services = require_login(request).services
    upheld = form.need("upheld", most=5) == "yes"
    services.gold.settle(project, contest, upheld=upheld, answer=form.text("answer", most=2_000))
    return go(request, f"/projects/{project}/gold?done=settled")


@router.get("/log")
def _log(request: Request, project: str, who: Who) -> Response:
    """Every decision, newest first."""
    given = request.query_params.get("before", "")
    before = int(given) if given.isdecimal() and len(given) < 18 else None
    entries = who.services.projects.get_log(project, before=before, limit=_LOG_LINES)
    return who.show_project(
        "Log",
        "requester/log.html",
        project,
        entries=entries,
        older=entries[-1].entry if len(entries) == _LOG_LINES else None,
        newer=before is not None,
    )
