"""Whether the server lives, whether it can work, and its figures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from adjudge.collect.web._state import state_of
from adjudge.errors import Unavailable

router = APIRouter(include_in_schema=False)
_Found = TypeVar("_Found")
_PATIENCE = 1.0  # seconds that a check of health waits for the database


class Checks:
    """Looks at the database beside all other requests, which may all be waiting for it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="health")

    async def ask(self, look: Callable[[], _Found]) -> _Found:
        """What a look gives, or ``Unavailable`` where it takes longer than one should wait."""
        asked = asyncio.get_running_loop().run_in_executor(self._threads, look)
        try:
            return await asyncio.wait_for(asked, _PATIENCE)
        except TimeoutError:
            message = "the database did not answer in time"
            raise Unavailable("database-busy", message) from None

    def close(self) -> None:
        """End, without waiting for a look that is under way."""
        self._threads.shutdown(wait=False, cancel_futures=True)


@router.get("/healthz")
async def _alive() -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
async def _ready(request: Request) -> Response:
    """The database answers too, is the one that was opened, and has room."""
    state = state_of(request)
    await state.checks.ask(state.database.check_ready)
    return JSONResponse({"status": "ready"})


@router.get("/metrics")
async def _metrics(request: Request) -> Response:
    """Figures of this process, and of the store, as Prometheus reads them."""
    state = state_of(request)
    gauges = {"resident_bytes": float(_resident())}
    try:
        counts = await state.checks.ask(state.services.projects.count_stored)
        gauges |= {f"stored_{name.replace(' ', '_')}": float(n) for name, n in counts.items()}
        gauges["database_up"] = 1.0
    except Unavailable:
        gauges["database_up"] = 0.0
    text = state.metrics.text(gauges)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _resident() -> int:
    """How much memory the process holds, where the system tells."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return 0
    return int(status.read_text(encoding="ascii").split()[1]) * 4096
