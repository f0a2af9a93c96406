"""The consensus of a project by any model, refitted in the background, never in a request.

The server asks ``find_due`` now and then, and runs this module as a process of its own for each
fit: models are heavy to import, and a fit that fails or is stopped takes nothing with it.
What a fit found is stored, so that every process can show it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from adjudge.collect.consensus.reports import KeptAudit, KeptReport, make_ranking, make_report
from adjudge.collect.store.database import StoredRow, find_row, from_row, put_row
from adjudge.collect.store.schema import fit_labels, fits, projects
from adjudge.collect.values.requesting import MemberRole
from adjudge.errors import AdjudgeError, UnknownName
from adjudge.models.registry import DEFAULT, MODELS
from adjudge.models.registry import model as build_model

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.gold import Suggestion
    from adjudge.collect.values.requesting import FinalLabel, ProjectSummary
    from adjudge.data.consensus import Consensus

_PAGE = 200  # items that are kept, and shown, together
ENVIRONMENT = "ADJUDGE_REFIT"
_LEAST = 25  # new judgments before a model is fitted again
_SHARE = 0.1  # and of those it was fitted to
_JUDGES = (
    *("judge", "judgments", "accuracy", "accuracy_low", "accuracy_high"),
    *("bits", "advice", "why"),
)
_ABOUT = [one for one in fits.c if one.name not in ("sure", "report")]  # which are large
_OUTDATED = select(fits.c.model).where(  # on every page with labels: built once
    *(fits.c.project == bindparam("project"), fits.c.question == bindparam("question")),
    *(fits.c.asked > fits.c.begun, fits.c.state != "", fits.c.made != ""),
)
_SURE = 100  # items of each label that are kept as possible gold


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFit:
    """One fit of one model: how far it is, and how much there is to show."""

    model: str
    state: str  # `wanted`, running, ready or failed
    judgments: int = 0  # answers to work that were stored when it was fitted
    used: int = 0  # trusted judgments that it was fitted to, answers to gold among them
    seconds: float | None = None
    made: str = ""
    problem: str = ""
    items: int = 0
    begun: float = 0.0
    question: str = ""  # a further question; empty for the first
    outdated: bool = False  # asked for again: judges, items or gold were decided on since

    @property
    def key(self) -> str:
        """Its name among the fits of a project."""
        return _key(self.model, self.question)

    @property
    def pages(self) -> int:
        """How many pages of items it has."""
        return -(-self.items // _PAGE)


def _key(model: str, question: str) -> str:
    return f"{model}@{question}" if question else model


def ask(services: RequesterServices, slug: str, model: str, *, question: str = "") -> None:
    """Ask for a fit of a model; it is made as soon as the background comes to it.

    ``question``: a further question that has labels; empty for the first.

    Refused: ``role`` for a viewer.
    """
    project = _project(services, slug, least="reviewer")
    if model not in MODELS:
        raise UnknownName("model", model, MODELS)
    _check_question(services, slug, question)
    _put(services, project, model, question, asked=time.time())


def _check_question(services: RequesterServices, slug: str, question: str) -> None:
    """Raise unless a project has such a question, with labels; the empty name is the first."""
    known = [one.name for one in services.projects.get_questions(slug) if one.fitted]
    if question and question not in known:
        raise UnknownName("question", question, known)


def list_fits(services: RequesterServices, slug: str, *, question: str = "") -> list[ModelFit]:
    """Every fit of a project to one question, also those that are only asked for."""
    with services.caller.reading(slug) as request:
        theirs = (fits.c.project == request.project.id, fits.c.question == question)
        rows = request.on.execute(select(*_ABOUT).where(*theirs))
        known = {row.model: _to_fit(row) for row in rows}
    return [known[model] for model in MODELS if model in known]


def _to_fit(row: StoredRow) -> ModelFit:
    outdated = bool(row.state) and (row.asked or 0.0) > row.begun
    used = sum(judge["judgments"] for judge in row.judges or ())
    return from_row(ModelFit, row, state=row.state or "wanted", outdated=outdated, used=used)


def read_labels(
    services: RequesterServices, slug: str, model: str, page: int, *, question: str = ""
) -> list[dict[str, Any]]:
    """One page of the items of a fit, the least sure first; a final label is what was decided."""
    with services.caller.reading(slug) as request:
        kept = find_row(request.on, fit_labels, request.project.id, model, question, page)
    rows: list[dict[str, Any]] = kept.rows if kept else []
    final = {} if question else services.items.get_final(slug)
    return [
        _apply_decision(row, final[row["item"]]) if row["item"] in final else row for row in rows
    ]


def _apply_decision(row: dict[str, Any], final: FinalLabel) -> dict[str, Any]:
    """A row of labels as somebody decided it."""
    shares = {name: float(name == f"p_{final.label}") for name in row if name.startswith("p_")}
    return {**row, **shares, "label": final.label, "probability": 1.0, "entropy": 0.0}


def read_table(services: RequesterServices, slug: str, model: str, *, question: str = "") -> Any:
    """All items of a fit as an Arrow table of labels, for exports; None where there is none."""
    import pyarrow as pa

    stored = _find(services, slug, model, question)
    if stored is None or stored.state != "ready":
        return None
    rows: list[dict[str, Any]] = []
    for page in range(_to_fit(stored).pages):
        rows += read_labels(services, slug, model, page, question=question)
    there = {row["item"] for row in rows}
    finals = {} if question else services.items.get_final(slug)
    for item, final in finals.items():
        if rows and item not in there:  # decided by somebody, and judged by nobody
            blank = dict.fromkeys(rows[0])
            words = {"item": item, "topic": final.topic, "document": final.document}
            words = {name: text for name, text in words.items() if name in blank}
            rows.append(_apply_decision({**blank, **words, "judgments": 0}, final))
    return pa.Table.from_pylist(rows).sort_by([("item", "ascending")]) if rows else None


def read_judges(
    services: RequesterServices, slug: str, model: str, *, question: str = ""
) -> list[dict[str, Any]]:
    """The judges by a fit, the most informative first."""
    with services.caller.reading(slug) as request:
        chosen = (fits.c.model == model, fits.c.question == question)
        statement = select(fits.c.judges).where(fits.c.project == request.project.id, *chosen)
        return list(request.on.execute(statement).scalar() or ())


def find_sure(services: RequesterServices, slug: str) -> tuple[ModelFit | None, list[Suggestion]]:
    """The fit that gold is suggested from, and the items it was sure enough of, label by label."""
    from adjudge.collect.values.gold import Suggestion

    ready = {fit.model: fit for fit in list_fits(services, slug) if fit.made}
    fit = ready.get(DEFAULT) or next(iter(ready.values()), None)
    if fit is None:
        return None, []
    found = _find(services, slug, fit.model)
    return fit, [Suggestion(**row) for row in (found and found.sure) or ()]


def find_due(services: RequesterServices) -> list[tuple[str, str]]:
    """The fits to make now, as (project, model): asked for, or with enough new judgments.

    A fit to a further question is ``model@question``.
    """
    statement = select(*_ABOUT, projects.c.slug).join(projects, projects.c.id == fits.c.project)
    with services.caller.database.read() as on:
        known = {(row.slug, row.model, row.question): row for row in on.execute(statement)}
    found = []
    for project in services.projects.get_all():
        if not project.judgments:
            continue
        further = [q.name for q in services.projects.get_questions(project.slug) if q.fitted]
        theirs = {key[1:] for key in known if key[0] == project.slug}
        for model, question in sorted(theirs | {(DEFAULT, name) for name in ("", *further)}):
            fit = known.get((project.slug, model, question))
            fitted = fit.judgments if fit else 0
            grown = project.judgments - fitted >= max(_LEAST, _SHARE * fitted)
            left = fit is not None and fit.state == "running"  # its process has gone
            if left or grown or (fit is not None and (fit.asked or 0.0) > fit.begun):
                found.append((project.slug, _key(model, question)))
    return found


def _fit_one(
    services: RequesterServices, slug: str, model: str, *, with_report: bool = False
) -> ModelFit:
    """Fit one model to a project's trusted judgments, and keep what it found.

    ``model@question`` fits the answers to a further question.
    ``with_report``: then make its report, which takes longer than the fit of a small project.
    """
    from adjudge.collect.consensus import systems

    project = services.projects.get(slug)
    began, consensus = time.time(), None
    model, _, question = model.partition("@")
    at = _project(services, slug)
    running = ModelFit(model=model, state="running", judgments=project.judgments, begun=began,
                       question=question)  # fmt: skip
    before = _find(services, slug, model, question)
    if before is None or before.state is None:
        _put(services, at, **_columns(running))
    try:
        items, consensus = _fitted(services, project, at, model, question)
    except AdjudgeError as fault:
        fit = replace(running, state="failed", problem=str(fault))
    else:
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        fit = replace(running, state="ready", items=items, seconds=time.time() - began, made=made)
    _put(services, at, **_columns(fit))
    if model == DEFAULT and consensus is not None:
        make_ranking(services, slug, at, project.name, fit.made)
        if not question:
            systems.ask_again(services, slug)
    if with_report and consensus is not None:
        report = make_report(services, project, consensus, fit.made, question)
        _put(services, at, model, question, report=report)
    return fit


def _columns(fit: ModelFit) -> dict[str, Any]:
    """What is stored of a fit; the rest follows from it."""
    derived = ("outdated", "used")
    return {name: value for name, value in asdict(fit).items() if name not in derived}


def is_outdated(
    services: RequesterServices, slug: str, model: str = "", *, question: str = ""
) -> bool:
    """Whether a fit lacks a later decision on judges, items or gold; an empty model means any."""
    with services.caller.reading(slug) as request:
        named = {"project": request.project.id, "question": question}
        late = request.on.execute(_OUTDATED, named).scalars().all()
    return any(one == model or (not model and one in MODELS) for one in late)


def note_failure(services: RequesterServices, slug: str, model: str, code: int) -> None:
    """Note that the process of a fit ended without a word, so that it is not tried for ever."""
    name, _, question = model.partition("@")
    fit = _find(services, slug, name, question)
    if fit is not None and fit.state == "running":
        problem = f"its process ended with code {code}"
        at = _project(services, slug)
        _put(services, at, name, question, state="failed", problem=problem)


def _fitted(
    services: RequesterServices, project: ProjectSummary, at: int, model: str, question: str
) -> tuple[int, Consensus | None]:
    """Fit, and keep labels by pages, judges and possible gold; how many items, and the fit."""
    from adjudge.collect.consensus._learning import keep_hidden_gold, learn
    from adjudge.collect.services.gold import sure_items

    judgments = services.exports.get_judgments(project.slug, golds=True, question=question)
    if judgments is None:
        return 0, None
    own, gold = None, None
    if not question:  # the gold is of the first
        own = services.exports.get_gold(project.slug)
        gold = services.exports.get_gold(project.slug, adjudicated=True)
    consensus = build_model(model).fit(judgments, gold)
    golden = set() if own is None else set(own.items.to_pylist())
    table = consensus.labels.sort_by([("entropy", "descending"), ("item", "ascending")])
    rows = [row for row in table.to_pylist() if row["item"] not in golden]
    for page in range(0, max(len(rows), 1), _PAGE):
        key = {"project": at, "model": model, "question": question, "page": page // _PAGE}
        part = rows[page : page + _PAGE]
        services.caller.database.write(partial(put_row, table=fit_labels, key=key, rows=part))
    _put(services, at, model, question, judges=_advise_judges(keep_hidden_gold(consensus, own)))
    if question:
        return len(rows), consensus
    known = set() if gold is None else set(gold.items.to_pylist())
    found = sure_items(consensus, known=sorted(known), each=_SURE)
    _put(services, at, model, sure=[asdict(one) for one in found])
    if model == DEFAULT:
        learn(services, project.slug, consensus)
        kept = [(row["item"], row["label"], row["probability"]) for row in rows]
        services.items.keep_consensus(project.slug, kept)
    return len(rows), consensus


def _advise_judges(consensus: Consensus) -> list[dict[str, Any]]:
    """The judges of a fit: how often right in the consensus, and whom to keep, train or drop."""
    from adjudge.evaluation.diagnosis.diagnose import diagnose

    table = diagnose(consensus).judges
    names = [name for name in _JUDGES if name in table.column_names]
    about: list[dict[str, Any]] = table.select(names).to_pylist()
    return sorted(about, key=lambda row: -(row["bits"] or 0.0))


def read_report(
    services: RequesterServices, slug: str, model: str, *, question: str = ""
) -> KeptReport | None:
    """The report of the last fit of a model, None where there is none yet."""
    row = _find(services, slug, model, question)
    return None if row is None or row.report is None else KeptReport.from_json(row.report)


def find_audit(services: RequesterServices, slug: str) -> tuple[str, KeptAudit | None]:
    """Return the time of the first fitted model's report, and its audit of LLM judges."""
    ready = [fit.model for fit in list_fits(services, slug) if fit.made]
    report = read_report(services, slug, ready[0]) if ready else None
    return (report.made, report.audit) if report else ("", None)


