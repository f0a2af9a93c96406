"""Judgments, gold, labels and everything else taken out of a project, in every format.

Which exports can be made of a project as it is, and why the others cannot, is known before any is
asked for: a format is tried on a few rows, some of each label, and on every kind of id that it may
be unable to hold.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from adjudge.collect.services._panels import table_outcomes
from adjudge.collect.services._stored_projects import read_project
from adjudge.collect.services.archive import write_archive
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.arrow import (
    label_of,
    read_comparison_table,
    read_comparisons,
    read_gold,
    read_judgments,
    read_table,
)
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judgments, of_real_in
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.project import Item, Project
from adjudge.data.comparisons import Comparisons
from adjudge.data.gold import Gold
from adjudge.data.judgments import Judgments
from adjudge.data.scale import as_number
from adjudge.errors import AdjudgeError, BadData, UnknownName

if TYPE_CHECKING:
    from adjudge.data.formats import Content, Format

_WITHOUT_SPACES = ("qrels", "trec-2011-submission")  # formats whose topics cannot hold any
_PLAIN = ("consensus", "csv", "tsv", "jsonl", "parquet")  # tables that every tool opens
_TOPIC_WORDS = ("query", "need", "category")
_FEW = 40  # items of each sort that a format is tried on
_SPACES = (" ", "\t", "\n", "\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """One way to take a project out.

    ``kind``: labels, judgments, comparisons, answers, gold, topics, items, panel or everything.
    """

    name: str
    title: str
    kind: str
    extension: str


_TABLES = (
    _Export(name="topics", title="Topics: the query and the need behind each id", kind="topics",
            extension=".csv"),
    _Export(name="topics-trec", title="Topics: tagged, as TREC has them", kind="topics",
            extension=".txt"),
    _Export(name="unjudged", title="Pairs that nobody judged: in no export of labels",
            kind="items", extension=".csv"),
    _Export(name="answers", title="All answers with comments, times, standing", kind="answers",
            extension=".csv"),
    _Export(name="answers-jsonl", title="All answers, as JSON Lines", kind="answers",
            extension=".jsonl"),
    _Export(name="comparisons", title="Comparisons: which of two results who preferred",
            kind="comparisons", extension=".csv"),
)  # fmt: skip
_LAST = (
    _Export(name="panel-outcomes", title="How a panel's participants ended, and what to do",
            kind="panel", extension=".csv"),
    _Export(name="archive", title="The whole project, to keep or to move", kind="everything",
            extension=".zip"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offer(_Export):
    """An export, and why it cannot be made; empty where it can."""

    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offers:
    """Every export of a project, and what labels leave out."""

    offers: list[_Offer]
    labelled: int  # items that the fit has a label for
    unjudged: int  # items that nobody trusted judged, which no export of labels holds
    golds: int  # items of known label, which are exported as gold
    graded: bool  # whether each label stands for a number


@dataclass(frozen=True, slots=True)
class ExportService:
    """What a requester can take out of a project."""

    caller: Caller

    def get_judgments(
        self,
        slug: str,
        *,
        trusted: bool = True,
        golds: bool = False,
        dry_runs: bool = False,
        question: str = "",
    ) -> Judgments | None:
        """The judgments as the library's models take them; None where there are none.

        ``trusted``: leave out those of blocked judges. ``golds``: with the answers to screening
        golds, so that a model can learn from them beside ``get_gold``. ``dry_runs``: also those of
        dry runs, which are never trusted. ``question``: a further question that has labels.
        """
        with self.caller.reading(slug) as request:
            project = request.project.as_question(question)
            return read_judgments(
                request.on, project, trusted=trusted, golds=golds, dry_runs=dry_runs
            )

    def get_comparisons(self, slug: str, *, trusted: bool = True) -> Comparisons | None:
        """The comparisons of a side-by-side project; None where there are none."""
        with self.caller.reading(slug) as request:
            return read_comparisons(request.on, request.project, trusted=trusted)

    def get_gold(self, slug: str, *, adjudicated: bool = False) -> Gold | None:
        """The active gold with the first accepted label of each; None where there is none.

        ``adjudicated``: with the final labels that fits are to take for gold.
        """
        with self.caller.reading(slug) as request:
            return read_gold(request.on, request.project, adjudicated=adjudicated)

    def get_table(self, slug: str, *, dry_runs: bool = False) -> Any:
        """Every answer as an Arrow table, one row each; dry runs only if asked for.

        Columns: item, topic, document, query, judge, arm, kind, label, other, comment, standing,
        gold, right, page, row, seconds, time.
        """
        with self.caller.reading(slug) as request:
            return read_table(request.on, request.project, dry_runs=dry_runs)

    def get_panel_outcomes(self, slug: str) -> Any:
        """How each participant of a panel ended, what they are due and what to do, as Arrow."""
        with self.caller.reading(slug) as request:
            return table_outcomes(request)

    def get_offers(self, slug: str, labels: Any = None, *, question: str = "") -> Any:
        """Every export, with why it cannot be made where it cannot; the rest as in ``write``."""
        with self.caller.reading(slug) as request:
            return _list_offers(_about(request, question), labels)

    def write(
        self,
        slug: str,
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
        from adjudge.data.formats.writing import write_csv, write_table

        with self.caller.reading(slug) as whole:
            entry, request = find_export(name), _about(whole, question)
            if entry.kind == "everything":
                write_archive(request, file)
            elif entry.kind == "panel":
                write_csv(table_outcomes(request), file, guard=True)
            elif entry.kind == "comparisons":
                _write_comparisons(request, file, trusted)
            elif entry.kind in ("topics", "items"):
                _write_words(request, entry, file)
            elif entry.kind == "answers":
                table = read_table(request.on, request.project)
                write_table(table, file, entry.extension, guard=True)
            else:
                _write_format(_content(request, entry.kind, labels, trusted), entry, file)


def _about(request: Request, question: str) -> Request:
    """The request as if a further question were the project's first."""
    return replace(request, project=request.project.as_question(question))


