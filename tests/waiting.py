"""Waiting for a coroutine where a browser may be open in the same process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Made = TypeVar("Made")


def alone(work: Coroutine[Any, Any, Made]) -> Made:
    """What a coroutine gives, run in a thread of its own.

    A browser that other tests of the process hold open has a loop in the main thread, beside
    which no other may run.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
