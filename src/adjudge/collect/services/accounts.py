"""Requesters and their passwords, the first set-up, and API tokens."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import Update, func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.services.caller import Service, find_requester, reads_store, writes_store
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.schema import projects, requesters, tokens
from adjudge.collect.store.settings import forget_setting, keep_setting, read_setting
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.requesting import Requester, Scope, Token
from adjudge.errors import NotFound, Refused

_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_SHORTEST_PASSWORD = 10
_SETUP = "setup-token"
_TOKENS = (
    select(tokens, projects.c.slug, requesters.c.public.label("requester_public"))
    .join(requesters, requesters.c.id == tokens.c.requester)
    .outerjoin(projects, projects.c.id == tokens.c.project)
)


@dataclass(frozen=True, slots=True)
class AccountService(Service):
    """Who may log in, and by which tokens scripts come in."""

    @reads_store
    def needs_setup(self, on: Connection) -> bool:
        """Whether there is no requester yet."""
        return not _any_requester(on)

    @writes_store
    def make_setup_token(self, on: Connection) -> str:
        """Make a fresh one-time token for the set-up link; the one before it is no longer valid.

        Refused: ``set-up-done``.
        """
        _check_no_requester(on)
        secret = make_id(24)
        keep_setting(on, _SETUP, _hash_of(secret))
        return secret

    @writes_store
    def set_up(self, on: Connection, token: str, name: str, password: str) -> Requester:
        """Make the first requester, an admin.

        Refused: ``bad-token``, ``set-up-done``, ``bad-form``.
        """
        _check_no_requester(on)
        kept = read_setting(on, _SETUP)
        if kept is None or not hmac.compare_digest(kept, _hash_of(token)):
            raise Refused("bad-token", "this set-up link is not valid; the newest one is")
        made = add_requester(on, name, password, admin=True, now=self.caller.now())
        forget_setting(on, _SETUP)
        return made

    @reads_store
    def log_in(self, on: Connection, name: str, password: str) -> Requester:
        """Find the requester with this name and password.

        Refused: ``bad-login``, whichever is wrong.
        """
        wanted = select(requesters).where(requesters.c.name == name.strip().replace("\0", ""))
        row = on.execute(wanted).one_or_none()
        try:
            _HASHER.verify(_nobody() if row is None else row.password, password[:1000])
        except (Argon2Error, InvalidHashError):
            row = None
        if row is None:
            raise Refused("bad-login", "name and password do not belong together")
        return _requester_of(row)

    @reads_store
    def get(self, on: Connection, requester: str) -> Requester:
        """A requester by public id."""
        return _requester_of(find_requester(on, requester))

    @reads_store
    def get_all(self, on: Connection) -> list[Requester]:
        """Every requester, the oldest first, for an admin. Refused: ``admin-only``."""
        self.caller.check_admin()
        rows = on.execute(select(requesters).order_by(requesters.c.id))
        return [_requester_of(row) for row in rows]

    @writes_store
    def add(self, on: Connection, name: str, password: str, *, admin: bool = False) -> Requester:
        """Make another requester. Refused: ``admin-only``, ``name-taken``, ``bad-form``."""
        self.caller.check_admin()
        return add_requester(on, name, password, admin=admin, now=self.caller.now())

    @writes_store
    def end_guest(self, on: Connection, requester: str) -> None:
        """Let somebody who came by a link make projects. Refused: ``admin-only``."""
        self.caller.check_admin()
        on.execute(_change(on, requester).values(guest=False))

    @writes_store
    def change_password(self, on: Connection, requester: str, password: str) -> None:
        """Set a requester's password: one's own, or anyone's by an admin."""
        if self.caller.actor is not None and self.caller.actor.requester != requester:
            self.caller.check_admin()
        _check_password(password)
        on.execute(_change(on, requester).values(password=_HASHER.hash(password)))

    @writes_store
    def make_token(
        self,
        on: Connection,
        name: str,
        *,
        scope: Scope,
        project: str | None = None,
        expires: datetime | None = None,
    ) -> tuple[Token, str]:
        """Make an API token; its secret is shown this once. Scope judge needs a project.

        It may no more than its requester, and only managers may let others judge.
        """
        actor = self.caller.actor
        if actor is None:
            raise Refused("bad-form", "a token belongs to a requester: act for one")
        if scope not in ("judge", "requester"):
            raise Refused("bad-form", "the scope of a token is judge or requester")
        if scope == "judge" and project is None:
            raise Refused("bad-form", "a token to judge with belongs to one project: choose it")
        least: MemberRole = "manager" if scope == "judge" else "viewer"
        public, secret = make_id(), "adj_" + secrets.token_urlsafe(32)
        on.execute(
            insert(tokens).values(
                public=public,
                name=name.strip()[:200].replace("\0", ""),
                scope=scope,
                project=None if project is None else self.caller.find(on, project, least).id,
                requester=find_requester(on, actor.requester).id,
                hash=_hash_of(secret),
                made=self.caller.now(),
                expires=None if expires is None else expires.timestamp(),
            )
        )
        return _token_of(on.execute(_TOKENS.where(tokens.c.public == public)).one()), secret

    @reads_store
    def get_tokens(self, on: Connection) -> list[Token]:
        """The requester's tokens, an admin's those of all, newest first."""
        wanted = _TOKENS.order_by(tokens.c.id.desc())
        requester = self.caller.find_id(on)
        if requester is not None:
            wanted = wanted.where(tokens.c.requester == requester)
        return [_token_of(row) for row in on.execute(wanted)]

    @writes_store
    def revoke_token(self, on: Connection, token: str) -> None:
        """End a token."""
        requester = self.caller.find_id(on)
        change = update(tokens).where(tokens.c.public == token).values(revoked=True)
        if requester is not None:
            change = change.where(tokens.c.requester == requester)
        if on.execute(change).rowcount == 0:
            raise NotFound("token", token)

    def check_token(self, secret: str) -> tuple[Token, Requester]:
        """The token with this secret and who made it. Refused: ``bad-token``."""
        now = self.caller.now()
        with self.caller.database.read() as on:
            row = on.execute(_TOKENS.where(tokens.c.hash == _hash_of(secret))).one_or_none()
            if row is None or row.revoked or (row.expires is not None and row.expires <= now):
                raise Refused("bad-token", "this token is not known, has expired or was revoked")
            requester = _requester_of(find_requester(on, row.requester_public))
        if row.used is None or now - row.used > 60:  # the last use is kept to the minute
            use = update(tokens).where(tokens.c.public == row.public).values(used=now)
            self.caller.database.write(lambda on: on.execute(use))
        return _token_of(row), requester


