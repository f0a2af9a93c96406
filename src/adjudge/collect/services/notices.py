"""Webhooks and mail about a project: who gets them, and the outbox from which they are sent.

Nothing is sent in a request of a judge. What has happened is read from the log and the counters
afterwards, in one transaction with the place that was read to, and put into the outbox; from there
it is sent, and tried again until it has arrived. Mail goes to recipients who have confirmed it, and
there are limits on messages of one owner and to one recipient, of whatever events. So a crash
neither loses nor repeats an event; a message may arrive twice only if the crash falls between its
sending and the note of it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement, func, insert, select, update
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
    mail_keys_name,
    notified_name,
    notify_name,
    read_setting,
)
from adjudge.collect.values.ids import make_id
from adjudge.errors import NotFound, Refused

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
_ASK = "confirm"  # the event of the message that asks a recipient
_MOST_PER_HOUR = {"email": 60, "webhook": 600}  # messages of all projects of one owner
_MOST_TO_ONE = {"email": 12, "webhook": 600}  # messages to one recipient, of all projects
_MOST_ASKS = 2  # messages in a day that ask one recipient
_OVER = "not sent: over the limit of messages"
_SHOWN = 50  # newest messages of a project
_AT_ONCE_EACH = 5  # messages of one project that are sent before others' turn
_MAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII)
_MOST_TRIES = 12
_LONGEST_WAIT = 3_600.0  # seconds between two tries
_CLAIMED = 120.0  # seconds that a message is left to who is sending it


# earlier: got mail before recipients were asked, and still do, until an owner decides.
RecipientState = Literal["earlier", "asked", "confirmed", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notifications:
    """Who is notified of what in a project."""

    webhook: str = ""
    secret: str = ""  # signs what the webhook gets
    emails: tuple[str, ...] = ()
    events: tuple[str, ...] = tuple(EVENTS)
    base: str = ""  # the address of the project's page
    states: dict[str, RecipientState] = field(default_factory=dict)  # of each mail address

    @property
    def ways(self) -> list[tuple[str, str]]:
        """Every way out, and its address; mail only to those who did not have to confirm or did."""
        hook = [("webhook", self.webhook)] if self.webhook else []
        mail = (one for one in self.emails if self.states[one] in ("earlier", "confirmed"))
        return [*hook, *(("email", address) for address in mail)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    """Whom mail about a project goes to, as they see it themselves."""

    email: str
    project: str  # its name
    state: RecipientState


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
        server: str = "",
    ) -> Notifications:
        """Change who is notified of what from now on; new recipients are asked first.

        ``server`` is the address of this server, for links. Refused: ``bad-form``.
        """
        _check(webhook, emails, events)
        if server and not _is_address(server):
            raise Refused("bad-form", f"{server[:200]!r} is not an address of a server")
        before = _read_notifications(request)
        states: dict[str, RecipientState] = {
            one: state for one, state in before.states.items() if state == "stopped"
        }
        states |= {
            one: before.states[one] if one in before.emails else states.get(one, "asked")
            for one in emails
        }
        chosen = Notifications(
            webhook=webhook,
            secret=before.secret or secrets.token_hex(32),
            emails=tuple(dict.fromkeys(emails)),
            events=tuple(event for event in EVENTS if event in events),
            base=f"{server}/projects/{request.project.slug}" if server else "",
            states=states,
        )
        keep_setting(request.on, notify_name(request.project.id), asdict(chosen))
        new = [one for one in chosen.emails if one not in before.emails]
        _ask(request, chosen, [one for one in new if states[one] == "asked"])
        if not before.ways:
            keep_setting(request.on, notified_name(request.project.id), _read_standing(request))
        request.log("notifications-changed", actor=request.actor, events=list(chosen.events))
        return chosen

    @writes("owner", lock=True)
    def ask(self, request: Request, email: str) -> None:
        """Ask a recipient, who gets nothing until they confirm. Refused: ``bad-form``."""
        chosen = _read_notifications(request)
        if email not in chosen.emails or chosen.states[email] not in ("earlier", "asked"):
            raise Refused("bad-form", f"{email[:200]!r} is not a recipient who can be asked")
        _keep_state(request, chosen, email, "asked")
        _ask(request, chosen, [email])

    @reads_store
    def find_recipient(self, on: Connection, slug: str, key: str) -> Recipient:
        """Whose mail has this key, and what they have said."""
        return self._find_recipient(on, slug, key, lock=False)[0]

    @writes_store
    def answer(self, on: Connection, slug: str, key: str, state: RecipientState) -> None:
        """Keep what a recipient says: ``confirmed`` or ``stopped``."""
        found, request = self._find_recipient(on, slug, key, lock=True)
        _keep_state(request, _read_notifications(request), found.email, state)
        request.log(f"mail-{state}", actor="recipient")

    def _find_recipient(
        self, on: Connection, slug: str, key: str, *, lock: bool
    ) -> tuple[Recipient, Request]:
        request = replace(self.caller, actor=None).open(on, slug, lock=lock)
        email = (read_setting(on, mail_keys_name(request.project.id)) or {}).get(key, "")
        state = _read_notifications(request).states.get(email)
        if state is None:
            raise NotFound("project", slug)
        return Recipient(email=email, project=request.project.name, state=state), request

    @writes()
    def test(self, request: Request) -> int:
        """Put a message by every way into the outbox, to see whether they arrive; how many.

        Refused: ``bad-form``, ``too-many``.
        """
        chosen = _read_notifications(request)
        if not chosen.ways:
            expected = "a webhook, or a mail address whose owner has confirmed"
            raise Refused("bad-form", f"there is nobody to send a message to; expected {expected}")
        made = _put(request, chosen, "test", {})
        if made == 0:
            raise Refused("too-many", "many messages were sent lately; please wait an hour")
        return made

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
    def find_with_recipients(self, on: Connection) -> list[str]:
        """The projects that have recipients of notifications."""
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
    """Who is notified of what."""
    kept = read_setting(request.on, notify_name(request.project.id)) or {}
    held = {**kept, **{name: tuple(kept[name]) for name in ("emails", "events") if name in kept}}
    if "states" not in kept:  # from before recipients were asked
        held["states"] = dict.fromkeys(kept.get("emails", ()), "earlier")
    if not _is_address(held.get("base", "")):
        held["base"] = ""  # of an earlier version, which took any text
    return Notifications(**held)


def _keep_state(request: Request, chosen: Notifications, email: str, state: RecipientState) -> None:
    changed = replace(chosen, states={**chosen.states, email: state})
    keep_setting(request.on, notify_name(request.project.id), asdict(changed))


def _ask(request: Request, chosen: Notifications, emails: Sequence[str]) -> None:
    """Ask recipients whether they want mail; the message holds no words of anybody's."""
    if emails:
        them: dict[str, RecipientState] = dict.fromkeys(emails, "confirmed")
        _put(request, replace(chosen, webhook="", emails=tuple(emails), states=them), _ASK, {})


