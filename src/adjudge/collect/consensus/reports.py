"""The report of a fit, and the ranking of a side-by-side project with its own report.

Made by the process that fits the consensus, and stored.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter
from sqlalchemy import select

from adjudge.collect.consensus._learning import begin_queue_again, keep_hidden_gold, place_all
from adjudge.collect.store.database import StoredRow, find_row, put_row
from adjudge.collect.store.schema import items, rankings
from adjudge.errors import AdjudgeError
from adjudge.models.registry import DEFAULT_PAIRS, PAIR_MODELS
from adjudge.models.registry import model as build_model

if TYPE_CHECKING:
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.values.requesting import ProjectHead
    from adjudge.data.consensus import Consensus
    from adjudge.data.preferences import Preferences
    from adjudge.evaluation.model_judges.audit import Audit


_POLICY = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]+)"')
_MOST = 1_000  # items and judges that are kept to be shown: the report has all


@dataclass(frozen=True, slots=True)
class KeptAudit:
    """The audit of a project's LLM judges, as the report has it."""

    body: str  # packed
    verdicts: dict[str, str]  # by public id, in the order of the page

    @property
    def html(self) -> str:
        """The part of a page that shows it."""
        return _unpack(self.body)


@dataclass(frozen=True, slots=True)
class KeptReport:
    """A report: when its fit was made, its page and how sure it says the labels are.

    Or why there is none.
    """

    made: str
    body: str = ""  # packed
    problem: str = ""
    sure: tuple[str, ...] = ()  # sentences: accuracy, log loss and calibration on the gold
    more_gold: dict[str, Any] | None = None  # fields of MoreGold: what more gold would show
    audit: KeptAudit | None = None

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> KeptReport:
        """A report from what is kept."""
        return TypeAdapter(cls).validate_python(kept)

    @property
    def html(self) -> str:
        """The HTML page of the report."""
        return _unpack(self.body)

    @property
    def policy(self) -> str:
        """What the page allows itself: its own script and style, and nothing from anywhere.

        In a box of its own, so that nothing in it can act for who is logged in.
        """
        from html import unescape

        found = _POLICY.search(self.html)
        own = unescape(found[1]) if found else "default-src 'none'"
        return f"{own}; frame-ancestors 'none'; sandbox allow-scripts"


def make_report(
    services: RequesterServices,
    project: ProjectHead,
    consensus: Consensus,
    made: str,
    question: str = "",
) -> dict[str, Any]:
    """The report of a fit, packed to be kept; a fault is kept in its place."""
    try:
        page, figures = _page_of(services, project, consensus, made, question)
    except Exception as fault:  # noqa: BLE001 - a fit is worth having without its report
        return {"made": made, "body": "", "problem": f"{type(fault).__name__}: {fault}"}
    return {**_pack_page(page, made), **figures}


