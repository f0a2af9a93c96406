"""One request inside its transaction: the connection, the project, who asks, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import write_log
from adjudge.collect.store.schema import judges, pages
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot
from adjudge.collect.store.statements import Statement
from adjudge.errors import NotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What every function needs that does something for somebody in a project."""

    on: Connection
    project: ProjectSnapshot
    now: float  # seconds since 1970
    actor: str = "system"  # who asks, for the log: a requester by name, or the server itself

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
            "actor": actor,
            "policy_version": self.project.policy_version,
            "figures": figures,
        }

    def log(
        self, event: str, *, judge: int | None = None, actor: str = "system", **figures: Any
    ) -> None:
        """Write one line of the log."""
        write_log(self.on, [self.line(event, judge=judge, actor=actor, **figures)])


_ONE = select(pages).where(pages.c.public == bindparam("public"))
_PAGE = Statement(_ONE)
# Judge, then page, then items: whoever locks them in this order waits for nobody in a circle.
_LOCKED = Statement(_ONE.with_for_update(key_share=True))


@cache
def _set_judge(names: tuple[str, ...]) -> Statement:
    """The statement that sets these columns of a judge's row, made once."""
    values: dict[str, Any] = {name: bindparam(f"new_{name}", type_=judges.c[name].type)
                              for name in names}  # fmt: skip
    return Statement(update(judges).where(judges.c.id == bindparam("which")).values(values))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest(Request):
    """A request of a judge, who is locked against other requests while something may change."""

    judge: StoredRow
    locked: bool = True

    @property
    def policy(self) -> Policy:
        """The policy of the judge's arm."""
        return self.project.policy_of(self.judge.arm)

    def page(self, public: str) -> StoredRow:
        """One of the judge's pages; another's looks as if it were not there."""
        wanted = _LOCKED if self.locked else _PAGE
        page: StoredRow | None = wanted.one_or_none(self.on, {"public": public})
        if page is None or page.judge != self.judge.id:
            raise NotFound("page", public)
        return page

    def set_judge(self, **values: Any) -> None:
        """Set columns of the judge's row."""
        named = {f"new_{name}": value for name, value in values.items()}
        _set_judge(tuple(values)).run(self.on, {"which": self.judge.id, **named})
