"""The file of a SQLite database: its owner's alone, watched, changed by turns, and flushed."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

from adjudge.errors import Unavailable

try:
    import fcntl
except ImportError:  # not on Windows: there SQLite alone says who is next
    fcntl = None  # type: ignore[assignment]

_BESIDE = ("", "-wal", "-shm")
_LEAST_ROOM = 1_000_000  # bytes; with fewer left on the disk it is as good as full
_NEXT, _NOW = 0, 1  # bytes of the file of turns: who is next, and whose turn it is
_SHORT, _LONG = 0.0005, 0.01  # seconds between two tries, and after the first tenth of a second


class SqliteFile:
    """The file of a database, made for its owner's eyes and recognised again.

    SQLite goes on writing to a file that was removed: whatever is stored then is lost when the
    process ends. So it is looked up by its name before and after every change.

    Processes change it by turns. Who waits for SQLite's lock sleeps and tries again, longer each
    time, while the threads of the process that has it hand it on to one another: who waits can be
    passed over for long. Here whoever is next keeps all others behind, so that of two processes
    each has every second turn. It is a courtesy: SQLite's own lock decides. Where there is no file
    or lock for it there are no turns, and a process that is killed gives its turn back.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._log = path.with_name(f"{path.name}-wal")
        self._known: tuple[int, int] | None = None
        self._logged = False
        self._turns: int | None = None  # a file beside it, open

    def make_private(self) -> None:
        """Make the file where there is none, and let nobody but its owner read it."""
        # Where this cannot be done, opening it says why.
        with contextlib.suppress(OSError):
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
        for ending in _BESIDE:
            file = self.path.with_name(self.path.name + ending)
            with contextlib.suppress(OSError):
                mode = file.stat().st_mode
                if os.name == "posix" and mode & 0o077 and file.is_file():
                    file.chmod(mode & 0o700)

    def remember(self) -> None:
        """Know the file that is there now from any other."""
        with contextlib.suppress(OSError):
            found = self.path.stat()
            self._known = (found.st_dev, found.st_ino)
            self._logged = self._log.exists()  # a file system without shared memory has none

    def take_turn(self, until: float) -> bool:
        """Wait for the turn of this process to change it; False if it does not come by then.

        For one thread of a process at a time.
        """
        if self._turns is None and fcntl is not None:
            name = self.path.with_name(f"{self.path.name}-turn")
            with contextlib.suppress(OSError):
                self._turns = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if not self._take(_NEXT, until):
            return False
        taken = self._take(_NOW, until)
        self._give(_NEXT)
        return taken

    def give_turn(self) -> None:
        """Let others change it."""
        self._give(_NOW)

    def close(self) -> None:
        """Take no more turns."""
        if self._turns is not None:
            os.close(self._turns)
            self._turns = None

    def _take(self, which: int, until: float) -> bool:
        begun = time.monotonic()
        while self._turns is not None:
            try:
                fcntl.lockf(self._turns, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, which)
                return True
            except (BlockingIOError, PermissionError):
                now = time.monotonic()
                if now >= until:
                    return False
                time.sleep(min(_SHORT if now - begun < 0.1 else _LONG, until - now))
            except OSError:
                return True  # a file system that has no locks
        return True

    def _give(self, which: int) -> None:
        if self._turns is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._turns, fcntl.LOCK_UN, 1, which)

    def check(self, *, log: bool = False) -> None:
        """Raise ``Unavailable`` unless the file is the one that was opened.

        ``log``: its write-ahead log has to be there too, as it is while a connection is open.
        """
        if self._known is None:
            return
        try:
            found = self.path.stat()
        except OSError as fault:
            message = f"the file of the database is gone: {fault.strerror}"
            raise Unavailable("database-gone", message) from None
        if (found.st_dev, found.st_ino) != self._known:
            message = "the file of the database was replaced; start the server again"
            raise Unavailable("database-gone", message)
        if log and self._logged and not self._log.exists():
            raise Unavailable("database-gone", "the write-ahead log of the database is gone")

    def check_room(self) -> None:
        """Raise ``Unavailable`` where the disk is as good as full."""
        with contextlib.suppress(OSError):
            disk = os.statvfs(self.path.parent)
            if disk.f_bavail * disk.f_frsize < _LEAST_ROOM:
                message = "the disk of the database is full"
                raise Unavailable("database-full", message)


class Flusher:
    """Makes commits outlive a power cut.

    SQLite's own ``synchronous=FULL`` flushes the write-ahead log at every commit while it holds the
    write lock. Here commits only write it, and whoever needs the disk waits outside the lock: the
    first flushes for all that have committed by then.
    """

    def __init__(self, database: Path) -> None:
        self._log = database.with_name(f"{database.name}-wal")
        self._state = threading.Condition()
        self._asked = 0
        self._flushed = 0
        self._busy = False

    def wait(self) -> None:
        """Return once everything committed before this call is on the disk."""
        with self._state:
            self._asked += 1
            ticket = self._asked
            while self._busy and self._flushed < ticket:
                self._state.wait()
            if self._flushed >= ticket:
                return
            self._busy = True
            upto = self._asked
        done = False
        try:
            self._flush()
            done = True
        finally:
            with self._state:
                self._busy = False
                if done:
                    self._flushed = max(self._flushed, upto)
                self._state.notify_all()

    def _flush(self) -> None:
        try:
            # Opened again each time: the log may have been made again.
            handle = os.open(self._log, os.O_RDONLY)
        except FileNotFoundError:
            return  # taken over into the database, and flushed there
        try:
            os.fsync(handle)
        except OSError as error:
            message = f"the disk of the database does not answer: {error}"
            raise Unavailable("database-gone", message) from error
        finally:
            os.close(handle)
