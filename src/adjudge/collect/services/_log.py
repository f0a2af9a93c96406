"""The log of a project: read, and held against how judges stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from adjudge.collect.judging.refreshers import counts_of as refresher_counts
from adjudge.collect.rules.replay import LogReplay
from adjudge.collect.rules.routing import assign_arm
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request, record_of, to_time
from adjudge.collect.store.schema import judges, log
from adjudge.collect.values.requesting import LogEntry

_LOG = select(log, judges.c.public).outerjoin(judges, judges.c.id == log.c.judge)


def list_log(
    request: Request,
    *,
    before: int | None = None,
    limit: int = 100,
    judge: str | None = None,
    event: str | None = None,
) -> list[LogEntry]:
    """Lines of the log, newest first."""
    wanted = _LOG.where(log.c.project == request.project.id)
    wanted = wanted.order_by(log.c.id.desc()).limit(limit)
    if before is not None:
        wanted = wanted.where(log.c.id < before)
    if judge is not None:
        wanted = wanted.where(judges.c.public == judge)
    if event is not None:
        wanted = wanted.where(log.c.event == event)
    return [_entry_of(row) for row in request.on.execute(wanted)]


def _entry_of(row: StoredRow) -> LogEntry:
    """A line of the log from a stored row."""
    return from_row(LogEntry, row, entry=row.id, time=to_time(row.time), judge=row.public)


def audit(request: Request) -> list[str]:
    """Where the stored state of judges, or their arm, differs from a replay of the log."""
    wanted = _LOG.where(log.c.project == request.project.id).order_by(log.c.id)
    entries = [_entry_of(row) for row in request.on.execute(wanted)]
    replay = LogReplay().play(entries)
    expected, faults = replay.records, list(replay.faults)
    done = refresher_counts(request.on, request.project.id)
    if done != replay.refreshers:
        faults.append(f"refreshers: stored {done}, by the log {replay.refreshers}")
    stored = request.on.execute(
        select(judges).where(judges.c.project == request.project.id).order_by(judges.c.id)
    )
    for judge in stored:
        found = record_of(judge)
        if found != expected.get(judge.public):
            faults.append(
                f"judge {judge.public}: stored {found}, by the log {expected.get(judge.public)}"
            )
    return [*faults, *_find_misassigned(request.project.seed, entries)]


def _find_misassigned(seed: int, entries: Iterable[LogEntry]) -> list[str]:
    """Judges whose arm is not what the seed and the log say; none if all is well."""
    order: list[str] = []
    faults = []
    for entry in entries:
        figures: Mapping[str, Any] = entry.figures
        if entry.event in ("project-created", "arms-changed"):
            order = list(figures.get("order", figures["arms"]))
        elif entry.event == "arrived" and figures["number"] is not None:  # None: a dry run
            wanted = assign_arm(seed, figures["number"], order)
            if figures["arm"] != wanted:
                faults.append(f"judge {entry.judge}: in arm {figures['arm']}, by seed {wanted}")
    return faults
