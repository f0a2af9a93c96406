"""Members: by link, with a role that may just so much, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.values.requesting import MemberRole
from adjudge.errors import BadSetting, NotFound, Refused
from collecting import Bench, made_project

PASSWORD = "correct horse battery"


@pytest.fixture
def bench(database: Database) -> Bench:
    return Bench(database, topics=3, golds=12)


@pytest.fixture
def olga(bench: Bench) -> RequesterServices:
    return bench.services.acting_for(bench.services.accounts.add("olga", PASSWORD))


def refused(code: str, call: Callable[[], Any]) -> None:
    with pytest.raises(Refused) as error:
        call()
    assert error.value.code == code


def joined(olga: RequesterServices, slug: str, name: str, role: MemberRole) -> RequesterServices:
    """The services of somebody new, who came by a link."""
    later = olga.caller.clock() + timedelta(days=1)
    link = olga.members.invite(slug, role, note=f"for {name}", expires=later)
    made = RequesterServices(olga.caller.database, clock=olga.caller.clock).members.join_new(
        link.link, name, PASSWORD
    )
    return olga.acting_for(made)


def test_each_role_may_what_the_one_below_may_and_more(olga: RequesterServices) -> None:
    slug = olga.projects.create(made_project(topics=3, golds=12)).slug
    item = next(one.item for one in olga.items.get_all(slug)[0] if not one.gold)
    label = olga.projects.get_scale(slug).labels[0]
    ways: dict[MemberRole, Callable[[RequesterServices], Any]] = {
        "viewer": lambda one: one.items.get(slug, item),
        "reviewer": lambda one: one.items.adjudicate(slug, item, label),
        "manager": lambda one: one.projects.set_policy(slug, {"judgments_per_item": 4}),
        "owner": lambda one: one.members.get_links(slug),
    }
    roles = list(ways)
    for role in roles:
        one = joined(olga, slug, f"a {role}", role)
        assert one.projects.get(slug).role == one.projects.get_head(slug).role == role
        assert [p.slug for p in one.projects.get_all()] == [slug]
        for least, way in ways.items():
            if roles.index(role) >= roles.index(least):
                way(one)
            else:
                refused("role", lambda way=way, one=one: way(one))  # type: ignore[misc]
        if role != "owner":
            refused("role", lambda one=one: one.projects.delete(slug))  # type: ignore[misc]
    members = [(one.name, one.role, one.maker) for one in olga.members.get_all(slug)]
    assert members == [
        ("olga", "owner", True),
        ("a owner", "owner", False),
        ("a manager", "manager", False),
        ("a reviewer", "reviewer", False),
        ("a viewer", "viewer", False),
    ]
    assert olga.items.get_final(slug)[item].by in ("a reviewer", "a manager", "a owner")


def test_a_link_makes_one_member_while_it_is_good(bench: Bench, olga: RequesterServices) -> None:
    slug = olga.projects.create(made_project(topics=2)).slug
    later = olga.caller.clock() + timedelta(days=1)
    first = olga.members.invite(slug, "reviewer", expires=later)
    second = olga.members.invite(slug, "viewer", note="somebody", expires=later)
    third = olga.members.invite(slug, "viewer", expires=later)
    stranger = bench.services.members
    assert stranger.find_link(first.link).title == olga.projects.get(slug).name
    otto = bench.services.acting_for(bench.services.accounts.add("otto", PASSWORD))
    for look in (otto.projects.get, otto.projects.get_head):
        with pytest.raises(NotFound):
            look(slug)
    otto.members.join(first.link)
    assert otto.projects.get(slug).role == "reviewer"
    refused("link-used", lambda: stranger.join_new(first.link, "eve", PASSWORD))
    assert "eve" not in [one.name for one in bench.services.accounts.get_all()]
    refused("member-already", lambda: otto.members.join(second.link))  # never less than before
    refused("member-already", lambda: olga.members.join(second.link))
    olga.members.revoke_link(slug, second.link)
    refused("invite-unknown", lambda: stranger.find_link(second.link))
    refused("invite-unknown", lambda: stranger.find_link("made-up"))
    bench.clock.forward(days=2)
    refused("link-expired", lambda: stranger.join_new(third.link, "eve", PASSWORD))
    links = [(one.note, one.member, one.revoked) for one in olga.members.get_links(slug)]
    assert links == [("", None, False), ("somebody", None, True), ("", "otto", False)]


def test_a_higher_link_raises_and_a_removed_member_sees_nothing(
    bench: Bench, olga: RequesterServices
) -> None:
    slug = olga.projects.create(made_project(topics=2)).slug
    eve = joined(olga, slug, "eve", "viewer")
    _, secret = eve.accounts.make_token("t", scope="requester", project=slug)
    refused("role", lambda: eve.accounts.make_token("t", scope="judge", project=slug))
    later = olga.caller.clock() + timedelta(days=1)
    eve.members.join(olga.members.invite(slug, "manager", expires=later).link)
    assert eve.projects.get(slug).role == "manager"
    member = next(one.member for one in olga.members.get_all(slug) if one.name == "eve")
    olga.members.set_role(slug, member, "viewer")
    refused("role", lambda: eve.projects.set_state(slug, "open"))
    maker = olga.members.get_all(slug)[0].member
    refused("maker", lambda: olga.members.remove(slug, maker))
    refused("maker", lambda: olga.members.set_role(slug, maker, "viewer"))
    refused("role", lambda: eve.members.remove(slug, maker))
    with pytest.raises(BadSetting, match="viewer, reviewer, manager, owner"):
        olga.members.set_role(slug, member, "king")  # type: ignore[arg-type]
    eve.members.remove(slug, member)  # everybody may leave
    with pytest.raises(NotFound):
        eve.projects.get(slug)
    refused("bad-token", lambda: bench.services.accounts.check_token(secret))
    assert eve.projects.get_all() == []
    events = [one.event for one in olga.projects.get_log(slug)]
    assert events[:3] == ["member-removed", "member-role", "member-joined"]
    assert olga.projects.audit(slug) == []


def test_an_owner_sees_and_revokes_the_tokens_of_a_project(
    bench: Bench, olga: RequesterServices
) -> None:
    slug = olga.projects.create(made_project(topics=2)).slug
    eve = joined(olga, slug, "eve", "manager")
    token, secret = eve.accounts.make_token("t", scope="judge", project=slug)
    eve.accounts.make_token("u", scope="requester")
    refused("role", lambda: eve.members.get_tokens(slug))
    refused("role", lambda: eve.members.revoke_token(slug, token.token))
    (seen,) = olga.members.get_tokens(slug)
    assert (seen.token, seen.holder, seen.scope, seen.revoked) == (
        token.token,
        "eve",
        "judge",
        False,
    )
    olga.members.revoke_token(slug, token.token)
    refused("bad-token", lambda: bench.services.accounts.check_token(secret))
    with pytest.raises(NotFound):
        olga.members.revoke_token(slug, "another")


def test_a_guest_makes_no_projects_until_an_admin_says_so(
    bench: Bench, olga: RequesterServices
) -> None:
    slug = olga.projects.create(made_project(topics=2)).slug
    eve = joined(olga, slug, "eve", "manager")
    refused("guest", lambda: eve.projects.create(made_project(topics=2)))
    public = next(one.requester for one in bench.services.accounts.get_all() if one.guest)
    refused("admin-only", lambda: olga.accounts.end_guest(public))
    bench.services.accounts.end_guest(public)
    assert eve.projects.create(made_project(topics=2)).role == "owner"


def test_a_project_that_is_deleted_takes_its_members_along(olga: RequesterServices) -> None:
    slug = olga.projects.create(made_project(topics=2)).slug
    eve = joined(olga, slug, "eve", "manager")
    refused("role", lambda: eve.projects.delete(slug))
    olga.projects.delete(slug)
    assert eve.projects.get_all() == []
