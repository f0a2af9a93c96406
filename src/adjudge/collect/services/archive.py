"""A whole project in one file: written with its answers and its log, and read to be made again."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter, ValidationError

from adjudge.collect.importing import Gathering, ImportLimits, Upload, read_json_text, unpack_all
from adjudge.collect.services._stored_projects import read_project
from adjudge.collect.services.arms import read_arms
from adjudge.collect.services.projects import list_log
from adjudge.collect.store.arrow import read_table
from adjudge.collect.store.request import Request
from adjudge.collect.values.project import GoldEntry, Project
from adjudge.collect.values.questions import read_questions
from adjudge.data.formats.writing import write_csv
from adjudge.data.scale import Scale
from adjudge.errors import BadData

_VERSION = 1  # of the archive
_PARTS = ("project.json", "guidelines.md", "items.jsonl", "gold.jsonl")  # what is read again
_LOG = 5_000  # lines of the log read at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class _About:
    """What ``project.json`` holds; older archives have neither arms nor questions nor colours."""

    adjudge: int
    name: str
    scale: Scale
    policy: dict[str, object]
    arms: tuple[dict[str, Any], ...] = ()
    questions: tuple[dict[str, Any], ...] = ()
    colours: dict[str, str] = field(default_factory=dict)


_ABOUT, _GOLD = TypeAdapter(_About), TypeAdapter(GoldEntry)


def write_archive(request: Request, file: IO[bytes]) -> None:
    """Guidelines, scale, policy, arms, items with gold, every answer and the log, in one zip."""
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
        about = _ABOUT.validate_python(read_json_text(parts["project.json"].decode()))
        if about.adjudge > _VERSION:
            problem = f"is an archive of version {about.adjudge}; wanted {_VERSION} or older"
            raise BadData(problem, source=source, code="newer-archive", value=about.adjudge)
        gathering = Gathering(limits=limits, scale=None)
        for line, held in _records(parts["items.jsonl"]):
            beside = held.pop("beside", None)  # those of older archives have none
            gathering.add(held, source=f"{source}/items.jsonl", line=line, beside=beside)
        return Project(
            name=about.name,
            scale=about.scale,
            guidelines=parts["guidelines.md"].decode(),
            items=gathering.preview("archive").check().items,
            golds=tuple(_GOLD.validate_python(held) for _, held in _records(parts["gold.jsonl"])),
            policy=about.policy,
            arms=read_arms(about.arms, labels=about.scale.labels) if about.arms else (),
            questions=read_questions(about.questions),
            colours=about.colours,
        )
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError) as fault:
        reason: object = fault
        if isinstance(fault, ValidationError):
            first = fault.errors()[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        problem = f"is no archive of a project ({reason})"
        raise BadData(problem, source=source, code="bad-archive") from None


def _records(body: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, text in enumerate(body.decode().split("\n"), start=1):
        if text.strip():
            yield line, dict(read_json_text(text, line=line))