def _find_links(request: Request, chosen: Notifications) -> dict[str, str]:
    """The address at which each recipient confirms or stops their mail."""
    name = mail_keys_name(request.project.id)
    kept = read_setting(request.on, name) or {}
    keys = {email: key for key, email in kept.items()}
    new = {make_id(18): email for email in chosen.emails if email not in keys}
    if new:
        keep_setting(request.on, name, {**kept, **new})
        keys |= {email: key for key, email in new.items()}
    slug = request.project.slug
    server = chosen.base.removesuffix(f"/projects/{slug}")
    return {email: f"{server}/mail/{slug}/{keys[email]}" if server else "" for email in keys}


def _check(webhook: str, emails: Sequence[str], events: Sequence[str]) -> None:
    if webhook and not _is_address(webhook):
        expected = "an address such as https://example.com/hook, without a name in it"
        raise Refused("bad-form", f"webhook = {webhook[:200]!r}: expected {expected}")
    if len(emails) > _MOST_ADDRESSES:
        raise Refused("bad-form", f"{len(emails)} addresses; expected at most {_MOST_ADDRESSES}")
    for address in emails:
        if len(address) > 254 or not _MAIL.fullmatch(address):
            raise Refused("bad-form", f"{address[:200]!r} is not a mail address")
    for event in events:
        if event not in EVENTS:
            raise Refused("bad-form", f"event = {event!r}: expected {', '.join(EVENTS)}")


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
    links = _find_links(request, chosen) if chosen.emails else {}
    free = _find_room(request, event, chosen.ways)
    common = {"project": request.project.id, "event": event, "made": request.now, "problem": ""}
    rows = [
        {
            **common,
            "public": make_id(),
            "way": way,
            "target": target,
            "body": {**body, "stop": links[target]} if way == "email" else body,
            **({"due": request.now} if sent else {"due": None, "problem": _OVER}),
        }
        for (way, target), sent in zip(chosen.ways, free, strict=True)
    ]
    request.on.execute(insert(outbox), rows)
    return sum(free)


def _find_room(request: Request, event: str, ways: Sequence[tuple[str, str]]) -> list[bool]:
    """Which messages are within the limits: of all projects of an owner, and to each recipient."""
    owner = select(projects.c.owner).where(projects.c.id == request.project.id).scalar_subquery()
    lately = outbox.c.made > request.now - 3_600
    sent = outbox.c.problem != _OVER

    def count(*which: ColumnElement[bool]) -> int:
        found = outbox.join(projects, projects.c.id == outbox.c.project)
        return request.on.execute(
            select(func.count()).select_from(found).where(sent, *which)
        ).scalar_one()

    theirs = projects.c.owner.is_not_distinct_from(owner)
    left = {
        way: most - count(lately, theirs, outbox.c.way == way)
        for way, most in _MOST_PER_HOUR.items()
    }
    free = []
    for way, target in ways:
        to_them = outbox.c.target == target
        room = left[way] > 0 and count(lately, to_them) < _MOST_TO_ONE[way]
        if event == _ASK:
            today = outbox.c.made > request.now - 86_400
            room = room and count(today, to_them, outbox.c.event == _ASK) < _MOST_ASKS
        left[way] -= room
        free.append(room)
    return free


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
