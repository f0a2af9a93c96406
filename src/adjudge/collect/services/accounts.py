"""Requesters and their passwords, API tokens, and the members of projects."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from unicodedata import normalize

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import ColumnElement, ScalarSelect, Update, delete, func, insert, select, update
from sqlalchemy.engine import Connection

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
from adjudge.collect.store.schema import member_links, members, projects, requesters, tokens
from adjudge.collect.store.settings import forget_setting, keep_setting, read_setting
from adjudge.collect.store.snapshot import load_snapshot
from adjudge.collect.values.ids import make_id
from adjudge.collect.values.requesting import (
    MEMBER_ROLES,
    Member,
    MemberLink,
    MemberRole,
    ProjectToken,
    Requester,
    Scope,
    Token,
    may,
)
from adjudge.collect.values.texts import check_name
from adjudge.errors import BadSetting, NotFound, Refused

_HASHER = PasswordHasher(time_cost=2, memory_cost=19_456, parallelism=1)
_SHORTEST_PASSWORD = 10
_SETUP = "setup-token"
_TOKENS = (
    select(tokens, projects.c.slug, requesters.c.public.label("requester_public"))
    .join(requesters, requesters.c.id == tokens.c.requester)
    .outerjoin(projects, projects.c.id == tokens.c.project)
)

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
        typed = name.strip().replace("\0", "")
        named = (typed, normalize("NFKC", typed).strip())  # older accounts have any form
        found = on.execute(select(requesters).where(requesters.c.name.in_(named))).all()
        row = min(found, key=lambda one: named.index(one.name), default=None)
        try:
            _HASHER.verify(_nobody() if row is None else row.password, password[:1000])
        except (Argon2Error, InvalidHashError):
            row = None
        if row is None or row.disabled:
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
        """Set a requester's password, which ends their sessions: one's own, or by an admin."""
        if self.caller.actor is not None and self.caller.actor.requester != requester:
            self.caller.check_admin()
        _check_password(password)
        on.execute(_change(on, requester).values(password=_HASHER.hash(password)))
        keep_setting(on, password_stamp(requester), secrets.token_hex(8))

    @writes_store
    def set_disabled(self, on: Connection, requester: str, disabled: bool) -> None:
        """Disable a requester and revoke their tokens; or let them log in again.

        Refused: ``admin-only``.
        """
        self.caller.check_admin()
        row = find_requester(on, requester)
        on.execute(_change(on, requester).values(disabled=disabled))
        if disabled:
            on.execute(update(tokens).where(tokens.c.requester == row.id).values(revoked=True))

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
        return _make_token(on.execute(_TOKENS.where(tokens.c.public == public)).one()), secret

    @reads_store
    def get_tokens(self, on: Connection) -> list[Token]:
        """The requester's tokens, an admin's those of all, newest first."""
        statement = _TOKENS.order_by(tokens.c.id.desc())
        requester = self.caller.find_id(on)
        if requester is not None:
            statement = statement.where(tokens.c.requester == requester)
        return [_make_token(row) for row in on.execute(statement)]

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
        return _make_token(row), requester


def add_requester(
    on: Connection, name: str, password: str, *, admin: bool, now: float, guest: bool = False
) -> Requester:
    """Make a requester. Refused: ``name-taken``, ``bad-form``."""
    try:
        name = check_name(name)
    except ValueError as fault:
        raise Refused("bad-form", f"a name has {fault}") from None
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


def password_stamp(requester: str) -> str:
    """The name of the setting that changes with a requester's password."""
    return f"password-stamp:{requester}"


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


def _make_token(row: StoredRow) -> Token:
    own = {"token": row.public, "project": row.slug, "requester": row.requester_public}
    return from_row(Token, row, **own)


# -- members of projects


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
        statement = _LINKS.where(member_links.c.project == request.project.id)
        return [_link_of(row) for row in request.on.execute(statement)]

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
        if not may(role, who.role):
            _revoke_tokens(request, member)
        request.log("member-role", actor=request.actor, member=who.name, id=member, role=role)

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
        _revoke_tokens(request, member)
        request.log("member-removed", actor=request.actor, member=who.name, id=member)

    @reads("owner")
    def get_tokens(self, request: Request) -> list[ProjectToken]:
        """Every token that is bound to the project, newest first, with whose it is."""
        statement = _TOKENS.add_columns(requesters.c.name.label("holder")).order_by(
            tokens.c.id.desc()
        )
        ours = request.on.execute(statement.where(tokens.c.project == request.project.id))
        return [from_row(ProjectToken, row, token=row.public) for row in ours]

    @writes("owner")
    def revoke_token(self, request: Request, token: str) -> None:
        """End a token that is bound to the project, whoever's it is."""
        if _revoke_tokens_where(request, tokens.c.public == token) == 0:
            raise NotFound("token", token)
        request.log("token-revoked", actor=request.actor, token=token)

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
    statement = _LINKS.where(member_links.c.key == key)
    if lock:
        statement = statement.with_for_update(of=member_links)
    row = on.execute(statement).one_or_none()
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
    about = Request(on=on, project=load_snapshot(on, link.project), now=now)
    about.log("member-joined", actor=whom.public, role=link.role)
    return _link_of(link)


def _find_member(request: Request, member: str) -> Member:
    """A member who is not the one who made the project. Refused: ``maker``."""
    for one in _list_members(request):
        if one.member == member:
            if one.maker:
                raise Refused("maker", f"{one.name} made the project, and stays its owner")
            return one
    raise NotFound("member", member)


def _revoke_tokens(request: Request, member: str) -> None:
    """End a member's tokens that are bound to the project; the judges of each end with it."""
    _revoke_tokens_where(request, tokens.c.requester == _id_of(member))


def _revoke_tokens_where(request: Request, which: ColumnElement[bool]) -> int:
    bound = tokens.c.project == request.project.id
    return request.on.execute(update(tokens).where(bound, which).values(revoked=True)).rowcount


def _id_of(member: str) -> ScalarSelect[int]:
    return select(requesters.c.id).where(requesters.c.public == member).scalar_subquery()


def _row(request: Request, member: str) -> ColumnElement[bool]:
    ours = members.c.project == request.project.id
    return ours & (members.c.requester == _id_of(member))
