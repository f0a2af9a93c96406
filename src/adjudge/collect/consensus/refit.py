"""The consensus of a project by any model, refitted in the background, never in a request.

The server asks ``find_due`` now and then, and runs this module as a process of its own for each
fit: models are heavy to import, and a fit that fails or is stopped takes nothing with it.
What a fit found is kept with the settings of the server, so that every process can show it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from adjudge.collect.consensus.reports import KeptReport, make_ranking, make_report
from adjudge.errors import AdjudgeError, UnknownName

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.gold import Suggestion
    from adjudge.collect.values.requesting import FinalLabel, ProjectHead, ProjectSummary
    from adjudge.data.consensus import Consensus

# The registry itself would bring every model and its compiler into the server's memory.
MODEL_NAMES = (
    "item-types",
    "majority-vote",
    "vote",
    "dawid-skene",
    "single-confusion",
    "hybrid-confusion",
    "hierarchical-relevance",
    "hierarchical-confusion",
    "pmf",
)
DEFAULT = "item-types"  # that of adjudge.models.registry, likewise
_PAGE = 200  # items that are kept, and shown, together
ENVIRONMENT = "ADJUDGE_REFIT"
_LEAST = 25  # new judgments before a model is fitted again
_SHARE = 0.1  # and of those it was fitted to
_JUDGES = (
    *("judge", "judgments", "accuracy", "accuracy_low", "accuracy_high"),
    *("bits", "advice", "why"),
)
_SURE = 100  # items of each label that are kept as possible gold


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFit:
    """One fit of one model: how far it is, and how much there is to show."""

    model: str
    state: str  # wanted, running, ready or failed
    judgments: int = 0  # stored when it was fitted
    seconds: float | None = None
    made: str = ""
    problem: str = ""
    items: int = 0
    begun: float = 0.0
    question: str = ""  # a further question; empty for the first

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
    services.projects.check_role(slug, "reviewer")
    if model not in MODEL_NAMES:
        raise UnknownName("model", model, MODEL_NAMES)
    _check_question(services, slug, question)
    name = _setting("fits-asked", services.projects.get_head(slug))
    asked = services.settings.get(name) or {}
    services.settings.keep(name, {**asked, _key(model, question): time.time()})


def _check_question(services: RequesterServices, slug: str, question: str) -> None:
    """Raise unless a project has such a question, with labels; the empty name is the first."""
    known = [one.name for one in services.projects.get_questions(slug) if one.fitted]
    if question and question not in known:
        raise UnknownName("question", question, known)


def ask_again(services: RequesterServices, slug: str) -> None:
    """Ask for the fits that are shown once more, since what they rest on has changed."""
    for fit in list_fits(services, slug):
        if fit.made:
            ask(services, slug, fit.model)


def list_fits(services: RequesterServices, slug: str, *, question: str = "") -> list[ModelFit]:
    """Every fit of a project to one question, also those that are only asked for."""
    project = services.projects.get_head(slug)
    done, asked = _known(services, project), _asked(services, project)
    found = []
    for model in MODEL_NAMES:
        key = _key(model, question)
        fit = done.get(key)
        if fit is None and key in asked:
            fit = ModelFit(model=model, state="wanted", question=question)
        if fit is not None:
            found.append(fit)
    return found


def read_labels(
    services: RequesterServices, slug: str, model: str, page: int, *, question: str = ""
) -> list[dict[str, Any]]:
    """One page of the items of a fit, the least sure first; a final label is what was decided."""
    key, project = _key(model, question), services.projects.get_head(slug)
    name = _setting("fit-labels", project, key, page)
    rows: list[dict[str, Any]] = services.settings.get(name) or []
    final = {} if question else services.items.get_final(slug)
    return [_decided(row, final[row["item"]]) if row["item"] in final else row for row in rows]


def _decided(row: dict[str, Any], final: FinalLabel) -> dict[str, Any]:
    """A row of labels as somebody decided it."""
    shares = {name: float(name == f"p_{final.label}") for name in row if name.startswith("p_")}
    return {**row, **shares, "label": final.label, "probability": 1.0, "entropy": 0.0}


def read_table(services: RequesterServices, slug: str, model: str, *, question: str = "") -> Any:
    """All items of a fit as an Arrow table of labels, for exports; None where there is none."""
    import pyarrow as pa

    project = services.projects.get_head(slug)
    fit = _known(services, project).get(_key(model, question))
    if fit is None or fit.state != "ready":
        return None
    rows: list[dict[str, Any]] = []
    for page in range(fit.pages):
        rows += read_labels(services, slug, model, page, question=question)
    there = {row["item"] for row in rows}
    finals = {} if question else services.items.get_final(slug)
    for item, final in finals.items():
        if rows and item not in there:  # decided by somebody, and judged by nobody
            blank = dict.fromkeys(rows[0])
            words = {"item": item, "topic": final.topic, "document": final.document}
            words = {name: text for name, text in words.items() if name in blank}
            rows.append(_decided({**blank, **words, "judgments": 0}, final))
    return pa.Table.from_pylist(rows).sort_by([("item", "ascending")]) if rows else None


def read_judges(
    services: RequesterServices, slug: str, model: str, *, question: str = ""
) -> list[dict[str, Any]]:
    """The judges by a fit, those of most bits a judgment first."""
    name = _setting("fit-judges", services.projects.get_head(slug), _key(model, question))
    rows: list[dict[str, Any]] = services.settings.get(name) or []
    return rows


def find_sure(services: RequesterServices, slug: str) -> tuple[ModelFit | None, list[Suggestion]]:
    """The fit that gold is suggested from, and the items it was sure enough of, label by label."""
    from adjudge.collect.values.gold import Suggestion

    ready = {fit.model: fit for fit in list_fits(services, slug) if fit.made}
    fit = ready.get(DEFAULT) or next(iter(ready.values()), None)
    if fit is None:
        return None, []
    name = _setting("fit-sure", services.projects.get_head(slug), fit.model)
    return fit, [Suggestion(**row) for row in services.settings.get(name) or []]


def find_due(services: RequesterServices) -> list[tuple[str, str]]:
    """The fits to make now, as (project, model): asked for, or with enough new judgments.

    A fit to a further question is ``model@question``.
    """
    found = []
    for project in services.projects.get_all():
        if not project.judgments:
            continue
        done, asked = _known(services, project), _asked(services, project)
        further = [q.name for q in services.projects.get_questions(project.slug) if q.fitted]
        always = {_key(DEFAULT, question) for question in ("", *further)}
        for model in sorted({*done, *asked, *always}):
            fit = done.get(model)
            grown = project.judgments - (fit.judgments if fit else 0)
            enough = max(_LEAST, _SHARE * (fit.judgments if fit else 0))
            left = fit is not None and fit.state == "running"  # its process has gone
            if left or asked.get(model, 0.0) > (fit.begun if fit else 0.0) or grown >= enough:
                found.append((project.slug, model))
    return found


def _fit_one(
    services: RequesterServices, slug: str, model: str, *, with_report: bool = False
) -> ModelFit:
    """Fit one model to a project's trusted judgments, and keep what it found.

    ``model@question`` fits the answers to a further question.
    ``with_report``: then make its report, which takes longer than the fit of a small project.
    """
    project = services.projects.get(slug)
    began, consensus = time.time(), None
    key, (model, _, question) = model, model.partition("@")
    running = ModelFit(model=model, state="running", judgments=project.judgments, begun=began,
                       question=question)  # fmt: skip
    before = _known(services, project).get(key)
    if before is None:
        _keep(services, project, running)
    try:
        items, consensus = _fitted(services, project, model, question)
    except AdjudgeError as fault:
        fit = replace(running, state="failed", problem=str(fault))
    else:
        made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        fit = replace(running, state="ready", items=items, seconds=time.time() - began, made=made)
    _keep(services, project, fit)
    if model == DEFAULT and consensus is not None:
        make_ranking(services, slug, name_of(project), project.name, fit.made)
    if with_report and consensus is not None:
        report = make_report(services, project, consensus, fit.made, question)
        services.settings.keep(_setting("fit-report", project, key), report)
    return fit


def note_failure(services: RequesterServices, slug: str, model: str, code: int) -> None:
    """Note that the process of a fit ended without a word, so that it is not tried for ever."""
    project = services.projects.get_head(slug)
    fit = _known(services, project).get(model)
    if fit is not None and fit.state == "running":
        problem = f"its process ended with code {code}"
        _keep(services, project, replace(fit, state="failed", problem=problem))


def _fitted(
    services: RequesterServices, project: ProjectSummary, model: str, question: str = ""
) -> tuple[int, Consensus | None]:
    """Fit, and keep labels by pages, judges and possible gold; how many items, and the fit."""
    from adjudge.collect.consensus._learning import keep_hidden_gold, learn
    from adjudge.collect.services.gold import sure_items
    from adjudge.models.registry import model as build_model

    key = _key(model, question)
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
        name = _setting("fit-labels", project, key, page // _PAGE)
        services.settings.keep(name, rows[page : page + _PAGE])
    services.settings.keep(
        _setting("fit-judges", project, key), _advised(keep_hidden_gold(consensus, own))
    )
    if question:
        return len(rows), consensus
    known = set() if gold is None else set(gold.items.to_pylist())
    found = sure_items(consensus, known=sorted(known), each=_SURE)
    services.settings.keep(_setting("fit-sure", project, model), [asdict(one) for one in found])
    if model == DEFAULT:
        learn(services, project.slug, consensus)
        kept = [(row["item"], row["label"], row["probability"]) for row in rows]
        services.items.keep_consensus(project.slug, kept)
    return len(rows), consensus


def _advised(consensus: Consensus) -> list[dict[str, Any]]:
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
    name = _setting("fit-report", services.projects.get_head(slug), _key(model, question))
    kept = services.settings.get(name)
    return None if kept is None else KeptReport.from_json(kept)


def name_of(project: ProjectHead) -> str:
    """A project by its name and its birth: one that is made again has nothing of the old.

    Short, since the names of settings are.
    """
    born = f"{project.slug}@{project.made.timestamp():.0f}"
    return hashlib.blake2s(born.encode(), digest_size=9).hexdigest()


def _setting(kind: str, project: ProjectHead, *more: object) -> str:
    """The name of a setting with something of a project's fits."""
    return ":".join(map(str, (kind, name_of(project), *more)))


