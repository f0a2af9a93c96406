"""What a judge may know: the project, where they stand, and whether there is work for them."""

from __future__ import annotations

import math
from typing import Any, cast

from sqlalchemy import bindparam, exists, func, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.items.quotas import arm_lacks, arm_room
from adjudge.collect.judging.budget import rows_left
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
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.records import record_of
from adjudge.collect.store.request import JudgeRequest
from adjudge.collect.store.schema import ITEM_HAS_ROOM, items, judgments, page_rows, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.store.statements import Statement
from adjudge.collect.values.judging import (
    DRY_RUN,
    MOST_PAGES_LEFT,
    OTHERS,
    JudgeView,
    Kind,
    ProjectView,
    Stage,
)

_JUDGED = exists().where(
    judgments.c.judge == bindparam("judge"),
    judgments.c.item == items.c.id,
    text("judgments.gold IS NULL"),
)
_OPEN = (
    items.c.project == bindparam("project"),
    items.c.rank > bindparam("reached"),
    ITEM_HAS_ROOM,
    ~_JUDGED,
)
_LEFT = (
    items.c.project == bindparam("project"),
    items.c.state == "open",
    items.c.gold.is_(False),
    ~_JUDGED,
)
_ANY_OPEN = Statement(select(exists().where(*_OPEN).label("any")))
_ANY_OPEN_IN_ARM = Statement(select(exists().where(*_OPEN, arm_room).label("any")))
_ANY_LEFT = Statement(select(exists().where(*_LEFT).label("any")))
_ANY_LEFT_IN_ARM = Statement(select(exists().where(*_LEFT, arm_lacks).label("any")))
_ON_THEIR_PAGE = exists().where(
    page_rows.c.page == bindparam("page"), page_rows.c.item == items.c.id
)


def _most_open(*conditions: Any) -> Any:
    """The statement that counts items open to a judge, up to ``most``."""
    some = select(items.c.id).where(*_OPEN, ~_ON_THEIR_PAGE, *conditions)
    return select(func.count()).select_from(some.limit(bindparam("most")).subquery())


_COUNT_OPEN = _most_open()
_COUNT_OPEN_IN_ARM = _most_open(arm_room)
_WORK_LEFT = select(
    exists()
    .where(
        items.c.project == bindparam("project"),
        items.c.state == "open",
        items.c.gold.is_(False),
    )
    .label("any")
)
_OPEN_PAGE = Statement(
    select(pages.c.public).where(pages.c.id == bindparam("page"), text("pages.state = 'open'"))
)


