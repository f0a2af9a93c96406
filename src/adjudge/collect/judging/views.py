"""A judge and a project as the judge may see them, and how much work is left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, exists, func, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.items.counters import arm_lacks, arm_room
from adjudge.collect.judging.budget import has_budget, is_spent, rows_left, spending_of
from adjudge.collect.rules.endings import (
    BUDGET_SPENT,
    MAX_PAGES,
    NO_GOLD_LEFT,
    code_of,
    pay_of,
    reason_of,
    to_money,
    way_back,
)
from adjudge.collect.store.database import from_row
from adjudge.collect.store.request import JudgeRequest, Request, record_of
from adjudge.collect.store.schema import NOT_JUDGED, OPEN_TO_JUDGE, items, page_rows, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import DRY_RUN, MOST_PAGES_LEFT, OTHERS, JudgeView, ProjectView
from adjudge.collect.values.requesting import Budget

_OPEN_PAGE = select(pages.c.public).where(
    pages.c.id == bindparam("page"), text("pages.state = 'open'")
)
LACKING = (  # the items of a project that lack trusted judgments
    items.c.project == bindparam("project"),
    items.c.state == "open",
    items.c.gold.is_(False),
)


def any_open(request: JudgeRequest) -> bool:
    """Whether some item could be given to a judge now."""
    starts = sorted({request.judge.reached, 0}, reverse=True)
    return any(_is_any(request, OPEN_TO_JUDGE, arm_room, reached=start) for start in starts)


def any_left(request: JudgeRequest) -> bool:
    """Whether an item that the judge has not judged lacks trusted judgments, of their arm or any.

    An arm with a number of its own is done when it has that number, whatever others still lack.
    """
    return _is_any(request, (*LACKING, NOT_JUDGED), arm_lacks)


def _is_any(request: JudgeRequest, conditions: Sequence[Any], in_arm: Any, **values: Any) -> bool:
    """Whether there is such an item, by a further condition where arms have their own numbers."""
    every = (*conditions, in_arm) if request.in_arm else conditions
    parameters = {"judge": request.judge.id, "project": request.judge.project, **request.in_arm}
    found = request.on.execute(
        select(exists().where(*every).label("any")), {**parameters, **values}
    )
    return bool(found.scalar())


def view_judge(request: JudgeRequest) -> JudgeView:
    """The present state of a judge, for their own pages."""
    policy, judge, page = request.policy, request.judge, None
    if judge.page is not None:
        page = request.on.execute(_OPEN_PAGE, {"page": judge.page}).scalar()
    over = judge.stage in ("failed", "blocked") or judge.reason in (MAX_PAGES, NO_GOLD_LEFT)
    if judge.reason == BUDGET_SPENT:  # unless they could be given a page now
        over = over or request.ended_untrained or rows_left(request, turn=False) == 0
    open_items = not over and (page is not None or any_open(request))
    return from_row(
        JudgeView,
        judge,
        judge=judge.public,
        project=request.project.slug,
        reason=reason_of(judge, policy, open_items=open_items),
        open_items=open_items,
        page=page,
        training_done=judge.training_seen,
        training_pairs=request.project.training_pairs(judge.arm),
        tries_left=max(0, policy.training_tries - judge.attempt),
        gold_seen=judge.seen if policy.feedback else None,
        gold_right=judge.right if policy.feedback else None,
        accuracy=record_of(judge).accuracy if policy.feedback else None,
        warned=judge.warned_at is not None,
        pay=to_money(pay_of(judge, policy)),
        currency=policy.currency,
        completion_code=code_of(judge, policy, request.project.seed),
        return_link=way_back(judge, policy, request.project.seed),
        notice=tuple(judge.notice),
    )


def view_project(snapshot: ProjectSnapshot, arm: str) -> ProjectView:
    """What a judge may know of a project."""
    policy = snapshot.policy_of(arm)
    return from_row(
        ProjectView,
        policy,
        slug=snapshot.slug,
        name=snapshot.name,
        state=snapshot.state,
        guidelines=snapshot.guidelines_of(arm),
        labels=snapshot.scale.labels,
        others=OTHERS,
        consent=policy.consent if policy.require_consent else "",
        training_pairs=snapshot.training_pairs(arm),
        page_minutes=policy.lease_minutes,
        screened=bool(snapshot.screening) and policy.screening_share > 0,
        of_pairs=snapshot.of_pairs,
    )


_WORK_LEFT = select(exists().where(*LACKING).label("any"))

_ON_THEIR_PAGE = exists().where(
    page_rows.c.page == bindparam("page"), page_rows.c.item == items.c.id
)


def any_work_left(on: Connection, project: int) -> bool:
    """Whether any item of a project lacks a judgment, whoever could give it."""
    return bool(on.execute(_WORK_LEFT, {"project": project}).scalar())


def count_pages_left(request: JudgeRequest) -> int:
    """Estimate how many further pages a judge could do now, at most ten.

    By the results open to them, the pages that one judge may do, and the budget. In pages, since
    a number of results would show how much of a page was gold.
    """
    policy, judge = request.policy, request.judge
    a_page = policy.work_per_page if request.project.screening else float(policy.pairs_per_page)
    most = math.ceil(MOST_PAGES_LEFT * a_page)
    given = {"judge": judge.id, "project": judge.project, "most": most, "page": judge.page or 0}
    some = select(items.c.id).where(*OPEN_TO_JUDGE, ~_ON_THEIR_PAGE)
    some = some.where(arm_room) if request.in_arm else some
    statement = select(func.count()).select_from(some.limit(bindparam("most")).subquery())
    left = 0
    for reached in sorted({judge.reached, 0}, reverse=True):
        values = {**given, **request.in_arm, "reached": reached}
        left = max(left, int(request.on.execute(statement, values).scalar() or 0))
        if left == most:  # the rest of the queue need not be read
            break
    rows = rows_left(request, turn=False)
    if rows is not None:
        left = min(left, rows)
    number = math.ceil(left / a_page - 1e-9)
    if policy.max_pages is not None and judge.kind != DRY_RUN:
        in_hand = 0 if judge.page is None or judge.stage == "training" else 1
        number = min(number, max(0, policy.max_pages - judge.pages - in_hand))
    return number


def read_budget(request: Request) -> Budget | None:
    """The budget as a requester sees it; None where there is none."""
    policy = request.project.policy
    if not has_budget(policy):
        return None
    spent = spending_of(request)
    pay = min(arm.policy.pay_per_page for arm in request.project.arms.values())
    return Budget(
        money=policy.budget,
        earned=to_money(spent.earned),
        in_hand=to_money(spent.in_hand),
        judgments=policy.budget_judgments,
        judged=spent.judgments,
        rows_in_hand=spent.rows,
        spent=is_spent(spent, policy, pay),
    )
