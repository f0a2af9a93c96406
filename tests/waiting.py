"""Waiting: for a coroutine next to a browser, and for another process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any, TypeVar
from urllib.parse import urlsplit

Made = TypeVar("Made")
_TICK = 0.02  # seconds


class OwnClock:
    """Seconds that pass while this process can run: on a busy machine fewer than by the clock.

    For limits of what waits and does little: a thread sleeps and counts, and is kept from it by
    whatever else keeps the process from its work.
    """

    def __init__(self) -> None:
        self._ticks = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._count, daemon=True)

    def _count(self) -> None:
        while not self._ended.wait(_TICK):
            self._ticks += 1

    @property
    def now(self) -> float:
        return self._ticks * _TICK

    def __enter__(self) -> OwnClock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def answers(url: str) -> bool:
    """Whether a server there says that it is ready.

    Asked without a client that would load certificates first: who asks often would take more of the
    processor than the server that is waited for.
    """
    place = urlsplit(url)
    line = HTTPConnection(str(place.hostname), place.port, timeout=60)
    try:
        line.request("GET", f"{place.path}/readyz")
        return line.getresponse().status == 200
    except (OSError, HTTPException):  # nothing listens there, or it was killed
        return False
    finally:
        line.close()


def alone(work: Coroutine[Any, Any, Made]) -> Made:
    """What a coroutine gives, run in a thread of its own.

    A browser that other tests of the process hold open has a loop in the main thread, next to
    which no other may run.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait for something to hold, asking often; the limit is for what will never be.

    What takes long is asked for less often: to look may cost more than what is waited for.
    """
    end, pause = time.monotonic() + seconds, 0.005
    while not holds():
        assert time.monotonic() < end, f"after {seconds} s it is still not so that {what}"
        time.sleep(pause)
        pause = min(1.3 * pause, 0.1)