@dataclass(frozen=True, slots=True)
class CalledJudges:
    """Judges as the requester calls them, by public id."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, services: RequesterServices, slug: str, ids: list[str]) -> CalledJudges:
        """The names of these judges; where two share a name, their ids follow it."""
        names = services.judges.get_names(slug)
        many = Counter(names.get(one, one) for one in ids)
        called = {one: names.get(one, one) for one in ids}
        return cls({one: name if many[name] == 1 else f"{name} ({one})"
                    for one, name in called.items()})  # fmt: skip

    def within(self, text: str) -> str:
        """A note with names instead of ids, and without the option of a command."""
        text = text.partition(". If they are one source")[0]
        return re.sub(r"[\w-]{8,}(?::\w+)?", lambda found: self.names.get(found[0], found[0]), text)


def _pack_page(page: str, made: str) -> dict[str, Any]:
    """A page of a report as it is kept."""
    return {"made": made, "body": _pack(page), "problem": ""}


def _pack(html: str) -> str:
    return base64.b85encode(zlib.compress(html.encode("utf-8", "replace"), 6)).decode()


def _unpack(body: str) -> str:
    return zlib.decompress(base64.b85decode(body)).decode() if body else ""


def _keep_audit(found: Audit | None, called: CalledJudges) -> dict[str, Any] | None:
    """Read a stored audit; None if there is none."""
    if found is None:
        return None
    from adjudge.report.audit import audit_part

    ids = {name: judge for judge, name in called.names.items()}
    verdicts = {ids[one.judge]: one.verdict for one in found.judges}
    return asdict(KeptAudit(_pack(audit_part(found)), verdicts))


def _page_of(
    services: RequesterServices,
    project: ProjectHead,
    consensus: Consensus,
    made: str,
    question: str,
) -> tuple[str, dict[str, Any]]:
    """The page, how sure it says the labels are, what more gold would show, and the audit."""
    from adjudge.data.names import as_names
    from adjudge.report.page import report_html
    from adjudge.report.results import Provenance, gather
    from adjudge.report.words import certainty

    ids = consensus.judgments.judges.to_pylist()
    called = CalledJudges.of(services, project.slug, ids)
    named = as_names([called.names[one] for one in ids])
    rows = services.judges.get_all(project.slug)
    models = {row.judge for row in rows if row.kind == "model"}
    kind = np.array([one in models for one in ids], dtype=np.int8) if models & set(ids) else None
    consensus = replace(
        consensus,
        judgments=replace(consensus.judgments, judges=named, kind=kind),
        notes=tuple(map(called.within, consensus.notes)),
    )
    # What was adjudicated was disputed: labels scored by it would look worse than they are.
    gold = None if question else services.exports.get_gold(project.slug)
    blind = None
    if gold is not None:
        gold = replace(gold, honeypot=None)  # all of it is hidden: judges would recognise it
        # A fit that was given the gold cannot be scored by it.
        blind = build_model(consensus.model).fit(consensus.judgments, None)
    title = f"{project.name}: {question}" if question else project.name
    about = Provenance(title=title, made=f"{made} UTC")
    flags = {called.names.get(row.judge, ""): row.reasons for row in rows}
    consensus = keep_hidden_gold(consensus, gold)
    results = gather(consensus, gold=gold, blind=blind, flags=flags, provenance=about)
    # Gold is of the first question alone.
    more = None if question or results.more_gold is None else asdict(results.more_gold)
    return report_html(results), {
        "sure": tuple(certainty(results)),
        "more_gold": more,
        "audit": _keep_audit(results.audit, called),
    }


@dataclass(frozen=True, slots=True)
class _KeptRanking:
    """A ranking as a page shows it; with ``problem`` there is none."""

    made: str
    model: str = ""
    comparisons: int = 0
    rows: tuple[dict[str, Any], ...] = ()  # item, score, low, high, rank, ...
    judges: tuple[dict[str, Any], ...] = ()
    position: tuple[float, float, float] | None = None  # log odds of the left side, low, high
    notes: tuple[str, ...] = ()
    problem: str = ""


_RANKING = TypeAdapter(_KeptRanking)


def make_ranking(
    services: RequesterServices, slug: str, project: int, title: str, made: str
) -> None:
    """Rank the results of a project and keep it with its report; nothing where it has no pairs.

    ``project`` is its id inside.
    """
    compared = services.exports.get_comparisons(slug)
    if compared is None:
        return
    from adjudge.report.preferences import pair_report_html

    model = PAIR_MODELS[DEFAULT_PAIRS]()
    try:
        found = model.fit(compared)
        # A page has no options of a command.
        plain = tuple(note.partition(". If they are one source")[0] for note in found.notes)
        found = replace(found, notes=plain)
        page = _pack_page(pair_report_html(_in_names(services, slug, found), title=title), made)
    except AdjudgeError as fault:
        _keep_ranking(services, project, ranking=asdict(_KeptRanking(made, problem=str(fault))))
        return
    kept = _KeptRanking(
        made=made,
        model=found.model,
        comparisons=len(compared),
        rows=tuple(map(_finite, found.ranking.slice(0, _MOST).to_pylist())),
        judges=_judges(found, compared),
        position=found.parameters.get("position"),
        notes=found.notes,
    )
    _keep_ranking(services, project, ranking=_RANKING.dump_python(kept, mode="json"), report=page)
    _order_by_gain(services, slug, found)


def _in_names(services: RequesterServices, slug: str, found: Preferences) -> Preferences:
    """A ranking with judges as the requester calls them."""
    from adjudge.data.names import as_names

    ids = found.comparisons.judges.to_pylist()
    called = CalledJudges.of(services, slug, ids)
    table = found.judges
    if table is not None:
        at = table.column_names.index("judge")
        named = as_names([called.names[one] for one in table["judge"].to_pylist()])
        table = table.set_column(at, "judge", named)
    compared = replace(found.comparisons, judges=as_names([called.names[one] for one in ids]))
    notes = tuple(map(called.within, found.notes))
    return replace(found, judges=table, comparisons=compared, notes=notes)


def _order_by_gain(services: RequesterServices, slug: str, found: Preferences) -> None:
    """In an adaptive project, put the most informative pairs first in the queue.

    A pair with a result that nobody has compared yet comes before all others.
    """
    from adjudge.evaluation.preferences import pair_worths

    with services.caller.reading(slug) as request:
        snapshot = request.project
        if snapshot.policy.closing != "adaptive":
            return
        statement = select(items.c.id, items.c.document, items.c.beside).where(
            items.c.project == snapshot.id, items.c.gold.is_(False), items.c.state == "open"
        )
        rows = request.on.execute(statement.order_by(items.c.rank)).all()
    if not rows:
        return
    place = {name: code for code, name in enumerate(found.comparisons.items.to_pylist())}
    left = np.array([place.get(row.document, -1) for row in rows])
    right = np.array([place.get(row.beside["document"], -1) for row in rows])
    gain = np.where((left < 0) | (right < 0), np.inf, pair_worths(found, left, right))
    order = np.argsort(-gain, kind="stable").tolist()
    database = services.caller.database
    place_all(database, {rows[at].id: rank for rank, at in enumerate(order, 1)})
    database.write(lambda on: begin_queue_again(on, snapshot.id))


def _judges(found: Any, compared: Any) -> tuple[dict[str, Any], ...]:
    """The judges who compared most, each with whether they are a model."""
    rows = found.judges.sort_by([("comparisons", "descending")]).slice(0, _MOST).to_pylist()
    kinds = {} if compared.kind is None else dict(
        zip(compared.judges.to_pylist(), compared.kind.tolist(), strict=True)
    )  # fmt: skip
    return tuple({**_finite(row), "is_model": kinds.get(row["judge"]) == 1} for row in rows)


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what JSON does not know."""
    return {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124


def _keep_ranking(services: RequesterServices, project: int, **values: Any) -> None:
    key = {"project": project}
    services.caller.database.write(partial(put_row, table=rankings, key=key, **values))


def _find_ranking(services: RequesterServices, slug: str) -> StoredRow | None:
    with services.caller.reading(slug) as request:
        return find_row(request.on, rankings, request.project.id)


def read_ranking(services: RequesterServices, slug: str) -> _KeptRanking | None:
    """The last ranking of a project; None where there is none yet."""
    row = _find_ranking(services, slug)
    return None if row is None else _RANKING.validate_python(row.ranking)


def read_ranking_report(services: RequesterServices, slug: str) -> KeptReport | None:
    """The report of the last ranking; None where there is none yet."""
    row = _find_ranking(services, slug)
    return None if row is None or row.report is None else KeptReport.from_json(row.report)
