"""Judgments, gold, labels and everything else taken out of a project, in every format.

Which exports can be made of a project as it is, and why the others cannot, is known before any is
asked for: a format is tried on a few rows, some of each label, and on every kind of id that it may
be unable to hold.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
from sqlalchemy import func, or_, select

from adjudge.collect.services._panels import PROLIFIC_PARAMETERS, table_outcomes
from adjudge.collect.services._stored_projects import read_project
from adjudge.collect.services.archive import write_archive
from adjudge.collect.services.caller import Service, reads
from adjudge.collect.store.arrow import (
    label_of,
    read_comparison_table,
    read_comparisons,
    read_gold,
    read_judgments,
    read_table,
)
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import TRUSTED_WORK, is_real, items, judges, judgments
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.project import Item
from adjudge.data.comparisons import Comparisons
from adjudge.data.formats import Content, Format, formats, named
from adjudge.data.formats.writing import write_table
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError, BadData, UnknownName

_WITHOUT_SPACES = (
    "qrels",
    "trec-2011-submission",
    "trec-2011-submission-binary",
)  # formats whose topics cannot hold any
_PLAIN = ("consensus", "csv", "tsv", "jsonl", "parquet")  # tables that every tool opens
_FEW = 40  # items of each sort that a format is tried on
_SPACES = (" ", "\t", "\n", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """One way to take a project out.

    ``kind``: labels, judgments, comparisons, answers, gold, topics, items, judges, panel or
    everything.
    """

    name: str
    title: str
    kind: str
    extension: str
    problem: str = ""  # why it cannot be made; empty where it can


_FIRST = (  # name, title, kind, extension
    ("topics", "Topics: the query and the need behind each id", "topics", ".csv"),
    ("topics-trec", "Topics: tagged, as TREC has them", "topics", ".txt"),
    ("unjudged", "Pairs that nobody judged: in no export of labels", "items", ".csv"),
    ("answers", "All answers with comments, times, standing", "answers", ".csv"),
    ("answers-jsonl", "All answers, as JSON Lines", "answers", ".jsonl"),
    ("comparisons", "Comparisons: which of two results who preferred", "comparisons", ".csv"),
    ("judges", "Judges: arm, kind, and what their link said of them", "judges", ".csv"),
)
_LAST = (
    ("panel-outcomes", "How a panel's participants ended, and what to do", "panel", ".csv"),
    ("archive", "The entire project, to keep or to move", "everything", ".zip"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offers:
    """Every export of a project, and what labels leave out."""

    offers: list[_Export]
    labelled: int  # items that the fit has a label for
    unjudged: int  # items that nobody trusted judged, which no export of labels holds
    golds: int  # items of known label, which are exported as gold
    graded: bool  # whether each label has a number


@dataclass(frozen=True, slots=True)
class ExportService(Service):
    """What a requester can take out of a project."""

    @reads()
    def get_judgments(
        self,
        request: Request,
        *,
        trusted: bool = True,
        golds: bool = False,
        question: str = "",
    ) -> Judgments | None:
        """The judgments as the library's models take them; None where there are none.

        ``trusted``: leave out those of blocked judges. ``golds``: with the answers to screening
        golds, so that a model can learn from them in addition to ``get_gold``. ``question``: a
        further question with labels.
        """
        project = request.project.as_question(question)
        return read_judgments(request.on, project, trusted=trusted, golds=golds)

    @reads()
    def get_comparisons(self, request: Request, *, trusted: bool = True) -> Comparisons | None:
        """The comparisons of a side-by-side project; None where there are none."""
        return read_comparisons(request.on, request.project, trusted=trusted)

    @reads()
    def get_gold(self, request: Request, *, adjudicated: bool = False) -> Gold | None:
        """The active gold with the first accepted label of each; None where there is none.

        ``adjudicated``: with the final labels that fits are to take for gold.
        """
        return read_gold(request.on, request.project, adjudicated=adjudicated)

    @reads()
    def get_table(self, request: Request) -> Any:
        """Every answer as an Arrow table, one row each; none of dry runs.

        Columns: item, topic, document, query, judge, arm, kind, label, other, comment, standing,
        gold, right, page, row, seconds, time.
        """
        return read_table(request.on, request.project)

    @reads()
    def get_panel_outcomes(self, request: Request) -> Any:
        """How each participant of a panel ended, what they are due and what to do, as Arrow."""
        return table_outcomes(request)

    @reads()
    def get_offers(self, request: Request, labels: Any = None, *, question: str = "") -> _Offers:
        """Every export, with why it cannot be made where it cannot; the rest as in ``write``."""
        return _list_offers(_about(request, question), labels)

    @reads()
    def write(
        self,
        request: Request,
        name: str,
        file: IO[bytes],
        *,
        labels: Any = None,
        trusted: bool = True,
        question: str = "",
    ) -> None:
        """Write a project into an open file, by the name of an export.

        ``labels`` is a consensus table, for exports of labels. ``trusted``: leave out the judgments
        of blocked judges. ``question``: judgments and labels of a further question. Cells that a
        spreadsheet would run are disarmed in whatever is CSV.
        """
        entry, request = find_export(name), _about(request, question)
        if entry.kind == "everything":
            write_archive(request, file)
        elif entry.kind in _TABLES:
            table = _TABLES[entry.kind](request, trusted)
            if entry.extension == ".txt":
                file.write(_tag_topics(table).encode())
            else:
                write_table(table, file, entry.extension, guard=True)
        else:
            held = labels
            if entry.kind == "judgments":
                held = read_judgments(request.on, request.project, trusted=trusted, golds=False)
            elif entry.kind == "gold":
                held = read_gold(request.on, request.project)
            items = read_project(request.on, request.project.id).items
            _write_format(_make_content(request, entry.kind, held, items), entry, file)


def _about(request: Request, question: str) -> Request:
    """The request as if a further question were the project's first."""
    return replace(request, project=request.project.as_question(question))


