"""When a judge is due for a refresher, and which of their pages are one."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, select

from adjudge.collect.rules.refreshing import Pair, confusions, is_due
from adjudge.collect.store.request import JudgeRequest
from adjudge.collect.store.schema import judgments, pages

REFRESHER_PAGES = (pages.c.kind == "training") & (pages.c.attempt < 0)
_HAD = select(func.count(), func.coalesce(func.max(pages.c.id), 0)).where(
    pages.c.judge == bindparam("judge"), REFRESHER_PAGES, pages.c.state == "answered"
)
_MISSED = select(judgments.c.gold, judgments.c.label).where(
    judgments.c.judge == bindparam("judge"),
    judgments.c.kind == "work",
    judgments.c.right.is_(False),
    judgments.c.page > bindparam("last"),
    judgments.c.id > bindparam("fresh"),
)


def is_refresher(page: Any) -> bool:
    """Whether a stored page is a refresher."""
    return bool(page.kind == "training" and page.attempt < 0)


def due_for(request: JudgeRequest) -> tuple[int, dict[Pair, int]] | None:
    """The number of the refresher that a judge is to do now, and what they confused; else None.

    Models have none: they do not learn from what they are told.
    """
    policy = request.policy
    if policy.refresher_pairs == 0 or request.judge.kind == "model":
        return None
    if request.judge.stage not in ("working", "warned"):
        return None
    if policy.max_pages is not None and request.judge.pages >= policy.max_pages:
        return None
    had, last = request.on.execute(_HAD, {"judge": request.judge.id}).one()
    if not is_due(policy, misses=policy.refresher_after, had=had):
        return None
    given = {"judge": request.judge.id, "last": last, "fresh": request.judge.fresh_from}
    missed = request.on.execute(_MISSED, given).all()
    if not is_due(policy, misses=len(missed), had=had):
        return None
    return had + 1, confusions(
        (request.project.golds[row[0]].accepted[0], row[1]) for row in missed
    )
