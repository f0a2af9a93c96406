"""Keys: what the server signs, and the bearer tokens of the API with what they may do."""

from __future__ import annotations

import hashlib
import hmac
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any

from itsdangerous import BadData as BadSignature
from itsdangerous import URLSafeTimedSerializer
from starlette.requests import Request

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.requesting import Requester, Token
from adjudge.errors import NotFound, Refused

_SECONDS = 5.0  # that a token is believed without asking the database again
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class _Holder:
    """Who sent a request to the API."""

    token: Token
    requester: Requester

    def may_request(self) -> None:
        """Refuse unless the token has the powers of a requester."""
        if self.token.scope != "requester":
            raise Refused("token-scope", "this token may only judge; wanted one of scope requester")


class Tokens:
    """Tokens as they come in, each remembered for a few seconds under a hash of its secret."""

    def __init__(self, services: RequesterServices) -> None:
        self._services = services
        self._lock = Lock()
        self._known: OrderedDict[bytes, tuple[float, _Holder]] = OrderedDict()

    def holder(self, request: Request) -> _Holder:
        """Whose token a request came with."""
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not secret:
            raise Refused("token-missing", "there is no token; wanted 'Authorization: Bearer ...'")
        secret = secret.strip()
        if len(secret) > 500 or not secret.isascii():
            raise Refused("bad-token", "this token is not known, or not valid any more")
        name, now = hashlib.sha256(secret.encode()).digest(), time.monotonic()
        with self._lock:
            known = self._known.get(name)
        if known is not None and now - known[0] < _SECONDS:
            return known[1]
        holder = _Holder(*self._services.accounts.check_token(secret))
        with self._lock:
            self._known[name] = (now, holder)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return holder

    def holder_in(self, request: Request, project: str, least: MemberRole = "viewer") -> _Holder:
        """Whose token a request about a project came with, and has at least a role in it.

        A project that is not the token's, or not its requester's, is as if it were not there.
        """
        holder = self.holder(request)
        if holder.token.project is not None and holder.token.project != project:
            raise NotFound("project", project)
        self._services.acting_for(holder.requester).projects.check_role(project, least)
        return holder

    def forget(self) -> None:
        """Ask the database again for every token."""
        with self._lock:
            self._known.clear()


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