def list_exports() -> list[_Export]:
    """Every export, what people want most first."""
    written = [
        (
            f"{kind}-{entry.name}",
            f"{kind.capitalize()}: {entry.title.partition(':')[0]}",
            kind,
            ".zip" if entry.write is None else entry.extension,
        )
        for kind in ("judgments", "gold", "labels")
        for entry in sorted(formats().values(), key=_by_plainness)
        if kind in entry.writes and (entry.write is not None or entry.write_folder is not None)
    ]
    return [
        _Export(name=name, title=title, kind=kind, extension=extension)
        for name, title, kind, extension in (*_FIRST, *written, *_LAST)
    ]


def _by_plainness(entry: Format) -> bool:
    """Plain tables before the formats of single tools."""
    return entry.name.partition("-")[0] not in _PLAIN


def find_export(name: str) -> _Export:
    """The export of that name, or an error that suggests the nearest."""
    known = {entry.name: entry for entry in list_exports()}
    if name not in known:
        raise UnknownName("export", name, known)
    return known[name]


def _make_content(request: Request, kind: str, held: Any, texts: Sequence[Item]) -> Content:
    """What a format is to hold, with the words of items; an error where there is none of it yet."""
    if held is None:
        hints = {
            "labels": "; a consensus has to be fitted first",
            "gold": "; it is imported with the items, or made of items on their pages",
        }
        problem = f"there {'is' if kind == 'gold' else 'are'} no {kind} in {request.project.slug}"
        raise BadData(f"{problem} yet{hints.get(kind, '')}", expected=kind, code=f"no-{kind}")
    columns = ("topic", "document", "query", "title", "text", "url")
    words = _table_texts({name: [getattr(one, name) for one in texts] for name in columns})
    parts: dict[str, Any] = {kind: held}
    return Content(scale=request.project.scale, texts=words, **parts)


