"""What every request handler needs, made once when the app is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

if TYPE_CHECKING:
    from adjudge.collect.services.judging import JudgingService
    from adjudge.collect.services.requester import RequesterServices
    from adjudge.collect.store.database import Database
    from adjudge.collect.web._health import Checks, Metrics
    from adjudge.collect.web._login import Tokens
    from adjudge.collect.web._model_runs import ModelRuns
    from adjudge.collect.web._pages import Pages
    from adjudge.collect.web._security import Keys, Limiter, Sessions
    from adjudge.collect.web._uploading import UploadReaders
    from adjudge.collect.web.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The parts of one server."""

    settings: Settings
    keys: Keys
    sessions: Sessions
    pages: Pages
    metrics: Metrics
    attempts: Limiter
    newcomers: Limiter
    database: Database
    judging: JudgingService
    services: RequesterServices
    tokens: Tokens
    checks: Checks
    readers: UploadReaders
    models: ModelRuns


def state_of(request: Request) -> State:
    """The parts of the server that a request came to."""
    state: State = request.app.state.parts
    return state
