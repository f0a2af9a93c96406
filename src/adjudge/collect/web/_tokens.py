"""Bearer tokens of the API: whose they are, and what they may do."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

from starlette.requests import Request

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.requesting import Requester, Token
from adjudge.errors import NotFound, Refused

_SECONDS = 5.0  # that a token is believed without asking the database again
_MOST = 1_000


@dataclass(frozen=True, slots=True)
class Holder:
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
        self._known: OrderedDict[bytes, tuple[float, Holder]] = OrderedDict()

    def holder(self, request: Request) -> Holder:
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
        holder = Holder(*self._services.accounts.check_token(secret))
        with self._lock:
            self._known[name] = (now, holder)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return holder

    def holder_in(self, request: Request, project: str, least: MemberRole = "viewer") -> Holder:
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