def _table_texts(columns: dict[str, list[str]]) -> Any:
    return pa.table({name: pa.array(cells, pa.large_string()) for name, cells in columns.items()})


def _write_format(content: Content, entry: _Export, file: IO[bytes]) -> None:
    """Write a content as an export has it; a folder becomes a zip."""
    chosen = named(entry.name.partition("-")[2])
    if chosen.name in _WITHOUT_SPACES:
        content = _with_ids(content)
    if chosen.write is not None:
        chosen.write(content, file)
    elif chosen.write_folder is not None:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / chosen.name
            chosen.write_folder(content, folder)
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for part in sorted(folder.rglob("*")):
                    if part.is_file():
                        archive.write(part, part.relative_to(folder).as_posix())


def _with_ids(content: Content) -> Content:
    """The labels or gold with an id for each topic that is a query, as the topics file has it."""
    if content.gold is not None and content.gold.topics is not None:
        return replace(content, gold=replace(content.gold, topics=_ids(content.gold.topics)))
    if content.labels is not None and "topic" in content.labels.column_names:
        at = content.labels.column_names.index("topic")
        ids = _ids(content.labels["topic"])
        return replace(content, labels=content.labels.set_column(at, "topic", ids))
    return content


def _ids(topics: Any) -> Any:
    return pa.array([_id_of(topic) for topic in topics.to_pylist()], pa.large_string())


def _id_of(topic: str) -> str:
    """A topic that can be in a file whose cells are set apart by white space."""
    return topic_id(topic) if topic and any(map(str.isspace, topic)) else topic


# -- tables of our own


def _table_topics(request: Request) -> Any:
    """The topics of a project, each with the words of its first item."""
    found: dict[str, Item] = {}
    for item in read_project(request.on, request.project.id).items:
        found.setdefault(item.topic, item)
    words = {name: [getattr(item, name) for item in found.values()]
             for name in ("query", "need", "category")}  # fmt: skip
    return _table_texts({"topic": [_id_of(topic) for topic in found], **words})


def _tag_topics(table: Any) -> str:
    """Topics in TREC's tags."""
    blocks = []
    for row in table.select(["topic", "query", "need"]).to_pylist():
        number, title, need = (escape(" ".join(w.split()), quote=False) for w in row.values())
        part = f"<desc> Description:\n{need}\n\n" if need else ""
        blocks.append(f"<top>\n<num> Number: {number}\n<title> {title}\n\n{part}</top>\n\n")
    return "".join(blocks)


def _list_unjudged(request: Request) -> Any:
    """The items that are neither gold nor judged by anybody who is trusted."""
    judged = select(judgments.c.item).where(judgments.c.project == request.project.id, TRUSTED_WORK)
    if request.project.question:
        answered = label_of(request.project.question).is_not(None)
        judged = judged.where(judgments.c.answers.is_not(None), answered)
    names = ("topic", "document", "query", "title", "url")
    statement = select(items.c.name.label("item"), *(items.c[name] for name in names)).where(
        items.c.project == request.project.id,
        items.c.gold.is_(False),
        items.c.state.not_in(("withdrawn", "final")),
        items.c.id.not_in(judged),
    )
    rows = request.on.execute(statement.order_by(items.c.id)).all()
    return _table_texts({n: [getattr(row, n) for row in rows] for n in ("item", *names)})


def _table_comparisons(request: Request, trusted: bool) -> Any:
    if not request.project.of_pairs:
        raise BadData(f"the items of {request.project.slug} are no pairs", code="no-pairs")
    return read_comparison_table(request.on, request.project, trusted=trusted)


def _table_judges(request: Request) -> Any:
    """One row per judge: arm, kind, channel, and a column for each parameter of their links.

    Parameters named as an id of a panel, or as a column of ours, are left out.
    """
    statement = select(judges).where(judges.c.project == request.project.id, is_real)
    rows = request.on.execute(statement.order_by(judges.c.id)).all()
    own = {"judge": "public", "arm": "arm", "kind": "kind", "channel": "channel"}
    ids = {name.casefold() for name in (*own, "item", *PROLIFIC_PARAMETERS)}
    names = sorted({name for row in rows for name in row.parameters if name.casefold() not in ids})
    return _table_texts(
        {name: [str(getattr(row, column)) for row in rows] for name, column in own.items()}
        | {name: [str(row.parameters.get(name, "")) for row in rows] for name in names}
    )


