"""The app: made from settings, with everything it needs and nothing global."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from adjudge import __version__
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.collect.web import (
    _errors,
    api_analysis,
    api_items,
    api_judges,
    api_judging,
    api_projects,
    consensus_pages,
    experiment_pages,
    item_pages,
    judge,
    judges_pages,
    project_pages,
    requester,
    wizard_pages,
)
from adjudge.collect.web import _health as health
from adjudge.collect.web import _sections as sections
from adjudge.collect.web._background import Background, Messenger
from adjudge.collect.web._login import Tokens
from adjudge.collect.web._middleware import RequestMiddleware
from adjudge.collect.web._model_runs import ModelRuns
from adjudge.collect.web._pages import STATIC, Pages
from adjudge.collect.web._security import Keys, Limiter, Sessions
from adjudge.collect.web._state import State
from adjudge.collect.web._uploading import UploadReaders
from adjudge.collect.web.logs import configure, event
from adjudge.collect.web.settings import Settings

API = "/api/v1"


def create_app(settings: Settings) -> FastAPI:
    """A server with these settings: opens its database, creates its secret if there is none."""
    parts = _parts(settings)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        background = Background(settings, parts.judging, parts.services, parts.metrics)
        messenger = Messenger(settings, parts.services)
        background.start()
        messenger.start()
        event("started", database=parts.database.url.get_backend_name())
        try:
            yield
        finally:
            messenger.stop()
            background.stop()
            parts.models.close()
            parts.readers.close()
            parts.checks.close()
            parts.database.close()
            event("stopped")

    app = FastAPI(
        title="adjudge",
        version=__version__,
        summary="Collect relevance judgments: for scripts, and for models that judge.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # the page that FastAPI brings loads scripts from elsewhere
        redoc_url=None,
        lifespan=living,
        middleware=[
            Middleware(
                RequestMiddleware,
                settings=settings,
                sessions=parts.sessions,
                metrics=parts.metrics,
                on_fault=_errors.on_fault,
            )
        ],
    )
    app.state.parts = parts
    _errors.install(app)
    app.router.routes.extend(_routes())
    app.mount("/static", _Static(directory=STATIC), name="static")
    return app


@cache
def _routes() -> tuple[BaseRoute, ...]:
    """The routes, built once a process: to look into every signature takes longest of all."""
    router = APIRouter()
    # Routes are tried in this order: what a crowd asks for all the time comes first.
    router.include_router(api_judging.router, prefix=API)
    router.include_router(judge.router)
    for api in (api_projects, api_judges, api_items, api_analysis):
        router.include_router(api.router, prefix=API)
    for pages in (
        *(health, requester, wizard_pages, judges_pages, project_pages),
        *(item_pages, consensus_pages, experiment_pages, sections),
    ):
        router.include_router(pages.router)
    return tuple(router.routes)


def _parts(settings: Settings) -> State:
    keys = Keys(settings.load_secret())
    sessions = Sessions(
        keys, path=settings.prefix, hours=settings.session_hours, days=settings.judge_days
    )
    database = Database(settings.database, wait=settings.database_wait)
    services, judging = RequesterServices(database), JudgingService(database)
    return State(
        settings=settings,
        keys=keys,
        sessions=sessions,
        pages=Pages(sessions),
        metrics=health.Metrics(),
        attempts=Limiter(),
        newcomers=Limiter(),
        database=database,
        judging=judging,
        services=services,
        tokens=Tokens(services),
        checks=health.Checks(),
        readers=UploadReaders(settings.upload_seconds),
        models=ModelRuns(settings, judging, services),
    )


class _Static(StaticFiles):
    """Our own files, which a browser may keep: their address changes when they do."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """One file."""
        response = await super().get_response(path, scope)
        if response.status_code == 200:
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        return response


def from_environment() -> FastAPI:
    """The app of a worker process, with the settings that its parent left."""
    settings = Settings.from_environment()
    configure(settings.log_format)
    app = create_app(settings)
    # Python's collector looks at what requests make alone, not at all that a server is.
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 50)  # objects, and younger rounds before an older one
    return app
