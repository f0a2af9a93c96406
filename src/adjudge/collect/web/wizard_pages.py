"""A new project, step by step: files, columns, labels, gold, who judges, a list to check, open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from adjudge.collect.consensus.refit import name_of
from adjudge.collect.values.judging import AskedQuestion
from adjudge.collect.values.project import COLOURS, GoldEntry, Project
from adjudge.collect.values.requesting import ProjectHead
from adjudge.collect.values.sides import PAIR_SCALE, PAIR_SCALE_WITHOUT_TIES, is_of_pairs
from adjudge.collect.web import _uploading
from adjudge.collect.web._beginning import (
    PRESETS,
    STARTING_SCALE,
    check_list,
    preset_policy,
    read_colours,
    read_question_form,
    read_scale,
    some_of,
    words_for,
)
from adjudge.collect.web._forms import Form, SentForm, read_form
from adjudge.collect.web._login import LoggedIn, Who, require_login
from adjudge.collect.web._pages import go
from adjudge.collect.web._state import state_of
from adjudge.collect.web._uploading import KeptFiles
from adjudge.data.labels import likely_order
from adjudge.data.scale import Scale
from adjudge.errors import AdjudgeError, BadSetting, NotFound, Refused

if TYPE_CHECKING:
    from adjudge.collect.importing import ImportLimits, Preview

router = APIRouter(include_in_schema=False)


@router.get("/projects/new")
def _show_new_project(request: Request) -> Response:
    """Where files are given."""
    return _new(require_login(request))


def _new(
    who: LoggedIn,
    *,
    name: str = "",
    preview: Preview | None = None,
    problem: str = "",
    kept: str = "",
    columns: object = (),
    status: int = 200,
) -> Response:
    from adjudge.collect.importing.tables import PARTS

    settings = state_of(who.request).settings
    return who.show(
        "requester/new.html",
        status=status,
        name=name,
        preview=preview,
        problem=problem,
        kept=kept,
        columns=columns,
        parts=PARTS,
        most=settings.upload_bytes,
        rows=settings.upload_rows,
    )


@router.post("/projects/upload")
async def _create_project(request: Request) -> Response:
    """Make a draft of the files, or show what is wrong with them; they are kept either way."""
    await run_in_threadpool(require_login, request)  # before the files are read
    form = await read_form(request)
    return await run_in_threadpool(_create, request, form)


def _create(request: Request, form: Form) -> Response:
    who = require_login(request)
    name, labels = form.text("name", most=200), form.text("labels", most=2_000)
    kept = form.text("kept", most=40)
    files = form.files or KeptFiles(who).find(kept)
    if not files:
        problem = "There is no file in what was sent: choose one, or drop it on the page."
        return _new(who, name=name, problem=problem, status=422)
    name = name or PurePosixPath(files[0][0]).stem.replace("_", " ").strip().capitalize()
    if len(files) == 1 and _is_archive(files[0][1]):
        return _restore(who, form.text("name", most=200), *files[0])
    if form.files:
        kept = KeptFiles(who).keep(files)
    by_hand = _by_hand(form)
    preview: Preview | None = None
    try:
        scale = Scale.parse(labels) if labels else None
        preview = _uploading.read_waiting(request, files, scale, columns=by_hand)
        if preview.errors:
            columns = _columns(who, files, by_hand)
            return _new(who, name=name, preview=preview, kept=kept, columns=columns, status=422)
        scale = scale or _scale_of(preview)
        guidelines = form.text("guidelines", most=200_000) or words_for(scale)
        policy = preset_policy("open", pairs=is_of_pairs(scale.labels))
        made = who.services.projects.create(
            Project(name=name, scale=scale, guidelines=guidelines, items=preview.items,
                    golds=preview.golds, policy=policy)
        )  # fmt: skip
    except (Refused, AdjudgeError) as fault:
        return _new(who, name=name, preview=preview, problem=str(fault), kept=kept, status=422)
    who.services.settings.keep(f"new:{name_of(made)}", {"files": kept, "columns": by_hand})
    return go(request, f"/projects/{made.slug}/begin?done=read")


def _is_archive(body: bytes) -> bool:
    """Whether a file is what the page of exports gives as the whole project."""
    return body.startswith(b"PK") and b"project.json" in body and b"items.jsonl" in body


def _restore(who: LoggedIn, name: str, file: str, body: bytes) -> Response:
    """Make a project again from its archive; its answers stay there."""
    from adjudge.collect.importing import Upload
    from adjudge.collect.services.archive import read_archive

    try:
        project = read_archive(Upload(name=file, body=body), _limits(who))
        made = who.services.projects.create(replace(project, name=name or project.name))
    except (Refused, AdjudgeError) as fault:
        return _new(who, name=name, problem=str(fault), status=422)
    return go(who.request, f"/projects/{made.slug}/begin?done=restored")


def _scale_of(preview: Preview) -> Scale:
    """The labels that the gold of the files suggests, or three grades to begin with."""
    if any(item.beside is not None for item in preview.items):
        return PAIR_SCALE
    given = {label for gold in preview.golds for label in gold.accepted}
    if given <= set(STARTING_SCALE.labels):  # which are known to have an order, and grades
        return STARTING_SCALE
    order = likely_order(sorted(given))
    if order:  # it stands in a form of the next page, to be seen and changed
        grades = tuple(map(float, range(len(order))))
        return Scale(labels=order, ordinal=True, relevant=order[1:], grades=grades)
    return Scale.infer(given) if len(given) > 1 else STARTING_SCALE


def _by_hand(form: Form) -> dict[str, str]:
    """What somebody said that columns are."""
    names, parts = form.lists.get("column", []), form.lists.get("part", [])
    return dict(zip(names, parts, strict=False))


def _grades(scale: Scale) -> Sequence[float]:
    """The grades of labels, or what is offered: 1 for relevant ones where they have no order."""
    if not scale.grades and not scale.ordinal and scale.relevant:
        return [float(label in scale.relevant) for label in scale.labels]
    return scale.grades or [*map(float, scale.values)]


def _columns(who: LoggedIn, files: list[tuple[str, bytes]], by_hand: dict[str, str]) -> list[Any]:
    from adjudge.collect.importing import Upload
    from adjudge.collect.importing.tables import find_columns

    uploads = [Upload(name=name, body=body) for name, body in files]
    return find_columns(uploads, by_hand, _limits(who))


def _limits(who: LoggedIn) -> ImportLimits:
    """How much an upload may hold."""
    from adjudge.collect.importing import ImportLimits

    settings = state_of(who.request).settings
    return ImportLimits(bytes=settings.upload_bytes, rows=settings.upload_rows)


@router.get("/projects/{project}/begin")
def _show_begin(request: Request, project: str) -> Response:
    """A draft, looked over before it is opened."""
    return _begin(require_login(request), project)


def _begin(who: LoggedIn, slug: str, problem: str = "", status: int = 200) -> Response:
    from adjudge.collect.importing.tables import PARTS

    summary, project = who.services.projects.get_head(slug), who.services.projects.read(slug)
    policy = who.services.projects.get_policy(slug)[0]
    _, held = _find_held(who, summary)
    files = KeptFiles(who).find(held["files"]) if summary.state == "draft" else []
    scale = project.scale
    golds = {gold.item: gold.accepted for gold in project.golds}
    work = [item for item in project.items if item.name not in golds]
    return who.show_project(
        "Overview",
        "requester/begin.html",
        slug,
        project=summary,
        status=status,
        problem=problem,
        columns=_columns(who, files, held["columns"]),
        parts=PARTS,
        first=next(iter(project.items), None),
        others=("can't judge", "page broken"),
        scale=scale,
        grades=[f"{grade:g}" for grade in _grades(scale)],
        golds=golds,
        candidates=some_of(work),
        guidelines=project.guidelines,
        presets=PRESETS,
        policy=policy,
        colours=COLOURS,
        chosen_colours=project.colours,
        questions=list(project.questions),
        shown_questions=[
            AskedQuestion(name=one.name, text=one.text, labels=one.choices, required=one.required)
            for one in project.questions
        ],
        checks=check_list(project, policy),
    )  # fmt: skip


@router.post("/projects/{project}/begin")
def _save(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Save a part of the draft, or open it."""
    if who.services.projects.get_head(project).state != "draft":
        raise Refused("not-draft", "this project is no draft any more: its settings change it now")
    try:
        done = _do(who, project, form)
    except NotFound:
        raise
    except AdjudgeError as fault:
        return _begin(who, project, str(fault), 422)
    after = "" if done.startswith("opened") else "/begin"
    return go(request, f"/projects/{project}{after}?done={done}")


