"""Whose turn it is to change a SQLite database, where several processes serve it."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from adjudge.errors import Unavailable

try:
    import fcntl
except ImportError:  # not on Windows: there SQLite alone says who is next
    fcntl = None  # type: ignore[assignment]

BUSY = "the database is locked by another; try again"
_NEXT, _NOW = 0, 1  # bytes of the file: who is next, and whose turn it is
_SHORT, _LONG = 0.0005, 0.01  # seconds between two tries, and after the first tenth of a second


class Turns:
    """Processes that change one database, by turns.

    Who waits for SQLite's lock sleeps and tries again, longer each time, while the threads of the
    process that has it hand it on to one another: who waits can be passed over for long. Here
    whoever is next keeps all others behind, so that of two processes each has every second turn.

    It is a courtesy: SQLite's own lock decides. Where the file cannot be made or locked there are
    no turns, and a process that is killed gives its turn back.
    """

    def __init__(self, database: Path) -> None:
        self._file: int | None = None
        if fcntl is not None:
            with contextlib.suppress(OSError):
                name = database.with_name(f"{database.name}-turn")
                self._file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    @contextlib.contextmanager
    def taken(self, until: float) -> Iterator[None]:
        """A turn, for one thread of a process at a time; ``Unavailable`` if none comes by then."""
        if self._file is None:
            yield
            return
        self._take(_NEXT, until)
        try:
            self._take(_NOW, until)
        finally:
            self._give(_NEXT)
        try:
            yield
        finally:
            self._give(_NOW)

    def _take(self, which: int, until: float) -> None:
        begun = time.monotonic()
        while self._file is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, which)
                return
            except (BlockingIOError, PermissionError):
                now = time.monotonic()
                if now >= until:
                    raise Unavailable("database-busy", BUSY) from None
                time.sleep(min(_SHORT if now - begun < 0.1 else _LONG, until - now))
            except OSError:
                return  # a file system that has no locks

    def _give(self, which: int) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, which)
