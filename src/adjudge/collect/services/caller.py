"""Who calls a requester's service, at which database, and when; what they may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypeVar

from sqlalchemy import ColumnElement, bindparam, select, true
from sqlalchemy.engine import Connection

from adjudge.collect.services._requesters import find_requester
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.request import Request, edit_gold_alone
from adjudge.collect.store.schema import members, projects
from adjudge.collect.store.snapshot import SnapshotCache, load_snapshot
from adjudge.collect.values.members import MEMBER_ROLES, MemberRole, may
from adjudge.collect.values.requesting import Requester
from adjudge.errors import NotFound, Refused

_Result = TypeVar("_Result")

_FOUND = (
    select(projects.c.id, projects.c.version, projects.c.owner, members.c.role)
    .outerjoin(
        members,
        (members.c.project == projects.c.id) & (members.c.requester == bindparam("requester")),
    )
    .where(projects.c.slug == bindparam("slug"))
)


_LOCKED = _FOUND.with_for_update(key_share=True, of=projects)


class _FoundProject(NamedTuple):
    """A project that was found: its id inside, its version, and the caller's role in it."""

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

    def now(self) -> float:
        """The time, in seconds since 1970."""
        return self.clock().timestamp()

    def check_admin(self) -> None:
        """Refuse whoever is no admin."""
        if self.actor is not None and not self.actor.admin:
            raise Refused("admin-only", "only an admin may do this")

    def find_id(self, on: Connection) -> int | None:
        """The id inside of the requester whose rows alone may be seen; None for all."""
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
        wanted = _LOCKED if lock else _FOUND
        found = on.execute(wanted, {"slug": slug, "requester": requester}).one_or_none()
        owns = requester is None or (found is not None and found.owner == requester)
        if found is None or not (owns or found.role):
            raise NotFound("project", slug)
        role: MemberRole = "owner" if owns else found.role
        _check_role(role, least)
        return _FoundProject(found.id, found.version, role)

    def open(
        self, on: Connection, slug: str, *, least: MemberRole = "manager", lock: bool = False
    ) -> Request:
        """A request about one project, which with ``lock`` nobody else changes meanwhile."""
        snapshot = load_snapshot(on, self.find(on, slug, least, lock=lock).id)
        return Request(on=on, project=snapshot, now=self.now(), actor=self.name)

    @contextmanager
    def reading(self, slug: str, *, least: MemberRole = "viewer") -> Iterator[Request]:
        """A request that only reads."""
        with self.database.read() as on:
            found = self.find(on, slug, least)
            snapshot = self.snapshots.get(on, found.id, found.version)
            yield Request(on=on, project=snapshot, now=self.now(), actor=self.name)

    def write(
        self,
        slug: str,
        work: Callable[[Request], _Result],
        *,
        least: MemberRole = "manager",
        lock: bool = False,
        alone: bool = False,
    ) -> _Result:
        """What ``work`` gives for a request that changes something.

        ``least``: the role that it takes. ``lock``: nobody else changes the project meanwhile.
        ``alone``: no judge answers either, since gold changes.
        """

        def run(on: Connection) -> _Result:
            if alone:
                edit_gold_alone(on)
            return work(self.open(on, slug, least=least, lock=lock or alone))

        return self.database.write(run)


def _check_role(role: MemberRole, least: MemberRole) -> None:
    """Refuse a role that may not do what asks for at least another. Refused: ``role``."""
    if not may(role, least):
        wanted = " or ".join(MEMBER_ROLES[MEMBER_ROLES.index(least) :])
        raise Refused("role", f"you are a {role} of this project; this takes a {wanted}")
