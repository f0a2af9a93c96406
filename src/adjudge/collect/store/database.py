"""One database, by URL: SQLite in a file or PostgreSQL. Transactions, and errors that say what."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, DisconnectionError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from adjudge.collect.store._opening import checked_url, make_engine
from adjudge.collect.store._sqlite_file import Flusher, SqliteFile
from adjudge.collect.store.schema import HEAD, VERSIONS, settings
from adjudge.errors import BadSetting, Unavailable

_Result = TypeVar("_Result")
_Value = TypeVar("_Value")
StoredRow: TypeAlias = sa.Row[*tuple[Any, ...]]  # a row of any columns, read by their names

_TRIES = 5  # PostgreSQL may break a deadlock by ending one of two transactions; it is run again
_BATCH = 500  # ids in one statement
_NOT_DURABLE = sa.text("SET LOCAL synchronous_commit TO off")
_DEADLOCK = ("40P01", "40001")
_LEAST_WAIT = 0.5  # seconds that a change may wait for others, however long its request waited
_BUSY = "the database is locked by another; try again"

# When the request began for which something is done; what waited before it came here counts too.
BEGAN: ContextVar[float | None] = ContextVar("BEGAN", default=None)


def utc_now() -> datetime:
    """The time now, in UTC."""
    return datetime.now(UTC)


class Database:
    """An open database, migrated to the newest schema. Safe to share between threads.

    ``url`` is a SQLAlchemy URL or the path of a SQLite file. ``wait`` is how many seconds a request
    waits for a lock that another process holds, in all.
    """

    def __init__(self, url: str | Path, *, wait: float = 10.0, migrate: bool = True) -> None:
        self.url = checked_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self._wait = wait
        self._file = SqliteFile(Path(str(self.url.database))) if self.sqlite else None
        self.engine = make_engine(self.url, wait)
        if self.sqlite:
            event.listen(self.engine, "begin", _begin)
        how = {"adjudge_read": True} if self.sqlite else {"isolation_level": "REPEATABLE READ"}
        self._reading = self.engine.execution_options(**how)  # the same connections
        if self._file is not None:
            self._file.make_private()
        self._full = False  # whether a change found the disk full, and none has found room since
        # Threads of one process queue here rather than in SQLite's busy handler, which sleeps.
        self._writing = threading.Lock() if self.sqlite else None
        self._flusher = Flusher(Path(str(self.url.database))) if self.sqlite else None
        if migrate:
            self.migrate()
        if self._file is not None:
            self._file.remember()

    def __repr__(self) -> str:
        return f"Database({self.url.render_as_string()})"

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()
        if self._file is not None:
            self._file.close()

    def migrate(self) -> None:
        """Bring the schema to the newest version; safe if several processes do it at once."""
        with self._translating(), self.engine.connect() as connection:
            if _version(connection) == HEAD:
                return
            connection.rollback()
            with connection.begin():
                if not self.sqlite:
                    connection.execute(sa.text("SET LOCAL lock_timeout TO 0"))
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7234001)"))
                found = _version(connection)
                if found is not None and found not in VERSIONS:
                    name = self.url.render_as_string()
                    wanted = f"a schema up to {HEAD}; this one is {found}, of a newer adjudge"
                    raise BadSetting("database", name, wanted)
                if found != HEAD:
                    from adjudge.collect.store._opening import upgrade

                    upgrade(connection)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection for reading only; what is read belongs together."""
        self._check_file()
        with self._translating(), self._reading.connect() as connection, connection.begin():
            yield connection

    def write(self, work: Callable[[Connection], _Result], *, durable: bool = True) -> _Result:
        """What ``work`` gives, run in one transaction; run again if a deadlock had to be broken.

        Once it returns, what was stored outlives the process. ``durable``: also a power cut, at
        the price of waiting for the disk.
        """
        began = BEGAN.get() or time.monotonic()
        until = max(began + self._wait, time.monotonic() + min(_LEAST_WAIT, self._wait))
        for attempt in range(_TRIES):
            try:
                result = self._run(work, until, durable)
                if durable and self._flusher is not None:
                    self._flusher.wait()
                self._check_file(log=True)
                return result
            except _Deadlock:
                time.sleep(0.005 * 2**attempt)
            except Unavailable as fault:
                self._full = self._full or fault.code == "database-full"
                raise
        raise Unavailable("database-busy", "the database is busy: too many at once; try again")

    def _run(self, work: Callable[[Connection], _Result], until: float, durable: bool) -> _Result:
        """What ``work`` gives, in one transaction, begun before a moment or not at all."""
        self._check_file()
        with self._translating(), self._alone(until), self.engine.connect() as on:
            # Threads that waited for one another have less time left to wait for other processes.
            late = self.sqlite and until - time.monotonic() < 0.9 * self._wait
            try:
                if late:
                    _set_wait(on, until - time.monotonic())
                with on.begin():
                    if not durable and not self.sqlite:
                        on.execute(_NOT_DURABLE)
                    return work(on)
            finally:
                if late:
                    _set_wait(on, self._wait)

    @contextmanager
    def _alone(self, until: float) -> Iterator[None]:
        """The only change that is made, where the database is a file."""
        if self._writing is None or self._file is None:
            yield
            return
        if not self._writing.acquire(timeout=max(0.0, until - time.monotonic())):
            raise Unavailable("database-busy", _BUSY)
        try:
            if not self._file.take_turn(until):
                raise Unavailable("database-busy", _BUSY)
            try:
                yield
            finally:
                self._file.give_turn()
        finally:
            self._writing.release()

    def _check_file(self, *, log: bool = False) -> None:
        if self._file is not None:
            self._file.check(log=log)

    def check_ready(self) -> None:
        """Raise ``Unavailable`` unless the database can be read, and written to as far as is known.

        Nothing is written unless a change found the disk full: then it is tried whether there is
        room again, since a small change may fit where a large one does not.
        """
        with self.read() as on:
            on.execute(sa.select(settings.c.name).limit(1)).all()
        if self._file is not None:
            self._file.check_room()
        if self._full:
            self._run(_try_room, time.monotonic(), durable=False)
            self._full = False

    @contextmanager
    def _translating(self) -> Iterator[None]:
        """Errors of the driver, told as what they mean."""
        try:
            yield
        except PoolTimeout as error:
            message = "the database is busy: no connection came free; try again"
            raise Unavailable("database-busy", message) from error
        except (DBAPIError, DisconnectionError) as error:
            meaning = _translate(error)
            if meaning is None:
                raise
            raise meaning from error


