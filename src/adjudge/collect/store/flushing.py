"""Waiting for the disk together: one flush of SQLite's log serves all who committed before it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from adjudge.errors import Unavailable


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
            # Opened anew each time: the log may have been made anew.
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
