"""Who may come in: the first requester, whose projects are whose, tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa

import passwords
from adjudge.collect.services import accounts
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.errors import NotFound
from collecting import Clock, made_project, refused

PASSWORD = "correct horse battery"


@pytest.mark.parametrize(
    "name",
    [
        "system",
        "Judge",
        "a\u202eda",
        "a\u200bda",
        "a\nda",
        "\0",
        "\x1b",
        " ",
        "x" * 201,
        "\ufdfa" * 90,
    ],
)
def test_a_name_that_could_mislead_is_refused(sqlite: Database, name: str) -> None:
    with refused("bad-form"):
        RequesterServices(sqlite).accounts.add(name, PASSWORD)


def test_names_are_in_their_normal_form_and_older_names_stay(sqlite: Database) -> None:
    services = RequesterServices(sqlite)
    made = services.accounts.add("\uff21da \ufb01", PASSWORD)
    assert made.name == "Ada fi"
    with refused("name-taken"):
        services.accounts.add("Ada fi", PASSWORD)
    assert services.accounts.log_in("\uff21da \ufb01", PASSWORD) == made
    with sqlite.engine.begin() as on:  # as earlier versions took it
        on.execute(sa.update(schema.requesters).values(name="sys\u202etem"))
    assert services.accounts.log_in("sys\u202etem", PASSWORD).requester == made.requester


def test_the_log_has_ids_and_shows_names(sqlite: Database) -> None:
    services = RequesterServices(sqlite)
    ada = services.acting_for(services.accounts.add("ada", PASSWORD))
    slug = ada.projects.create(made_project(topics=1)).slug
    ada.projects.set_guidelines(slug, "Else.")
    with sqlite.engine.begin() as on:
        stored = on.execute(sa.select(schema.log.c.actor).order_by(schema.log.c.id)).scalars()
        assert set(stored) == {ada.caller.id}
        named = {"actor": "somebody", "event": "project-open"}  # as earlier versions stored it
        on.execute(sa.update(schema.log).where(schema.log.c.id == 1).values(**named))
    assert [one.actor for one in ada.projects.get_log(slug)] == ["ada", "somebody"]


def test_the_first_requester_is_created_once_by_the_newest_link(database: Database) -> None:
    services = RequesterServices(database)
    assert services.accounts.needs_setup()
    old = services.accounts.make_setup_token()
    token = services.accounts.make_setup_token()
    with refused("bad-token"):
        services.accounts.set_up(old, "ada", PASSWORD)
    with refused("bad-form"):
        services.accounts.set_up(token, "ada", "short")
    ada = services.accounts.set_up(token, " ada ", PASSWORD)
    assert (ada.name, ada.admin, services.accounts.needs_setup()) == ("ada", True, False)
    for call in (
        services.accounts.make_setup_token,
        lambda: services.accounts.set_up(token, "eve", PASSWORD),
    ):
        with refused("set-up-done"):
            call()
    assert services.accounts.log_in("ada", PASSWORD) == ada
    assert services.accounts.get(ada.requester) == ada
    for name, password in (("ada", "wrong password"), ("eve", PASSWORD), ("a\0", "")):
        with refused("bad-login"):
            services.accounts.log_in(name, password)
    stored = database.engine.connect()
    with stored as on:
        kept = on.execute(sa.select(schema.requesters.c.password)).scalar_one()
    assert kept.startswith("$argon2id$")


def test_a_password_takes_long_to_guess(sqlite: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """As OWASP wants it at least: 19 MiB, twice. In other tests it takes as little as can be."""
    monkeypatch.setattr(accounts, "_HASHER", passwords.REAL)
    services = RequesterServices(sqlite)
    ada = services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    with sqlite.read() as on:
        kept = on.execute(sa.select(schema.requesters.c.password)).scalar_one()
    assert kept.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    assert services.accounts.log_in("ada", PASSWORD) == ada
    assert passwords.REAL.verify(kept, PASSWORD)


def test_accounts_see_only_their_own_projects(database: Database) -> None:
    services = RequesterServices(database)
    ada = services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    admin = services.acting_for(ada)
    bob, eve = (admin.accounts.add(name, PASSWORD) for name in ("bob", "eve"))
    with refused("name-taken"):
        admin.accounts.add("bob", PASSWORD)
    bobs, eves = services.acting_for(bob), services.acting_for(eve)
    with refused("admin-only"):
        bobs.accounts.add("mallory", PASSWORD)
    with refused("admin-only"):
        bobs.accounts.get_all()
    with refused("admin-only"):
        bobs.accounts.change_password(eve.requester, "a new password")
    bobs.accounts.change_password(bob.requester, "a new password")
    assert services.accounts.log_in("bob", "a new password") == bob
    assert [one.name for one in admin.accounts.get_all()] == ["ada", "bob", "eve"]

    made = bobs.projects.create(made_project(topics=2, golds=4))
    assert (made.owner, made.state, made.items, made.golds) == ("bob", "draft", 10, 4)
    assert [one.slug for one in bobs.projects.get_all()] == [made.slug]
    assert eves.projects.get_all() == []
    assert [one.slug for one in admin.projects.get_all()] == [made.slug]
    calls = [
        lambda: eves.projects.get(made.slug),
        lambda: eves.projects.get_progress(made.slug),
        lambda: eves.projects.set_state(made.slug, "open"),
        lambda: eves.projects.read(made.slug),
        lambda: eves.judges.get_all(made.slug),
        lambda: eves.gold.get_all(made.slug),
        lambda: eves.projects.get_log(made.slug),
        lambda: eves.exports.get_table(made.slug),
        lambda: eves.gold.edit(made.slug, "gold0", active=False),
        lambda: eves.projects.delete(made.slug),
        lambda: eves.accounts.make_token("t", scope="judge", project=made.slug),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="there is no project 'made'"):
            call()


def test_tokens_are_kept_as_hashes_and_can_be_revoked(database: Database) -> None:
    clock = Clock()
    services = RequesterServices(database, clock=clock)
    ada = services.acting_for(
        services.accounts.set_up(services.accounts.make_setup_token(), "ada", PASSWORD)
    )
    slug = ada.projects.create(made_project(topics=1, golds=0)).slug
    with refused("bad-form"):
        ada.accounts.make_token("model", scope="judge")
    with refused("bad-form"):
        services.accounts.make_token("nobody's", scope="requester")
    token, secret = ada.accounts.make_token(
        "model", scope="judge", project=slug, expires=clock() + timedelta(hours=1)
    )
    assert (token.scope, token.project, token.used) == ("judge", slug, None)
    found, requester = services.accounts.check_token(secret)
    assert (found.token, requester.name) == (token.token, "ada")
    assert ada.accounts.get_tokens()[0].used == clock()
    with database.read() as on:
        row = on.execute(sa.select(schema.tokens)).one()
    assert secret not in str(tuple(row))
    with refused("bad-token"):
        services.accounts.check_token(secret + "x")
    clock.forward(hours=2)
    with refused("bad-token"):
        services.accounts.check_token(secret)
    other, secret = ada.accounts.make_token("script", scope="requester")
    ada.accounts.revoke_token(other.token)
    with refused("bad-token"):
        services.accounts.check_token(secret)
    with pytest.raises(NotFound):
        ada.accounts.revoke_token("unknown")
