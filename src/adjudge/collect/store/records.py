"""A judge's row in the store: reading it under a lock, their record, and lines of the log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import bindparam, insert, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.rules.decisions import Record
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.schema import judges, log, projects
from adjudge.collect.store.statements import Statement
from adjudge.collect.values.judging import Stage
from adjudge.errors import NotFound

_ONE = (
    select(judges, projects.c.version, projects.c.state.label("project_state"))
    .join(projects, projects.c.id == judges.c.project)
    .where(judges.c.public == bindparam("public"))
)
_JUDGE = Statement(_ONE)
_LOCKED = Statement(_ONE.with_for_update(of=judges, key_share=True))
_BY_ID = Statement(
    select(judges, projects.c.version, projects.c.state.label("project_state"))
    .join(projects, projects.c.id == judges.c.project)
    .where(judges.c.id == bindparam("judge"))
)
_SHARED = text("SELECT pg_advisory_xact_lock_shared(7234002)")
_ALONE = text("SELECT pg_advisory_xact_lock(7234002)")
_LINE = ("project", "judge", "time", "event", "actor", "policy_version", "figures")
_LOG = Statement(
    insert(log).values({name: bindparam(name, type_=log.c[name].type) for name in _LINE})
)


def read_judge(on: Connection, public: str) -> StoredRow:
    """A judge's row, as it is now."""
    row: StoredRow | None = _JUDGE.one_or_none(on, {"public": public})
    if row is None:
        raise NotFound("judge", public)
    return row


def lock_judge(on: Connection, public: str) -> StoredRow:
    """A judge's row, which nobody else may change until the transaction ends."""
    if on.dialect.name == "postgresql":
        on.execute(_SHARED)  # gold is not edited meanwhile
    row: StoredRow | None = _LOCKED.one_or_none(on, {"public": public})
    if row is None:
        raise NotFound("judge", public)
    return row


def judge_by_id(on: Connection, judge: int) -> StoredRow:
    """A judge's row by the id inside."""
    row: StoredRow = _BY_ID.one(on, {"judge": judge})
    return row


def edit_gold_alone(on: Connection) -> None:
    """Keep every judge's answers out until the transaction ends: gold is about to change."""
    if on.dialect.name == "postgresql":
        on.execute(_ALONE)


def record_of(judge: StoredRow) -> Record:
    """A judge's record, as decisions take it."""
    return Record(
        stage=cast(Stage, judge.stage),
        seen=judge.seen,
        right=judge.right,
        warned_at=judge.warned_at,
        by_hand=judge.by_hand,
        before=cast(Stage | None, judge.before),
        attempt=judge.attempt,
        training_seen=judge.training_seen,
        training_right=judge.training_right,
    )


def columns_of(record: Record) -> dict[str, Any]:
    """The columns of a judge's row that a record sets."""
    return {
        "stage": record.stage,
        "seen": record.seen,
        "right": record.right,
        "warned_at": record.warned_at,
        "by_hand": record.by_hand,
        "before": record.before,
        "attempt": record.attempt,
        "training_seen": record.training_seen,
        "training_right": record.training_right,
    }


def figures_of(record: Record) -> dict[str, Any]:
    """The figures that a decision on a judge rests on, for the log."""
    return {"stage": record.stage, "seen": record.seen, "right": record.right}


def write_log(on: Connection, lines: Sequence[dict[str, Any]]) -> None:
    """Append lines to the log."""
    _LOG.run_many(on, lines)


def to_time(seconds: float) -> datetime:
    """A stored time as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)
