"""Who may come in: requesters and their passwords, the first set-up, API tokens, invitations."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import cast

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import bindparam, func, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.judging.leases import take_back_page
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request, lock_judge, to_time
from adjudge.collect.store.schema import (
    invites,
    judges,
    projects,
    requesters,
    tokens,
)
from adjudge.collect.store.settings import forget_setting, keep_setting, read_setting
from adjudge.collect.store.statements import Statement
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.requesting import Invite, Requester, Scope, Token
from adjudge.errors import NotFound, Refused

_SHORTEST_PASSWORD = 10
_SETUP = "setup-token"
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)


@cache
def _nobody() -> str:
    """A hash that no password has, compared with where there is no such requester.

    So that a wrong name takes as long as a wrong password.
    """
    return _HASHER.hash(secrets.token_bytes(32))


def _hash_of(secret: str) -> str:
    """The hash by which a long random secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


def any_requester(on: Connection) -> bool:
    """Whether there is a requester yet."""
    return bool(on.execute(select(func.count()).select_from(requesters)).scalar())


def make_setup_token(on: Connection) -> str:
    """A fresh one-time token for the first set-up, in place of the one before."""
    if any_requester(on):
        raise Refused("set-up-done", "this server is set up already")
    secret = make_id(24)
    keep_setting(on, _SETUP, _hash_of(secret))
    return secret


def set_up(on: Connection, token: str, name: str, password: str, now: float) -> Requester:
    """The first requester, by the one-time token, which is no longer valid afterwards."""
    if any_requester(on):
        raise Refused("set-up-done", "this server is set up already")
    kept = read_setting(on, _SETUP)
    if kept is None or not hmac.compare_digest(kept, _hash_of(token)):
        raise Refused("bad-token", "this set-up link is not valid; the newest one is")
    made = add_requester(on, name, password, admin=True, now=now)
    forget_setting(on, _SETUP)
    return made


def requester_of(row: StoredRow) -> Requester:
    """A requester from a stored row."""
    return Requester(
        requester=row.public,
        name=row.name,
        admin=row.admin,
        made=to_time(row.made),
        guest=row.guest,
    )


def _check_password(password: str) -> None:
    """Refuse a password that is too short or too long."""
    if not _SHORTEST_PASSWORD <= len(password) <= 1000:
        raise Refused("bad-form", f"a password has at least {_SHORTEST_PASSWORD} characters")


def add_requester(
    on: Connection, name: str, password: str, *, admin: bool, now: float, guest: bool = False
) -> Requester:
    """A new requester."""
    name = name.strip()
    if not 0 < len(name) <= 200 or "\0" in name:
        raise Refused("bad-form", "a name has 1 to 200 characters")
    _check_password(password)
    known = on.execute(select(requesters.c.id).where(requesters.c.name == name)).scalar()
    if known is not None:
        raise Refused("name-taken", f"there is a requester {name!r} already")
    row = on.execute(
        insert(requesters)
        .values(
            public=make_id(),
            name=name,
            password=_HASHER.hash(password),
            admin=admin,
            made=now,
            guest=guest,
        )
        .returning(requesters)
    ).one()
    return requester_of(row)


def list_requesters(on: Connection) -> list[Requester]:
    """Every requester, the oldest first."""
    return [requester_of(row) for row in on.execute(select(requesters).order_by(requesters.c.id))]


def end_guest(on: Connection, public: str) -> None:
    """Let somebody who came by a link make projects of their own."""
    row = find_requester(on, public)
    on.execute(update(requesters).where(requesters.c.id == row.id).values(guest=False))


_REQUESTER = Statement(select(requesters).where(requesters.c.public == bindparam("public")))


def find_requester(on: Connection, public: str) -> StoredRow:
    """A requester's row by public id."""
    row: StoredRow | None = _REQUESTER.one_or_none(on, {"public": public})
    if row is None:
        raise NotFound("requester", public)
    return row


def log_in(on: Connection, name: str, password: str) -> Requester:
    """The requester with this name and password."""
    row = on.execute(
        select(requesters).where(requesters.c.name == name.strip().replace("\0", ""))
    ).one_or_none()
    try:
        _HASHER.verify(_nobody() if row is None else row.password, password[:1000])
    except (Argon2Error, InvalidHashError):
        row = None
    if row is None:
        raise Refused("bad-login", "name and password do not belong together")
    return requester_of(row)


def change_password(on: Connection, public: str, password: str) -> None:
    """Set a requester's password."""
    _check_password(password)
    row = find_requester(on, public)
    on.execute(
        update(requesters).where(requesters.c.id == row.id).values(password=_HASHER.hash(password))
    )


# -- tokens

_TOKENS = (
    select(
        tokens,
        projects.c.slug,
        requesters.c.public.label("requester_public"),
    )
    .join(requesters, requesters.c.id == tokens.c.requester)
    .outerjoin(projects, projects.c.id == tokens.c.project)
)


