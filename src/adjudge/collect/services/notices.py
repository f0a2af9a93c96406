"""Webhooks and mail about a project, for the requester and for who sends them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select

from adjudge.collect.managing.notices import (
    Delivery,
    Notifications,
    Parcel,
    claim,
    gather,
    list_deliveries,
    put_test,
    read_notifications,
    set_notifications,
    settle,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.schema import projects
from adjudge.collect.store.settings import find_settings


@dataclass(frozen=True, slots=True)
class NoticeService:
    """Who is told what, and the outbox from which they are told."""

    caller: Caller

    def get(self, slug: str) -> Notifications:
        """Who is told what of a project, with the secret that signs."""
        with self.caller.reading(slug, least="manager") as request:
            return read_notifications(request)

    def set(
        self, slug: str, *, webhook: str, emails: Sequence[str], events: Sequence[str], base: str
    ) -> Notifications:
        """Change who is told what. Refused: ``bad-form``."""
        return self.caller.write(
            slug,
            lambda request: set_notifications(
                request, webhook=webhook, emails=emails, events=events, base=base
            ),
            lock=True,
        )

    def test(self, slug: str) -> int:
        """Send a message by every way; how many."""
        return self.caller.write(slug, put_test)

    def get_deliveries(self, slug: str) -> list[Delivery]:
        """The newest messages of a project."""
        with self.caller.reading(slug, least="manager") as request:
            return list_deliveries(request)

    def find_told(self) -> list[str]:
        """The projects of which somebody is told something."""
        with self.caller.database.read() as on:
            kept = find_settings(on, "notify:")
            ids = [
                int(name.partition(":")[2])
                for name, held in kept.items()
                if held["webhook"] or held["emails"]
            ]
            found = on.execute(select(projects.c.slug).where(projects.c.id.in_(ids)))
            return list(found.scalars())

    def gather(self, slug: str) -> int:
        """Put what has happened since the last look into the outbox."""
        return self.caller.write(slug, gather, lock=True)

    def claim(self) -> list[Parcel]:
        """The messages that are to be sent now, which nobody else sends meanwhile."""
        now = self.caller.now()
        return self.caller.database.write(lambda on: claim(on, now))

    def settle(self, parcel: Parcel, problem: str) -> None:
        """Note how a sending went."""
        now = self.caller.now()
        self.caller.database.write(lambda on: settle(on, parcel, problem, now))
