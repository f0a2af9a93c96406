"""The requester's pages of results: the consensus, the ranking, and exports."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from typing import IO

from fastapi import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse

from adjudge.collect.consensus import refit, systems
from adjudge.collect.consensus.reports import KeptReport, read_ranking, read_ranking_report
from adjudge.collect.values.questions import FurtherQuestion
from adjudge.collect.web._forms import SentForm, asked_number, read_grade
from adjudge.collect.web._login import LoggedIn, Who, page_router
from adjudge.data.scale import as_number
from adjudge.errors import BadSetting, NotFound
from adjudge.models.registry import DEFAULT, TITLES

router = page_router("/projects/{project}")
_CHUNK = 65_536
_OUTDATED = (
    '<p role="status"><strong>Out of date:</strong> judges, items or gold were decided on since. '
    "A new report is being made.</p>"
)
_FIRST = {  # what most people take out
    "comparisons": ("Comparisons as CSV", "For adjudge rank-pairs, without the answers to gold."),
    "labels-consensus": ("Labels as CSV", "Label, probability and votes per item."),
    "labels-qrels": ("qrels", "For trec_eval, ir-measures and Pyserini."),
    "labels-quepid-case": ("Quepid", "The ratings of a case."),
    "labels-consensus-jsonl": ("JSON Lines", "One label per line, for scripts."),
}


@router.get("/results")
def _consensus(request: Request, project: str, who: Who) -> Response:
    """The consensus by one model, and which models are fitted."""
    question, asked = question_of(who, project)
    known = refit.list_fits(who.services, project, question=question)
    ready = {fit.model: fit for fit in known if fit.made}
    given = request.query_params.get("model", "")
    chosen = given if given in ready else next(iter(ready), DEFAULT)
    page = asked_number(request, "page") or 0
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
            if not question:  # the gold belongs to the first question
                golds = {judge: row for judge, row in everyone.items() if row.gold_seen}
    fresh = report is not None and report.made == ready[chosen].made
    titles = who.services.items.get_titles(project, [row["item"] for row in rows or ()])
    return who.show_project(
        "Consensus",
        "consensus",
        project,
        models=TITLES,
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


@router.get("/results/fits")
def _fits(project: str, who: Who) -> Response:
    """The part of the page that is asked for again and again."""
    question, _ = question_of(who, project)
    known = refit.list_fits(who.services, project, question=question)
    return who.show_part("fits", project, fits=known, question=question)


@router.get("/results/report")
def _report(request: Request, project: str, who: Who) -> Response:
    """The report of a fit."""
    question, _ = question_of(who, project)
    ready = [fit.model for fit in refit.list_fits(who.services, project, question=question)]
    model = request.query_params.get("model", next(iter(ready), DEFAULT))
    report = refit.read_report(who.services, project, model, question=question)
    if report is None or report.problem:
        return who.show_project("Report", "no_report", project, model=model, report=report)
    outdated = refit.is_outdated(who.services, project, model, question=question)
    return _show_report(report, outdated=outdated)


def _show_report(report: KeptReport, *, outdated: bool) -> Response:
    """The page of a report, which says so where decisions were made since its fit."""
    html = report.html
    if outdated:
        html = re.sub(r"<body\b[^>]*>", lambda found: found[0] + _OUTDATED, html, count=1)
    return HTMLResponse(html, headers={"Content-Security-Policy": report.policy})


@router.post("/results")
def _ask(project: str, form: SentForm, who: Who) -> str:
    """Ask for a fit of a model."""
    model = form.need("model", most=100)
    question = form.text("question", most=100)
    refit.ask(who.services, project, model, question=question)
    about = f"&question={question}" if question else ""
    return f"/projects/{project}/results?model={model}{about}&done=asked"


@router.get("/results/ranking")
def _ranking(project: str, who: Who) -> Response:
    """The ranking by the last fit."""
    ranking = read_ranking(who.services, project)
    ends = [row[end] for row in (ranking.rows if ranking else ()) for end in ("low", "high")]
    known = [end for end in ends if end is not None]
    return who.show_project(
        "Ranking",
        "ranking",
        project,
        ranking=ranking,
        least=min(known, default=0.0),
        most=max(known, default=1.0),
    )


@router.get("/results/ranking/report")
def _ranking_report(project: str, who: Who) -> Response | str:
    """The report of the ranking."""
    report = read_ranking_report(who.services, project)
    if report is None:  # there is none yet, and the page says why
        return f"/projects/{project}/results/ranking"
    return _show_report(report, outdated=refit.is_outdated(who.services, project, DEFAULT))


@router.get("/results/systems")
def _systems(project: str, who: Who) -> Response:
    """Search systems, compared by the labels."""
    compared = systems.read_compared(who.services, project)
    rows = compared.systems if compared else ()
    ends = [row[end] for row in rows for end in ("low", "high", "value") if row[end] is not None]
    return who.show_project(
        "Systems",
        "systems",
        project,
        asked=systems.is_asked(who.services, project),
        compared=compared,
        measures=systems.MEASURES,
        least=min(ends, default=0.0),
        most=max(ends, default=1.0),
    )


@router.post("/results/systems/upload")
def _compare_systems(project: str, form: SentForm, who: Who) -> Response | str:
    """Ask for a comparison of the runs that are sent."""
    if len(form.files) < 2:
        problem = f"Choose two runs at least, one file per system; {len(form.files)} came."
        return _systems(project, who.showing(422, problem=problem))
    systems.ask(who.services, project, form.files)
    return f"/projects/{project}/results/systems"


# -- exports


@router.get("/results/export")
def _exports(who: Who, project: str) -> Response:
    """What can be taken out, in every format."""
    question, asked = question_of(who, project)
    ready = [fit for fit in refit.list_fits(who.services, project, question=question) if fit.made]
    given = who.request.query_params.get("model", "")
    model = given if given in {fit.model for fit in ready} else ""
    model = model or next((fit.model for fit in ready), DEFAULT)
    labels = refit.read_table(who.services, project, model, question=question)
    scale = who.services.projects.get_scale(project)
    places: list[float | None] = [*map(float, range(len(scale.labels)))]
    if not scale.ordinal:
        places = [as_number(label) for label in scale.labels]
    grades = list(scale.grades) or places
    found = who.services.exports.get_offers(project, labels, question=question)
    offers = {offer.name: offer for offer in found.offers}
    return who.show_project(
        "Export",
        "export",
        project,
        found=found,
        first=[(offers[name], *words) for name, words in _FIRST.items() if name in offers],
        more=[offer for offer in found.offers if offer.name not in _FIRST],
        fits=ready,
        model=model,
        grades=list(zip(scale.labels, grades, strict=True)),
        question=question,
        questions=asked,
    )


@router.post("/results/export/grades")
def _set_grades(project: str, form: SentForm, who: Who) -> Response | str:
    """Give each label its grade."""
    try:
        grades = {row["label"]: read_grade(**row) for row in form.rows("label", "grade")}
        who.services.projects.set_grades(project, grades)
    except BadSetting as fault:
        return _exports(who.again(fault), project)
    return f"/projects/{project}/results/export?done=grades"


@router.get("/results/export/{format}")
def _export(who: Who, project: str, format: str) -> Response:
    """One file."""
    return send_export(who, project, format)


def send_export(who: LoggedIn, project: str, format: str) -> Response:
    """An export as a download, complete before the first byte is sent."""
    from adjudge.collect.services import exports

    entry = next((entry for entry in exports.list_exports() if entry.name == format), None)
    if entry is None:
        raise NotFound("export", format)
    question, _ = question_of(who, project)
    labels, outdated = None, False
    if entry.kind == "labels":
        model = who.request.query_params.get("model", DEFAULT)
        labels = refit.read_table(who.services, project, model, question=question)
        outdated = refit.is_outdated(who.services, project, model, question=question)
    file = tempfile.SpooledTemporaryFile(max_size=4_000_000)  # noqa: SIM115 - closed when sent
    try:
        who.services.exports.write(project, format, file, labels=labels, question=question)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    named = f"{project}-{question}" if question else project
    named = f"outdated-{named}" if outdated else named
    return StreamingResponse(
        _chunks(file),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{named}-{format}{entry.extension}"',
            **({"Adjudge-Outdated": "true"} if outdated else {}),
        },
    )


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
