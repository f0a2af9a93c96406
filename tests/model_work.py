"""LLM judges at work in a project, at an endpoint of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from adjudge.collect.model_judge.endpoint import Endpoint, SpendingLimit
from adjudge.collect.model_judge.judging import InProcessWork, ModelTally, Work, judge
from adjudge.collect.model_judge.ledger import AnswerLedger
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.values.project import Project
from sites import small_project
from stores import new_store
from waiting import alone


def work_of(
    folder: Path, made: Callable[..., Project] = small_project, **policy: object
) -> tuple[Work, RequesterServices, str]:
    """An open project in which each item is judged once, as the place of work of a model."""
    store = new_store(folder / "a.db")
    services = RequesterServices(store)
    slug = services.projects.create(made(judgments_per_item=1, **policy)).slug
    services.projects.set_state(slug, "open")
    return InProcessWork(JudgingService(store), slug, "m"), services, slug


def go(
    work: Work, speaker: Any, path: Path, *, budget: SpendingLimit | None = None, **settings: Any
) -> tuple[ModelTally, Endpoint]:
    """Let the model work until it stops; ``path`` is its ledger."""
    budget = budget or SpendingLimit()
    endpoint = Endpoint(url=speaker.url, model="m", first_wait=0.01, tries=2, budget=budget)

    async def run() -> ModelTally:
        with AnswerLedger.opened(path) as ledger:
            async with endpoint as opened:
                return await judge(work, opened, ledger, **settings)

    return alone(run()), endpoint
