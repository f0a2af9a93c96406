"""The members of a project: invited by link, with roles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.engine import Connection

from adjudge.collect.managing.accounts import add_requester
from adjudge.collect.managing.members import (
    describe_link,
    join,
    list_links,
    list_members,
    make_link,
    remove,
    revoke_link,
    set_role,
)
from adjudge.collect.services.caller import Caller
from adjudge.collect.values.members import Member, MemberLink, MemberRole
from adjudge.collect.values.requesting import Requester
from adjudge.errors import Refused


@dataclass(frozen=True, slots=True)
class MemberService:
    """What an owner can do about the members of a project, and how one becomes a member."""

    caller: Caller

    def get_all(self, slug: str) -> list[Member]:
        """Who made the project, then its members by role and name."""
        with self.caller.reading(slug) as request:
            return list_members(request)

    def get_links(self, slug: str) -> list[MemberLink]:
        """Every link that makes a member, newest first."""
        with self.caller.reading(slug, least="owner") as request:
            return list_links(request)

    def invite(
        self, slug: str, role: MemberRole, *, note: str = "", expires: datetime
    ) -> MemberLink:
        """A link by which one person becomes a member."""
        return self.caller.write(
            slug, lambda request: make_link(request, role, note, expires), least="owner"
        )

    def revoke_link(self, slug: str, link: str) -> None:
        """End a link; who came by it stays a member until they are removed."""
        self.caller.write(slug, lambda request: revoke_link(request, link), least="owner")

    def set_role(self, slug: str, member: str, role: MemberRole) -> None:
        """Give a member another role. Refused: ``maker``."""
        self.caller.write(slug, lambda request: set_role(request, member, role), least="owner")

    def remove(self, slug: str, member: str) -> None:
        """Let somebody be a member no more: an owner anybody, everybody themselves.

        Refused: ``maker``.
        """
        actor = self.caller.actor
        own = actor is not None and actor.requester == member
        least: MemberRole = "viewer" if own else "owner"
        self.caller.write(slug, lambda request: remove(request, member), least=least)

    # -- becoming one

    def find_link(self, link: str) -> MemberLink:
        """A link that is still good.

        Refused: ``invite-unknown``, ``link-used``, ``link-expired``.
        """
        with self.caller.database.read() as on:
            return describe_link(on, link, self.caller.now())

    def join(self, link: str) -> MemberLink:
        """Become a member. Refused: as ``find_link``, and ``member-already``."""
        actor = self.caller.actor
        if actor is None:
            raise Refused("bad-form", "a member is a requester: act for one")
        now = self.caller.now()
        return self.caller.database.write(lambda on: join(on, link, actor.requester, now))

    def join_new(self, link: str, name: str, password: str) -> Requester:
        """Make an account, a guest's, and become a member, in one.

        Refused: as ``find_link``, and ``name-taken``, ``bad-form``.
        """
        now = self.caller.now()

        def work(on: Connection) -> Requester:
            describe_link(on, link, now)  # before a name is looked at
            made = add_requester(on, name, password, admin=False, now=now, guest=True)
            join(on, link, made.requester, now)
            return made

        return self.caller.database.write(work)
