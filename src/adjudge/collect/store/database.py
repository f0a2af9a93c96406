"""One database, by URL: SQLite in a file or PostgreSQL. Transactions, and errors that say what."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy import event
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    OperationalError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeout

from adjudge.collect.store.schema import HEAD, VERSIONS, metadata, settings
from adjudge.errors import BadSetting, MissingExtra, Refused, Unavailable

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
StoredRow: TypeAlias = sa.Row[*tuple[Any, ...]]  # a row of any columns, read by their names

_MIGRATIONS = Path(__file__).parent / "migrations"
_TRIES = 5  # PostgreSQL may break a deadlock by ending one of two transactions; it is run again
_BATCH = 500  # ids in one statement
_DEADLOCK = ("40P01", "40001")
_TAKEN = "23505"  # something unique is there already
_BUSY = ("57014", "53300", "55P03")
_FULL = ("53100", "53200")
_ODD_SCHEMA = ("no such", "already exists", "duplicate column")  # as SQLite says it
_GONE = ("57P01", "57P02", "57P03", "08000", "08003", "08006", "25006")


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


class Database:
    """An open database, migrated to the newest schema. Safe to share between threads.

    ``url`` is a SQLAlchemy URL or the path of a SQLite file. ``wait`` is how many seconds a change
    waits for other threads, and again for other processes.
    """

    def __init__(self, url: str | Path, *, wait: float = 10.0, migrate: bool = True) -> None:
        self.url = _check_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._wait = wait
        self._file = Path(str(self.url.database)) if self.sqlite else None
        self._known: tuple[int, int] | None = None  # device and inode of the file
        self._logged = False  # a file system without shared memory has no write-ahead log
        self.engine = _make_engine(self.url, wait)
        how = {"adjudge_read": True} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = self.engine.execution_options(**how)  # the same connections
        self._full = False  # whether a change found the disk full, and none has found room since
        # Threads of one process queue here rather than in SQLite's busy handler, which sleeps.
        self._writing = threading.Lock()
        if self._file is not None:
            _make_private(self._file)
        if migrate:
            self.migrate()
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._known = _identity(self._file)
                self._logged = _companion(self._file, "-wal").exists()

    def __repr__(self) -> str:
        return f"Database({self.url.render_as_string()})"

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()

    def migrate(self) -> None:
        """Bring the schema to the newest version; safe if several processes do it at once."""
        with self._translating(), self.engine.connect() as connection:
            if _version(connection) == HEAD:
                _check_schema(connection)
                return
            connection.rollback()
            with connection.begin():
                if not self.sqlite:
                    connection.execute(sa.text("SET LOCAL lock_timeout TO 0"))
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7234001)"))
                found = _version(connection)
                if found is not None and found not in VERSIONS:
                    name = self.url.render_as_string()
                    expected = f"a schema up to {HEAD}; this one is {found}, of a newer adjudge"
                    raise BadSetting("database", name, expected)
                if found != HEAD:
                    _check_schema(connection, upgrade)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading only; what is read belongs together."""
        self._check_file()
        with self._translating(), self._reading.connect() as connection, connection.begin():
            yield connection

    def write(self, work: Callable[[Connection], _Result]) -> _Result:
        """What ``work`` gives, run in one transaction; run again if a deadlock had to be broken.

        Once it returns, what was stored outlives the process and a power cut.
        """
        for attempt in range(_TRIES):
            try:
                result = self._run(work)
                self._check_file(log=True)
                return result
            except _Deadlock as again:
                if attempt == _TRIES - 1 and again.taken:
                    raise Refused("name-taken", "something of this name is there already") from None
                time.sleep(0.005 * 2**attempt)
            except Unavailable as fault:
                self._full = self._full or fault.code == "database-full"
                raise
        raise Unavailable("database-busy", "the database is busy: too many at once; try again")

    def _run(self, work: Callable[[Connection], _Result]) -> _Result:
        """What ``work`` gives, in one transaction."""
        self._check_file()
        with self._translating(), self._alone(), self.engine.begin() as on:
            return work(on)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other threads from changing a SQLite database."""
        if not self.sqlite:
            yield
            return
        if not self._writing.acquire(timeout=self._wait):
            raise Unavailable("database-busy", "the database is busy; try again")
        try:
            yield
        finally:
            self._writing.release()

    def _check_file(self, *, log: bool = False) -> None:
        """Raise ``Unavailable`` unless the file of a SQLite database is the one that was opened.

        SQLite goes on writing to a file that was removed; what is stored then is lost when the
        process ends. ``log``: the write-ahead log has to exist too, as it does after a change.
        """
        if self._file is None or self._known is None:
            return
        try:
            known = _identity(self._file) == self._known
            if log and self._logged:
                _identity(_companion(self._file, "-wal"))
        except OSError as fault:
            message = f"the file of the database is gone: {fault.strerror}"
            raise Unavailable("database-gone", message) from None
        if not known:
            message = "the file of the database was replaced; start the server again"
            raise Unavailable("database-gone", message)

    def check_ready(self) -> None:
        """Raise ``Unavailable`` unless the database can be read, and written to.

        Nothing is written unless a change found the disk full: then it is tried whether there is
        room again, since a small change may fit where a large one does not.
        """
        with self.read() as on:
            on.execute(sa.select(settings.c.name).limit(1)).all()
        if self._full:
            self._run(_try_room)
            self._full = False

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Errors of the driver, as what they mean."""
        try:
            yield
        except PoolTimeout as error:
            message = "the database is busy: no connection came free; try again"
            raise Unavailable("database-busy", message) from error
        except (DBAPIError, DisconnectionError) as error:
            meaning = _translate(error)
            if meaning is None:
                raise StoreFault(_describe(error)).with_traceback(error.__traceback__) from None
            raise meaning from None if isinstance(meaning, _Deadlock) else error


