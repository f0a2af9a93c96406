"""A project written into one archive, which ``archive`` reads back."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from dataclasses import asdict
from typing import IO, Any

from adjudge.collect.services._log import list_log
from adjudge.collect.services._stored_projects import read_project
from adjudge.collect.services.archive import LOG, VERSION
from adjudge.collect.store.arrow import read_table
from adjudge.collect.store.request import Request


def write_archive(request: Request, file: IO[bytes]) -> None:
    """Guidelines, scale, policy, arms, items with gold, every answer and the log, in one zip."""
    from adjudge.data.formats.writing import write_csv

    project = read_project(request.on, request.project.id)
    about = {
        "adjudge": VERSION,
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
            while entries := list_log(request, before=before, limit=LOG):
                part.write(_lines(asdict(entry) for entry in entries).encode())
                before = entries[-1].entry


def _lines(records: Any) -> str:
    return "".join(json.dumps(r, ensure_ascii=False, default=str) + "\n" for r in records)
