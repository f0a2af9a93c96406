"""Sessions, proofs against forged forms, passwords, and limits on guessing."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from starlette.requests import HTTPConnection

from adjudge.collect.web._keys import Forged, Keys

COOKIE = "adjudge_session"
_DAY = 86_400.0
_MOST_JUDGES = 20  # projects that one browser can be a judge of: a cookie holds 4 kB


@dataclass(slots=True)
class Session:
    """What a browser is to us: a random id, perhaps a requester, perhaps a judge of projects."""

    id: str
    requester: str = ""
    stamp: str = ""  # of the requester's password, so that a new one ends older sessions
    since: float = 0.0  # when they logged in
    judges: dict[str, str] = field(default_factory=dict)  # project: judge
    read: list[str] = field(default_factory=list)  # warned judges who read the guidelines again
    changed: bool = False

    def log_in(self, requester: str, stamp: str, now: float) -> None:
        """Make this the session of a requester, under a new id."""
        self.id, self.changed = _new_id(), True
        self.requester, self.stamp, self.since = requester, stamp, now

    def log_out(self) -> None:
        """Forget the requester; what the browser judges stays."""
        self.id, self.changed = _new_id(), True
        self.requester, self.stamp, self.since = "", "", 0.0

    def judge_as(self, project: str, judge: str) -> None:
        """Make this browser a judge of a project."""
        self.judges.pop(project, None)
        self.judges[project] = judge
        while len(self.judges) > _MOST_JUDGES:
            self.judges.pop(next(iter(self.judges)))
        self.changed = True

    def forget_judge(self, project: str) -> None:
        """Let this browser be nobody in a project."""
        if self.judges.pop(project, None) is not None:
            self.changed = True

    def acknowledge(self, judge: str) -> None:
        """Note that a warned judge has read the guidelines again."""
        self.read = [*self.read, judge][-_MOST_JUDGES:]
        self.changed = True

    def has_read(self, judge: str) -> bool:
        """Whether a warned judge has read the guidelines again."""
        return judge in self.read


def _new_id() -> str:
    return secrets.token_urlsafe(16)


class Sessions:
    """Sessions as signed cookies: the browser keeps them, and cannot change them."""

    def __init__(self, keys: Keys, *, path: str, hours: float, days: float) -> None:
        self._keys = keys
        self._path = path or "/"
        self._hours = hours
        self._days = days

    def load(self, connection: HTTPConnection) -> Session:
        """The session that a request came with, or a new one."""
        text = connection.cookies.get(COOKIE, "")
        if not text:
            return Session(id=_new_id(), changed=True)
        try:
            held: dict[str, Any] = self._keys.open("session", text, self._days * _DAY)
        except Forged:
            return Session(id=_new_id(), changed=True)
        session = Session(
            id=held["i"],
            requester=held.get("r", ""),
            stamp=held.get("p", ""),
            since=held.get("t", 0.0),
            judges=held.get("j", {}),
            read=held.get("g", []),
        )
        if session.requester and time.time() - session.since > self._hours * 3600:
            session.log_out()
        return session

    def cookie(self, session: Session, *, secure: bool) -> str:
        """The Set-Cookie line of a session."""
        held: dict[str, Any] = {"i": session.id}
        if session.requester:
            held |= {"r": session.requester, "p": session.stamp, "t": session.since}
        if session.judges:
            held["j"] = session.judges
        if session.read:
            held["g"] = session.read
        parts = [
            f"{COOKIE}={self._keys.sign('session', held)}",
            f"Path={self._path}",
            f"Max-Age={int(self._days * _DAY)}",
            "HttpOnly",
            "SameSite=Lax",  # Lax: a join link in a letter or at a panel has to find its session
        ]
        return "; ".join([*parts, "Secure"] if secure else parts)

    def proof(self, session: Session) -> str:
        """What every form of this session carries, and no other site can know."""
        return self._keys.digest("form", session.id)

    def is_proven(self, session: Session, proof: str) -> bool:
        """Whether a form came from a page that we gave this session."""
        return self._keys.proves("form", session.id, proof)


class Attempts:
    """A limit on how often something may fail, for each name and each address.

    Kept in memory, for each process: what it forgets in a restart it also allows only once more.
    """

    def __init__(
        self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._lock = Lock()
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def begin(self, *names: str) -> float:
        """Begin a try: 0, or how many seconds these have to wait before they may.

        A try counts as failed until it ends well, so that many at once are no more than one after
        the other.
        """
        now, most, seconds = self._clock(), self._most, self._seconds
        with self._lock:
            recent = {
                name: [at for at in self._failures.get(name, ()) if now - at < seconds]
                for name in names
            }
            full = (failed for failed in recent.values() if len(failed) >= most)
            wait = max((failed[-most] + seconds - now for failed in full), default=0.0)
            if wait <= 0:
                for name, failed in recent.items():
                    self._failures[name] = [*failed[-most:], now]
                    self._failures.move_to_end(name)
                while len(self._failures) > 10_000:
                    self._failures.popitem(last=False)
            return wait

    def withdraw(self, *names: str) -> None:
        """Count the last try of these no more: it was neither right nor wrong."""
        with self._lock:
            for name in names:
                if self._failures.get(name):
                    self._failures[name].pop()

    def succeeded(self, *names: str) -> None:
        """Forget the failures of these."""
        with self._lock:
            for name in names:
                self._failures.pop(name, None)
