"""The requester's pages of one project: progress, disagreements, log, settings, notifications."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Request
from starlette.responses import Response

from adjudge.collect.services.notices import EVENTS
from adjudge.collect.services.projects import entry_link
from adjudge.collect.store.settings import dismissed_names
from adjudge.collect.values.requesting import PROJECT_STATES, Progress, ProjectHead
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.web import _policy_form, _uploading
from adjudge.collect.web._forms import PROVEN, Form, SentForm, asked_number
from adjudge.collect.web._joining import dry_run_link, origin
from adjudge.collect.web._login import LoggedIn, Who, page_router
from adjudge.collect.web._pages import root
from adjudge.collect.web._state import state_of
from adjudge.collect.web.wizard_pages import PRESETS, use_preset
from adjudge.data.source import count_of
from adjudge.errors import BadSetting, Refused

router = page_router("/projects/{project}")
_LOG_LINES = 100


@dataclass(frozen=True, slots=True)
class _NextStep:
    """What to do next: a page to go to, or the state to set."""

    title: str
    about: str
    button: str = ""
    path: str = ""
    state: str = ""
    least: str = "manager"


def _next_step(who: LoggedIn, head: ProjectHead, progress: Progress) -> _NextStep:
    """The one thing that brings a project on."""
    slug = head.slug
    if not progress.items:
        return _NextStep(
            "Import what is to be judged", "Results by query, from a file.", "Import", "#add"
        )
    if head.state == "draft":
        about = "This project is a draft: check labels, gold and guidelines, then open it."
        return _NextStep("Look it over and open it", about, "Look it over", "/begin")
    if not progress.open and progress.closed:
        left = len(who.services.items.list_undecided(slug))
        if left and not is_of_pairs(head.labels):
            about = "Every item has its judgments; judges dispute these, or the fit is unsure."
            title = f"Adjudicate {count_of(left, 'item')}"
            return _NextStep(title, about, "Start", "/items/adjudicate", least="reviewer")
        about = "Every item has its judgments. Close the project so that no more judges come."
        path = "/results/ranking" if is_of_pairs(head.labels) else "/results/export"
        return _NextStep(
            "Everything is judged", about, "Take out the results", path, least="viewer"
        )
    if head.state != "open":
        about = f"It is {head.state}, and {count_of(progress.open, 'item')} need more judgments."
        return _NextStep("Open the project again", about, "Open to judges", state="open")
    contests = len(who.services.gold.get_contests(slug))
    if contests:
        title = f"{count_of(contests, 'judge', 'contests', 'contest')} gold"
        about = "Answer them: gold can be wrong, and every correction regrades everyone."
        return _NextStep(title, about, "Answer", "/settings/gold", least="reviewer")
    if not progress.judges:
        about = "Send the link for judges, or invite people by name."
        return _NextStep("Bring in judges", about, "Invite", "/judges#invites")
    about = f"{count_of(progress.lacking, 'trusted judgment')} still needed."
    return _NextStep("Judges are at work", about, "See the judges", "/judges", least="viewer")


def _describe(who: LoggedIn, project: str) -> dict[str, Any]:
    """The part of the overview that is asked for again and again."""
    head, progress = (
        who.services.projects.get_head(project),
        who.services.projects.get_progress(project),
    )
    return {"project": head, "progress": progress, "next": _next_step(who, head, progress)}


@router.get("")
def _overview(who: Who, project: str) -> Response:
    """How far the project is."""
    policy, _ = who.services.projects.get_policy(project)
    link = f"{origin(who.request)}{root(who.request)}/j/{project}"
    shown = _describe(who, project)
    marked = [(_mark(text), text) for text in shown["progress"].warnings]
    dismissed = set(who.services.settings.get(_name_dismissed(who, project)) or ())
    return who.show_project(
        "Overview",
        "overview",
        project,
        **shown,
        pace=who.services.projects.get_pace(project, shown["progress"]),
        link=link if "open" in policy.channels else "",
        panel_link=entry_link(link, policy) if "panel" in policy.channels else "",
        panel=policy.panel,
        arms=[arm.name for arm in who.services.arms.get_all(project)],
        warnings=[one for one in marked if one[0] not in dismissed],
        dismissed=sum(mark in dismissed for mark, _ in marked),
        preview=None,
        kept="",
    )


def _mark(warning: str) -> str:
    return hashlib.sha256(warning.encode()).hexdigest()[:16]


def _name_dismissed(who: LoggedIn, project: str) -> str:
    """The setting with the warnings that a requester has dismissed."""
    return dismissed_names(project) + who.requester.requester


@router.post("/dismiss")
def _dismiss(project: str, form: SentForm, who: Who) -> str:
    """Show a warning no more to whoever dismisses it; with none, show all again."""
    who.services.projects.get_head(project)  # theirs, or it is not there
    name, mark = _name_dismissed(who, project), form.text("warning", most=16)
    known = who.services.settings.get(name) or []
    who.services.settings.keep(name, [*known, mark][-50:] if mark else [])
    return f"/projects/{project}#warnings"


@router.post("/dry-run")
def _dry_run(project: str, form: SentForm, who: Who) -> str:
    """Go the way of a judge, without anything counting."""
    who.services.projects.get_head(project)  # theirs, or it is not there
    link = dry_run_link(who.request, project, form.text("arm", most=200), who.requester.requester)
    return link.removeprefix(origin(who.request) + root(who.request))


@router.get("/progress")
def _progress(project: str, who: Who) -> Response:
    """The part of the overview that is asked for again and again."""
    return who.show_part("progress", project, **_describe(who, project))


@router.post("/state")
def _set_state(project: str, form: SentForm, who: Who) -> str:
    """Open, pause or close the project."""
    who.services.projects.set_state(project, form.choice("state", PROJECT_STATES))
    return f"/projects/{project}?done=state"


@router.post("/upload")
def _take_upload(project: str, who: Who, form: SentForm) -> Response | str:
    """Add items and gold from files, or show what is wrong with them."""
    kept = form.text("kept", most=40)
    files = form.files or who.services.uploads.find(kept)
    if not files:
        return _overview(who.showing(422, problem="Choose a file first."), project)
    preview = _uploading.read_more(who.request, files, who.services, project)
    if preview.errors:
        return _overview(who.showing(422, preview=preview), project)
    if form.text("do") == "check":
        kept = who.services.uploads.keep(form.files)
        return _overview(who.showing(preview=preview, kept=kept), project)
    who.services.projects.add_items(project, preview.items, preview.golds)
    if kept:
        who.services.uploads.forget(kept)
    return f"/projects/{project}?done=imported"


@router.get("/results/disagreements")
def _disagreements(request: Request, project: str, who: Who) -> Response:
    """Where trusted judges differ, by query."""
    search = request.query_params.get("search", "")[:200]
    topics = who.services.projects.get_disagreements(project, search=search)
    return who.show_project("Disagreements", "disagreements", project, topics=topics, search=search)


@router.get("/settings/log")
def _log(request: Request, project: str, who: Who) -> Response:
    """Every decision, newest first."""
    before = asked_number(request, "before")
    entries = who.services.projects.get_log(project, before=before, limit=_LOG_LINES)
    older = entries[-1].entry if len(entries) == _LOG_LINES else None
    return who.show_project(
        "Log", "log", project, entries=entries, older=older, newer=before is not None
    )


# -- settings


@router.get("/settings")
def _settings(who: Who, project: str) -> Response:
    """Policy and guidelines."""
    return _show_settings(who, project)


def _show_settings(who: LoggedIn, project: str, sent: Form | None = None) -> Response:
    """``sent``: a policy that has a problem, to be shown as it was typed."""
    policy, version = who.services.projects.get_policy(project)

    def as_sent(fields: list[_policy_form.Field]) -> list[_policy_form.Field]:
        return fields if sent is None else [_as_sent(field, sent) for field in fields]

    return who.show_project(
        "Policy",
        "settings",
        project,
        basics=as_sent(_policy_form.basics(policy)),
        parts=[
            replace(part, flags=as_sent(part.flags), fields=as_sent(part.fields))
            for part in _policy_form.parts(policy)
        ],
        presets=PRESETS,
        undeleted="",
        version=version,
        guidelines=who.services.projects.get_guidelines(project),
    )


def _as_sent(field: _policy_form.Field, sent: Form) -> _policy_form.Field:
    """Return a setting as somebody typed it."""
    value: Any = sent.fields.get(field.name, field.value)
    if field.kind == "flag":
        value = field.name in sent.fields
    elif field.kind == "several":
        value = tuple(sent.lists.get(field.name, []))
    return replace(field, value=value)


@router.post("/settings/policy")
def _set_policy(project: str, form: SentForm, who: Who) -> Response | str:
    """Change the policy."""
    policy, _ = who.services.projects.get_policy(project)
    try:
        changed = _policy_form.settings(form, policy)
        if changed:
            who.services.projects.set_policy(project, changed)
    except BadSetting as fault:
        return _show_settings(who.again(fault), project, form)
    return f"/projects/{project}/settings?done=policy"


@router.post("/settings/preset")
def _use_preset(project: str, form: SentForm, who: Who) -> str:
    """Set what a preset of who judges says."""
    use_preset(who, project, form.need("preset", most=20))
    return f"/projects/{project}/settings?done=policy"


@router.post("/settings/panel")
def _set_panel(project: str, form: SentForm, who: Who) -> str:
    """Set what a panel asks for."""
    who.services.projects.use_panel(project, form.need("panel", most=40))
    return f"/projects/{project}/settings?done=panel"


@router.post("/settings/guidelines")
def _set_guidelines(project: str, form: SentForm, who: Who) -> str:
    """Replace the guidelines."""
    who.services.projects.set_guidelines(project, form.text("guidelines", most=200_000))
    return f"/projects/{project}/settings?done=guidelines"


@router.post("/delete")
def _delete(project: str, form: SentForm, who: Who) -> Response | str:
    """Delete the project, once its name is typed."""
    known = who.services.projects.get_head(project)
    if form.text("name", most=1_000) != known.name.strip():
        undeleted = f"The name of the project is “{known.name}”; it was not deleted."
        return _show_settings(who.showing(422, undeleted=undeleted), project)
    who.services.projects.delete(project)
    return "/projects?done=deleted"


# -- notifications


@router.get("/settings/notifications")
def _notices(who: Who, project: str) -> Response:
    """Who gets which notifications, and how the last messages went."""
    settings = state_of(who.request).settings
    return who.show_project(
        "Notifications",
        "notices",
        project,
        chosen=who.services.notices.get(project),
        events=EVENTS,
        deliveries=who.services.notices.get_deliveries(project),
        mails=bool(settings.smtp),
        private=settings.private_webhooks,
    )


@router.post("/settings/notifications")
def _set_notices(request: Request, project: str, form: SentForm, who: Who) -> Response | str:
    """Change who gets which notifications."""
    try:
        who.services.notices.set(
            project,
            webhook=form.text("webhook", most=2_000),
            emails=form.text("emails", most=10_000).replace(",", "\n").split(),
            events=form.lists.get("event", []),
            server=f"{origin(request)}{root(request)}",
        )
    except Refused as refusal:
        return _notices(who.again(refusal), project)
    return f"/projects/{project}/settings/notifications?done=notices"


@router.post("/settings/notifications/ask")
def _ask_recipient(project: str, form: SentForm, who: Who) -> str:
    """Ask a recipient to confirm; until then they get nothing."""
    who.services.notices.ask(project, form.need("email", most=254))
    return f"/projects/{project}/settings/notifications?done=recipient-asked"


@router.post("/settings/notifications/test", dependencies=[PROVEN])
def _try_notices(project: str, who: Who) -> Response | str:
    """Send a message by every way, to see whether it arrives."""
    try:
        who.services.notices.test(project)
    except Refused as refusal:
        return _notices(who.again(refusal, 429 if refusal.code == "too-many" else 422), project)
    return f"/projects/{project}/settings/notifications?done=noticed"
