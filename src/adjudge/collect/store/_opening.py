"""Opening a database: its URL checked, its engine, and how each connection is set up."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import event
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from adjudge.errors import BadSetting

_MIGRATIONS = Path(__file__).parent / "migrations"


def _configuration(connection: Connection | None = None) -> Config:
    """Alembic's settings, made here so that no ini file is needed."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing, inside the connection's transaction."""
    command.upgrade(_configuration(connection), revision)


def checked_url(url: str | Path) -> sa.URL:
    """The URL, with drivers named; a path is a SQLite file."""
    text = str(url)
    try:
        made = make_url(text) if "://" in text else sa.URL.create("sqlite", database=text)
    except ArgumentError:
        made = None
    if made is None or made.get_backend_name() not in ("sqlite", "postgresql"):
        raise BadSetting("database", text, "a file, sqlite:///FILE or postgresql://USER@HOST/NAME")
    if made.get_backend_name() == "postgresql":
        return made.set(drivername="postgresql+psycopg")
    if not made.database or made.database == ":memory:":
        raise BadSetting("database", text, "a file, so that nothing is lost")
    return made


def make_engine(url: sa.URL, wait: float) -> sa.Engine:
    """The engine: WAL on SQLite, checked connections on PostgreSQL."""
    try:
        if url.get_backend_name() == "postgresql":
            engine = sa.create_engine(
                url,
                pool_size=10,
                max_overflow=30,
                pool_timeout=wait,
                pool_pre_ping=True,
                connect_args={"connect_timeout": max(2, int(wait))},
            )
            event.listen(engine, "connect", partial(_limit_locks, max(1, int(wait * 1000))))
            return engine
    except (ImportError, NoSuchModuleError) as error:
        wanted = "the extra adjudge[postgres] installed"
        raise BadSetting("database", url.render_as_string(), wanted) from error
    folder = Path(str(url.database)).resolve().parent
    if not folder.is_dir():
        raise BadSetting("database", str(url.database), f"a folder that exists; {folder} does not")
    engine = sa.create_engine(
        url, pool_size=10, max_overflow=30, pool_timeout=wait, connect_args={"timeout": wait}
    )
    event.listen(engine, "connect", _prepare)
    return engine


def _limit_locks(milliseconds: int, connection: Any, _record: Any) -> None:
    """Let a PostgreSQL connection wait for a lock no longer than that."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout TO {milliseconds}")
    connection.commit()


def _prepare(connection: Any, _record: Any) -> None:
    """Set up a fresh SQLite connection."""
    connection.isolation_level = None  # Database begins transactions, not the driver
    cursor = connection.cursor()
    mode = cursor.execute("PRAGMA journal_mode=WAL").fetchone()[0]
    # In WAL mode a commit that has to outlive a power cut waits for the Flusher. A file system
    # that cannot do WAL has SQLite wait for the disk by itself.
    synchronous = "NORMAL" if mode == "wal" else "FULL"
    for pragma in (
        f"synchronous={synchronous}",
        "foreign_keys=ON",
        "temp_store=MEMORY",
        "cache_size=-8192",  # kB, of each connection: all of them together are what counts
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
