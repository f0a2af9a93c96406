"""The budget of a project: what is spent, what is in judges' hands, and whether a page fits.

What is in judges' hands counts as spent until it comes back, so that the budget is not passed
however many judges ask at once. Whoever asks for a page takes their turn first (``take_turn``).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from sqlalchemy import Boolean, ColumnElement, and_, bindparam, func, literal_column, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.rules.endings import pay_of, to_micros
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.request import JudgeRequest, Request
from adjudge.collect.store.schema import is_real, judges, page_rows, pages
from adjudge.collect.values.judging import DRY_RUN

_TURN = text("SELECT pg_advisory_xact_lock(7234003, CAST(:project AS integer))")
_ROWS = (
    select(func.count())
    .where(page_rows.c.page == pages.c.id, text("page_rows.gold IS NULL"))
    .correlate(pages)
    .scalar_subquery()
)


def _any(count: str) -> ColumnElement[bool]:
    """Whether a count of a judge is above zero; as text, since it is grouped by."""
    return literal_column(f"judges.{count} > 0", Boolean)


# One statement, so that a page that is being answered is counted once: as out, or as earned.
_SPENT = (
    select(
        judges.c.arm,
        judges.c.stage,
        *(_any(name).label(name) for name in ("pages", "training_seen", "made")),
        func.count().label("judges"),
        func.sum(judges.c.earned).label("earned"),
        func.sum(judges.c.worked).label("worked"),
        func.count(pages.c.id).label("out"),
        func.coalesce(func.sum(_ROWS), 0).label("rows"),
    )
    .select_from(
        judges.outerjoin(
            pages,
            and_(pages.c.id == judges.c.page, text("pages.state = 'open' AND pages.kind = 'work'")),
        )
    )
    .where(judges.c.project == bindparam("project"), is_real)
    .group_by(judges.c.arm, judges.c.stage, *map(_any, ("pages", "training_seen", "made")))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spending:
    """What a project has spent; money in millionths."""

    earned: int = 0
    in_hand: int = 0  # pay of pages that are out, and what judges in training may come to
    judgments: int = 0  # answers to work that are stored
    rows: int = 0  # of work, on pages that are out


def take_turn(on: Connection, project: int) -> None:
    """Wait for whoever makes a page of this project; SQLite's one writer needs no such turn."""
    if on.dialect.name == "postgresql":
        on.execute(_TURN, {"project": project})


def has_budget(policy: Policy) -> bool:
    """Whether a policy sets any budget."""
    return policy.budget is not None or policy.budget_judgments is not None


def spending_of(request: Request) -> _Spending:
    """What a project has spent, and what is out."""
    earned = in_hand = judgments = rows = 0
    for group in request.on.execute(_SPENT, {"project": request.project.id}):
        policy = request.project.policy_of(group.arm)
        one, two = (
            pay_of(SimpleNamespace(**{**group._asdict(), "earned": amount}), policy)
            for amount in (0, 1)
        )
        earned += one * group.judges + (two - one) * int(group.earned)
        kept = to_micros(policy.pay_failed) if _is_owed(group) else 0
        out = max(kept, to_micros(policy.pay_per_page))
        in_hand += out * group.out + kept * (group.judges - group.out)
        judgments += int(group.worked)
        rows += int(group.rows)
    return _Spending(earned=earned, in_hand=in_hand, judgments=judgments, rows=rows)


def _is_owed(judge: Any) -> bool:
    """Whether a judge would be paid for their training alone, if nothing came after it."""
    begun = judge.training_seen or (judge.stage == "training" and judge.made)
    return bool(not judge.pages and begun and judge.stage in ("training", "working", "warned"))


def rows_left(request: JudgeRequest, *, turn: bool = True) -> int | None:
    """How many rows of work a new page of a judge may have; None for any number.

    Without a ``turn`` only a look, which may be wrong a moment later.
    """
    policy = request.project.policy
    if not has_budget(policy) or request.judge.kind == DRY_RUN:
        return None
    if turn:
        take_turn(request.on, request.judge.project)
    spent = spending_of(request)
    theirs = request.policy
    pay = to_micros(theirs.pay_per_page)
    if _is_owed(request.judge):  # so much is kept for them already
        pay = max(0, pay - to_micros(theirs.pay_failed))
    if policy.budget is not None and spent.earned + spent.in_hand + pay > to_micros(policy.budget):
        return 0
    if policy.budget_judgments is None:
        return None
    return max(0, policy.budget_judgments - spent.judgments - spent.rows)


def may_begin(request: JudgeRequest) -> bool:
    """Whether a page could follow the training of a judge, or they have begun it already."""
    policy = request.project.policy
    if not has_budget(policy) or request.judge.kind == DRY_RUN or request.judge.made > 0:
        return True
    take_turn(request.on, request.judge.project)
    spent = spending_of(request)
    theirs = request.policy
    return not is_spent(spent, policy, max(theirs.pay_per_page, theirs.pay_failed))


def is_spent(spent: _Spending, policy: Policy, pay: Decimal) -> bool:
    """Whether nobody who is to be paid so much can be given a page any more."""
    money, count = policy.budget, policy.budget_judgments
    held = spent.earned + spent.in_hand + to_micros(pay)
    over = money is not None and held > to_micros(money)
    return over or (count is not None and spent.judgments + spent.rows >= count)
