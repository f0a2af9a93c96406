"""The reception: who may come in to the office, and by which key."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, select, true
from sqlalchemy.engine import Connection

from adjudge.collect.managing.accounts import (
    add_requester,
    any_requester,
    change_password,
    check_token,
    find_requester,
    list_tokens,
    log_in,
    make_setup_token,
    make_token,
    note_use,
    requester_of,
    revoke_token,
    set_up,
)
from adjudge.collect.store.database import Database, utc_now
from adjudge.collect.store.schema import projects, requesters
from adjudge.collect.store.settings import forget_setting, keep_setting, read_setting, settings_like
from adjudge.collect.store.snapshot import ProjectSnapshot, load_snapshot
from adjudge.collect.values.requesting import (
    Requester,
    Scope,
    Token,
)
from adjudge.errors import NotFound, Refused

_REQUESTERS = select(requesters).order_by(requesters.c.id)


class Reception:
    """What comes before the office's work: requesters, passwords, API tokens, server settings."""

    def __init__(
        self,
        database: Database,
        *,
        actor: Requester | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.database = database
        self._actor = actor
        self._clock = clock

    def setup_needed(self) -> bool:
        """Whether there is no requester yet."""
        with self.database.read() as on:
            return not any_requester(on)

    def setup_token(self) -> str:
        """A fresh one-time token for the set-up link; the one before it is void.

        Refused: ``set-up-done``.
        """
        return self.database.write(make_setup_token)

    def set_up(self, token: str, name: str, password: str) -> Requester:
        """Make the first requester, an admin.

        Refused: ``bad-token``, ``set-up-done``, ``bad-form``.
        """
        return self.database.write(lambda on: set_up(on, token, name, password, self.now()))

    def log_in(self, name: str, password: str) -> Requester:
        """The requester with this name and password. Refused: ``bad-login``, whichever is wrong."""
        with self.database.read() as on:
            return log_in(on, name, password)

    def requester(self, requester: str) -> Requester:
        """A requester by public id."""
        with self.database.read() as on:
            return requester_of(find_requester(on, requester))

    def requesters(self) -> list[Requester]:
        """Every requester, for an admin. Refused: ``admin-only``."""
        self._admin_only()
        with self.database.read() as on:
            return [requester_of(row) for row in on.execute(_REQUESTERS)]

    def add_requester(self, name: str, password: str, *, admin: bool = False) -> Requester:
        """Make another requester. Refused: ``admin-only``, ``name-taken``, ``bad-form``."""
        self._admin_only()
        now = self.now()
        return self.database.write(
            lambda on: add_requester(on, name, password, admin=admin, now=now)
        )

    def change_password(self, requester: str, password: str) -> None:
        """Set a requester's password: her own, or anyone's by an admin."""
        if self._actor is not None and self._actor.requester != requester:
            self._admin_only()
        self.database.write(lambda on: change_password(on, requester, password))

    def make_token(
        self,
        name: str,
        *,
        scope: Scope,
        project: str | None = None,
        expires: datetime | None = None,
    ) -> tuple[Token, str]:
        """An API token and its secret, which is shown this once; scope judge needs a project."""
        if self._actor is None:
            raise Refused("bad-form", "a token belongs to a requester: act for one")
        actor = self._actor

        def work(on: Connection) -> tuple[Token, str]:
            return make_token(
                on,
                name,
                scope=scope,
                project=None if project is None else self.load(on, project).project,
                requester=find_requester(on, actor.requester).id,
                expires=expires,
                now=self.now(),
            )

        return self.database.write(work)

    def tokens(self) -> list[Token]:
        """The requester's tokens, newest first."""
        with self.database.read() as on:
            return list_tokens(on, self._actor_id(on))

    def revoke_token(self, token: str) -> None:
        """Make a token void."""
        self.database.write(lambda on: revoke_token(on, token, self._actor_id(on)))

    def check_token(self, secret: str) -> tuple[Token, Requester]:
        """The token with this secret and who made it. Refused: ``bad-token``."""
        now = self.now()
        with self.database.read() as on:
            token, requester, stale = check_token(on, secret, now)
        if stale:
            self.database.write(lambda on: note_use(on, token.token, now))
        return token, requester

    def setting(self, name: str) -> Any:
        """A setting of the server as it was kept; None if it never was."""
        with self.database.read() as on:
            return read_setting(on, name)

    def keep_setting(self, name: str, value: Any) -> None:
        """Keep a setting of the server: any JSON value."""
        self.database.write(lambda on: keep_setting(on, name, value))

    def settings_like(self, prefix: str) -> dict[str, Any]:
        """Every setting of the server whose name begins so, by its name."""
        with self.database.read() as on:
            return settings_like(on, prefix)

    def forget_setting(self, name: str) -> None:
        """Keep a setting of the server no more."""
        self.database.write(lambda on: forget_setting(on, name))

    def now(self) -> float:
        """The time, in seconds."""
        return self._clock().timestamp()

    @property
    def _name(self) -> str:
        return "system" if self._actor is None else self._actor.name

    def _admin_only(self) -> None:
        if self._actor is not None and not self._actor.admin:
            raise Refused("admin-only", "only an admin may do this")

    def _actor_id(self, on: Connection) -> int | None:
        """The id inside of whose rows alone may be seen; None for all."""
        if self._actor is None or self._actor.admin:
            return None
        return int(find_requester(on, self._actor.requester).id)

    def _hers(self, on: Connection) -> ColumnElement[bool]:
        actor = self._actor_id(on)
        return true() if actor is None else projects.c.owner == actor

    def load(self, on: Connection, slug: str, *, lock: bool = False) -> ProjectSnapshot:
        """A project of the requester's; with ``lock``, which nobody else changes meanwhile."""
        wanted = select(projects.c.id).where(projects.c.slug == slug, self._hers(on))
        if lock:
            wanted = wanted.with_for_update(key_share=True)
        project = on.execute(wanted).scalar()
        if project is None:
            raise NotFound("project", slug)
        return load_snapshot(on, project)
