"""Databases for the tests of collecting: each test that asks for one runs on both kinds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from adjudge.collect.store.database import Database
from adjudge.collect.store.schema import metadata
from passwords import hash_quickly
from statements import share_statements
from stores import new_store

share_statements()
hash_quickly()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL server of the tests' own."""
    pgserver = pytest.importorskip("pgserver")
    folder = Path(tempfile.mkdtemp(prefix="adjudge-pg-"))
    server = pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_store(postgres: str) -> Iterator[Database]:
    """One migrated PostgreSQL database for the entire session."""
    store = Database(postgres)
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as on:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            on.execute(sa.text(f"ALTER SYSTEM SET {setting} = off"))  # it is thrown away after
        on.execute(sa.text("SELECT pg_reload_conf()"))
    yield store
    store.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Database]:
    """An empty SQLite database."""
    store = new_store(tmp_path / "collect.db")
    yield store
    store.close()


@pytest.fixture
def postgresql(postgres_store: Database) -> Database:
    """An empty PostgreSQL database."""
    names = ", ".join(f'"{table.name}"' for table in metadata.sorted_tables)
    with postgres_store.engine.begin() as on:
        on.execute(sa.text(f"TRUNCATE {names} RESTART IDENTITY CASCADE"))
    return postgres_store


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    """An empty database, once of each kind."""
    store: Database = request.getfixturevalue(request.param)
    return store
