"""One request inside its transaction: who asks, of which project, when; a judge's row; the log."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from sqlalchemy import bindparam, insert, select, text, update
from sqlalchemy.engine import Connection

from adjudge.collect.rules.decisions import Record
from adjudge.collect.rules.endings import BUDGET_SPENT
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.schema import fits, judges, log, pages, projects
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot
from adjudge.errors import NotFound

_JUDGES = select(judges, projects.c.version, projects.c.state.label("project_state")).join(
    projects, projects.c.id == judges.c.project
)
_BY_ID = _JUDGES.where(judges.c.id == bindparam("judge"))
_JUDGE = _JUDGES.where(judges.c.public == bindparam("public"))
_LOCKED_JUDGE = _JUDGE.with_for_update(of=judges, key_share=True)
_SHARED = text("SELECT pg_advisory_xact_lock_shared(7234002)")
_ALONE = text("SELECT pg_advisory_xact_lock(7234002)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every function needs that does something for somebody in a project."""

    on: Connection
    project: ProjectSnapshot
    now: float  # seconds since 1970
    actor: str = "system"  # who asks: a requester by name, or the server itself
    actor_id: str = ""  # by which the log has a requester: names may be alike, or change

    def reloaded(self) -> Self:
        """The same request with the project as it is stored now, after a change."""
        return replace(self, project=load_snapshot(self.on, self.project.id))

    def line(
        self, event: str, *, judge: int | None = None, actor: str = "system", **figures: Any
    ) -> dict[str, Any]:
        """One line of the log, to be written by ``write_log``."""
        return {
            "project": self.project.id,
            "judge": judge,
            "time": self.now,
            "event": event,
            "actor": self.actor_id if self.actor_id and actor == self.actor else actor,
            "policy_version": self.project.policy_version,
            "figures": figures,
        }

    def log(
        self, event: str, *, judge: int | None = None, actor: str = "system", **figures: Any
    ) -> None:
        """Write one line of the log."""
        write_log(self.on, [self.line(event, judge=judge, actor=actor, **figures)])


_PAGE = select(pages).where(pages.c.public == bindparam("public"))
# Judge, then page, then items: whoever locks them in this order waits for nobody in a circle.
_LOCKED_PAGE = _PAGE.with_for_update(key_share=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest(Request):
    """A request of a judge, who is locked against other requests while something may change."""

    judge: StoredRow
    locked: bool = True

    @property
    def policy(self) -> Policy:
        """The policy of the judge's arm."""
        return self.project.policy_of(self.judge.arm)

    @property
    def in_arm(self) -> dict[str, Any]:
        """What a statement has to know of the judge's arm; nothing where arms share a number."""
        if not self.policy.judgments_by_arm:
            return {}
        return {"arm": self.judge.arm, "limit": self.policy.arm_limit}

    @property
    def ended_untrained(self) -> bool:
        """Whether the judge came when the budget was spent.

        Whoever goes on later has done the training.
        """
        spent = self.judge.stage == "finished" and self.judge.reason == BUDGET_SPENT
        pairs = self.project.training_pairs(self.judge.arm)
        return bool(spent and self.judge.training_seen < pairs)

    def renewed(self) -> Self:
        """The same request with the judge as stored now, after a change."""
        return replace(self, judge=self.on.execute(_BY_ID, {"judge": self.judge.id}).one())

    def page(self, public: str) -> StoredRow:
        """One of the judge's pages; another's looks as if it were not there."""
        statement = _LOCKED_PAGE if self.locked else _PAGE
        page: StoredRow | None = self.on.execute(statement, {"public": public}).one_or_none()
        if page is None or page.judge != self.judge.id:
            raise NotFound("page", public)
        return page

    def set_judge(self, **values: Any) -> None:
        """Set columns of the judge's row."""
        self.on.execute(update(judges).where(judges.c.id == self.judge.id).values(values))


def read_judge(on: Connection, public: str) -> StoredRow:
    """A judge's row, as it is now."""
    return _found(on.execute(_JUDGE, {"public": public}).one_or_none(), public)


def lock_judge(on: Connection, public: str) -> StoredRow:
    """A judge's row, which nobody else may change until the transaction ends."""
    if on.dialect.name == "postgresql":
        on.execute(_SHARED)  # gold is not edited meanwhile
    return _found(on.execute(_LOCKED_JUDGE, {"public": public}).one_or_none(), public)


def _found(row: StoredRow | None, public: str) -> StoredRow:
    if row is None:
        raise NotFound("judge", public)
    return row


def edit_gold_alone(on: Connection) -> None:
    """Keep every judge's answers out until the transaction ends: gold is about to change."""
    if on.dialect.name == "postgresql":
        on.execute(_ALONE)


def record_of(judge: StoredRow) -> Record:
    """A judge's record, as decisions take it."""
    return from_row(Record, judge)


def columns_of(record: Record) -> dict[str, Any]:
    """The columns of a judge's row that a record sets."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def outdate_fits(on: Connection, project: int) -> None:
    """Ask for every fit of a project again: what it rests on has changed."""
    on.execute(update(fits).where(fits.c.project == project).values(asked=time.time()))


def write_log(on: Connection, lines: Sequence[dict[str, Any]]) -> None:
    """Append lines to the log."""
    if lines:
        on.execute(insert(log), lines)
