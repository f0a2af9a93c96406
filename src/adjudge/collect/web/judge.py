"""The judge's pages: arrive, agree, train, judge, see what was missed, end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response

from adjudge.collect.values.ids import make_id
from adjudge.collect.values.judging import (
    DRY_RUN,
    LONGEST_COMMENT,
    MOST_PAGES_LEFT,
    Answer,
    Arrival,
    JudgeView,
    Page,
    ProjectView,
)
from adjudge.collect.values.sides import is_of_pairs
from adjudge.collect.web import _joining
from adjudge.collect.web._forms import PROVEN, SentForm, asked_number
from adjudge.collect.web._markup import render
from adjudge.collect.web._middleware import POLICY
from adjudge.collect.web._pages import go, is_htmx, money, root, spell_minutes
from adjudge.collect.web._state import state_of
from adjudge.errors import NotFound, Refused

router = APIRouter(include_in_schema=False)
_OVER = ("finished", "failed", "blocked")
_ENDS = {
    "finished": ("Thank you: you are done", "good", "Your work here is finished."),
    "failed": ("The training was not passed", "warn", "You cannot go on to the work itself."),
    "blocked": ("Your work here has ended", "bad", "You cannot judge any more in this project."),
}


async def _find_judge(request: Request, project: str) -> str:
    """The judge that the browser is in a project, for whom alone everything is done."""
    judge = state_of(request).pages.session(request).judges.get(project)
    if judge is None:
        raise Refused(
            "not-joined", "this browser is not a judge of this project; open your link again"
        )
    return judge


_Judge = Annotated[str, Depends(_find_judge)]


@router.get("/j/{project}")
def _work(request: Request, project: str) -> Response:
    """Where a judge goes on: whatever is next for them."""
    state = state_of(request)
    arrival = _joining.from_panel(request, project)
    if arrival is not None:
        _joining.check_way(state, arrival)
        return _let_in(request, arrival)
    judge = state.pages.session(request).judges.get(project)
    if judge is None:
        return _welcome(request, _joining.welcome(state, project), None)
    try:
        view = state.judging.state(judge)
    except NotFound:  # the project was deleted, or made again under the same name
        state.pages.session(request).forget_judge(project)
        return _welcome(request, _joining.welcome(state, project), None)
    except Refused:  # the invitation was taken back, and with it the session
        state.pages.session(request).forget_judge(project)
        raise
    return _next(request, view)


@router.get("/i/{key}")
def _come_by_invitation(request: Request, key: str) -> Response:
    """Come by the short link of an invitation."""
    return _let_in(request, _joining.from_invite(state_of(request), key))


@router.get("/join/{token}")
def _join(request: Request, token: str) -> Response:
    """Come by an invitation, or go on with one's own work on another device."""
    return _let_in(request, _joining.from_link(state_of(request), token))


def _let_in(request: Request, arrival: Arrival | tuple[str, str]) -> Response:
    """Let the browser be the judge that a link names, and go on without the link in sight.

    A browser that is another judge already is asked first: whoever can make somebody open a link
    could else have them work in another's name.
    """
    state = state_of(request)
    if _joining.is_another(request, arrival):
        project = arrival.project if isinstance(arrival, Arrival) else arrival[0]
        ticket = _joining.ticket_of(state, arrival)
        view = state.judging.project(project)
        return _show(request, "judge/another.html", view, None, ticket=ticket)
    return _become(request, arrival)


def _become(request: Request, arrival: Arrival | tuple[str, str]) -> Response:
    """Make the browser the judge that a link names."""
    state = state_of(request)
    if isinstance(arrival, Arrival):
        admit = _joining.newcomer(request, arrival.project) if arrival.channel == "panel" else None
        view = state.judging.arrive(arrival, admit=admit)
        project, judge = arrival.project, view.judge
    else:
        project, judge = arrival
        state.judging.state(judge)
    state.pages.session(request).judge_as(project, judge)
    return go(request, f"/j/{quote(project)}")


@router.post("/j/{project}/another")
def _become_another(request: Request, project: str, form: SentForm) -> Response:
    """Go on as the judge of a link in a browser that was another, now that they said so."""
    arrival = _joining.from_ticket(state_of(request), project, form.need("ticket", most=10_000))
    return _become(request, arrival)


@router.post("/j/{project}/begin", dependencies=[PROVEN])
def _begin(request: Request, project: str) -> Response:
    """Agree, and begin."""
    state = state_of(request)
    session = state.pages.session(request)
    judge = session.judges.get(project)
    if judge is None:
        _joining.welcome(state, project)
        arrival = Arrival(project=project, channel="open", key=make_id(16))
        judge = state.judging.arrive(arrival, admit=_joining.newcomer(request, project)).judge
        session.judge_as(project, judge)
    state.judging.consent(judge)
    return go(request, f"/j/{quote(project)}")


@router.get("/j/{project}/guidelines")
def _guidelines(request: Request, project: str) -> Response:
    """The guidelines on a page of their own."""
    state = state_of(request)
    judge = state.pages.session(request).judges.get(project)
    if judge is not None:
        view = state.judging.project(project, judge=judge)
    else:
        view = _joining.welcome(state, project)
        if view.state == "draft":  # its requester's alone
            raise NotFound("project", project)
    return _show(request, "judge/guidelines.html", view, None, guidelines=render(view.guidelines))


