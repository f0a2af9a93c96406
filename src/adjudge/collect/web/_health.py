"""Whether the server runs, whether it can work, and its metrics for Prometheus."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import APIRouter, Request
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from starlette.responses import JSONResponse, Response

from adjudge.collect.web._state import state_of
from adjudge.errors import Refused, Unavailable

router = APIRouter(include_in_schema=False)
_Found = TypeVar("_Found")
_PATIENCE = 1.0  # seconds that a check of health waits for the database
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_STORED = ("projects", "open_projects", "judges", "open_pages", "judgments")
disable_created_metrics()  # type: ignore[no-untyped-call]  # they double the number of lines


class Metrics:
    """Counts and times of requests in this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._requests = Counter(
            "adjudge_requests",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._times = Histogram(
            "adjudge_request_seconds",
            "Seconds per request.",
            ("route",),
            buckets=_BUCKETS,
            registry=self._registry,
        )
        self._events = Counter(
            "adjudge_events", "Other events.", ("event",), registry=self._registry
        )
        self._stored = {
            kind: Gauge(f"adjudge_stored_{kind}", f"Rows of {kind}.", registry=self._registry)
            for kind in _STORED
        }
        self._up = Gauge(
            "adjudge_database_up", "Whether the database answers.", registry=self._registry
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, route, status).inc()
        self._times.labels(route).observe(seconds)

    def count(self, event: str, more: int = 1) -> None:
        """Count another event."""
        self._events.labels(event).inc(more)

    def render(self, stored: dict[str, int] | None) -> bytes:
        """Return all metrics as text; ``stored`` is None where the database does not answer."""
        self._up.set(stored is not None)
        for kind, number in (stored or {}).items():
            self._stored[kind].set(number)
        return generate_latest(self._registry)


class Checks:
    """Queries the database in threads of its own: all others may be waiting for it."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="health")

    async def ask(self, look: Callable[[], _Found]) -> _Found:
        """Return what ``look`` finds, or raise ``Unavailable`` where it takes too long."""
        asked = asyncio.get_running_loop().run_in_executor(self._threads, look)
        try:
            return await asyncio.wait_for(asked, _PATIENCE)
        except TimeoutError:
            message = "the database did not answer in time"
            raise Unavailable("database-busy", message) from None

    def close(self) -> None:
        """End, without waiting for a query that is under way."""
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
    """Metrics of this process and of the database, in the text format of Prometheus."""
    state = state_of(request)
    sent = request.headers.get("authorization", "").encode()
    token = state.settings.metrics_token
    if not token or not hmac.compare_digest(sent, f"Bearer {token}".encode()):
        raise Refused("token-missing", "metrics need the token that the server was started with")
    try:
        stored = await state.checks.ask(state.services.projects.count_stored)
    except Unavailable:
        stored = None
    return Response(state.metrics.render(stored), media_type=CONTENT_TYPE_LATEST)
