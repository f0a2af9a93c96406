"""Keys, sessions, proofs against forged forms, and limits on how often something is tried."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from itsdangerous import BadData as BadSignature
from itsdangerous import URLSafeTimedSerializer
from starlette.requests import HTTPConnection

COOKIE = "adjudge_session"
_DAY = 86_400.0
_MOST_NAMES = 20_000  # that a limiter remembers
_MOST_KNOWN = 5  # names that logged in with one browser
_MOST_JUDGES = 20  # projects that one browser can be a judge of: a cookie holds 4 kB


class Forged(Exception):
    """What was signed is not ours, was changed on the way, or its time is over."""


class Keys:
    """Signs what leaves the server and comes back: sessions, join links, forms."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._signers: dict[str, URLSafeTimedSerializer] = {}

    def _signer(self, purpose: str) -> URLSafeTimedSerializer:
        if purpose not in self._signers:
            self._signers[purpose] = URLSafeTimedSerializer(
                self._secret,
                salt=f"adjudge.{purpose}",
                signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
            )
        return self._signers[purpose]

    def sign(self, purpose: str, value: Any) -> str:
        """A value as text that only this server can have made, for one purpose."""
        return str(self._signer(purpose).dumps(value))

    def open(self, purpose: str, text: str, seconds: float | None = None) -> Any:
        """The value that was signed for a purpose, not longer ago than so many seconds."""
        age = None if seconds is None else int(seconds)
        try:
            return self._signer(purpose).loads(text, max_age=age)
        except BadSignature:
            raise Forged(purpose) from None

    def digest(self, purpose: str, text: str) -> str:
        """A short proof that this server saw a text."""
        message = f"{purpose}\0{text}".encode()
        return hmac.new(self._secret, message, hashlib.sha256).hexdigest()[:40]

    def proves(self, purpose: str, text: str, proof: str) -> bool:
        """Whether a proof is the one of this text; takes as long for a wrong one."""
        return hmac.compare_digest(self.digest(purpose, text).encode(), proof.encode())


@dataclass(slots=True)
class Session:
    """What a browser is to us: a random id, perhaps a requester, perhaps a judge of projects."""

    id: str
    requester: str = ""
    stamp: str = ""  # of the requester's password, so that a new one ends older sessions
    since: float = 0.0  # when they logged in
    judges: dict[str, str] = field(default_factory=dict)  # project: judge
    read: list[str] = field(default_factory=list)  # warned judges who read the guidelines again
    known: list[str] = field(default_factory=list)  # marks of the names that logged in before
    changed: bool = False

    def log_in(self, requester: str, stamp: str, now: float, mark: str) -> None:
        """Make this the session of a requester, under a new id; ``mark`` is that of their name."""
        self.id, self.changed = _new_id(), True
        self.requester, self.stamp, self.since = requester, stamp, now
        self.known = [*(one for one in self.known if one != mark), mark][-_MOST_KNOWN:]

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


_KEYS = {  # of a cookie, which has room for 4 kB
    "id": "i",
    "requester": "r",
    "stamp": "p",
    "since": "t",
    "judges": "j",
    "read": "g",
    "known": "k",
}


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
        session = Session(**{name: held[key] for name, key in _KEYS.items() if key in held})
        if session.requester and time.time() - session.since > self._hours * 3600:
            session.log_out()
        return session

    def cookie(self, session: Session, *, secure: bool) -> str:
        """The Set-Cookie line of a session."""
        values = {key: getattr(session, name) for name, key in _KEYS.items()}
        held = {key: value for key, value in values.items() if value}
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


class Limiter:
    """A limit on how often something happens, per name (of a requester, of an address).

    Kept in memory, per process: of several processes each allows as many, and what is forgotten in
    a restart is allowed once more.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def admit(self, names: Sequence[str], limits: Sequence[tuple[int, float]]) -> float:
        """Count one more of each name and return 0, or return the seconds that they have to wait.

        ``limits``: at most so many in so many seconds, each; at most 0 is no limit.
        """
        now = self._clock()
        limits = [(most, seconds) for most, seconds in limits if most]
        longest = max((seconds for _, seconds in limits), default=0.0)
        with self._lock:
            recent = {
                name: [at for at in self._times.get(name, ()) if now - at < longest]
                for name in names
            }
            waits = [
                times[-most] + seconds - now
                for times in recent.values()
                for most, seconds in limits
                if len(times) >= most
            ]
            wait = max([*waits, 0.0])
            if not wait and limits:
                for name, times in recent.items():
                    self._times[name] = [*times, now]
                    self._times.move_to_end(name)
                while len(self._times) > _MOST_NAMES:
                    self._times.popitem(last=False)
            return wait

    def count(self, name: str, seconds: float) -> int:
        """How often something of this name was in the last seconds."""
        now = self._clock()
        with self._lock:
            return sum(now - at < seconds for at in self._times.get(name, ()))

    def withdraw(self, names: Sequence[str]) -> None:
        """Do not count the last time of these."""
        with self._lock:
            for name in names:
                if self._times.get(name):
                    self._times[name].pop()

    def forget(self, names: Sequence[str]) -> None:
        """Count nothing of these so far."""
        with self._lock:
            for name in names:
                self._times.pop(name, None)
