"""The members of a project: invited by link, with roles."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.services.accounts import add_requester
from adjudge.collect.services.caller import (
    Service,
    find_requester,
    reads,
    reads_store,
    writes,
    writes_store,
)
from adjudge.collect.store.database import StoredRow, from_row
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import member_links, members, projects, requesters
from adjudge.collect.store.snapshot import load_snapshot
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.members import MEMBER_ROLES, Member, MemberLink, MemberRole, may
from adjudge.collect.values.requesting import Requester
from adjudge.errors import BadSetting, NotFound, Refused

_LINKS = (
    select(
        member_links,
        projects.c.slug,
        projects.c.name.label("title"),
        projects.c.owner,
        requesters.c.name,
    )
    .join(projects, projects.c.id == member_links.c.project)
    .outerjoin(requesters, requesters.c.id == member_links.c.requester)
    .order_by(member_links.c.id.desc())
)


@dataclass(frozen=True, slots=True)
class MemberService(Service):
    """What an owner can do about the members of a project, and how one becomes a member."""

    @reads()
    def get_all(self, request: Request) -> list[Member]:
        """Who made the project, then its members by role and name."""
        return _list_members(request)

    @reads("owner")
    def get_links(self, request: Request) -> list[MemberLink]:
        """Every link that makes a member, newest first."""
        wanted = _LINKS.where(member_links.c.project == request.project.id)
        return [_link_of(row) for row in request.on.execute(wanted)]

    @writes("owner")
    def invite(
        self, request: Request, role: MemberRole, *, note: str = "", expires: datetime
    ) -> MemberLink:
        """Make a link by which one person becomes a member."""
        _check(role)
        key = make_id(18)
        values = {"key": key, "project": request.project.id, "role": role, "made": request.now}
        values |= {"note": note.strip()[:500].replace("\0", ""), "expires": expires.timestamp()}
        request.on.execute(insert(member_links).values(**values))
        request.log("member-invited", actor=request.actor, role=role)
        return _link_of(request.on.execute(_LINKS.where(member_links.c.key == key)).one())

    @writes("owner")
    def revoke_link(self, request: Request, link: str) -> None:
        """End a link; who came by it stays a member until they are removed."""
        ours = member_links.c.project == request.project.id
        change = update(member_links).where(ours, member_links.c.key == link)
        if request.on.execute(change.values(revoked=True)).rowcount == 0:
            raise NotFound("link", link)

    @writes("owner")
    def set_role(self, request: Request, member: str, role: MemberRole) -> None:
        """Give a member another role. Refused: ``maker``."""
        _check(role)
        who = _find_member(request, member)
        request.on.execute(update(members).where(_row(request, member)).values(role=role))
        request.log("member-role", actor=request.actor, member=who.name, role=role)

    @writes("viewer")
    def remove(self, request: Request, member: str) -> None:
        """Remove a member: an owner removes anybody, everybody themselves.

        What they decided stays. Refused: ``maker``.
        """
        actor = self.caller.actor
        if actor is None or actor.requester != member:
            self.caller.find(request.on, request.project.slug, "owner")
        who = _find_member(request, member)
        request.on.execute(delete(members).where(_row(request, member)))
        request.log("member-removed", actor=request.actor, member=who.name)

    # -- becoming one

    @reads_store
    def find_link(self, on: Connection, link: str) -> MemberLink:
        """A link that is still good.

        Refused: ``invite-unknown``, ``link-used``, ``link-expired``.
        """
        return _link_of(_find_good(on, link, self.caller.now()))

    @writes_store
    def join(self, on: Connection, link: str) -> MemberLink:
        """Become a member. Refused: as ``find_link``, and ``member-already``."""
        actor = self.caller.actor
        if actor is None:
            raise Refused("bad-form", "a member is a requester: act for one")
        return _join(on, link, actor.requester, self.caller.now())

    @writes_store
    def join_new(self, on: Connection, link: str, name: str, password: str) -> Requester:
        """Make an account, a guest's, and become a member, in one.

        Refused: as ``find_link``, and ``name-taken``, ``bad-form``.
        """
        now = self.caller.now()
        _find_good(on, link, now)  # before a name is looked at
        made = add_requester(on, name, password, admin=False, now=now, guest=True)
        _join(on, link, made.requester, now)
        return made


def _check(role: str) -> None:
    if role not in MEMBER_ROLES:
        raise BadSetting("role", role, f"one of {', '.join(MEMBER_ROLES)}")


def _list_members(request: Request) -> list[Member]:
    project = request.project.id
    who = (requesters.c.public.label("member"), requesters.c.name)
    maker = request.on.execute(
        select(*who, projects.c.made.label("since"))
        .join(requesters, requesters.c.id == projects.c.owner)
        .where(projects.c.id == project)
    )
    others = request.on.execute(
        select(*who, members.c.role, members.c.made.label("since"))
        .join(requesters, requesters.c.id == members.c.requester)
        .where(members.c.project == project)
    )
    listed = [from_row(Member, row, maker=False) for row in others]
    listed.sort(key=lambda one: (-MEMBER_ROLES.index(one.role), one.name.casefold()))
    # None where the command line made the project.
    return [*(from_row(Member, row, role="owner", maker=True) for row in maker), *listed]


def _link_of(row: StoredRow) -> MemberLink:
    return from_row(MemberLink, row, link=row.key, project=row.slug, member=row.name)


def _find_good(on: Connection, key: str, now: float, *, lock: bool = False) -> StoredRow:
    """The row of a link that is still good. Refused: ``invite-unknown``, ``link-expired``."""
    wanted = _LINKS.where(member_links.c.key == key)
    if lock:
        wanted = wanted.with_for_update(of=member_links)
    row = on.execute(wanted).one_or_none()
    if row is None or row.revoked:
        raise Refused("invite-unknown", "this invitation is not known, or was taken back")
    if row.requester is not None:
        raise Refused("link-used", "somebody came by this link already; it makes one member")
    if row.expires <= now:
        raise Refused("link-expired", "this link has expired; ask for a new one")
    return row


def _join(on: Connection, key: str, requester: str, now: float) -> MemberLink:
    """Make a requester a member by a link; a role that they have already is never lessened."""
    link, whom = _find_good(on, key, now, lock=True), find_requester(on, requester)
    at = (members.c.project == link.project) & (members.c.requester == whom.id)
    had: MemberRole | None = on.execute(select(members.c.role).where(at)).scalar()
    if link.owner == whom.id:
        raise Refused("member-already", "this project is yours")
    if had is not None and may(had, link.role):
        raise Refused("member-already", f"you are a {had} of this project already")
    if had is None:
        values = {"project": link.project, "requester": whom.id, "role": link.role, "made": now}
        on.execute(insert(members).values(**values))
    else:
        on.execute(update(members).where(at).values(role=link.role))
    on.execute(update(member_links).where(member_links.c.id == link.id).values(requester=whom.id))
    about = Request(on=on, project=load_snapshot(on, link.project), now=now, actor=whom.name)
    about.log("member-joined", actor=whom.name, role=link.role)
    return _link_of(link)


def _find_member(request: Request, member: str) -> Member:
    """A member who is not the one who made the project. Refused: ``maker``."""
    for one in _list_members(request):
        if one.member == member:
            if one.maker:
                raise Refused("maker", f"{one.name} made the project, and stays its owner")
            return one
    raise NotFound("member", member)


def _row(request: Request, member: str) -> ColumnElement[bool]:
    who = select(requesters.c.id).where(requesters.c.public == member).scalar_subquery()
    return (members.c.project == request.project.id) & (members.c.requester == who)
