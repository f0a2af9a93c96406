"""Requesters and their passwords, the first set-up, and API tokens."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.engine import Connection

from adjudge.collect.managing.accounts import (
    add_requester,
    any_requester,
    change_password,
    check_token,
    end_guest,
    find_requester,
    list_requesters,
    list_tokens,
    log_in,
    make_setup_token,
    make_token,
    note_use,
    requester_of,
    revoke_token,
    set_up,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.values.members import MemberRole
from adjudge.collect.values.requesting import Requester, Scope, Token
from adjudge.errors import Refused


@dataclass(frozen=True, slots=True)
class AccountService:
    """Who may log in, and by which tokens scripts come in."""

    caller: Caller

    def needs_setup(self) -> bool:
        """Whether there is no requester yet."""
        with self.caller.database.read() as on:
            return not any_requester(on)

    def make_setup_token(self) -> str:
        """A fresh one-time token for the set-up link; the one before it is no longer valid.

        Refused: ``set-up-done``.
        """
        return self.caller.database.write(make_setup_token)

    def set_up(self, token: str, name: str, password: str) -> Requester:
        """Make the first requester, an admin.

        Refused: ``bad-token``, ``set-up-done``, ``bad-form``.
        """
        now = self.caller.now()
        return self.caller.database.write(lambda on: set_up(on, token, name, password, now))

    def log_in(self, name: str, password: str) -> Requester:
        """The requester with this name and password. Refused: ``bad-login``, whichever is wrong."""
        with self.caller.database.read() as on:
            return log_in(on, name, password)

    def get(self, requester: str) -> Requester:
        """A requester by public id."""
        with self.caller.database.read() as on:
            return requester_of(find_requester(on, requester))

    def get_all(self) -> list[Requester]:
        """Every requester, for an admin. Refused: ``admin-only``."""
        self.caller.check_admin()
        with self.caller.database.read() as on:
            return list_requesters(on)

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
        self.caller.database.write(lambda on: end_guest(on, requester))

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

        def work(on: Connection) -> tuple[Token, str]:
            return make_token(
                on,
                name,
                scope=scope,
                project=None if project is None else self.caller.find(on, project, least).id,
                requester=find_requester(on, actor.requester).id,
                expires=expires,
                now=self.caller.now(),
            )

        return self.caller.database.write(work)

    def get_tokens(self) -> list[Token]:
        """The requester's tokens, newest first."""
        with self.caller.database.read() as on:
            return list_tokens(on, self.caller.find_id(on))

    def revoke_token(self, token: str) -> None:
        """End a token."""
        self.caller.database.write(lambda on: revoke_token(on, token, self.caller.find_id(on)))

    def check_token(self, secret: str) -> tuple[Token, Requester]:
        """The token with this secret and who made it. Refused: ``bad-token``."""
        now = self.caller.now()
        with self.caller.database.read() as on:
            token, requester, stale = check_token(on, secret, now)
        if stale:
            self.caller.database.write(lambda on: note_use(on, token.token, now))
        return token, requester