def batches(ids: Iterable[int]) -> Iterator[list[int]]:
    """Ids in order, each once, in parts that fit one statement."""
    ordered = sorted(set(ids))
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]


def from_row(kind: Callable[..., _Value], row: Any, **own: Any) -> _Value:
    """A plain value from a row or another value: each field is what that has by its name.

    But for those that are given.
    """
    return kind(**{name: getattr(row, name) for name in _names(kind) if name not in own}, **own)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def _try_room(on: Connection) -> None:
    """Write something and take it back, to see whether there is room on the disk again."""
    on.execute(sa.insert(settings).values(name="room", value="x" * 65_536))
    on.execute(sa.delete(settings).where(settings.c.name == "room"))


class _Deadlock(Exception):
    """A transaction that the database ended and that can be run again."""


def _set_wait(connection: Connection, seconds: float) -> None:
    """Say how long a SQLite connection waits for a lock, outside any transaction."""
    held: Any = connection.connection.driver_connection
    held.execute(f"PRAGMA busy_timeout={max(0, int(seconds * 1000))}")


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
    if "locked" in text or "busy" in text or state in ("57014", "53300", "55P03"):
        return Unavailable("database-busy", _BUSY)
    if "disk is full" in text or "database or disk" in text or state in ("53100", "53200"):
        return Unavailable("database-full", "the disk of the database is full; nothing was stored")
    gone = isinstance(error, OperationalError | DisconnectionError) or (
        isinstance(error, DBAPIError) and (error.connection_invalidated or state in _GONE)
    )
    if gone or "malformed" in text or "not a database" in text:
        return Unavailable("database-gone", f"the database cannot be reached: {original or error}")
    return None


_GONE = ("57P01", "57P02", "57P03", "08000", "08003", "08006", "25006")
