"""A judge and a project as the judge may know them, and whether there is work for them."""

from __future__ import annotations

from sqlalchemy import bindparam, exists, select, text

from adjudge.collect.items.quotas import arm_lacks, arm_room
from adjudge.collect.judging._budget import rows_left
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
from adjudge.collect.store.conditions import NOT_JUDGED, OPEN_TO_JUDGE
from adjudge.collect.store.database import from_row
from adjudge.collect.store.request import JudgeRequest, record_of
from adjudge.collect.store.schema import items, pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.judging import OTHERS, JudgeView, ProjectView

_OPEN_PAGE = select(pages.c.public).where(
    pages.c.id == bindparam("page"), text("pages.state = 'open'")
)
LACKING = (  # the items of a project that lack trusted judgments
    items.c.project == bindparam("project"),
    items.c.state == "open",
    items.c.gold.is_(False),
)
_ANY_OPEN = select(exists().where(*OPEN_TO_JUDGE).label("any"))
_ANY_OPEN_IN_ARM = select(exists().where(*OPEN_TO_JUDGE, arm_room).label("any"))
_ANY_LEFT = select(exists().where(*LACKING, NOT_JUDGED).label("any"))
_ANY_LEFT_IN_ARM = select(exists().where(*LACKING, NOT_JUDGED, arm_lacks).label("any"))


def any_open(request: JudgeRequest) -> bool:
    """Whether some item could be given to a judge now."""
    judge, in_arm = request.judge, request.in_arm
    statement = _ANY_OPEN_IN_ARM if in_arm else _ANY_OPEN
    wanted = {"judge": judge.id, "project": judge.project, **in_arm}
    return any(
        request.on.execute(statement, {**wanted, "reached": reached}).scalar()
        for reached in sorted({judge.reached, 0}, reverse=True)
    )


def any_left(request: JudgeRequest) -> bool:
    """Whether an item that the judge has not judged lacks trusted judgments, of their arm or any.

    An arm with a number of its own is done when it has that number, whatever others still lack.
    """
    judge, in_arm = request.judge, request.in_arm
    statement = _ANY_LEFT_IN_ARM if in_arm else _ANY_LEFT
    wanted = {"judge": judge.id, "project": judge.project, **in_arm}
    return bool(request.on.execute(statement, wanted).scalar())


def view_judge(request: JudgeRequest) -> JudgeView:
    """Where a judge stands, for their own pages."""
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
        completion_code=code_of(judge, policy),
        return_link=way_back(judge, policy),
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
        of_pairs=snapshot.of_pairs,
    )
