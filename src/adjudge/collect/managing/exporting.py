"""Taking a project out: judgments, gold and labels in every format, all answers, or all of it."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import select

from adjudge.collect.importing import (
    Gathering,
    ImportLimits,
    Upload,
    read_json_text,
    unpack_all,
)
from adjudge.collect.managing.oversight import list_log
from adjudge.collect.managing.panels import table_outcomes
from adjudge.collect.managing.projects import read_project
from adjudge.collect.store.arrow import label_of, read_gold, read_judgments, read_table
from adjudge.collect.store.comparisons import read_comparison_table
from adjudge.collect.store.conditions import of_real_in
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items as items_table
from adjudge.collect.store.schema import judgments
from adjudge.collect.values.ids import topic_id
from adjudge.collect.values.project import Arm, GoldEntry, Item, Project
from adjudge.collect.values.questions import read_questions
from adjudge.data.scale import Scale
from adjudge.errors import BadData, UnknownName, shown

if TYPE_CHECKING:
    from adjudge.data.formats import Content, Format

_VERSION = 1  # of the archive
_PARTS = ("project.json", "guidelines.md", "items.jsonl", "gold.jsonl")  # what is read again
_LOG = 5_000  # lines of the log read at a time
_WITHOUT_SPACES = ("qrels", "trec-2011-submission")  # formats whose topics cannot hold any
_PLAIN = ("consensus", "csv", "tsv", "jsonl", "parquet")  # tables that every tool opens
_TOPIC_WORDS = ("query", "need", "category")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """One way to take a project out.

    ``kind``: labels, judgments, comparisons, answers, gold, topics, items, panel or everything.
    """

    name: str
    title: str
    kind: str
    extension: str


_WORDS = (
    _Export(name="topics", title="Topics: the query and the need behind each id", kind="topics",
            extension=".csv"),
    _Export(name="topics-trec", title="Topics: tagged, as TREC has them", kind="topics",
            extension=".txt"),
    _Export(name="unjudged", title="Pairs that nobody judged: in no export of labels",
            kind="items", extension=".csv"),
)  # fmt: skip


def list_exports() -> list[_Export]:
    """Every export, what people want most first."""
    from adjudge.data.formats import formats as known

    found = [*_WORDS]
    found += [
        _Export(name="answers", title="All answers with comments, times, standing", kind="answers",
               extension=".csv"),
        _Export(name="answers-jsonl", title="All answers, as JSON Lines", kind="answers",
               extension=".jsonl"),
    ]  # fmt: skip
    found.append(
        _Export(name="comparisons", title="Comparisons: which of two results who preferred",
               kind="comparisons", extension=".csv")
    )  # fmt: skip
    for kind in ("judgments", "gold", "labels"):
        for entry in sorted(known().values(), key=_by_plainness):
            if kind in entry.writes and (entry.write is not None or entry.write_folder is not None):
                extension = entry.extension if entry.write is not None else ".zip"
                found.append(
                    _Export(
                        name=f"{kind}-{entry.name}",
                        title=f"{kind.capitalize()}: {entry.title.partition(':')[0]}",
                        kind=kind,
                        extension=extension,
                    )
                )
    found.append(
        _Export(name="panel-outcomes", title="How a panel's participants ended, and what to do",
               kind="panel", extension=".csv")
    )  # fmt: skip
    found.append(
        _Export(name="archive", title="The whole project, to keep or to move", kind="everything",
               extension=".zip")
    )  # fmt: skip
    return found


def _by_plainness(entry: Format) -> bool:
    """Plain tables before the formats of single tools."""
    return entry.name.partition("-")[0] not in _PLAIN


def find_export(name: str) -> _Export:
    """The export of that name, or an error that suggests the nearest."""
    known = {entry.name: entry for entry in list_exports()}
    if name not in known:
        raise UnknownName("export", name, known)
    return known[name]


def write_export(
    request: Request, name: str, file: IO[bytes], *, labels: Any = None, trusted: bool = True
) -> None:
    """Write a project into an open file. ``labels`` is a consensus table, for exports of labels.

    ``trusted``: leave out the judgments of blocked judges. Cells that a spreadsheet would run are
    disarmed in whatever is CSV.
    """
    entry = find_export(name)
    if entry.kind == "everything":
        _archive(request, file)
    elif entry.kind == "panel":
        from adjudge.data.formats.tables import write_csv

        write_csv(table_outcomes(request), file, guard=True)
    elif entry.kind == "comparisons":
        _write_comparisons(request, file, trusted)
    elif entry.kind in ("topics", "items"):
        _write_words(request, entry, file)
    elif entry.kind == "answers":
        from adjudge.data.formats.tables import write_csv, write_jsonl

        table = read_table(request.on, request.project)
        if entry.extension == ".jsonl":
            write_jsonl(table, file)
        else:
            write_csv(table, file, guard=True)
    else:
        write_format(_content(request, entry.kind, labels, trusted), entry, file)


def _write_comparisons(request: Request, file: IO[bytes], trusted: bool) -> None:
    from adjudge.data.formats.tables import write_csv

    if not request.project.of_pairs:
        raise BadData(f"the items of {request.project.slug} are no pairs", wanted="pairs")
    write_csv(read_comparison_table(request.on, request.project, trusted=trusted), file, guard=True)


def _content(request: Request, kind: str, labels: Any, trusted: bool) -> Content:
    """What a format is to hold, with the words of items beside it."""
    held: Any = labels
    if kind == "judgments":
        held = read_judgments(request.on, request.project, trusted=trusted, golds=False)
    elif kind == "gold":
        held = read_gold(request.on, request.project)
    return make_content(request, kind, held, read_project(request.on, request.project.id))


def make_content(request: Request, kind: str, held: Any, project: Project) -> Content:
    """What a format is to hold; an error where there is none of it yet."""
    from adjudge.data.formats import Content

    if held is None:
        hints = {
            "labels": "; a consensus has to be fitted first",
            "gold": "; it is imported with the items, or made of items on their pages",
        }
        raise BadData(
            f"there {'is' if kind == 'gold' else 'are'} no {kind} in {request.project.slug} yet"
            f"{hints.get(kind, '')}", wanted=kind,
        )  # fmt: skip
    parts: dict[str, Any] = {kind: held}
    return Content(scale=request.project.scale, texts=_texts(project.items), **parts)


def _texts(items: tuple[Item, ...]) -> Any:
    """The words of items, as the formats take them."""
    import pyarrow as pa

    columns = ("topic", "document", "query", "title", "text", "url")
    return pa.table(
        {name: pa.array([getattr(i, name) for i in items], pa.large_string()) for name in columns}
    )


def write_format(content: Content, entry: _Export, file: IO[bytes]) -> None:
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

    from adjudge.data.formats.tables import write_csv

    if entry.kind == "items":
        names = ("name", "topic", "document", "query", "title", "url")
        rows = [{"item" if n == "name" else n: row[n] for n in names}
                for row in list_unjudged(request)]  # fmt: skip
        schema = pa.schema([("item" if n == "name" else n, pa.large_string()) for n in names])
        write_csv(pa.Table.from_pylist(rows, schema=schema), file, guard=True)
        return
    items = read_project(request.on, request.project.id).items
    found = {item.topic: item for item in reversed(items)}
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


def list_unjudged(request: Request) -> list[Any]:
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
    wanted = select(items_table).where(
        items_table.c.project == request.project.id,
        items_table.c.gold.is_(False),
        items_table.c.state.not_in(("withdrawn", "final")),
        items_table.c.id.not_in(judged),
    )
    return list(request.on.execute(wanted.order_by(items_table.c.id)).mappings())


def _archive(request: Request, file: IO[bytes]) -> None:
    """Guidelines, scale, policy, arms, items with gold, every answer and the log, in one zip."""
    from adjudge.data.formats.tables import write_csv

    project = read_project(request.on, request.project.id)
    about = {
        "adjudge": _VERSION,
        "name": project.name,
        "scale": asdict(project.scale),
        "policy": project.policy,
        "arms": [arm.to_dict() for arm in project.arms],
        "questions": [question.to_dict() for question in project.questions],
        "colours": project.colours,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.json", json.dumps(about, indent=2, ensure_ascii=False))
        archive.writestr("guidelines.md", project.guidelines)
        archive.writestr("items.jsonl", _lines(asdict(item) for item in project.items))
        archive.writestr("gold.jsonl", _lines(asdict(gold) for gold in project.golds))
        with tempfile.TemporaryFile() as answers:
            write_csv(read_table(request.on, request.project), answers, guard=True)
            answers.seek(0)
            with archive.open("answers.csv", "w", force_zip64=True) as part:
                shutil.copyfileobj(answers, part)
        with archive.open("log.jsonl", "w", force_zip64=True) as part:
            before: int | None = None
            while entries := list_log(request, before=before, limit=_LOG):
                part.write(_lines(asdict(entry) for entry in entries).encode())
                before = entries[-1].entry


def _lines(records: Any) -> str:
    return "".join(json.dumps(r, ensure_ascii=False, default=str) + "\n" for r in records)


def read_archive(given: Path | Upload, limits: ImportLimits | None = None) -> Project:
    """The project in an archive, without its answers, to be made again.

    Items are checked as those of any other file are; without ``limits`` there may be any number.
    """
    source = given.name
    limits = limits or replace(ImportLimits(), bytes=2**62, rows=2**62, field=2**62)
    try:
        if isinstance(given, Upload):
            parts = {one.name: one.body for one in unpack_all([given], limits)}
        else:
            with zipfile.ZipFile(given) as archive:
                parts = {name: archive.read(name) for name in _PARTS}
        about = read_json_text(parts["project.json"].decode())
        _check_kinds(about, {"name": str, "policy": dict, "scale": dict})
        _check_kinds(about["scale"], {"grades": list})
        if about["adjudge"] > _VERSION:
            raise BadData(
                f"is an archive of version {about['adjudge']}; wanted {_VERSION} or older",
                source=source,
            )
        scale: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in about["scale"].items()
        }
        gathering = Gathering(limits=limits, scale=None)
        for line, held in _records(parts["items.jsonl"]):
            beside = held.pop("beside", None)  # those of older archives have none
            gathering.add(held, source=f"{source}/items.jsonl", line=line, beside=beside)
        return Project(
            name=about["name"],
            scale=Scale(**scale),
            guidelines=parts["guidelines.md"].decode(),
            items=gathering.preview("archive").check().items,
            golds=tuple(_gold(gold) for _, gold in _records(parts["gold.jsonl"])),
            policy=about["policy"],
            arms=_arms(about, scale),
            questions=read_questions(about.get("questions") or ()),
            colours=dict(about.get("colours") or {}),
        )
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError) as fault:
        raise BadData(f"is no archive of a project ({fault})", source=source) from None


def _gold(held: dict[str, Any]) -> GoldEntry:
    """A gold of an archive."""
    _check_kinds(held, {"item": str, "reason": str, "reasons": dict})
    _check_kinds(
        dict(enumerate(held["accepted"])), dict.fromkeys(range(len(held["accepted"])), str)
    )
    _check_kinds(held["reasons"], dict.fromkeys(held["reasons"], str))
    return GoldEntry(**{**held, "accepted": tuple(held["accepted"])})


def _check_kinds(held: Mapping[Any, Any], kinds: Mapping[Any, type]) -> None:
    """Raise unless what an archive holds is of these kinds."""
    for name, kind in kinds.items():
        if name in held and not isinstance(held[name], kind):
            raise TypeError(f"{name} is {shown(held[name])}")


def _arms(about: dict[str, Any], scale: dict[str, Any]) -> tuple[Arm, ...]:
    """The arms of an archive; older ones have none."""
    from adjudge.collect.experiments.arms import read_arms

    given = about.get("arms") or ()
    return read_arms(given, labels=scale["labels"]) if given else ()


def _records(body: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, text in enumerate(body.decode().split("\n"), start=1):
        if text.strip():
            yield line, dict(read_json_text(text, line=line))
