"""How much is left: of work for a judge, in pages, of work at all, and of the budget."""

from __future__ import annotations

import math
from typing import Any

from sqlalchemy import bindparam, exists, func, select
from sqlalchemy.engine import Connection

from adjudge.collect.items.quotas import arm_room
from adjudge.collect.judging._budget import has_budget, is_spent, rows_left, spending_of
from adjudge.collect.judging.views import LACKING
from adjudge.collect.rules.endings import to_money
from adjudge.collect.store.conditions import OPEN_TO_JUDGE
from adjudge.collect.store.request import JudgeRequest, Request
from adjudge.collect.store.schema import items, page_rows
from adjudge.collect.values.judging import DRY_RUN, MOST_PAGES_LEFT
from adjudge.collect.values.requesting import Budget

_WORK_LEFT = select(exists().where(*LACKING).label("any"))

_ON_THEIR_PAGE = exists().where(
    page_rows.c.page == bindparam("page"), page_rows.c.item == items.c.id
)


def _most_open(*conditions: Any) -> Any:
    """The statement that counts items open to a judge, up to ``most``."""
    some = select(items.c.id).where(*OPEN_TO_JUDGE, ~_ON_THEIR_PAGE, *conditions)
    return select(func.count()).select_from(some.limit(bindparam("most")).subquery())


_COUNT_OPEN = _most_open()
_COUNT_OPEN_IN_ARM = _most_open(arm_room)


def any_work_left(on: Connection, project: int) -> bool:
    """Whether any item of a project lacks a judgment, whoever could give it."""
    return bool(on.execute(_WORK_LEFT, {"project": project}).scalar())


def count_pages_left(request: JudgeRequest) -> int:
    """About how many pages a judge could do now beside the one they have, at most ten.

    By the results open to them, the pages that one judge may do, and the budget. In pages, since
    a number of results would tell how much of a page was gold.
    """
    policy, judge = request.policy, request.judge
    a_page = policy.work_per_page if request.project.screening else float(policy.pairs_per_page)
    most = math.ceil(MOST_PAGES_LEFT * a_page)
    given = {"judge": judge.id, "project": judge.project, "most": most, "page": judge.page or 0}
    statement = _COUNT_OPEN_IN_ARM if request.in_arm else _COUNT_OPEN
    left = 0
    for reached in sorted({judge.reached, 0}, reverse=True):
        wanted = {**given, **request.in_arm, "reached": reached}
        left = max(left, int(request.on.execute(statement, wanted).scalar() or 0))
        if left == most:  # the whole queue need not be looked through
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