_TABLES: dict[str, Callable[[Request, bool], Any]] = {  # by kind
    "topics": lambda request, _: _table_topics(request),
    "items": lambda request, _: _list_unjudged(request),
    "answers": lambda request, _: read_table(request.on, request.project),
    "comparisons": _table_comparisons,
    "judges": lambda request, _: _table_judges(request),
    "panel": lambda request, _: table_outcomes(request),
}


# -- offers


def _list_offers(request: Request, labels: Any) -> _Offers:
    """Every export, tried on a few rows. ``labels`` is the consensus table, None without a fit."""
    held = {
        "labels": None if labels is None else _few_labels(labels),
        "judgments": _few_judgments(request),
        "gold": read_gold(request.on, request.project),
    }
    few = read_project(request.on, request.project.id).items[:_FEW]
    offers = []
    for entry in list_exports():
        if entry.kind == "comparisons" and not request.project.of_pairs:
            continue
        problem = ""
        if entry.kind in held:
            try:
                content = _make_content(request, entry.kind, held[entry.kind], few)
                _write_format(content, entry, io.BytesIO())
            except AdjudgeError as fault:
                problem = _put_plainly(fault)
        offers.append(replace(entry, problem=problem))
    scale = request.project.scale
    numbers = all(as_number(label) is not None for label in scale.labels)
    return _Offers(
        offers=offers,
        labelled=0 if labels is None else len(labels),
        unjudged=len(_list_unjudged(request)),
        golds=sum(gold.active for gold in request.project.golds.values()),
        graded=bool(scale.grades) or scale.ordinal or numbers,
    )


def _put_plainly(fault: AdjudgeError) -> str:
    """A problem in the words of the page."""
    if fault.code == "labels-not-numbers":
        return "Its labels are numbers: give each label a grade, below."
    if fault.code == "no-relevant-labels":
        return "It knows relevant and not: give each label a grade, below; 0 is not relevant."
    problem = fault.sentence
    return f"{problem[:1].upper()}{problem[1:]}."


def _few_labels(labels: Any) -> Any:
    """Rows of a consensus table: some of each label, and ids that are hard to write."""
    kept: list[int] = []
    count: dict[Any, int] = {}
    names = [name for name in ("item", "topic", "document") if name in labels.column_names]
    ids = [labels[name].to_pylist() for name in names]
    for row, label in enumerate(labels["label"].to_pylist()):
        count[label] = count.get(label, 0) + 1
        hard = any(mark in (one[row] or " ") for one in ids for mark in _SPACES)
        if count[label] <= 3 or (hard and len(kept) < _FEW):
            kept.append(row)
    return labels.take(kept)


def _few_judgments(request: Request) -> Any:
    """The judgments of a few items: one at least of each label, and ids that are hard to write."""
    ours = judgments.c.project == request.project.id
    plain = (ours, judgments.c.kind == "work", judgments.c.gold.is_(None))
    label = label_of(request.project.question)
    of_labels = select(func.min(judgments.c.item)).where(*plain).group_by(label)
    hard = or_(*(items.c[c].contains(m) for c in ("document", "topic", "name") for m in _SPACES))
    odd = select(items.c.id).where(items.c.project == request.project.id, hard).limit(_FEW)
    few = select(judgments.c.item).where(*plain).order_by(judgments.c.id).limit(_FEW)
    chosen = set()
    for statement in (of_labels, odd, few):
        chosen |= set(request.on.execute(statement).scalars())
    return read_judgments(
        request.on, request.project, trusted=True, golds=False, only=sorted(chosen)
    )