def list_exports() -> list[_Export]:
    """Every export, what people want most first."""
    from adjudge.data.formats import formats as known

    written = [
        _Export(
            name=f"{kind}-{entry.name}",
            title=f"{kind.capitalize()}: {entry.title.partition(':')[0]}",
            kind=kind,
            extension=".zip" if entry.write is None else entry.extension,
        )
        for kind in ("judgments", "gold", "labels")
        for entry in sorted(known().values(), key=_by_plainness)
        if kind in entry.writes and (entry.write is not None or entry.write_folder is not None)
    ]
    return [*_TABLES, *written, *_LAST]


def _by_plainness(entry: Format) -> bool:
    """Plain tables before the formats of single tools."""
    return entry.name.partition("-")[0] not in _PLAIN


def find_export(name: str) -> _Export:
    """The export of that name, or an error that suggests the nearest."""
    known = {entry.name: entry for entry in list_exports()}
    if name not in known:
        raise UnknownName("export", name, known)
    return known[name]


def _write_comparisons(request: Request, file: IO[bytes], trusted: bool) -> None:
    from adjudge.data.formats.writing import write_csv

    if not request.project.of_pairs:
        raise BadData(f"the items of {request.project.slug} are no pairs", expected="pairs")
    write_csv(read_comparison_table(request.on, request.project, trusted=trusted), file, guard=True)


def _content(request: Request, kind: str, labels: Any, trusted: bool) -> Content:
    """What a format is to hold, with the words of items beside it."""
    held: Any = labels
    if kind == "judgments":
        held = read_judgments(request.on, request.project, trusted=trusted, golds=False)
    elif kind == "gold":
        held = read_gold(request.on, request.project)
    return _make_content(request, kind, held, read_project(request.on, request.project.id))


def _make_content(request: Request, kind: str, held: Any, project: Project) -> Content:
    """What a format is to hold; an error where there is none of it yet."""
    from adjudge.data.formats import Content

    if held is None:
        hints = {
            "labels": "; a consensus has to be fitted first",
            "gold": "; it is imported with the items, or made of items on their pages",
        }
        raise BadData(
            f"there {'is' if kind == 'gold' else 'are'} no {kind} in {request.project.slug} yet"
            f"{hints.get(kind, '')}", expected=kind,
        )  # fmt: skip
    parts: dict[str, Any] = {kind: held}
    return Content(scale=request.project.scale, texts=_texts(project.items), **parts)


def _texts(given: tuple[Item, ...]) -> Any:
    """The words of items, as the formats take them."""
    import pyarrow as pa

    columns = ("topic", "document", "query", "title", "text", "url")
    return pa.table(
        {name: pa.array([getattr(i, name) for i in given], pa.large_string()) for name in columns}
    )


