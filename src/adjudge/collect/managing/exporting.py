"""Taking a project out: judgments, gold and labels in every format, all answers, or all of it."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from adjudge.collect.managing.oversight import list_log
from adjudge.collect.managing.panels import table_outcomes
from adjudge.collect.managing.projects import read_project
from adjudge.collect.store.arrow import read_gold, read_judgments, read_table
from adjudge.collect.store.request import Request
from adjudge.collect.values.project import Arm, GoldEntry, Item, Project
from adjudge.data.scale import Scale
from adjudge.errors import BadData, UnknownName

if TYPE_CHECKING:
    from adjudge.data.formats import Content

_VERSION = 1  # of the archive
_LOG = 5_000  # lines of the log read at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class _Export:
    """One way to take a project out.

    ``kind``: answers, judgments, gold, labels, panel or everything.
    """

    name: str
    title: str
    kind: str
    extension: str


def list_exports() -> list[_Export]:
    """Every export, what people want most first."""
    from adjudge.data.formats import formats as known

    found = [
        _Export(name="answers", title="All answers with comments, times, standing", kind="answers",
               extension=".csv"),
        _Export(name="answers-jsonl", title="All answers, as JSON Lines", kind="answers",
               extension=".jsonl"),
    ]  # fmt: skip
    for kind in ("judgments", "gold", "labels"):
        for entry in known().values():
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
    elif entry.kind == "answers":
        from adjudge.data.formats.tables import write_csv, write_jsonl

        table = read_table(request.on, request.project)
        if entry.extension == ".jsonl":
            write_jsonl(table, file)
        else:
            write_csv(table, file, guard=True)
    else:
        _formatted(_content(request, entry.kind, labels, trusted), entry, file)


def _content(request: Request, kind: str, labels: Any, trusted: bool) -> Content:
    """What a format is to hold, with the words of items beside it."""
    from adjudge.data.formats import Content

    project = read_project(request.on, request.project.id)
    judgments = gold = None
    if kind == "judgments":
        judgments = read_judgments(request.on, request.project, trusted=trusted, golds=False)
    elif kind == "gold":
        gold = read_gold(request.on, request.project)
    held = {"judgments": judgments, "gold": gold, "labels": labels}[kind]
    if held is None:
        hints = {"labels": "; a consensus has to be fitted first"}
        raise BadData(
            f"there are no {kind} in {request.project.slug} yet{hints.get(kind, '')}", wanted=kind
        )
    return Content(
        judgments=judgments, gold=gold, labels=labels if kind == "labels" else None,
        scale=project.scale, texts=_texts(project.items),
    )  # fmt: skip


def _texts(items: tuple[Item, ...]) -> Any:
    """The words of items, as the formats take them."""
    import pyarrow as pa

    columns = ("topic", "document", "query", "title", "text", "url")
    return pa.table(
        {name: pa.array([getattr(i, name) for i in items], pa.large_string()) for name in columns}
    )


def _formatted(content: Content, entry: _Export, file: IO[bytes]) -> None:
    from adjudge.data.formats import named as format_named

    chosen = format_named(entry.name.partition("-")[2])
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


def read_archive(path: Path) -> Project:
    """The project in an archive, without its answers, to be made again."""
    try:
        with zipfile.ZipFile(path) as archive:
            about = json.loads(archive.read("project.json"))
            items = _records(archive.read("items.jsonl"))
            golds = _records(archive.read("gold.jsonl"))
            guidelines = archive.read("guidelines.md").decode()
        if about["adjudge"] > _VERSION:
            raise BadData(
                f"is an archive of version {about['adjudge']}; wanted {_VERSION} or older",
                source=path.name,
            )
        scale: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in about["scale"].items()
        }
        return Project(
            name=about["name"],
            scale=Scale(**scale),
            guidelines=guidelines,
            items=tuple(Item(**item) for item in items),
            golds=tuple(GoldEntry(**{**g, "accepted": tuple(g["accepted"])}) for g in golds),
            policy=about["policy"],
            arms=_arms(about, scale),
        )
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError) as fault:
        raise BadData(f"is no archive of a project ({fault})", source=path.name) from None


def _arms(about: dict[str, Any], scale: dict[str, Any]) -> tuple[Arm, ...]:
    """The arms of an archive; older ones have none."""
    from adjudge.collect.experiments.arms import read_arms

    given = about.get("arms") or ()
    return read_arms(given, labels=scale["labels"]) if given else ()


def _records(body: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in body.decode().splitlines() if line.strip()]