def _token_of(row: StoredRow) -> Token:
    return Token(
        token=row.public,
        name=row.name,
        scope=cast(Scope, row.scope),
        project=row.slug,
        requester=row.requester_public,
        made=to_time(row.made),
        expires=None if row.expires is None else to_time(row.expires),
        revoked=row.revoked,
        used=None if row.used is None else to_time(row.used),
    )


def make_token(
    on: Connection,
    name: str,
    *,
    scope: Scope,
    project: int | None,
    requester: int,
    expires: datetime | None,
    now: float,
) -> tuple[Token, str]:
    """A token and its secret; only the secret's hash is kept."""
    if scope not in ("judge", "requester"):
        raise Refused("bad-form", "the scope of a token is judge or requester")
    if scope == "judge" and project is None:
        raise Refused("bad-form", "a token to judge with belongs to one project: choose it")
    secret = "adj_" + secrets.token_urlsafe(32)
    public = make_id()
    on.execute(
        insert(tokens).values(
            public=public,
            name=name.strip()[:200].replace("\0", ""),
            scope=scope,
            project=project,
            requester=requester,
            hash=_hash_of(secret),
            made=now,
            expires=None if expires is None else expires.timestamp(),
        )
    )
    return _token_of(on.execute(_TOKENS.where(tokens.c.public == public)).one()), secret


def list_tokens(on: Connection, requester: int | None) -> list[Token]:
    """The tokens of a requester, or of all, newest first."""
    wanted = _TOKENS.order_by(tokens.c.id.desc())
    if requester is not None:
        wanted = wanted.where(tokens.c.requester == requester)
    return [_token_of(row) for row in on.execute(wanted)]


def revoke_token(on: Connection, public: str, requester: int | None) -> None:
    """Revoke a token."""
    change = update(tokens).where(tokens.c.public == public).values(revoked=True)
    if requester is not None:
        change = change.where(tokens.c.requester == requester)
    if on.execute(change).rowcount == 0:
        raise NotFound("token", public)


def check_token(on: Connection, secret: str, now: float) -> tuple[Token, Requester, bool]:
    """The token with this secret, who made it, and whether its last use should be noted."""
    row = on.execute(_TOKENS.where(tokens.c.hash == _hash_of(secret))).one_or_none()
    if row is None or row.revoked or (row.expires is not None and row.expires <= now):
        raise Refused("bad-token", "this token is not known, has expired or was revoked")
    stale = row.used is None or now - row.used > 60
    return _token_of(row), requester_of(find_requester(on, row.requester_public)), stale


def note_use(on: Connection, token: str, now: float) -> None:
    """Note that a token was used."""
    on.execute(update(tokens).where(tokens.c.public == token).values(used=now))


# -- invitations

_INVITES = (
    select(invites, projects.c.slug, judges.c.public.label("judge_public"))
    .join(projects, projects.c.id == invites.c.project)
    .outerjoin(judges, judges.c.id == invites.c.judge)
    .order_by(invites.c.id.desc())
)


def _invite_of(row: StoredRow) -> Invite:
    return Invite(
        invite=row.key,
        project=row.slug,
        note=row.note,
        made=to_time(row.made),
        expires=None if row.expires is None else to_time(row.expires),
        revoked=row.revoked,
        judge=row.judge_public,
    )


def make_invites(request: Request, notes: Sequence[str], expires: datetime | None) -> list[Invite]:
    """One invitation a note."""
    rows = [
        {
            "key": make_id(),
            "project": request.project.id,
            "note": note.strip()[:500].replace("\0", ""),
            "made": request.now,
            "expires": None if expires is None else expires.timestamp(),
        }
        for note in notes
    ]
    if not rows:
        return []
    request.on.execute(insert(invites), rows)
    made = {row["key"] for row in rows}
    return [one for one in list_invites(request) if one.invite in made]


def list_invites(request: Request) -> list[Invite]:
    """Every invitation of a project, newest first."""
    wanted = _INVITES.where(invites.c.project == request.project.id)
    return [_invite_of(row) for row in request.on.execute(wanted)]


def find_invite(on: Connection, key: str) -> Invite | None:
    """An invitation by its key."""
    row = on.execute(_INVITES.where(invites.c.key == key)).one_or_none()
    return None if row is None else _invite_of(row)


def revoke_invite(request: Request, key: str) -> None:
    """End an invitation: who came by it can do nothing more, and their open page goes back."""
    change = update(invites).where(invites.c.project == request.project.id, invites.c.key == key)
    row = request.on.execute(change.values(revoked=True).returning(invites.c.judge)).one_or_none()
    if row is None:
        raise NotFound("invitation", key)
    if row.judge is None:
        return
    public = request.on.execute(
        select(judges.c.public).where(judges.c.id == row.judge)
    ).scalar_one()
    judge = lock_judge(request.on, public)
    take_back_page(request.on, judge)
    request.on.execute(update(judges).where(judges.c.id == judge.id).values(page=None))
    request.log("invitation-revoked", judge=judge.id, actor=request.actor)
