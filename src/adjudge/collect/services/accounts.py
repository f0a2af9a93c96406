"""Requesters and their passwords, the first set-up, and API tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.services._requesters import (
    add_requester,
    change_password,
    find_requester,
    log_in,
    requester_of,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import to_time
from adjudge.collect.store.schema import projects, requesters, tokens
from adjudge.collect.store.settings import forget_setting, keep_setting, read_setting
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.requesting import Requester, Scope, Token
from adjudge.errors import NotFound, Refused

_SETUP = "setup-token"
_TOKENS = (
    select(tokens, projects.c.slug, requesters.c.public.label("requester_public"))
    .join(requesters, requesters.c.id == tokens.c.requester)
    .outerjoin(projects, projects.c.id == tokens.c.project)
)


@dataclass(frozen=True, slots=True)
class AccountService:
    """Who may log in, and by which tokens scripts come in."""

    caller: Caller

    def needs_setup(self) -> bool:
        """Whether there is no requester yet."""
        with self.caller.database.read() as on:
            return not _any_requester(on)

    def make_setup_token(self) -> str:
        """A fresh one-time token for the set-up link; the one before it is no longer valid.

        Refused: ``set-up-done``.
        """

        def work(on: Connection) -> str:
            _check_no_requester(on)
            secret = make_id(24)
            keep_setting(on, _SETUP, _hash_of(secret))
            return secret

        return self.caller.database.write(work)

    def set_up(self, token: str, name: str, password: str) -> Requester:
        """Make the first requester, an admin.

        Refused: ``bad-token``, ``set-up-done``, ``bad-form``.
        """
        now = self.caller.now()

        def work(on: Connection) -> Requester:
            _check_no_requester(on)
            kept = read_setting(on, _SETUP)
            if kept is None or not hmac.compare_digest(kept, _hash_of(token)):
                raise Refused("bad-token", "this set-up link is not valid; the newest one is")
            made = add_requester(on, name, password, admin=True, now=now)
            forget_setting(on, _SETUP)
            return made

        return self.caller.database.write(work)

    def log_in(self, name: str, password: str) -> Requester:
        """The requester with this name and password. Refused: ``bad-login``, whichever is wrong."""
        with self.caller.database.read() as on:
            return log_in(on, name, password)

    def get(self, requester: str) -> Requester:
        """A requester by public id."""
        with self.caller.database.read() as on:
            return requester_of(find_requester(on, requester))

    def get_all(self) -> list[Requester]:
        """Every requester, the oldest first, for an admin. Refused: ``admin-only``."""
        self.caller.check_admin()
        with self.caller.database.read() as on:
            rows = on.execute(select(requesters).order_by(requesters.c.id))
            return [requester_of(row) for row in rows]

    def add(self, name: str, password: str, *, admin: bool = False) -> Requester:
        """Make another requester. Refused: ``admin-only``, ``name-taken``, ``bad-form``."""
        self.caller.check_admin()
        now = self.caller.now()
        return self.caller.database.write(
            lambda on: add_requester(on, name, password, admin=admin, now=now)
        )

    def end_guest(self, requester: str) -> None:
        """Let somebody who came by a link make projects. Refused: ``admin-only``."""
        self.caller.check_admin()

        def work(on: Connection) -> None:
            row = find_requester(on, requester)
            on.execute(update(requesters).where(requesters.c.id == row.id).values(guest=False))

        self.caller.database.write(work)

    def change_password(self, requester: str, password: str) -> None:
        """Set a requester's password: one's own, or anyone's by an admin."""
        actor = self.caller.actor
        if actor is not None and actor.requester != requester:
            self.caller.check_admin()
        self.caller.database.write(lambda on: change_password(on, requester, password))

    def make_token(
        self,
        name: str,
        *,
        scope: Scope,
        project: str | None = None,
        expires: datetime | None = None,
    ) -> tuple[Token, str]:
        """An API token and its secret, which is shown this once; scope judge needs a project.

        It may no more than its requester, and only managers may let others judge.
        """
        actor = self.caller.actor
        if actor is None:
            raise Refused("bad-form", "a token belongs to a requester: act for one")
        least: MemberRole = "manager" if scope == "judge" else "viewer"
        secret = "adj_" + secrets.token_urlsafe(32)

        def work(on: Connection) -> Token:
            about = None if project is None else self.caller.find(on, project, least).id
            requester = find_requester(on, actor.requester).id
            if scope not in ("judge", "requester"):
                raise Refused("bad-form", "the scope of a token is judge or requester")
            if scope == "judge" and about is None:
                raise Refused("bad-form", "a token to judge with belongs to one project: choose it")
            public = make_id()
            on.execute(
                insert(tokens).values(
                    public=public,
                    name=name.strip()[:200].replace("\0", ""),
                    scope=scope,
                    project=about,
                    requester=requester,
                    hash=_hash_of(secret),
                    made=self.caller.now(),
                    expires=None if expires is None else expires.timestamp(),
                )
            )
            return _token_of(on.execute(_TOKENS.where(tokens.c.public == public)).one())

        return self.caller.database.write(work), secret

    def get_tokens(self) -> list[Token]:
        """The requester's tokens, an admin's those of all, newest first."""
        wanted = _TOKENS.order_by(tokens.c.id.desc())
        with self.caller.database.read() as on:
            requester = self.caller.find_id(on)
            if requester is not None:
                wanted = wanted.where(tokens.c.requester == requester)
            return [_token_of(row) for row in on.execute(wanted)]

    def revoke_token(self, token: str) -> None:
        """End a token."""

        def work(on: Connection) -> None:
            requester = self.caller.find_id(on)
            change = update(tokens).where(tokens.c.public == token).values(revoked=True)
            if requester is not None:
                change = change.where(tokens.c.requester == requester)
            if on.execute(change).rowcount == 0:
                raise NotFound("token", token)

        self.caller.database.write(work)

    def check_token(self, secret: str) -> tuple[Token, Requester]:
        """The token with this secret and who made it. Refused: ``bad-token``."""
        now = self.caller.now()
        with self.caller.database.read() as on:
            row = on.execute(_TOKENS.where(tokens.c.hash == _hash_of(secret))).one_or_none()
            if row is None or row.revoked or (row.expires is not None and row.expires <= now):
                raise Refused("bad-token", "this token is not known, has expired or was revoked")
            requester = requester_of(find_requester(on, row.requester_public))
        if row.used is None or now - row.used > 60:  # the last use is kept to the minute
            use = update(tokens).where(tokens.c.public == row.public).values(used=now)
            self.caller.database.write(lambda on: on.execute(use))
        return _token_of(row), requester


def _hash_of(secret: str) -> str:
    """The hash by which a long random secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _check_no_requester(on: Connection) -> None:
    """Refuse to set up a server that has a requester already. Refused: ``set-up-done``."""
    if _any_requester(on):
        raise Refused("set-up-done", "this server is set up already")


def _any_requester(on: Connection) -> bool:
    """Whether there is a requester yet."""
    return bool(on.execute(select(func.count()).select_from(requesters)).scalar())


def _token_of(row: StoredRow) -> Token:
    return from_row(
        Token,
        row,
        token=row.public,
        project=row.slug,
        requester=row.requester_public,
        made=to_time(row.made),
        expires=None if row.expires is None else to_time(row.expires),
        used=None if row.used is None else to_time(row.used),
    )
