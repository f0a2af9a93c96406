"""Waiting: for a coroutine beside a browser, and for what another process is to do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from typing import Any, TypeVar
from urllib.parse import urlsplit

Made = TypeVar("Made")


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

    A browser that other tests of the process hold open has a loop in the main thread, beside
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
