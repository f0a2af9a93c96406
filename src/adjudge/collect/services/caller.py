"""Who calls a requester's service, at which database, and when; what they may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from sqlalchemy import ColumnElement, select, true
from sqlalchemy.engine import Connection

from adjudge.collect.managing.accounts import find_requester
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.records import edit_gold_alone
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import projects
from adjudge.collect.store.snapshot import SnapshotCache, load_snapshot
from adjudge.collect.values.requesting import Requester
from adjudge.errors import NotFound, Refused

_Result = TypeVar("_Result")


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
        return true() if requester is None else projects.c.owner == requester

    def open(self, on: Connection, slug: str, *, lock: bool = False) -> Request:
        """A request about one project, which with ``lock`` nobody else changes meanwhile.

        A project that the caller may not see is ``NotFound``, as if it were not there.
        """
        wanted = select(projects.c.id).where(projects.c.slug == slug, self.sees(on))
        if lock:
            wanted = wanted.with_for_update(key_share=True)
        found = on.execute(wanted).scalar()
        if found is None:
            raise NotFound("project", slug)
        snapshot = load_snapshot(on, found)
        return Request(on=on, project=snapshot, now=self.now(), actor=self.name)

    @contextmanager
    def reading(self, slug: str) -> Iterator[Request]:
        """A request that only reads."""
        with self.database.read() as on:
            wanted = select(projects.c.id, projects.c.version)
            found = on.execute(wanted.where(projects.c.slug == slug, self.sees(on))).one_or_none()
            if found is None:
                raise NotFound("project", slug)
            snapshot = self.snapshots.get(on, found.id, found.version)
            yield Request(on=on, project=snapshot, now=self.now(), actor=self.name)

    def write(
        self,
        slug: str,
        work: Callable[[Request], _Result],
        *,
        lock: bool = False,
        alone: bool = False,
    ) -> _Result:
        """What ``work`` gives for a request that changes something.

        ``lock``: nobody else changes the project meanwhile. ``alone``: no judge answers either,
        since gold changes.
        """

        def run(on: Connection) -> _Result:
            if alone:
                edit_gold_alone(on)
            return work(self.open(on, slug, lock=lock or alone))

        return self.database.write(run)
