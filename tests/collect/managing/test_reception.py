"""Who may come in: the first requester, whose projects are whose, tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

from adjudge.collect.services.office import Office
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.errors import NotFound, Refused
from collecting import Clock, made_project

PASSWORD = "correct horse battery"


def refused(code: str) -> object:
    return pytest.raises(Refused, check=lambda error: error.code == code)


def test_the_first_requester_is_made_once_by_the_newest_link(database: Database) -> None:
    office = Office(database)
    assert office.setup_needed()
    old = office.setup_token()
    token = office.setup_token()
    with refused("bad-token"):
        office.set_up(old, "ada", PASSWORD)
    with refused("bad-form"):
        office.set_up(token, "ada", "short")
    ada = office.set_up(token, " ada ", PASSWORD)
    assert (ada.name, ada.admin, office.setup_needed()) == ("ada", True, False)
    for call in (office.setup_token, lambda: office.set_up(token, "eve", PASSWORD)):
        with refused("set-up-done"):
            call()
    assert office.log_in("ada", PASSWORD) == ada
    assert office.requester(ada.requester) == ada
    for name, password in (("ada", "wrong password"), ("eve", PASSWORD), ("a\0", "")):
        with refused("bad-login"):
            office.log_in(name, password)
    stored = database.engine.connect()
    with stored as on:
        kept = on.execute(sa.select(schema.requesters.c.password)).scalar_one()
    assert kept.startswith("$argon2id$")


def test_requesters_see_their_own_projects_alone(database: Database) -> None:
    office = Office(database)
    ada = office.set_up(office.setup_token(), "ada", PASSWORD)
    admin = office.acting(ada)
    bob, eve = (admin.add_requester(name, PASSWORD) for name in ("bob", "eve"))
    with refused("name-taken"):
        admin.add_requester("bob", PASSWORD)
    bobs, eves = office.acting(bob), office.acting(eve)
    with refused("admin-only"):
        bobs.add_requester("mallory", PASSWORD)
    with refused("admin-only"):
        bobs.requesters()
    with refused("admin-only"):
        bobs.change_password(eve.requester, "a new password")
    bobs.change_password(bob.requester, "a new password")
    assert office.log_in("bob", "a new password") == bob
    assert [one.name for one in admin.requesters()] == ["ada", "bob", "eve"]

    made = bobs.create_project(made_project(topics=2, golds=4))
    assert (made.owner, made.state, made.items, made.golds) == ("bob", "draft", 10, 4)
    assert [one.slug for one in bobs.projects()] == [made.slug]
    assert eves.projects() == []
    assert [one.slug for one in admin.projects()] == [made.slug]
    calls = [
        lambda: eves.project(made.slug),
        lambda: eves.progress(made.slug),
        lambda: eves.set_state(made.slug, "open"),
        lambda: eves.value(made.slug),
        lambda: eves.judges(made.slug),
        lambda: eves.golds(made.slug),
        lambda: eves.log(made.slug),
        lambda: eves.table(made.slug),
        lambda: eves.edit_gold(made.slug, "gold0", active=False),
        lambda: eves.delete_project(made.slug),
        lambda: eves.make_token("t", scope="judge", project=made.slug),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="there is no project 'made'"):
            call()


def test_tokens_are_kept_as_hashes_and_can_be_revoked(database: Database) -> None:
    clock = Clock()
    office = Office(database, clock=clock)
    ada = office.acting(office.set_up(office.setup_token(), "ada", PASSWORD))
    slug = ada.create_project(made_project(topics=1, golds=0)).slug
    with refused("bad-form"):
        ada.make_token("model", scope="judge")
    with refused("bad-form"):
        office.make_token("nobody's", scope="requester")
    token, secret = ada.make_token(
        "model", scope="judge", project=slug, expires=clock() + timedelta(hours=1)
    )
    assert (token.scope, token.project, token.used) == ("judge", slug, None)
    found, requester = office.check_token(secret)
    assert (found.token, requester.name) == (token.token, "ada")
    assert ada.tokens()[0].used == clock()
    with database.read() as on:
        row = on.execute(sa.select(schema.tokens)).one()
    assert secret not in str(tuple(row))
    with refused("bad-token"):
        office.check_token(secret + "x")
    clock.forward(hours=2)
    with refused("bad-token"):
        office.check_token(secret)
    other, secret = ada.make_token("script", scope="requester")
    ada.revoke_token(other.token)
    with refused("bad-token"):
        office.check_token(secret)
    with pytest.raises(NotFound):
        ada.revoke_token("unknown")
