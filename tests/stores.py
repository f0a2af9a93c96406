"""Empty stores in SQLite files: migrated once a process, and copied from then on."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from adjudge.collect.store.database import Database


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
