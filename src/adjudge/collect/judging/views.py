"""A judge and a project as the judge may know them, and whether any item is open to them."""

from __future__ import annotations

from sqlalchemy import bindparam, select, text

from adjudge.collect.judging._budget import rows_left
from adjudge.collect.judging._open_work import any_open, ended_untrained
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
from adjudge.collect.store.request import JudgeRequest, record_of
from adjudge.collect.store.schema import pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.store.statements import Statement
from adjudge.collect.values.judging import OTHERS, JudgeView, ProjectView

_OPEN_PAGE = Statement(
    select(pages.c.public).where(pages.c.id == bindparam("page"), text("pages.state = 'open'"))
)


def view_judge(request: JudgeRequest) -> JudgeView:
    """Where a judge stands, for their own pages."""
    policy, judge, page = request.policy, request.judge, None
    if judge.page is not None:
        page = _OPEN_PAGE.scalar(request.on, {"page": judge.page})
    over = judge.stage in ("failed", "blocked") or judge.reason in (MAX_PAGES, NO_GOLD_LEFT)
    if judge.reason == BUDGET_SPENT:  # unless they could be given a page now
        over = over or ended_untrained(judge, request.project)
        over = over or rows_left(request, turn=False) == 0
    open_items = not over and (page is not None or any_open(request.on, judge, policy))
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
