"""The requester's pages of the consensus, and of the ranking of a side-by-side project."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from adjudge.collect.consensus import refit
from adjudge.collect.consensus.reports import read_ranking, read_ranking_report
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.web._forms import SentForm
from adjudge.collect.web._login import LoggedIn, Who
from adjudge.collect.web._pages import go, root
from adjudge.collect.web._state import state_of
from adjudge.errors import NotFound

router = APIRouter(prefix="/projects/{project}", include_in_schema=False)

_ABOUT = {  # models, to whom their names say nothing
    "item-types": "the default: judges differ in accuracy, and may err together",
    "majority-vote": "every judgment one vote: the baseline",
    "vote": "votes that weigh by accuracy on gold",
    "dawid-skene": "a confusion matrix for each judge",
    "single-confusion": "one confusion matrix for all: few judgments a judge",
    "hybrid-confusion": "a confusion matrix for each, drawn towards all right",
    "hierarchical-relevance": "two labels, full posteriors",
    "hierarchical-confusion": "any labels, full posteriors",
    "pmf": "factors of judges and items: many judges of few items",
}


@router.get("/consensus")
def _consensus(request: Request, project: str, who: Who) -> Response:
    """The consensus by one model, and which models are fitted."""
    question, asked = question_of(who, project)
    known = refit.list_fits(who.services, project, question=question)
    ready = {fit.model: fit for fit in known if fit.made}
    given = request.query_params.get("model", "")
    chosen = given if given in ready else next(iter(ready), refit.DEFAULT)
    number = request.query_params.get("page", "0")
    page = int(number) if number.isdecimal() and len(number) < 9 else 0
    rows, judges, golds, pages, total, report = None, [], {}, 0, 0, None
    if chosen in ready:
        pages, total = ready[chosen].pages, ready[chosen].items
        page = min(page, max(pages - 1, 0))
        rows = refit.read_labels(who.services, project, chosen, page, question=question)
        judges = refit.read_judges(who.services, project, chosen, question=question)
        judges = judges if page == 0 else []
        report = refit.read_report(who.services, project, chosen, question=question)
        if judges:
            everyone = {row.judge: row for row in who.services.judges.get_all(project)}
            judges = [
                everyone[one["judge"]].heed_flags(one) if one["judge"] in everyone else one
                for one in judges
            ]
            if not question:  # the gold is of the first, and counted as judges are told
                golds = {judge: row for judge, row in everyone.items() if row.gold_seen}
    fresh = report is not None and report.made == ready[chosen].made
    titles = who.services.items.get_titles(project, [row["item"] for row in rows or ()])
    return who.show_project(
        "Consensus",
        "requester/consensus.html",
        project,
        models={name: _ABOUT[name] for name in refit.MODEL_NAMES},
        chosen=chosen,
        fits=known,
        labels=rows,
        titles=titles,
        judges=judges,
        golds=golds,
        sure=report.sure if fresh and report is not None else (),
        more_gold=report.more_gold if fresh and report is not None else None,
        page=page,
        pages=pages,
        total=total,
        question=question,
        questions=asked,
    )


def question_of(who: LoggedIn, project: str) -> tuple[str, list[FurtherQuestion]]:
    """The question that an address asks for, empty for the first, and those that can be fitted."""
    asked = [one for one in who.services.projects.get_questions(project) if one.fitted]
    given = who.request.query_params.get("question", "")
    if given not in ("", *(one.name for one in asked)):
        raise NotFound("question", given)
    return given, asked


@router.get("/consensus/fits")
def _fits(request: Request, project: str, who: Who) -> Response:
    """The part of the page that is asked for again and again."""
    question, _ = question_of(who, project)
    known = refit.list_fits(who.services, project, question=question)
    here = f"{root(request)}/projects/{project}"
    return state_of(request).pages.show(
        request, "requester/fits.html", fits=known, here=here, question=question
    )


@router.get("/consensus/report")
def _report(request: Request, project: str, who: Who) -> Response:
    """The whole report of a fit."""
    model = request.query_params.get("model", refit.DEFAULT)
    question, _ = question_of(who, project)
    report = refit.read_report(who.services, project, model, question=question)
    if report is None or report.problem:
        return who.show_project(
            "Consensus", "requester/no_report.html", project, model=model, report=report
        )
    return HTMLResponse(report.html, headers={"Content-Security-Policy": report.policy})


@router.post("/consensus")
def _ask(request: Request, project: str, form: SentForm, who: Who) -> Response:
    """Ask for a fit of a model."""
    model = form.need("model", most=100)
    question = form.text("question", most=100)
    refit.ask(who.services, project, model, question=question)
    about = f"&question={question}" if question else ""
    return go(request, f"/projects/{project}/consensus?model={model}{about}&done=asked")


@router.get("/ranking")
def _ranking(project: str, who: Who) -> Response:
    """The ranking by the last fit."""
    name = refit.name_of(who.services.projects.get_head(project))
    ranking = read_ranking(who.services, name)
    ends = [row[end] for row in (ranking.rows if ranking else ()) for end in ("low", "high")]
    known = [end for end in ends if end is not None]
    return who.show_project(
        "Ranking",
        "requester/ranking.html",
        project,
        ranking=ranking,
        least=min(known, default=0.0),
        most=max(known, default=1.0),
    )


@router.get("/ranking/report")
def _ranking_report(request: Request, project: str, who: Who) -> Response:
    """The whole report of the ranking."""
    name = refit.name_of(who.services.projects.get_head(project))
    report = read_ranking_report(who.services, name)
    if report is None:  # there is none yet, and the page says why
        return go(request, f"/projects/{project}/ranking")
    return HTMLResponse(report.html, headers={"Content-Security-Policy": report.policy})
