"""Whether the server lives, whether it can work, and its figures."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from adjudge.collect.web.state import state_of
from adjudge.errors import Unavailable

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def alive() -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def ready(request: Request) -> Response:
    """The database answers too."""
    state_of(request).services.accounts.needs_setup()
    return JSONResponse({"status": "ready"})


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Figures of this process, and of the store, as Prometheus reads them."""
    gauges = {"resident_bytes": float(_resident())}
    try:
        counts = state_of(request).services.projects.count_stored()
        gauges |= {f"stored_{name.replace(' ', '_')}": float(n) for name, n in counts.items()}
        gauges["database_up"] = 1.0
    except Unavailable:
        gauges["database_up"] = 0.0
    text = state_of(request).metrics.text(gauges)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")


def _resident() -> int:
    """How much memory the process holds, where the system tells."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return 0
    return int(status.read_text(encoding="ascii").split()[1]) * 4096