def any_open(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether some item could be given to this judge now."""
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_OPEN_IN_ARM if policy.judgments_by_arm else _ANY_OPEN
    return any(
        statement.scalar(on, {**wanted, "reached": reached})
        for reached in sorted({judge.reached, 0}, reverse=True)
    )


def any_left(on: Connection, judge: StoredRow, policy: Policy) -> bool:
    """Whether an item that the judge has not judged lacks trusted judgments, of their arm or any.

    An arm with a number of its own is done when it has that number, whatever others still lack.
    """
    wanted = {"judge": judge.id, "project": judge.project, **in_arm(judge, policy)}
    statement = _ANY_LEFT_IN_ARM if policy.judgments_by_arm else _ANY_LEFT
    return bool(statement.scalar(on, wanted))


def any_work_left(on: Connection, project: int) -> bool:
    """Whether any item of a project lacks a judgment, whoever could give it."""
    return bool(on.execute(_WORK_LEFT, {"project": project}).scalar())


def count_pages_left(request: JudgeRequest) -> int:
    """About how many pages a judge could do now beside the one they have, at most ten.

    By the results open to them, the pages that one judge may do, and the budget. In pages, since
    a number of results would tell how much of a page was gold.
    """
    policy, judge = request.policy, request.judge
    share = policy.screening_share if request.project.screening else 0.0
    a_page = max(1.0, policy.pairs_per_page * (1 - share))
    most = math.ceil(MOST_PAGES_LEFT * a_page)
    given = {"judge": judge.id, "project": judge.project, "most": most, "page": judge.page or 0}
    statement = _COUNT_OPEN_IN_ARM if policy.judgments_by_arm else _COUNT_OPEN
    left = 0
    for reached in sorted({judge.reached, 0}, reverse=True):
        wanted = {**given, **in_arm(judge, policy), "reached": reached}
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


def in_arm(judge: StoredRow, policy: Policy) -> dict[str, Any]:
    """What a statement has to know of a judge's arm; nothing where arms share a number."""
    limit = policy.arm_limit
    return {} if limit is None else {"arm": judge.arm, "limit": limit}


def view_judge(request: JudgeRequest, *, open_items: bool | None = None) -> JudgeView:
    """Where a judge stands, for their own pages."""
    policy = request.policy
    page = None
    if request.judge.page is not None:
        page = _OPEN_PAGE.scalar(request.on, {"page": request.judge.page})
    if open_items is None:
        over = request.judge.stage in ("failed", "blocked") or request.judge.reason in (
            MAX_PAGES,
            NO_GOLD_LEFT,
        )
        over = over or (request.judge.reason == BUDGET_SPENT and not _has_budget_again(request))
        open_items = not over and (page is not None or any_open(request.on, request.judge, policy))
    return JudgeView(
        judge=request.judge.public,
        project=request.project.slug,
        kind=cast(Kind, request.judge.kind),
        stage=cast(Stage, request.judge.stage),
        reason=reason_of(request.judge, policy, open_items=open_items),
        judged=request.judge.judged,
        pages=request.judge.pages,
        open_items=open_items,
        page=page,
        training_done=request.judge.training_seen,
        training_pairs=request.project.training_pairs(request.judge.arm),
        training_right=request.judge.training_right,
        tries_left=max(0, policy.training_tries - request.judge.attempt),
        gold_seen=request.judge.seen if policy.feedback else None,
        gold_right=request.judge.right if policy.feedback else None,
        accuracy=record_of(request.judge).accuracy if policy.feedback else None,
        warned=request.judge.warned_at is not None,
        pay=to_money(pay_of(request.judge, request.project.policy_of(request.judge.arm))),
        currency=policy.currency,
        completion_code=code_of(request.judge, policy),
        return_link=way_back(request.judge, policy),
        notice=tuple(request.judge.notice),
        message=request.judge.message,
    )


def ended_untrained(judge: StoredRow, snapshot: ProjectSnapshot) -> bool:
    """Whether they came when the budget was spent: whoever goes on later has done the training."""
    spent = judge.stage == "finished" and judge.reason == BUDGET_SPENT
    return spent and bool(judge.training_seen < snapshot.training_pairs(judge.arm))


def _has_budget_again(request: JudgeRequest) -> bool:
    """Whether a judge who ended with the budget could be given a page now."""
    if ended_untrained(request.judge, request.project):
        return False
    return rows_left(request, turn=False) != 0


def view_project(snapshot: ProjectSnapshot, arm: str) -> ProjectView:
    """What a judge may know of a project."""
    policy = snapshot.policy_of(arm)
    return ProjectView(
        slug=snapshot.slug,
        name=snapshot.name,
        state=snapshot.state,
        guidelines=snapshot.guidelines_of(arm),
        labels=snapshot.scale.labels,
        others=OTHERS,
        consent=policy.consent if policy.require_consent else "",
        training_pairs=snapshot.training_pairs(arm),
        training_rule=policy.training_rule,
        training_pass=policy.training_pass,
        training_tries=policy.training_tries,
        pairs_per_page=policy.pairs_per_page,
        pay_per_page=policy.pay_per_page,
        pay_failed=policy.pay_failed,
        currency=policy.currency,
        feedback=policy.feedback,
        page_minutes=policy.lease_minutes,
        images=policy.images,
        previews=policy.previews,
        of_pairs=snapshot.of_pairs,
    )
