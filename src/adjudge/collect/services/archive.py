"""A complete project in one file, with its answers and its log."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from adjudge.collect.importing import Gathering, ImportLimits, Upload, read_json_text, unpack_all
from adjudge.collect.rules.sent import (
    ApiModel,
    ArmIn,
    GoldIn,
    Key,
    Line,
    Name,
    Passage,
    QuestionIn,
    Short,
)
from adjudge.collect.services._stored_projects import read_project
from adjudge.collect.services.arms import read_arms
from adjudge.collect.services.projects import list_log
from adjudge.collect.store.arrow import read_table
from adjudge.collect.store.request import Request
from adjudge.collect.values.project import Project
from adjudge.collect.values.questions import check_questions
from adjudge.collect.values.texts import clean
from adjudge.data.formats.writing import write_csv
from adjudge.data.scale import MOST_LABELS, Scale
from adjudge.errors import BadData

_VERSION = 1  # of the archive
_PARTS = ("project.json", "guidelines.md", "items.jsonl", "gold.jsonl")  # what is read again
_ODD = re.compile(r"\\[bfru]|[\x00-\x1f\x7f]")  # of a line that may have control characters
_NAME: TypeAdapter[str] = TypeAdapter(Name)
_LOG = 5_000  # lines of the log read at a time


class _Held(ApiModel):
    """What archives of later versions hold beyond this is left out."""

    model_config = ConfigDict(extra="ignore")


class _ScaleIn(_Held):
    """A scale, part by part."""

    labels: list[Line] = Field(min_length=1, max_length=MOST_LABELS)
    ordinal: bool = False
    truths: list[Line] = Field(default=[], max_length=MOST_LABELS)
    truth_of: list[int] = Field(default=[], max_length=MOST_LABELS)
    relevant: list[Line] = Field(default=[], max_length=MOST_LABELS)
    grades: list[Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default=[], max_length=MOST_LABELS
    )

    def value(self) -> Scale:
        """Return the scale."""
        parts: dict[str, Any] = dict(self)
        lists = {name: tuple(part) for name, part in parts.items() if name != "ordinal"}
        return Scale(**lists, ordinal=self.ordinal)


class _GoldIn(GoldIn):
    """A gold, whose reasons may be as long as files give them."""

    reason: Passage = ""
    reasons: dict[Line, Passage] = Field(default={}, max_length=MOST_LABELS)


class _AboutIn(_Held):
    """What ``project.json`` holds; older archives have neither arms nor questions nor colours."""

    adjudge: int
    name: Key
    scale: _ScaleIn
    policy: dict[str, Any]
    arms: list[ArmIn] = Field(default=[], max_length=50)
    questions: list[QuestionIn] = Field(default=[], max_length=20)
    colours: dict[Line, Short] = Field(default={}, max_length=MOST_LABELS)


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
        about = _AboutIn(**_clean(read_json_text(parts["project.json"].decode())))
        if about.adjudge > _VERSION:
            problem = f"is an archive of version {about.adjudge}; expected {_VERSION} or older"
            raise BadData(problem, source=source, code="newer-archive", value=about.adjudge)
        scale = about.scale.value()
        gathering = Gathering(limits=limits, scale=None, verbatim=True)
        for line, held in _records(parts["items.jsonl"]):
            right = held.pop("beside", None)  # those of older archives have none
            _NAME.validate_python(held.get("name"))
            gathering.add(held, source=f"{source}/items.jsonl", line=line, other=right)
        return Project(
            name=about.name,
            scale=scale,
            guidelines=clean(parts["guidelines.md"].decode()),
            items=gathering.preview("archive").check().items,
            golds=tuple(_GoldIn(**held).value() for _, held in _records(parts["gold.jsonl"])),
            policy=about.policy,
            arms=read_arms([arm.given() for arm in about.arms], labels=scale.labels)
            if about.arms
            else (),
            questions=check_questions([one.value() for one in about.questions]),
            colours=about.colours,
        )
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError) as fault:
        reason: object = fault
        if isinstance(fault, ValidationError):
            first = fault.errors()[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        problem = f"is not an archive of a project ({reason})"
        raise BadData(problem, source=source, code="bad-archive") from None


def _records(body: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON Lines, each with its line."""
    for line, text in enumerate(body.decode().split("\n"), start=1):
        if text.strip():
            held = dict(read_json_text(text, line=line))
            yield line, _clean(held) if _ODD.search(text) else held


def _clean(held: Any) -> Any:
    """What JSON holds, with every text as it can be stored; earlier versions stored any."""
    if isinstance(held, str):
        return clean(held)
    if isinstance(held, list):
        return [_clean(part) for part in held]
    if isinstance(held, dict):
        return {clean(name): _clean(part) for name, part in held.items()}
    return held
