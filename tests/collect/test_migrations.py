"""A store of an older version, with data in it, is brought up without losing any."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store._opening import upgrade
from adjudge.collect.store.database import Database
from collecting import Bench, made_project


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of the first version."""
    if request.param == "sqlite":
        store = Database(tmp_path / "old.db", migrate=False)
    else:
        server = Database(request.getfixturevalue("postgres"), migrate=False)
        name = f"old_{secrets.token_hex(4)}"
        with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as on:
            on.execute(sa.text(f"CREATE DATABASE {name}"))
        url = server.url.set(database=name).render_as_string(hide_password=False)
        server.close()
        store = Database(url, migrate=False)
    with store.engine.begin() as on:
        upgrade(on, "0001")
    yield store
    store.close()


def fill(on: sa.Connection, made: Database) -> None:
    """Copy what a store of today holds into one of the first version, column by column."""
    before = sa.MetaData()
    before.reflect(on)
    with made.read() as reading:
        for table in before.sorted_tables:
            if table.name == "alembic_version":
                continue
            columns = ", ".join(f'"{column.name}"' for column in table.columns)
            types = {column.name: column.type for column in table.columns}
            text = sa.text(f'SELECT {columns} FROM "{table.name}"').columns(**types)
            rows: list[dict[str, Any]] = [dict(row._mapping) for row in reading.execute(text)]
            if rows:
                on.execute(sa.insert(table), rows)
            if rows and "id" in types and on.dialect.name == "postgresql":
                wanted = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id))"
                on.execute(sa.text(f'{wanted} FROM "{table.name}"'))  # as if numbered here


def test_the_first_version_with_data_becomes_the_newest(old: Database, sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=12, judgments_per_item=2, training_pairs=4)
    for key in ("anna", "berta"):
        bench.turn(bench.trained(key))
    with old.engine.begin() as on:
        fill(on, sqlite)
    old.migrate()
    services = RequesterServices(old, clock=bench.clock)
    assert services.projects.get(bench.slug) == bench.services.projects.get(bench.slug)
    assert services.projects.get_progress(bench.slug) == bench.services.projects.get_progress(
        bench.slug
    )
    assert services.exports.get_table(bench.slug).equals(
        bench.services.exports.get_table(bench.slug)
    )
    assert services.projects.audit(bench.slug) == []

    def worked(store: Database) -> list[tuple[Any, ...]]:
        with store.read() as on:
            counted = on.execute(sa.text("SELECT public, worked FROM judges ORDER BY id"))
            return [tuple(row) for row in counted]

    assert worked(old) == worked(sqlite)
    assert all(count > 0 for _, count in worked(old))
    services.projects.set_policy(bench.slug, {"closing": "adaptive"})
    services.settings.keep("x" * 250, [1])
    assert services.settings.get("x" * 250) == [1]
    assert services.projects.create(made_project(topics=1, golds=0)).slug != bench.slug