@router.post("/j/{project}/warned", dependencies=[PROVEN])
def _read_again(request: Request, project: str, judge: _Judge) -> Response:
    """Note that a warned judge has the guidelines read again."""
    state_of(request).pages.session(request).acknowledge(judge)
    return go(request, f"/j/{quote(project)}")


@router.post("/j/{project}/read", dependencies=[PROVEN])
def _read_message(request: Request, project: str, judge: _Judge) -> Response:
    """Note that a judge has read what the requester wrote to them."""
    state_of(request).judging.read_message(judge)
    return go(request, f"/j/{quote(project)}")


@router.post("/j/{project}/finish", dependencies=[PROVEN])
def _finish(request: Request, project: str, judge: _Judge) -> Response:
    """Stop at the judge's own wish."""
    state_of(request).judging.finish(judge)
    return go(request, f"/j/{quote(project)}")


@router.post("/j/{project}/more", dependencies=[PROVEN])
def _more(request: Request, project: str, judge: _Judge) -> Response:
    """Go on after stopping: a page is asked for, which takes them up again."""
    state_of(request).judging.page(judge)
    return go(request, f"/j/{quote(project)}")


@router.post("/j/{project}/pages/{page}")
def _submit(request: Request, project: str, page: str, form: SentForm, judge: _Judge) -> Response:
    """Store the answers to a page."""
    judging = state_of(request).judging
    answers = _answers_of(form.fields)
    try:
        outcome = judging.submit(judge, page, form.need("key", most=200), answers)
    except Refused as refusal:
        if refusal.code != "rows-missing":
            raise
        rows = refusal.evidence.get("rows") or ()
        return _incomplete(request, judge, rows if isinstance(rows, list | tuple) else ())
    state_of(request).metrics.count("judgments", 0 if outcome.again else outcome.stored)
    here = f"/j/{quote(project)}"
    if outcome.again and outcome.differing:  # not a double click: another tab was first
        return go(request, f"{here}/pages/{page}?again={outcome.differing}")
    missed = any(not entry.right for entry in outcome.feedback)
    ended = outcome.judge.stage != "training" and outcome.judge.judged == 0
    return go(request, f"{here}/pages/{page}" if missed or ended else here)


def _incomplete(request: Request, judge: str, rows: list[Any] | tuple[Any, ...]) -> Response:
    """The page once more, with what was answered, where an answer is missing."""
    judging = state_of(request).judging
    page = judging.page(judge)
    if page is None:
        return go(request, f"/j/{judging.state(judge).project}")
    listed = ", ".join(str(row) for row in rows)
    to = "every question about result" if page.questions else "result"
    problem = f"Not sent yet: there is no answer to {to} {listed}. The others are kept."
    return _page(request, judging.state(judge), page, problem=problem, status=422)


@router.post("/j/{project}/pages/{page}/draft")
def _draft(request: Request, page: str, form: SentForm, judge: _Judge) -> Response:
    """Keep answers that are not yet sent."""
    answers = _answers_of(form.fields)
    try:
        state_of(request).judging.save(judge, page, answers)
    except Refused as refusal:
        if refusal.code != "page-answered":
            raise
        return Response(status_code=409, headers={"X-Page": "answered"})  # by another tab
    return Response(status_code=204)


@router.post("/j/{project}/pages/{page}/rows/{row}")
def _train(request: Request, page: str, row: int, form: SentForm, judge: _Judge) -> Response:
    """Look at one answer of the training at once."""
    state = state_of(request)
    label = form.need(f"label-{row}", most=1_000)
    outcome = state.judging.answer_training(judge, page, row, label)
    return state.pages.show(request, "judge/feedback.html", feedback=outcome.feedback[0])


@router.get("/j/{project}/pages/{page}")
def _show_outcome(request: Request, project: str, page: str, judge: _Judge) -> Response:
    """The outcome of a page: missed gold, and why."""
    state = state_of(request)
    try:
        outcome = state.judging.outcome(judge, page)
    except Refused as refusal:
        if refusal.code != "page-open":
            raise
        return go(request, f"/j/{quote(project)}")
    view = outcome.judge
    seen = state.judging.answered(judge, page)
    rows = {row.row: (group, row) for group in seen.groups for row in group.rows}
    misses = [
        (entry, *rows[entry.row])
        for entry in outcome.feedback
        if not entry.right and entry.row in rows
    ]
    training = seen.kind == "training"
    return _show(
        request,
        "judge/outcome.html",
        state.judging.project(project, judge=judge),
        view,
        page=page,
        misses=misses,
        training=training,
        refresher=bool(seen.why),
        passed=training and not seen.why and view.stage in ("working", "warned"),
        total=len(rows),
        right=len(rows) - len(misses) if training else 0,
        stored=outcome.stored,
        again=asked_number(request, "again") or 0,
        left=_left(request, view),
        on="Go on" if view.stage not in _OVER else "See how it ended",
    )