def batches(ids: Iterable[int]) -> Iterator[list[int]]:
    """Ids in order, each once, in parts that fit one statement."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


def to_time(seconds: float) -> datetime:
    """A stored time as a datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def _as_time(value: float | datetime) -> datetime:
    return value if isinstance(value, datetime) else to_time(value)


def from_row(kind: Callable[..., _Value], row: Any, **own: Any) -> _Value:
    """Make a plain value from a row or another value: each field has the column of its name.

    ``own`` gives fields that differ. Stored times become datetimes, and lists become tuples.
    """
    names, makers = _fields_of(kind)
    found = {name: getattr(row, name) for name in names if name not in own}
    for name, make in makers:
        if found.get(name) is not None:
            found[name] = make(found[name])
    return kind(**found, **own)


@cache
def _fields_of(
    kind: Any,
) -> tuple[tuple[str, ...], tuple[tuple[str, Callable[[Any], Any]], ...]]:
    """The names of the fields of a dataclass, and what its stored values are made by."""
    kinds: dict[str, Callable[[Any], Any]] = {"datetime": _as_time, "tuple": tuple}
    makers = [
        (field.name, make)
        for field in fields(kind)
        for name, make in kinds.items()
        if str(field.type).startswith(name)
    ]
    return tuple(field.name for field in fields(kind)), tuple(makers)


def find_row(on: Connection, table: sa.Table, *key: Any) -> StoredRow | None:
    """The row with this primary key; None where there is none."""
    same = (column == value for column, value in zip(table.primary_key, key, strict=True))
    return on.execute(sa.select(table).where(*same)).one_or_none()


def put_row(on: Connection, table: sa.Table, key: dict[str, Any], **values: Any) -> None:
    """Set columns of the row with this primary key, which is made where there is none."""
    insert = sqlite_insert if on.dialect.name == "sqlite" else postgresql_insert
    made = insert(table).values(**key, **values)
    on.execute(made.on_conflict_do_update(index_elements=list(key), set_=values))


def _try_room(on: Connection) -> None:
    """Write something and take it back, to see whether there is room on the disk again."""
    on.execute(sa.insert(settings).values(name="room", value="x" * 65_536))
    on.execute(sa.delete(settings).where(settings.c.name == "room"))


class StoreFault(Exception):
    """A statement that the database refused, without the values in it: they may be secrets."""


class _Deadlock(Exception):
    """A transaction that the database ended and that can be run again.

    ``taken``: another stored something of the same name meanwhile.
    """

    def __init__(self, *, taken: bool = False) -> None:
        self.taken = taken


def _begin(connection: Connection) -> None:
    """Begin a transaction: a writer takes the lock at once, so that it never has to give up."""
    reading = connection.get_execution_options().get("adjudge_read")
    held: Any = connection.connection.dbapi_connection
    try:
        held.execute("BEGIN" if reading else "BEGIN IMMEDIATE")
    except sqlite3.Error as fault:
        raise DBAPIError.instance("BEGIN", (), fault, sqlite3.Error) from fault


def _version(connection: Connection) -> str | None:
    """The version of the stored schema; None for an empty database."""
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _translate(error: DBAPIError | DisconnectionError) -> Exception | None:
    """What an error of the driver means; None for one that is a fault of ours."""
    original = getattr(error, "orig", None)
    state = getattr(original, "sqlstate", None)
    text = str(original or error).lower()
    if state in _DEADLOCK:
        return _Deadlock()
    if state == _TAKEN or getattr(original, "sqlite_errorname", "") == "SQLITE_CONSTRAINT_UNIQUE":
        return _Deadlock(taken=True)
    if "locked" in text or "busy" in text or state in _BUSY:
        return Unavailable("database-busy", "the database is locked by another; try again")
    if "disk is full" in text or "database or disk" in text or state in _FULL:
        return Unavailable("database-full", "the disk of the database is full; nothing was stored")
    gone = isinstance(error, OperationalError | DisconnectionError) or (
        isinstance(error, DBAPIError) and (error.connection_invalidated or state in _GONE)
    )
    if gone or "malformed" in text or "not a database" in text:
        return Unavailable("database-gone", f"the database cannot be reached: {original or error}")
    return None


