"""Who calls a requester's service, with which role, and in which transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import wraps
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from sqlalchemy import ColumnElement, bindparam, select, true
from sqlalchemy.engine import Connection

from adjudge.collect.store.database import Database, StoredRow, utc_now
from adjudge.collect.store.request import Request, edit_gold_alone
from adjudge.collect.store.schema import members, projects, requesters
from adjudge.collect.store.snapshot import ProjectSnapshot, SnapshotCache, load_snapshot
from adjudge.collect.values.requesting import MEMBER_ROLES, MemberRole, Requester, may
from adjudge.errors import NotFound, Refused

_FOUND = (
    select(projects.c.id, projects.c.version, projects.c.owner, members.c.role)
    .outerjoin(
        members,
        (members.c.project == projects.c.id) & (members.c.requester == bindparam("requester")),
    )
    .where(projects.c.slug == bindparam("slug"))
)
_LOCKED = _FOUND.with_for_update(key_share=True, of=projects)
_REQUESTER = select(requesters).where(requesters.c.public == bindparam("public"))


class _FoundProject(NamedTuple):
    """A project that was found: its internal id, its version, and the caller's role in it."""

    id: int
    version: int
    role: MemberRole


@dataclass(frozen=True, slots=True)
class Caller:
    """A requester, or with no ``actor`` the server itself, which may see everything."""

    database: Database
    actor: Requester | None = None
    clock: Callable[[], datetime] = utc_now
    snapshots: SnapshotCache = field(default_factory=SnapshotCache, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Who it is, for the log."""
        return "system" if self.actor is None else self.actor.name

    @property
    def id(self) -> str:
        """By which id the log has them; empty for the server itself."""
        return "" if self.actor is None else self.actor.requester

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self.clock().timestamp()

    def check_admin(self) -> None:
        """Refuse whoever is no admin."""
        if self.actor is not None and not self.actor.admin:
            raise Refused("admin-only", "only an admin may do this")

    def find_id(self, on: Connection) -> int | None:
        """The internal id of the requester whose rows alone may be seen; None for all."""
        if self.actor is None or self.actor.admin:
            return None
        return int(find_requester(on, self.actor.requester).id)

    def sees(self, on: Connection) -> ColumnElement[bool]:
        """The condition on projects that the caller may see them."""
        requester = self.find_id(on)
        if requester is None:
            return true()
        theirs = select(members.c.project).where(members.c.requester == requester)
        return (projects.c.owner == requester) | projects.c.id.in_(theirs)

    def find(
        self, on: Connection, slug: str, least: MemberRole, *, lock: bool = False
    ) -> _FoundProject:
        """A project in which the caller has at least a role.

        One that they may not see is ``NotFound``, as if it were not there. Refused: ``role``.
        """
        requester = self.find_id(on)
        statement = _LOCKED if lock else _FOUND
        found = on.execute(statement, {"slug": slug, "requester": requester}).one_or_none()
        owns = requester is None or (found is not None and found.owner == requester)
        if found is None or not (owns or found.role):
            raise NotFound("project", slug)
        role: MemberRole = "owner" if owns else found.role
        check_role(role, least)
        return _FoundProject(found.id, found.version, role)

    @contextmanager
    def reading(self, slug: str, *, least: MemberRole = "viewer") -> Iterator[Request]:
        """A request that only reads."""
        with self.database.read() as on:
            found = self.find(on, slug, least)
            snapshot = self.snapshots.get(on, found.id, found.version)
            yield self._request(on, snapshot)

    def open(
        self, on: Connection, slug: str, *, least: MemberRole = "manager", lock: bool = False
    ) -> Request:
        """A request that changes a project, which with ``lock`` nobody else changes meanwhile."""
        snapshot = load_snapshot(on, self.find(on, slug, least, lock=lock).id)
        return self._request(on, snapshot)

    def _request(self, on: Connection, project: ProjectSnapshot) -> Request:
        now = self.now()
        return Request(on=on, project=project, now=now, actor=self.name, actor_id=self.id)


@dataclass(frozen=True, slots=True)
class Service:
    """What a caller can do about one thing.

    Methods marked by the decorators below are given a request, or a connection, where their
    callers give a project's slug, or nothing. Each runs in one transaction of its own.
    """

    caller: Caller


_Owner = TypeVar("_Owner", bound=Service)
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_OnProject = Callable[Concatenate[_Owner, Request, _Given], _Result]
_BySlug = Callable[Concatenate[_Owner, str, _Given], _Result]
_OnStore = Callable[Concatenate[_Owner, Connection, _Given], _Result]
_Plain = Callable[Concatenate[_Owner, _Given], _Result]


def reads(
    least: MemberRole = "viewer",
) -> Callable[[_OnProject[_Owner, _Given, _Result]], _BySlug[_Owner, _Given, _Result]]:
    """Let a method read a project in which the caller has at least a role."""

    def decorate(method: _OnProject[_Owner, _Given, _Result]) -> _BySlug[_Owner, _Given, _Result]:
        @wraps(method)
        def call(
            self: _Owner, slug: str, /, *args: _Given.args, **kwargs: _Given.kwargs
        ) -> _Result:
            with self.caller.reading(slug, least=least) as request:
                return method(self, request, *args, **kwargs)

        return call

    return decorate


def writes(
    least: MemberRole = "manager", *, lock: bool = False, alone: bool = False
) -> Callable[[_OnProject[_Owner, _Given, _Result]], _BySlug[_Owner, _Given, _Result]]:
    """Let a method change a project in which the caller has at least a role.

    It may run more than once, where a deadlock had to be broken. ``lock``: nobody else changes the
    project meanwhile. ``alone``: no judge answers either, since gold changes.
    """

    def decorate(method: _OnProject[_Owner, _Given, _Result]) -> _BySlug[_Owner, _Given, _Result]:
        @wraps(method)
        def call(
            self: _Owner, slug: str, /, *args: _Given.args, **kwargs: _Given.kwargs
        ) -> _Result:
            def work(on: Connection) -> _Result:
                if alone:
                    edit_gold_alone(on)
                request = self.caller.open(on, slug, least=least, lock=lock or alone)
                return method(self, request, *args, **kwargs)

            return self.caller.database.write(work)

        return call

    return decorate


def reads_store(method: _OnStore[_Owner, _Given, _Result]) -> _Plain[_Owner, _Given, _Result]:
    """Let a method read the store, whatever the project."""

    @wraps(method)
    def call(self: _Owner, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with self.caller.database.read() as on:
            return method(self, on, *args, **kwargs)

    return call


def writes_store(method: _OnStore[_Owner, _Given, _Result]) -> _Plain[_Owner, _Given, _Result]:
    """Let a method change the store, whatever the project; it may run more than once."""

    @wraps(method)
    def call(self: _Owner, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        return self.caller.database.write(lambda on: method(self, on, *args, **kwargs))

    return call


def check_role(role: MemberRole, least: MemberRole) -> None:
    """Refuse a role that is less than another. Refused: ``role``."""
    if not may(role, least):
        enough = " or ".join(MEMBER_ROLES[MEMBER_ROLES.index(least) :])
        raise Refused("role", f"your role in this project is {role}; this needs {enough}")


def find_requester(on: Connection, public: str) -> StoredRow:
    """A requester's row by public id."""
    row: StoredRow | None = on.execute(_REQUESTER, {"public": public}).one_or_none()
    if row is None:
        raise NotFound("requester", public)
    return row
