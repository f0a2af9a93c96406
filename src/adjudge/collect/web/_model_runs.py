"""Language models that judge from the app: each a thread, which anybody may look at and stop.

Keys of endpoints are held in memory alone, or come from the environment of the server: the key in
``ADJUDGE_MODEL_KEY`` is sent to ``ADJUDGE_MODEL_ENDPOINT`` and to no other address.
"""

from __future__ import annotations

import asyncio
import os
import re
import threading
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from adjudge.collect.web._background import find_address
from adjudge.collect.web.logs import run_noting
from adjudge.collect.web.settings import Settings
from adjudge.errors import AdjudgeError, BadSetting

if TYPE_CHECKING:
    from adjudge.collect.model_judge.endpoint import Endpoint
    from adjudge.collect.services.judging import JudgingService
    from adjudge.collect.services.requester import RequesterServices

SAMPLE = 20  # pairs that are judged first
_KEY, _ENDPOINT = "ADJUDGE_MODEL_KEY", "ADJUDGE_MODEL_ENDPOINT"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRun:
    """What a model was asked to do in a project, and how far it is."""

    model: str
    endpoint: str
    prompt: str
    most: int | None  # pairs; None for all
    budget: float | None  # money
    price_in: float  # of a million tokens
    price_out: float
    state: str = "running"  # running, stopping, stopped, finished or failed
    judged: int = 0
    spent: float = 0.0
    tokens: int = 0
    judge: str = ""  # public id
    stage: str = ""
    problem: str = ""
    begun: str = ""


class _Stopped(Exception):
    """Somebody has stopped the run."""


class ModelRuns:
    """The models at work in this process, and what is kept of all runs."""

    def __init__(
        self, settings: Settings, judging: JudgingService, services: RequesterServices
    ) -> None:
        self._settings, self._judging, self._services = settings, judging, services
        self._keys: dict[tuple[str, str], str] = {}
        self._stops: dict[tuple[str, str], threading.Event] = {}
        self._lock = threading.Lock()

    def find(self, slug: str) -> list[ModelRun]:
        """What is kept of the runs of a project."""
        kept = self._services.settings.get(_name(slug)) or []
        return TypeAdapter(list[ModelRun]).validate_python(kept)

    def has_key(self, slug: str, model: str) -> bool:
        """Whether the key of a run is still in memory."""
        return (slug, model) in self._keys

    def start(self, slug: str, run: ModelRun, key: str) -> None:
        """Let a model judge. Refused: ``bad-target`` for an address that is not public."""
        at = (slug, run.model)
        parts = urlsplit(run.endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadSetting("endpoint", run.endpoint, "an address such as https://host/v1")
        try:
            private = self._settings.private_webhooks
            address = find_address(parts.hostname, private=private)
        except OSError as fault:
            raise BadSetting("endpoint", run.endpoint, f"a host that is known ({fault})") from None
        with self._lock:
            if at in self._stops:
                raise BadSetting("model", run.model, "a model that is not at work here already")
            key = key or self._keys.get(at, "") or _key_for(run.endpoint)
            run = replace(run, begun=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"))
            endpoint = _make_endpoint(run, key, address)
            self._keys[at], self._stops[at] = key, threading.Event()
        self._keep(slug, run)
        threading.Thread(
            target=run_noting,
            args=("model-run-failed", lambda: self._work(slug, run, endpoint)),
            daemon=True,
        ).start()

    def stop(self, slug: str, model: str) -> None:
        """Stop a run after its present page, in whatever process; asked twice, count it as gone."""
        if (stop := self._stops.get((slug, model))) is not None:
            stop.set()
        following = {"running": "stopping", "stopping": "stopped"}
        for run in self.find(slug):
            if run.model == model and run.state in following:
                self._keep(slug, replace(run, state=following[run.state]))

    def close(self) -> None:
        """Stop every run."""
        for stop in list(self._stops.values()):
            stop.set()

    def _work(self, slug: str, run: ModelRun, endpoint: Endpoint) -> None:
        at = (slug, run.model)
        seen = [run]

        def note(tally: Any) -> None:
            asked = next((one.state for one in self.find(slug) if one.model == run.model), "")
            seen[0] = replace(_add_counts(seen[0], tally, endpoint), state=asked)
            self._keep(slug, seen[0])
            if self._stops[at].is_set() or asked != "running":
                raise _Stopped

        state, problem = "failed", "something went wrong on the server"
        try:
            tally = asyncio.run(self._judge(slug, run, endpoint, note))
            seen[0] = _add_counts(seen[0], tally, endpoint)
            state, problem = "finished", tally.stopped or ""
        except _Stopped:
            state, problem = "stopped", ""
        except AdjudgeError as fault:
            problem = fault.sentence
        finally:
            with self._lock:
                del self._stops[at]
            self._keep(slug, replace(seen[0], state=state, problem=problem))

    async def _judge(self, slug: str, run: ModelRun, endpoint: Endpoint, note: Any) -> Any:
        from adjudge.collect.model_judge.judging import InProcessWork, judge
        from adjudge.collect.model_judge.ledger import AnswerLedger

        folder = self._settings.secret_path.with_name("model-answers")
        folder.mkdir(mode=0o700, exist_ok=True)
        name = re.sub(r"[^\w.-]", "_", f"{slug}-{run.model}")
        work = InProcessWork(self._judging, slug, run.model)
        with AnswerLedger.opened(folder / f"{name}.jsonl") as ledger:
            async with endpoint as opened:
                return await judge(work, opened, ledger, most=run.most, on_page=note)

    def _keep(self, slug: str, run: ModelRun) -> None:
        with self._lock:
            others = [one for one in self.find(slug) if one.model != run.model]
            kept = [asdict(one) for one in (run, *others)]
            self._services.settings.keep(_name(slug), kept)


def _name(slug: str) -> str:
    return f"model-runs:{slug}"


def _key_for(endpoint: str) -> str:
    """The key of the environment, for its own endpoint alone."""
    own = os.environ.get(_ENDPOINT, "").rstrip("/")
    return os.environ.get(_KEY, "") if own and endpoint.rstrip("/") == own else ""


def _make_endpoint(run: ModelRun, key: str, address: str) -> Endpoint:
    from adjudge.collect.model_judge.endpoint import Endpoint, SpendingLimit
    from adjudge.collect.model_judge.prompts import prompt_named

    limit = SpendingLimit(money=run.budget, price_in=run.price_in, price_out=run.price_out)
    prompt = prompt_named(run.prompt)
    return Endpoint(
        url=run.endpoint,
        model=run.model,
        key=key or None,
        address=address,
        prompt=prompt,
        budget=limit,
    )


def _add_counts(run: ModelRun, tally: Any, endpoint: Endpoint) -> ModelRun:
    """A run with what its tally and its endpoint have counted."""
    usage, view = endpoint.usage, tally.judge
    return replace(
        run,
        judged=tally.judged,
        tokens=usage.prompt_tokens + usage.completion_tokens,
        spent=endpoint.budget.cost(usage.prompt_tokens, usage.completion_tokens),
        judge=view.judge if view else run.judge,
        stage=view.stage if view else run.stage,
    )