def _left(request: Request, view: JudgeView) -> str:
    """About how much is left for a judge, in words; empty where their way is over."""
    if view.stage in _OVER:
        return ""
    left = state_of(request).judging.count_pages_left(view.judge)
    if left >= MOST_PAGES_LEFT:
        return f"{left} and more pages"
    return f"about {left} page{'' if left == 1 else 's'}" if left else "nothing"


@router.post("/j/{project}/pages/{page}/contest")
def _contest(request: Request, project: str, page: str, form: SentForm, judge: _Judge) -> Response:
    """Disagree with a gold."""
    row, text = form.number("row"), form.need("text", most=LONGEST_COMMENT)
    state_of(request).judging.contest(judge, page, row, text)
    return go(request, f"/j/{quote(project)}/pages/{quote(page)}")


def _answers_of(fields: Mapping[str, str]) -> list[Answer]:
    """The answers in a form: ``label-3``, ``comment-3``, ``seconds-3``, ``answer-3-freshness``."""
    answers = []
    further: dict[str, dict[str, str]] = {}
    for name, text in fields.items():
        part, _, rest = name.partition("-")
        place, _, question = rest.partition("-")
        if part == "answer" and question and text.strip():
            further.setdefault(place, {})[question] = text.strip()
    for name, label in fields.items():
        part, _, place = name.partition("-")
        if part != "label" or not place.isdecimal() or len(place) > 6 or not label:
            continue
        comment = fields.get(f"comment-{place}", "").strip()
        answers.append(
            Answer(
                row=int(place),
                label=label,
                comment=comment,
                seconds=_seconds(fields.get(f"seconds-{place}", "")),
                answers=further.get(place, {}),
            )
        )
    return answers


def _seconds(text: str) -> float | None:
    """How long an answer took, where the browser says something sensible."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= 86_400 else None


def _next(request: Request, view: JudgeView) -> Response:
    """The page of the stage that a judge is at."""
    state = state_of(request)
    if view.stage == "consent":
        return _welcome(request, state.judging.project(view.project, judge=view.judge), view)
    if view.stage in _OVER:
        return _end(request, view)
    if view.stage == "warned" and not state.pages.session(request).has_read(view.judge):
        project = state.judging.project(view.project, judge=view.judge)
        words = render(project.guidelines)
        return _show(request, "judge/warned.html", project, view, guidelines=words)
    page = state.judging.page(view.judge)
    if page is None:
        view = state.judging.state(view.judge)
        return _end(request, view) if view.stage in _OVER else _wait(request, view)
    return _page(request, view, page)


def _welcome(request: Request, project: ProjectView, view: JudgeView | None) -> Response:
    # A person counts the right answers they need, not shares.
    needed = -(-round(project.training_pass * project.training_pairs * 1000) // 1000)
    return _show(
        request,
        "judge/welcome.html",
        project,
        None,
        identified=view is not None,
        of_pairs=is_of_pairs(project.labels),
        dry=view is not None and view.kind == DRY_RUN,
        nothing_left=project.state == "open"
        and not state_of(request).judging.has_work(project.slug),
        guidelines=render(project.guidelines),
        consent=render(project.consent),
        needed=needed,
        minutes=spell_minutes(project.page_minutes),
        pay=money(project.pay_per_page, project.currency) if project.pay_per_page else "",
        pay_failed=money(project.pay_failed, project.currency) if project.pay_failed else "",
    )


def _end(request: Request, view: JudgeView) -> Response:
    title, tone, message = _ENDS[view.stage]
    project = state_of(request).judging.project(view.project, judge=view.judge)
    return _show(
        request,
        "judge/end.html",
        project,
        view,
        title=title,
        tone=tone,
        message=message,
        more=view.stage == "finished" and view.open_items and project.state == "open",
    )


def _wait(request: Request, view: JudgeView) -> Response:
    """Nothing for them at the moment, but it is not over."""
    project = state_of(request).judging.project(view.project, judge=view.judge)
    return _show(request, "judge/wait.html", project, view)


def _page(
    request: Request, view: JudgeView, page: Page, *, problem: str = "", status: int = 200
) -> Response:
    state = state_of(request)
    project = state.judging.project(view.project, judge=view.judge)
    given = {answer.row: answer for answer in page.answers}
    known = {entry.row: entry for entry in page.feedback}
    if is_htmx(request):  # only where a form was sent with something missing
        return go(request, f"/j/{quote(view.project)}")
    shown = _show(
        request,
        "judge/page.html",
        project,
        view,
        page=page,
        size=len(page.rows),
        given=given,
        known=known,
        problem=problem,
        left=_left(request, view),
        resume=_joining.resume_link(request, view),
        status=status,
    )
    if project.previews:  # here alone, and only where the project wants it
        shown.headers["Content-Security-Policy"] = f"{POLICY}; frame-src http: https:"
    return shown


def _show(
    request: Request, template: str, project: ProjectView, view: JudgeView | None, **context: Any
) -> Response:
    here = f"{root(request)}/j/{quote(project.slug)}"
    return state_of(request).pages.show(
        request, template, project=project, view=view, here=here, **context
    )