def _describe(error: DBAPIError | DisconnectionError) -> str:
    """What a fault of the database is about: its kind and the statement, and no value."""
    original = getattr(error, "orig", None)
    about = getattr(original, "diag", None)
    parts = [
        type(original or error).__name__,
        *(getattr(about, name, None) for name in ("sqlstate", "table_name", "constraint_name")),
        getattr(original, "sqlite_errorname", None),
        " ".join(str(getattr(error, "statement", "")).split())[:500],
    ]
    return ", ".join(part for part in parts if part)


def _check_schema(
    connection: Connection, change: Callable[[Connection], None] | None = None
) -> None:
    """Refuse a database without tables or columns that its version has, also after a change."""
    try:
        if change is not None:
            change(connection)
        found = {
            str(table): {column["name"] for column in columns}
            for (_, table), columns in sa.inspect(connection).get_multi_columns().items()
        }
        missing = [
            f"{table.name}.{column.name}"
            for table in metadata.sorted_tables
            for column in table.columns
            if column.name not in found.get(table.name, ())
        ]
    except (OperationalError, ProgrammingError) as error:
        about = str(error.orig)
        if isinstance(error, OperationalError) and not any(one in about for one in _ODD_SCHEMA):
            raise
        missing = [" ".join(str(error.orig).splitlines()[0].split())]
    if missing:
        expected = "every table and column of its version; restore a backup that has them"
        name = connection.engine.url.render_as_string()
        raise BadSetting("database", f"{name} without {', '.join(missing[:5])}", expected)


def migration_config(connection: Connection | None = None) -> Config:
    """Alembic's settings, made here so that no ini file is needed."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection, revision: str = "head") -> None:
    """Run the migrations that are missing, inside the connection's transaction."""
    command.upgrade(migration_config(connection), revision)


def _check_url(url: str | Path) -> sa.URL:
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


def _make_engine(url: sa.URL, wait: float) -> sa.Engine:
    """The engine: WAL on SQLite, checked connections on PostgreSQL."""
    how: dict[str, Any] = {"pool_size": 10, "max_overflow": 30, "pool_timeout": wait}
    how["hide_parameters"] = True  # values may be secrets
    if url.get_backend_name() == "postgresql":
        how |= {"pool_pre_ping": True, "connect_args": {"connect_timeout": max(2, int(wait))}}
        try:
            engine = sa.create_engine(url, **how)
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres") from error
        event.listen(engine, "connect", partial(_prepare_postgresql, max(1, int(wait * 1000))))
        return engine
    folder = Path(str(url.database)).resolve().parent
    if not folder.is_dir():
        raise BadSetting("database", str(url.database), f"a folder that exists; {folder} does not")
    engine = sa.create_engine(url, **how)
    event.listen(engine, "connect", partial(_prepare, wait))
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_postgresql(milliseconds: int, connection: Any, _record: Any) -> None:
    """Let a connection wait for a lock no longer than that, and store what it acknowledges."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout TO {milliseconds}")
        cursor.execute(
            "SELECT set_config('synchronous_commit', replace(setting, 'off', 'on'), false)"
            " FROM pg_settings WHERE name = 'synchronous_commit'"
        )
    connection.commit()


def _prepare(wait: float, connection: Any, _record: Any) -> None:
    """Set up a fresh SQLite connection."""
    connection.isolation_level = None  # Database begins transactions, not the driver
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",  # what is committed outlives a power cut
        f"busy_timeout={int(1000 * wait)}",
        "foreign_keys=ON",
        "temp_store=MEMORY",
        "cache_size=-8192",  # kB, of each connection: all of them together are what counts
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _companion(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)


def _identity(file: Path) -> tuple[int, int]:
    """The device and inode of a file, by which it is known from any other."""
    found = file.stat()
    return found.st_dev, found.st_ino


def _make_private(database: Path) -> None:
    """Make the file where there is none, and let nobody but its owner read it."""
    # Where this cannot be done, opening it says why.
    with contextlib.suppress(OSError):
        os.close(os.open(database, os.O_WRONLY | os.O_CREAT, 0o600))
    for ending in ("", "-wal", "-shm"):
        file = _companion(database, ending)
        with contextlib.suppress(OSError):
            mode = file.stat().st_mode
            if os.name == "posix" and mode & 0o077 and file.is_file():
                file.chmod(mode & 0o700)