def add_requester(
    on: Connection, name: str, password: str, *, admin: bool, now: float, guest: bool = False
) -> Requester:
    """Make a requester. Refused: ``name-taken``, ``bad-form``."""
    name = name.strip()
    if not 0 < len(name) <= 200 or "\0" in name:
        raise Refused("bad-form", "a name has 1 to 200 characters")
    _check_password(password)
    known = on.execute(select(requesters.c.id).where(requesters.c.name == name)).scalar()
    if known is not None:
        raise Refused("name-taken", f"there is a requester {name!r} already")
    values = {"public": make_id(), "name": name, "password": _HASHER.hash(password)}
    row = on.execute(
        insert(requesters)
        .values(**values, admin=admin, made=now, guest=guest)
        .returning(requesters)
    ).one()
    return _requester_of(row)


@cache
def _nobody() -> str:
    """A hash that no password has, compared with where there is no such requester.

    So that a wrong name takes as long as a wrong password.
    """
    return _HASHER.hash(secrets.token_bytes(32))


def _check_password(password: str) -> None:
    """Refuse a password that is too short or too long."""
    if not _SHORTEST_PASSWORD <= len(password) <= 1000:
        raise Refused("bad-form", f"a password has at least {_SHORTEST_PASSWORD} characters")


def _change(on: Connection, requester: str) -> Update:
    """A change of the row of a requester, who is there."""
    return update(requesters).where(requesters.c.id == find_requester(on, requester).id)


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


def _requester_of(row: StoredRow) -> Requester:
    return from_row(Requester, row, requester=row.public)


def _token_of(row: StoredRow) -> Token:
    own = {"token": row.public, "project": row.slug, "requester": row.requester_public}
    return from_row(Token, row, **own)
