"""Runs a replication part by part; parts that are done are kept, so a stopped run goes on."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adjudge.data.formats.writing import written_whole
from adjudge.errors import BadSetting
from adjudge.models.model import Progress, Step
from adjudge.replications._data import measure_peak
from adjudge.replications.replication import Replication, ReplicationPart, ReplicationResult, Setup

_FOLDER = ".parts"
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A finished part: its result, what it took, and whether an earlier run had done it."""

    part: str
    result: Any
    kept: bool
    seconds: float
    busy: float  # seconds of all cores together
    memory: float  # bytes


def run(
    replication: Replication,
    setup: Setup,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    tell: Callable[[Done], None] | None = None,
) -> ReplicationResult:
    """The result of a paper; with a folder, parts are kept in it and those there are not redone."""
    parts = replication.parts(setup)
    _check(replication.name, parts)
    done: dict[str, Done] = {}
    for at, part in enumerate(parts):
        place = None if folder is None else folder / _FOLDER / replication.name / _file_name(part)
        report = _inside(replication.name, part.name, at, len(parts), progress)
        if report is not None:
            report(Step(part.name, 0, 0))
        done[part.name] = found = _kept(part, place) or _worked(part, place, report)
        if tell is not None:
            tell(found)
    if progress is not None:
        progress(Step(replication.name, len(parts), len(parts)))
    result = replication.gather(setup, {name: found.result for name, found in done.items()})
    return replace(
        result,
        paper=replication.name,
        title=replication.title,
        source=replication.source,
        seconds=sum(found.seconds for found in done.values()),
        busy=sum(found.busy for found in done.values()),
        memory=max((found.memory for found in done.values()), default=float("nan")),
        parts={name: found.seconds for name, found in done.items()},
    )


def _file_name(part: ReplicationPart) -> str:
    """The name under which a part is kept: it changes with its settings and with the version."""
    from adjudge import __version__

    key = json.dumps([__version__, part.name, part.settings], sort_keys=True)
    return f"{part.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.json"


def forget(paper: str, folder: Path) -> None:
    """Throw away what a folder keeps of a paper's parts."""
    for file in (folder / _FOLDER / paper).glob("*.json"):
        file.unlink()


def _check(paper: str, parts: Any) -> None:
    names = [part.name for part in parts]
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            raise BadSetting(f"a part of {paper}", name, "a name of its own: letters, digits, -_.")


def _inside(
    paper: str, name: str, at: int, total: int, progress: Progress | None
) -> Progress | None:
    """A progress of the parts, with the steps inside a part as its note."""
    if progress is None:
        return None
    outer = progress

    def report(step: Step) -> None:
        inside = f" {step.done:,}/{step.total:,}" if step.total else ""
        outer(Step(paper, at, total, f"{name}{inside}"))

    return report


def _kept(part: ReplicationPart, place: Path | None) -> Done | None:
    """What an earlier run left of a part; nothing where the file is not whole JSON of ours."""
    if place is None or not place.is_file():
        return None
    try:
        held = json.loads(place.read_text(encoding="utf-8"))
        took = {name: float(held[name]) for name in ("seconds", "busy", "memory")}
        return Done(part=part.name, result=held["result"], kept=True, **took)
    except (ValueError, KeyError, TypeError):
        return None


def _worked(part: ReplicationPart, place: Path | None, progress: Progress | None) -> Done:
    """The part run now, and kept."""
    _forget_peak()
    start, worked = time.perf_counter(), time.process_time()
    result = part.work(progress)
    took = {
        "seconds": time.perf_counter() - start,
        "busy": time.process_time() - worked,
        "memory": measure_peak(),
    }
    held = {"part": part.name, "settings": part.settings, **took, "result": result}
    text = json.dumps(held, indent=1)
    if place is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(place) as file:
            file.write(text.encode())
    # Through JSON and back, so that a run that was stopped and one that was not are the same.
    back = json.loads(text)
    return Done(part=part.name, result=back["result"], kept=False, **took)


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return
