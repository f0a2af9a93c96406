"""Who sends messages: a thread that looks what has happened, and empties the outbox.

Beside the background, which may wait half an hour for a fit. Every process has one; a message is
claimed before it is sent, and events are read under a lock of the project.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from adjudge.collect.managing.notices import Parcel
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.web.logs import event
from adjudge.collect.web.sending import send
from adjudge.collect.web.settings import Settings
from adjudge.errors import AdjudgeError

_AT_ONCE = 8  # messages on their way: one that is slow does not keep the others


class Messenger:
    """One thread that tells what happens."""

    def __init__(self, settings: Settings, services: RequesterServices) -> None:
        self._settings = settings
        self._services = services
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="messenger", daemon=True)

    def start(self) -> None:
        """Begin."""
        if self._settings.notify_seconds:
            self._thread.start()

    def stop(self) -> None:
        """End; what is not sent yet is sent after the next start."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._stop.wait(self._settings.notify_seconds):
            _noting(self.look)

    def look(self) -> None:
        """Put what has happened into the outbox, and send what is due."""
        for project in self._services.notices.find_told():
            self._services.notices.gather(project)
        waiting: SimpleQueue[Parcel] = SimpleQueue()
        for parcel in self._services.notices.claim():
            waiting.put(parcel)
        senders = [
            # Daemons: a server that ends does not wait for a webhook that is slow.
            threading.Thread(target=_noting, args=(lambda: self._send_all(waiting),), daemon=True)
            for _ in range(min(_AT_ONCE, waiting.qsize()))
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()

    def _send_all(self, waiting: SimpleQueue[Parcel]) -> None:
        while not self._stop.is_set():  # what is left is due again in a while
            try:
                parcel = waiting.get_nowait()
            except Empty:
                return
            problem = send(parcel, self._settings)
            self._services.notices.settle(parcel, problem)
            event("message", way=parcel.way, sent=not problem, tries=parcel.tries)


def _noting(work: Callable[[], None]) -> None:
    """Do something, and write to the log what went wrong."""
    try:
        work()
    except AdjudgeError as fault:
        event("messenger-failed", logging.ERROR, why=type(fault).__name__)
    except Exception:
        logging.getLogger("adjudge.serve").exception("messenger-failed")
