"""The requester's page of a ranking: what is preferred to what in a side-by-side project."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from adjudge.collect.consensus import refit
from adjudge.collect.consensus.ranking import read_ranking, read_ranking_report
from adjudge.collect.web._login import require_login
from adjudge.collect.web._pages import go

router = APIRouter(prefix="/projects/{project}/ranking", include_in_schema=False)


@router.get("")
def _ranking(request: Request, project: str) -> Response:
    """The ranking by the last fit."""
    who = require_login(request)
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


@router.get("/report")
def _report(request: Request, project: str) -> Response:
    """The whole report of the ranking."""
    who = require_login(request)
    name = refit.name_of(who.services.projects.get_head(project))
    report = read_ranking_report(who.services, name)
    if report is None:  # there is none yet, and the page says why
        return go(request, f"/projects/{project}/ranking")
    return HTMLResponse(report.html, headers={"Content-Security-Policy": report.policy})
