"""Members of a project: who they are, links that make them, roles that change."""

from __future__ import annotations

from datetime import datetime
from typing import cast

from sqlalchemy import ColumnElement, delete, insert, select, update
from sqlalchemy.engine import Connection

from adjudge.collect.managing.accounts import find_requester
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import member_links, members, projects, requesters
from adjudge.collect.store.snapshot import load_snapshot
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.members import MEMBER_ROLES, Member, MemberLink, MemberRole, may
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


def _check(role: str) -> None:
    if role not in MEMBER_ROLES:
        raise BadSetting("role", role, f"one of {', '.join(MEMBER_ROLES)}")


def list_members(request: Request) -> list[Member]:
    """Whose project it is, and who else may do something in it, by role and name."""
    project = request.project.id
    made = _find_maker(request)
    found = request.on.execute(
        select(requesters.c.public, requesters.c.name, members.c.role, members.c.made)
        .join(requesters, requesters.c.id == members.c.requester)
        .where(members.c.project == project)
    )
    others = [
        Member(
            member=row.public,
            name=row.name,
            role=cast(MemberRole, row.role),
            since=to_time(row.made),
            maker=False,
        )
        for row in found
    ]
    others.sort(key=lambda one: (-MEMBER_ROLES.index(one.role), one.name.casefold()))
    return [*made, *others]


def _find_maker(request: Request) -> list[Member]:
    """Who made a project; nobody where the command line did."""
    row = request.on.execute(
        select(requesters.c.public, requesters.c.name, projects.c.made)
        .join(requesters, requesters.c.id == projects.c.owner)
        .where(projects.c.id == request.project.id)
    ).one_or_none()
    if row is None:
        return []
    return [
        Member(member=row.public, name=row.name, role="owner", since=to_time(row.made), maker=True)
    ]


def _link_of(row: StoredRow) -> MemberLink:
    return MemberLink(
        link=row.key,
        project=row.slug,
        title=row.title,
        role=cast(MemberRole, row.role),
        note=row.note,
        made=to_time(row.made),
        expires=to_time(row.expires),
        revoked=row.revoked,
        member=row.name,
    )


def make_link(request: Request, role: MemberRole, note: str, expires: datetime) -> MemberLink:
    """A link by which one person becomes a member."""
    _check(role)
    key = make_id(18)
    request.on.execute(
        insert(member_links).values(
            key=key,
            project=request.project.id,
            role=role,
            note=note.strip()[:500].replace("\0", ""),
            made=request.now,
            expires=expires.timestamp(),
        )
    )
    request.log("member-invited", actor=request.actor, role=role)
    return _link_of(request.on.execute(_LINKS.where(member_links.c.key == key)).one())


def list_links(request: Request) -> list[MemberLink]:
    """Every link of a project, newest first."""
    wanted = _LINKS.where(member_links.c.project == request.project.id)
    return [_link_of(row) for row in request.on.execute(wanted)]


def revoke_link(request: Request, key: str) -> None:
    """End a link; who came by it stays a member until they are removed."""
    change = update(member_links).where(
        member_links.c.project == request.project.id, member_links.c.key == key
    )
    if request.on.execute(change.values(revoked=True)).rowcount == 0:
        raise NotFound("link", key)
    request.log("member-link-revoked", actor=request.actor)


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


def describe_link(on: Connection, key: str, now: float) -> MemberLink:
    """A link that is still good."""
    return _link_of(_find_good(on, key, now))


def join(on: Connection, key: str, requester: str, now: float) -> MemberLink:
    """Make a requester a member by a link; a role that they have already is never lessened."""
    link, whom = _find_good(on, key, now, lock=True), find_requester(on, requester)
    at = (members.c.project == link.project) & (members.c.requester == whom.id)
    had = on.execute(select(members.c.role).where(at)).scalar()
    if link.owner == whom.id:
        raise Refused("member-already", "this project is yours")
    if had is not None and may(cast(MemberRole, had), cast(MemberRole, link.role)):
        raise Refused("member-already", f"you are a {had} of this project already")
    if had is None:
        on.execute(
            insert(members).values(
                project=link.project, requester=whom.id, role=link.role, made=now
            )
        )
    else:
        on.execute(update(members).where(at).values(role=link.role))
    on.execute(update(member_links).where(member_links.c.id == link.id).values(requester=whom.id))
    about = Request(on=on, project=load_snapshot(on, link.project), now=now, actor=whom.name)
    about.log("member-joined", actor=whom.name, role=link.role)
    return _link_of(link)


def set_role(request: Request, member: str, role: MemberRole) -> None:
    """Give a member another role. Refused: ``maker``."""
    _check(role)
    who = _find_member(request, member)
    change = update(members).where(*_row(request, member)).values(role=role)
    request.on.execute(change)
    request.log("member-role", actor=request.actor, member=who.name, role=role)


def remove(request: Request, member: str) -> None:
    """Let somebody be a member no more; what they decided stays. Refused: ``maker``."""
    who = _find_member(request, member)
    request.on.execute(delete(members).where(*_row(request, member)))
    request.log("member-removed", actor=request.actor, member=who.name)


def _find_member(request: Request, member: str) -> Member:
    """A member who is not the one who made the project. Refused: ``maker``."""
    for one in list_members(request):
        if one.member == member:
            if one.maker:
                raise Refused("maker", f"{one.name} made the project, and stays its owner")
            return one
    raise NotFound("member", member)


def _row(request: Request, member: str) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    who = select(requesters.c.id).where(requesters.c.public == member).scalar_subquery()
    return members.c.project == request.project.id, members.c.requester == who
