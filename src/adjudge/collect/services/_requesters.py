"""Requesters in the store: found, made, and their passwords."""

from __future__ import annotations

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import to_time
from adjudge.collect.store.schema import requesters
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.requesting import Requester
from adjudge.errors import NotFound, Refused

_SHORTEST_PASSWORD = 10
_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_REQUESTER = select(requesters).where(requesters.c.public == bindparam("public"))


@cache
def _nobody() -> str:
    """A hash that no password has, compared with where there is no such requester.

    So that a wrong name takes as long as a wrong password.
    """
    return _HASHER.hash(secrets.token_bytes(32))


def requester_of(row: StoredRow) -> Requester:
    """A requester from a stored row."""
    return from_row(Requester, row, requester=row.public, made=to_time(row.made))


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


def find_requester(on: Connection, public: str) -> StoredRow:
    """A requester's row by public id."""
    row: StoredRow | None = on.execute(_REQUESTER, {"public": public}).one_or_none()
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
