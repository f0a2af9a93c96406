"""Webhooks and mail about a project: who gets them, and the outbox from which they are sent.

Nothing is sent in a request of a judge. What has happened is read from the log and the counters
afterwards, in one transaction with the place that was read to, and put into the outbox; from there
it is sent, and tried again until it has arrived. So a crash neither loses nor repeats an event; a
message may arrive twice only if the crash falls between its sending and the note of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from sqlalchemy import func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.judging.views import read_budget
from adjudge.collect.services.caller import Service, reads, reads_store, writes, writes_store
from adjudge.collect.services.judges import invited_names, name_of_judge
from adjudge.collect.store.database import from_row, to_time
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judges, log, outbox, projects
from adjudge.collect.store.settings import (
    find_settings,
    keep_setting,
    notified_name,
    notify_name,
    read_setting,
)
from adjudge.collect.values.ids import make_id
from adjudge.errors import Refused

EVENTS: dict[str, str] = {
    "done": "Every item is judged",
    "judge-blocked": "A judge was blocked",
    "contest": "A judge disagrees with a gold",
    "budget-reached": "The budget is spent, or in judges' hands",
}
_LOGGED = {
    "blocked": "judge-blocked",
    "blocked-at-finish": "judge-blocked",
    "blocked-by-hand": "judge-blocked",
    "contested": "contest",
}
_MOST_ADDRESSES = 20
_MOST_TESTS = 60  # messages to try ways out, of one requester in an hour: it is no mail machine
_SHOWN = 50  # newest messages of a project
_AT_ONCE_EACH = 5  # messages of one project that are sent before others' turn
_MAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_MOST_TRIES = 12
_LONGEST_WAIT = 3_600.0  # seconds between two tries
_CLAIMED = 120.0  # seconds that a message is left to who is sending it


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Who is told what of a project."""

    webhook: str = ""
    secret: str = ""  # signs what the webhook gets
    emails: tuple[str, ...] = ()
    events: tuple[str, ...] = tuple(EVENTS)
    base: str = ""  # the address of the project's page, as its requester sees it

    @property
    def ways(self) -> list[tuple[str, str]]:
        """Every way out, and its address; none where nobody is notified."""
        hook = [("webhook", self.webhook)] if self.webhook else []
        return [*hook, *(("email", address) for address in self.emails)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message of the outbox."""

    delivery: str  # random public id, the same at every try
    event: str
    way: str  # "webhook" or "email"
    target: str
    made: datetime
    tries: int
    state: Literal["waiting", "sent", "given up"]
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """A message that is to be sent now."""

    delivery: str
    way: str
    target: str
    body: dict[str, Any]
    secret: str
    tries: int


@dataclass(frozen=True, slots=True)
class NoticeService(Service):
    """Who is notified of what, and the outbox from which messages are sent."""

    @reads("manager")
    def get(self, request: Request) -> Notifications:
        """Who is notified of what in a project, with the secret that signs."""
        return _read_notifications(request)

    @writes(lock=True)
    def set(
        self,
        request: Request,
        *,
        webhook: str,
        emails: Sequence[str],
        events: Sequence[str],
        base: str,
    ) -> Notifications:
        """Change who is notified of what from now on. Refused: ``bad-form``."""
        _check(webhook, emails, events)
        before = _read_notifications(request)
        chosen = Notifications(
            webhook=webhook,
            secret=before.secret or secrets.token_hex(32),
            emails=tuple(dict.fromkeys(emails)),
            events=tuple(event for event in EVENTS if event in events),
            base=base,
        )
        keep_setting(request.on, notify_name(request.project.id), asdict(chosen))
        if not before.ways:
            keep_setting(request.on, notified_name(request.project.id), _read_standing(request))
        request.log("notifications-changed", actor=request.actor, events=list(chosen.events))
        return chosen

    @writes()
    def test(self, request: Request) -> int:
        """Put a message by every way into the outbox, to see whether they arrive; how many.

        Refused: ``bad-form``, ``too-many``.
        """
        chosen = _read_notifications(request)
        if not chosen.ways:
            raise Refused("bad-form", "there is neither a webhook nor a mail address to try")
        owner = select(projects.c.owner).where(projects.c.id == request.project.id)
        tried = (
            select(func.count())
            .select_from(outbox.join(projects, projects.c.id == outbox.c.project))
            .where(projects.c.owner == owner.scalar_subquery(), outbox.c.event == "test")
            .where(outbox.c.made > request.now - 3_600)
        )
        if request.on.execute(tried).scalar_one() >= _MOST_TESTS:
            raise Refused("too-many", "many messages were sent to try; please wait an hour")
        return _put(request, chosen, "test", {})

    @reads("manager")
    def get_deliveries(self, request: Request) -> list[Delivery]:
        """The newest messages of a project."""
        ours = select(outbox).where(outbox.c.project == request.project.id)
        return [
            from_row(
                Delivery,
                row,
                delivery=row.public,
                state="sent" if row.sent else "given up" if row.due is None else "waiting",
            )
            for row in request.on.execute(ours.order_by(outbox.c.id.desc()).limit(_SHOWN))
        ]

    @reads_store
    def find_told(self, on: Connection) -> list[str]:
        """The projects of which somebody is notified."""
        ids = [
            int(name.partition(":")[2])
            for name, held in find_settings(on, "notify:").items()
            if held["webhook"] or held["emails"]
        ]
        return list(on.execute(select(projects.c.slug).where(projects.c.id.in_(ids))).scalars())

    @writes(lock=True)
    def gather(self, request: Request) -> int:
        """Put what has happened since the last look into the outbox; how many messages."""
        chosen = _read_notifications(request)
        if not chosen.ways:
            return 0
        name = notified_name(request.project.id)
        before = read_setting(request.on, name) or {"log": 0, "done": False, "budget": False}
        now = _read_standing(request)
        if now == before:
            return 0
        keep_setting(request.on, name, now)
        happened = _read_log(request, before["log"], now["log"])
        happened += [("done", {})] if now["done"] and not before["done"] else []
        happened += [("budget-reached", {})] if now["budget"] and not before["budget"] else []
        return sum(
            _put(request, chosen, event, figures)
            for event, figures in happened
            if event in chosen.events
        )

    @writes_store
    def claim(self, on: Connection) -> list[Parcel]:
        """The messages that are due, a few of each project, kept from other processes a while."""
        return _claim(on, self.caller.now())

    @writes_store
    def settle(self, on: Connection, parcel: Parcel, problem: str) -> None:
        """Note how a sending went: arrived, to be tried again later, or given up."""
        now = self.caller.now()
        values: dict[str, Any] = {"problem": problem[:500], "due": None}
        if not problem:
            values["sent"] = now
        elif parcel.tries < _MOST_TRIES:
            values["due"] = now + min(10.0 * 2**parcel.tries, _LONGEST_WAIT)
        on.execute(update(outbox).where(outbox.c.public == parcel.delivery).values(**values))


def _read_notifications(request: Request) -> Notifications:
    """Who is told what."""
    kept = read_setting(request.on, notify_name(request.project.id)) or {}
    held = {**kept, **{name: tuple(kept[name]) for name in ("emails", "events") if name in kept}}
    return Notifications(**held)


def _check(webhook: str, emails: Sequence[str], events: Sequence[str]) -> None:
    if webhook and not _is_address(webhook):
        wanted = "an address such as https://example.com/hook, without a name in it"
        raise Refused("bad-form", f"webhook = {webhook[:200]!r}: wanted {wanted}")
    if len(emails) > _MOST_ADDRESSES:
        raise Refused("bad-form", f"{len(emails)} addresses; wanted at most {_MOST_ADDRESSES}")
    for address in emails:
        if len(address) > 254 or not _MAIL.fullmatch(address):
            raise Refused("bad-form", f"{address[:200]!r} is no mail address")
    for event in events:
        if event not in EVENTS:
            raise Refused("bad-form", f"event = {event!r}: wanted {', '.join(EVENTS)}")


def _is_address(webhook: str) -> bool:
    """Whether it is an address on the web, with a host and without a name in it."""
    if not webhook.isascii() or not webhook.isprintable() or " " in webhook:
        return False
    try:
        parts = urlsplit(webhook)
        named = bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:  # brackets that are no address of version 6, a port that is none
        return False
    return parts.scheme in ("http", "https") and named


def _read_standing(request: Request) -> dict[str, Any]:
    """How far the log goes, and whether the project is done and its budget spent."""
    newest = request.on.execute(
        select(func.max(log.c.id)).where(log.c.project == request.project.id)
    ).scalar()
    work = (items.c.project == request.project.id, items.c.gold.is_(False))
    states = set(request.on.execute(select(items.c.state).where(*work).distinct()).scalars())
    budget = read_budget(request)
    done = "closed" in states and "open" not in states
    return {"log": newest or 0, "done": done, "budget": budget is not None and budget.spent}


def _read_log(request: Request, after: int, until: int) -> list[tuple[str, dict[str, Any]]]:
    rows = request.on.execute(
        select(log.c.event, log.c.figures, judges)
        .join(judges, judges.c.id == log.c.judge)
        .where(
            log.c.project == request.project.id,
            log.c.id > after,
            log.c.id <= until,
            log.c.event.in_(list(_LOGGED)),
            judges.c.kind != "dry-run",
        )
        .order_by(log.c.id)
    ).all()
    invited = invited_names(request) if rows else {}
    names = [name_of_judge(row, invited.get(row.id, "")) for row in rows]
    return [
        (_LOGGED[row.event], {"judge": row.public, "judge_name": name})
        for row, name in zip(rows, names, strict=True)
    ]


def _put(request: Request, chosen: Notifications, event: str, figures: dict[str, Any]) -> int:
    body = {
        "event": event,
        "title": EVENTS.get(event, "A test: messages arrive here"),
        "project": request.project.slug,
        "name": request.project.name,
        "time": to_time(request.now).isoformat(),
        "address": chosen.base,
        **figures,
    }
    rows = [
        {
            "public": make_id(),
            "project": request.project.id,
            "event": event,
            "way": way,
            "target": target,
            "body": body,
            "made": request.now,
            "due": request.now,
        }
        for way, target in chosen.ways
    ]
    request.on.execute(insert(outbox), rows)
    return len(rows)


def _claim(on: Connection, now: float, most: int = 20) -> list[Parcel]:
    place = func.row_number().over(partition_by=outbox.c.project, order_by=outbox.c.due)
    due = select(outbox.c.id, place.label("place")).where(outbox.c.due <= now).subquery()
    found = on.execute(
        select(outbox)
        .join(due, due.c.id == outbox.c.id)
        .where(due.c.place <= _AT_ONCE_EACH)
        .order_by(outbox.c.due)
        .limit(most)
    ).all()
    parcels = []
    for row in found:
        mine = update(outbox).where(outbox.c.id == row.id, outbox.c.due == row.due)
        if on.execute(mine.values(due=now + _CLAIMED, tries=row.tries + 1)).rowcount:
            kept = read_setting(on, notify_name(row.project)) or {}
            own = {"secret": kept.get("secret", ""), "tries": row.tries + 1}
            parcels.append(from_row(Parcel, row, delivery=row.public, **own))
    return parcels