def _asked(services: RequesterServices, project: ProjectHead) -> dict[str, float]:
    """When each fit was asked for."""
    asked: dict[str, float] = services.settings.get(_setting("fits-asked", project)) or {}
    return asked


def _known(services: RequesterServices, project: ProjectHead) -> dict[str, ModelFit]:
    held = services.settings.get(_setting("fits", project)) or {}
    return {model: ModelFit(**fit) for model, fit in held.items()}


def _keep(services: RequesterServices, project: ProjectHead, fit: ModelFit) -> None:
    held = services.settings.get(_setting("fits", project)) or {}
    services.settings.keep(_setting("fits", project), {**held, fit.key: asdict(fit)})


def run_wanted(environment: str, work: Callable[..., bool]) -> None:
    """Do what the environment names, and end the process: with code 3 where it did not go well.

    ``work`` is given the services and what else is named.
    """
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database

    if hasattr(os, "nice"):
        os.nice(10)  # judges come first
    wanted = json.loads(os.environ[environment])
    database = Database(wanted.pop("database"))
    try:
        well = work(RequesterServices(database), **wanted)
    finally:
        database.close()
    sys.exit(0 if well else 3)


def _main(services: RequesterServices, project: str, model: str) -> bool:
    """Make the fit that the environment names."""
    return _fit_one(services, project, model, with_report=True).state == "ready"


if __name__ == "__main__":
    run_wanted(ENVIRONMENT, _main)