def _project(services: RequesterServices, slug: str, *, least: MemberRole = "viewer") -> int:
    """The id of a project inside, for who has at least this role in it."""
    with services.caller.database.read() as on:
        return services.caller.find(on, slug, least).id


def _find(
    services: RequesterServices, slug: str, model: str, question: str = ""
) -> StoredRow | None:
    """What is stored of a fit; None where it was never asked for nor made."""
    with services.caller.reading(slug) as request:
        return find_row(request.on, fits, request.project.id, model, question)


def _put(
    services: RequesterServices, project: int, model: str, question: str = "", **values: Any
) -> None:
    """Set columns of a fit."""
    key = {"project": project, "model": model, "question": question}
    services.caller.database.write(partial(put_row, table=fits, key=key, **values))


def run_as_asked(environment: str, work: Callable[..., bool]) -> None:
    """Do what the environment names, and end the process: with code 3 where it did not go well.

    ``work`` is given the services and what else is named.
    """
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    if hasattr(os, "nice"):
        os.nice(10)  # judges come first
    settings = json.loads(os.environ[environment])
    database = Database(settings.pop("database"))
    try:
        well = work(RequesterServices(database), **settings)
    finally:
        database.close()
    sys.exit(0 if well else 3)


def _main(services: RequesterServices, project: str, model: str) -> bool:
    """Make the fit that the environment names."""
    return _fit_one(services, project, model, with_report=True).state == "ready"


if __name__ == "__main__":
    run_as_asked(ENVIRONMENT, _main)
