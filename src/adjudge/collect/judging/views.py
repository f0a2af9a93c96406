"""A judge and a project as the judge may know them, and whether any item is open to them."""

from __future__ import annotations

from typing import cast

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
from adjudge.collect.store.request import JudgeRequest, record_of
from adjudge.collect.store.schema import pages
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.store.statements import Statement
from adjudge.collect.values.judging import OTHERS, JudgeView, Kind, ProjectView, Stage

_OPEN_PAGE = Statement(
    select(pages.c.public).where(pages.c.id == bindparam("page"), text("pages.state = 'open'"))
)


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


def _has_budget_again(request: JudgeRequest) -> bool:
    """Whether a judge who ended with the budget could be given a page now."""
    if ended_untrained(request.judge, request.project):
        return False
    return rows_left(request, turn=False) != 0