def _do(who: LoggedIn, slug: str, form: Form) -> str:
    what, projects = form.need("do", most=20), who.services.projects
    if what == "columns":
        _map_again(who, slug, _by_hand(form))
    elif what == "labels":
        projects.set_scale(slug, read_scale(form), colours=read_colours(form))
    elif what == "questions":
        projects.set_questions(slug, read_question_form(form))
    elif what == "ties":
        projects.set_scale(slug, PAIR_SCALE if form.text("ties") else PAIR_SCALE_WITHOUT_TIES)
    elif what == "guidelines":
        projects.set_guidelines(slug, form.text("guidelines", most=200_000))
    elif what == "gold":
        pairs = zip(form.lists.get("item", []), form.lists.get("label", []), strict=False)
        entries = [GoldEntry(item=item, accepted=(label,)) for item, label in pairs if label]
        if not entries:
            raise BadSetting("gold", "nothing", "a label for one item at least")
        projects.add_items(slug, (), entries)
    elif what == "preset":
        preset = form.need("preset", most=20)
        projects.set_policy(slug, preset_policy(preset, projects.get_policy(slug)[0]))
        if preset == "prolific":
            projects.use_panel(slug, "prolific")
    elif what == "open":
        projects.set_state(slug, "open")
        _forget_files(who, slug)
        given = {"open", "panel"} & set(projects.get_policy(slug)[0].channels)
        return "opened" if given else "opened-to-invited"
    else:
        wanted = "columns, labels, ties, questions, guidelines, gold, preset or open"
        raise BadSetting("do", what, wanted)
    return "saved"


def _map_again(who: LoggedIn, slug: str, by_hand: dict[str, str]) -> None:
    """Read the kept files once more, with other parts for their columns."""
    name, held = _find_held(who, who.services.projects.get_head(slug))
    files = KeptFiles(who).find(held["files"])
    if not files:
        raise BadSetting("files", "nothing", "files that are still kept: send them again")
    scale = who.services.projects.get_scale(slug)
    preview = _uploading.read_waiting(who.request, files, scale, columns=by_hand).check()
    who.services.projects.replace_items(slug, preview.items, preview.golds)
    who.services.settings.keep(name, {**held, "columns": by_hand})


def _forget_files(who: LoggedIn, slug: str) -> None:
    name, held = _find_held(who, who.services.projects.get_head(slug))
    KeptFiles(who).forget(held["files"])
    who.services.settings.forget(name)


def _find_held(who: LoggedIn, project: ProjectHead) -> tuple[str, dict[str, Any]]:
    """The setting that holds which files a draft was read from and how, and what it says."""
    name = f"new:{name_of(project)}"
    return name, who.services.settings.get(name) or {"files": "", "columns": {}}
