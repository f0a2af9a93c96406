"""Who works on a project beside its owner: roles, members, and links that make members."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

MemberRole = Literal["viewer", "reviewer", "manager", "owner"]
MEMBER_ROLES: tuple[MemberRole, ...] = ("viewer", "reviewer", "manager", "owner")  # each may more
ROLE_WORDS: dict[MemberRole, str] = {
    "viewer": "sees everything, changes nothing",
    "reviewer": "also adjudicates items, answers judges who disagree, and asks for fits",
    "manager": "also changes items, gold, policy, and who judges",
    "owner": "also says who the members are, and deletes the project",
}


def may(role: MemberRole, least: MemberRole) -> bool:
    """Whether a role is at least another."""
    return MEMBER_ROLES.index(role) >= MEMBER_ROLES.index(least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """Someone who may do something in a project."""

    member: str  # public id of the requester
    name: str
    role: MemberRole
    since: datetime
    maker: bool  # whose project it is: their role does not change


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberLink:
    """A link by which one person becomes a member."""

    link: str  # the key
    project: str  # slug
    title: str  # the project's name
    role: MemberRole
    note: str  # whom it is for; the owner's own words
    made: datetime
    expires: datetime
    revoked: bool
    member: str | None  # the name of who came by it
