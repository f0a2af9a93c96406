"""Stores for tests: empty ones, migrated once per process and then copied, and old ones."""

from __future__ import annotations

import secrets
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa

from adjudge.collect.store.database import Database, upgrade


@cache
def _migrated() -> bytes:
    """An empty store of the newest schema, as a SQLite file."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        Database(path).close()
        return path.read_bytes()


def write_empty(path: Path) -> Path:
    """A file with an empty store."""
    path.write_bytes(_migrated())
    return path


def new_store(path: Path) -> Database:
    """An empty store in a new file: all migrations together take longer than most tests."""
    return Database(write_empty(path))


def new_postgresql(url: str, *, revision: str) -> Database:
    """A new database on a PostgreSQL server, migrated to a revision."""
    server = Database(url, migrate=False)
    name = f"old_{secrets.token_hex(4)}"
    with server.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as on:
        on.execute(sa.text(f"CREATE DATABASE {name}"))
    made = server.url.set(database=name).render_as_string(hide_password=False)
    server.close()
    store = Database(made, migrate=False)
    with store.engine.begin() as on:
        upgrade(on, revision)
    return store


def copy_rows(reading: sa.Connection, on: sa.Connection) -> None:
    """Copy all rows into a store of the same or an earlier schema, column by column."""
    before = sa.MetaData()
    before.reflect(on)
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
            last = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id))"
            on.execute(sa.text(f'{last} FROM "{table.name}"'))  # as if numbered here