def _write_format(content: Content, entry: _Export, file: IO[bytes]) -> None:
    """Write a content as an export has it; a folder becomes a zip."""
    from adjudge.data.formats import named as format_named

    chosen = format_named(entry.name.partition("-")[2])
    if chosen.name in _WITHOUT_SPACES:
        content = _with_ids(content)
    if chosen.write is not None:
        chosen.write(content, file)
        return
    if chosen.write_folder is None:
        raise BadData(f"{chosen.name} is read, not written")
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
    import pyarrow as pa

    known = {topic: _id_of(topic) for topic in set(topics.to_pylist())}
    return pa.array([known[topic] for topic in topics.to_pylist()], pa.large_string())


def _id_of(topic: str) -> str:
    """A topic that can stand in a file whose cells are set apart by white space."""
    return topic_id(topic) if topic and any(map(str.isspace, topic)) else topic


def _write_words(request: Request, entry: _Export, file: IO[bytes]) -> None:
    """The topics of a project with their words, or the pairs that nobody judged."""
    import pyarrow as pa

    from adjudge.data.formats.writing import write_csv

    if entry.kind == "items":
        names = ("name", "topic", "document", "query", "title", "url")
        rows = [{"item" if n == "name" else n: row[n] for n in names}
                for row in _list_unjudged(request)]  # fmt: skip
        schema = pa.schema([("item" if n == "name" else n, pa.large_string()) for n in names])
        write_csv(pa.Table.from_pylist(rows, schema=schema), file, guard=True)
        return
    project = read_project(request.on, request.project.id)
    found = {item.topic: item for item in reversed(project.items)}
    if entry.extension == ".txt":
        for topic, item in reversed(found.items()):
            words = [_id_of(topic), item.query, item.need]
            number, title, need = (escape(" ".join(w.split()), quote=False) for w in words)
            part = f"<desc> Description:\n{need}\n\n" if need else ""
            text = f"<top>\n<num> Number: {number}\n<title> {title}\n\n{part}</top>\n\n"
            file.write(text.encode())
        return
    columns = {"topic": [_id_of(topic) for topic in reversed(found)]}
    columns |= {n: [getattr(i, n) for i in reversed(found.values())] for n in _TOPIC_WORDS}
    write_csv(pa.table({n: pa.array(c, pa.large_string()) for n, c in columns.items()}), file,
              guard=True)  # fmt: skip


def _list_unjudged(request: Request) -> list[Any]:
    """The items that are neither gold nor judged by anybody who is trusted, as stored."""
    judged = select(judgments.c.item).where(
        judgments.c.project == request.project.id,
        judgments.c.kind == "work",
        judgments.c.other.is_(False),
        judgments.c.standing != "untrusted",
        of_real_in(request.project.id),
    )
    if request.project.question:
        answered = label_of(request.project.question).is_not(None)
        judged = judged.where(judgments.c.answers.is_not(None), answered)
    wanted = select(items).where(
        items.c.project == request.project.id,
        items.c.gold.is_(False),
        items.c.state.not_in(("withdrawn", "final")),
        items.c.id.not_in(judged),
    )
    return list(request.on.execute(wanted.order_by(items.c.id)).mappings())


def _list_offers(request: Request, labels: Any) -> _Offers:
    """Every export, tried on a few rows. ``labels`` is the consensus table, None without a fit."""
    held = {
        "labels": None if labels is None else _few_labels(labels),
        "judgments": _few_judgments(request),
        "gold": read_gold(request.on, request.project),
    }
    project = read_project(request.on, request.project.id)
    project = replace(project, items=project.items[:_FEW])
    offers = []
    for entry in list_exports():
        if entry.kind == "comparisons" and not request.project.of_pairs:
            continue
        problem = ""
        if entry.kind in held:
            try:
                content = _make_content(request, entry.kind, held[entry.kind], project)
                _write_format(content, entry, io.BytesIO())
            except AdjudgeError as fault:
                problem = _put_plainly(fault)
        offers.append(_Offer(**asdict(entry), problem=problem))
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
    for wanted in (of_labels, odd, few):
        chosen |= set(request.on.execute(wanted).scalars())
    return read_judgments(
        request.on, request.project, trusted=True, golds=False, only=sorted(chosen)
    )
