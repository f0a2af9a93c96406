"""The end of a process whose main thread does not hear that it should stop.

Python tells its main thread of a signal between two steps of its code. A compiler or a long sweep
may be a single step that takes seconds, so a thread beside it listens to the same signals: where
the main thread has not answered within a moment, it ends the process. And a process that has
stopped does not wait for threads that still compile. Files appear whole or not at all, so that
nothing is lost; what is half-written is removed.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_PATIENCE = 0.4  # seconds
_HEARD = b"\0"  # no signal has this number
_SHOW_CURSOR = b"\x1b[?25h"  # which a progress bar hides

_Handler = Callable[[int, FrameType | None], None]


class SignalWatch:
    """A thread that ends the process if ``handler`` is not called soon after a signal."""

    def __init__(self, handler: _Handler) -> None:
        self.handler = handler
        self._read, self._write = os.pipe()
        self._first = 0  # the signal that began it

    def watch(self) -> None:
        """Listen from now on; in processes that are forked from this one no more."""
        os.set_blocking(self._write, False)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
        threading.Thread(target=self._listen, name="stopping", daemon=True).start()

    def heard(self) -> None:
        """Say that the main thread knows of the signal."""
        os.write(self._write, _HEARD)

    def leave(self, code: int) -> None:
        """End a process that was stopped, without the threads that it would wait for."""
        late = threading.Timer(_PATIENCE, os._exit, (code,))
        late.daemon = True
        late.start()
        atexit._run_exitfuncs()  # what others asked to be done, and nothing of threads
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)

    def _listen(self) -> None:
        while True:
            for number in os.read(self._read, 64):
                if number and signal.getsignal(number) is self.handler:
                    self._first = self._first or number  # an alarm repeats it
                    if not self._answered():
                        _end(self._first)

    def _answered(self) -> bool:
        """Whether the main thread says within a moment that it heard."""
        while select.select([self._read], [], [], _PATIENCE)[0]:
            if _HEARD in os.read(self._read, 64):
                return True
        return False


def _end(number: int) -> None:
    """End the process at once, as it would have ended."""
    from adjudge.data.formats.writing import remove_unfinished

    remove_unfinished()
    told = b"" if number == signal.SIGTERM else b"stopped\n"
    os.write(2, (_SHOW_CURSOR if sys.stderr.isatty() else b"") + told)
    os._exit(143 if number == signal.SIGTERM else 130)
