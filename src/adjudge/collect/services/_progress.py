"""How far a project is: items by state and why they are open, cost, savings, funnel."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from sqlalchemy import case, func, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.judging.work_left import read_budget
from adjudge.collect.rules.adaptive import count_for
from adjudge.collect.rules.endings import pay_of, to_money
from adjudge.collect.services._gold_editing import warn_of_gold
from adjudge.collect.services._panels import panel_warnings
from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judges, judgments, log, pages
from adjudge.collect.store.settings import fixed_name, read_setting
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.requesting import Budget, FunnelRow, Progress, Savings

# As the indexes have them that are made for these two.
_APART = text("judgments.gold IS NULL AND (judgments.other OR judgments.standing = 'untrusted')")
_PASSED = text("log.event = 'training-passed'")
_CENT = Decimal("0.01")


def _tally(on: Connection, column: Any, *conditions: Any) -> dict[Any, int]:
    """How many rows there are for each value of a column."""
    wanted = select(column, func.count()).where(*conditions).group_by(column).order_by(column)
    return dict(on.execute(wanted).all())


def measure_progress(request: Request) -> Progress:
    """How far a project is."""
    project = request.project.id
    groups = _group_items(request.on, project)
    kept = [group for group in groups if group.state != "withdrawn"]
    states: Counter[str] = Counter()
    by_trusted: Counter[int] = Counter()
    for group in groups:
        states[group.state] += group.many
    for group in kept:
        by_trusted[group.trusted] += group.many
    answers = _answers_apart(request.on, project)
    done = _done_by_judges(request.on, project)
    savings, budget = savings_of(request), read_budget(request)
    lacking = lacking_of(
        ((g.trusted, g.needed, g.many) for g in kept if g.state == "open"), savings
    )
    right, seen = _gold_tally(request.on, project, done)
    return Progress(
        items=sum(group.many for group in kept),
        closed=states["closed"] + states["final"],
        open=states["open"],
        set_aside=states["set aside"] + states["skipped"],
        withdrawn=states["withdrawn"],
        why_open=_why_open(request, groups, any_untrusted=answers.untrusted > 0),
        by_trusted=dict(sorted(by_trusted.items())),
        needed=sum(group.needed * group.many for group in kept),
        trusted=sum(group.trusted * group.many for group in kept),
        lacking=lacking,
        surplus=sum(int(group.surplus) for group in kept),
        untrusted=answers.untrusted,
        others=answers.others,
        pages=int(done.pages),
        open_pages=_open_pages(request.on, project),
        judges=_tally(request.on, judges.c.stage, judges.c.project == project, is_real),
        funnel=_funnel_of(request),
        gold_accuracy=accuracy_of(right, seen),
        gold_seen=seen,
        gold_right=right,
        cost=_cost_of(request),
        cost_to_finish=_cost_to_finish(request.project, lacking),
        currency=request.project.policy.currency,
        warnings=_warn(request, budget),
        savings=savings,
        budget=budget,
    )


def _group_items(on: Connection, project: int) -> Sequence[StoredRow]:
    """Work by what its counters say, in one pass over an index that has them in this order."""
    alike = (items.c.state, items.c.trusted, items.c.needed, items.c.leased, items.c.broken)
    return on.execute(
        select(*alike, func.count().label("many"), func.sum(items.c.surplus).label("surplus"))
        .where(items.c.project == project, items.c.gold.is_(False))
        .group_by(*alike)
    ).all()


def _answers_apart(on: Connection, project: int) -> StoredRow:
    """How many could not judge, and how many answers are not trusted, by their own index."""
    untrusted = ~judgments.c.other & (judgments.c.standing == "untrusted")
    return on.execute(
        select(
            func.count(case((judgments.c.other, 1))).label("others"),
            func.count(case((untrusted, 1))).label("untrusted"),
        ).where(
            judgments.c.project == project,
            judgments.c.kind == "work",
            _APART,
            of_real_in(project),
        )
    ).one()


def _done_by_judges(on: Connection, project: int) -> StoredRow:
    """What is counted on judges: pages of work, golds answered and right since a fresh start."""
    return on.execute(
        select(
            func.coalesce(func.sum(judges.c.pages), 0).label("pages"),
            func.coalesce(func.sum(judges.c.seen), 0).label("seen"),
            func.coalesce(func.sum(judges.c.right), 0).label("right"),
        ).where(judges.c.project == project, is_real)
    ).one()


def _open_pages(on: Connection, project: int) -> int:
    """Pages of work that judges have open."""
    held = (
        select(func.count())
        .select_from(judges)
        .join(pages, pages.c.id == judges.c.page)
        .where(judges.c.project == project, is_real)
        .where(pages.c.state == "open", pages.c.kind == "work")
    )
    return int(on.execute(held).scalar_one())


def _why_open(
    request: Request, groups: Sequence[StoredRow], *, any_untrusted: bool
) -> dict[str, int]:
    """Why open items are open, in a few words, and how many for each reason."""
    found: Counter[str] = Counter()
    for group in groups:
        if group.state != "open":
            continue
        if group.leased:
            why = "in judges' hands"
        elif group.trusted:
            why = "some trusted judgments, more needed"
        else:
            why = "judges could not judge it" if group.broken else "not judged yet"
        found[why] += group.many
    for unclear, count in _of_blocked(request) if any_untrusted else ():
        found["judges could not judge it" if unclear else "not judged yet"] -= count
        found["judged by blocked judges only"] += count
    return {why: count for why, count in sorted(found.items()) if count}


def _of_blocked(request: Request) -> Sequence[StoredRow]:
    """Open items that only blocked judges have judged: whether others could not, and how many."""
    project = request.project.id
    given = select(judgments.c.item).where(
        judgments.c.project == project,
        judgments.c.standing == "untrusted",
        judgments.c.kind == "work",
        _APART,
        of_real_in(project),
    )
    unclear = (items.c.broken > 0).label("unclear")
    return request.on.execute(
        select(unclear, func.count())
        .where(
            items.c.id.in_(given),
            items.c.state == "open",
            items.c.gold.is_(False),
            items.c.leased == 0,
            items.c.trusted == 0,
        )
        .group_by(unclear)
    ).all()


def _cost_to_finish(snapshot: ProjectSnapshot, lacking: int) -> Decimal:
    """What the trusted judgments that are lacking would cost, in full pages."""
    pages_left = math.ceil(lacking / _work_on_a_page(snapshot) - 1e-9)
    return snapshot.policy.pay_per_page * pages_left


def _gold_tally(on: Connection, project: int, done: StoredRow) -> tuple[int, int]:
    """Right ones, and all screening answers that count, also those before a fresh start."""
    before = on.execute(
        select(
            func.count(judgments.c.right).label("seen"),
            func.count(case((judgments.c.right, 1))).label("right"),
        )
        .select_from(judges)
        .join(judgments, judgments.c.judge == judges.c.id)
        .where(
            judges.c.project == project,
            is_real,
            judges.c.fresh_from > 0,
            judgments.c.id <= judges.c.fresh_from,
            judgments.c.gold.is_not(None),
            judgments.c.kind == "work",
        )
    ).one()
    return int(done.right) + before.right, int(done.seen) + before.seen


def _funnel_of(request: Request) -> tuple[FunnelRow, ...]:
    """How judges of each arm came through."""
    stages: dict[str, Counter[str]] = defaultdict(Counter)
    trained: Counter[str] = Counter()
    began = judges.c.training_seen > 0
    for row in request.on.execute(
        select(judges.c.arm, judges.c.stage, began.label("began"), judges.c.attempt, func.count())
        .where(judges.c.project == request.project.id, is_real)
        .group_by(judges.c.arm, judges.c.stage, began, judges.c.attempt)
    ):
        stages[row.arm][row.stage] += row[4]
        if row.began or row.attempt > 1:
            trained[row.arm] += row[4]
    passed: dict[str, int] = dict(
        request.on.execute(
            select(judges.c.arm, func.count(judges.c.id.distinct()))
            .join(log, log.c.judge == judges.c.id)
            .where(judges.c.project == request.project.id, _PASSED, is_real)
            .group_by(judges.c.arm)
        ).all()
    )
    return tuple(
        FunnelRow(
            arm=arm,
            came=sum(stages[arm].values()),
            trained=trained[arm],
            passed=passed.get(arm, 0),
            failed=stages[arm]["failed"],
            working=stages[arm]["working"],
            warned=stages[arm]["warned"],
            blocked=stages[arm]["blocked"],
            finished=stages[arm]["finished"],
        )
        for arm in request.project.arms
    )


def _cost_of(request: Request) -> Decimal:
    """What the judges of a project have earned in all."""
    rows = request.on.execute(
        select(
            *(judges.c.stage, judges.c.arm, judges.c.earned),
            *(judges.c.pages, judges.c.training_seen),
        ).where(judges.c.project == request.project.id, is_real)
    )
    return to_money(sum(pay_of(row, request.project.policy_of(row.arm)) for row in rows))


def _work_on_a_page(snapshot: ProjectSnapshot) -> float:
    """How many rows of work a full page has, gold left out."""
    policy = snapshot.policy
    return policy.work_per_page if snapshot.screening else float(policy.pairs_per_page)


def savings_of(request: Request) -> Savings | None:
    """What an adaptive project has saved so far; None for any other, and before an item closes."""
    if request.project.policy.closing != "adaptive":
        return None
    closed, judgments, accuracy = request.on.execute(
        select(func.count(), func.sum(items.c.trusted), func.avg(items.c.probability)).where(
            items.c.project == request.project.id,
            items.c.gold.is_(False),
            items.c.state == "closed",
        )
    ).one()
    if not closed:
        return None
    stored = read_setting(request.on, fixed_name(request.project.id))
    fixed = request.project.policy.judgments_per_item
    by_count = np.array(stored["accuracy"]) if stored else None
    equal = None
    if by_count is not None and accuracy is not None:
        equal = count_for(by_count, float(accuracy))
    saved = fixed * closed - int(judgments)
    saved_equal = None if not equal else equal * closed - int(judgments)
    return Savings(
        closed=closed,
        judgments=int(judgments),
        per_item=int(judgments) / closed,
        fixed=fixed,
        saved=saved,
        saved_share=saved / (fixed * closed),
        saved_money=_cost(request.project, saved),
        accuracy=None if accuracy is None else float(accuracy),
        fixed_accuracy=_at(by_count, fixed),
        equal=equal,
        equal_share=None if not equal or saved_equal is None else saved_equal / (equal * closed),
        equal_money=None if saved_equal is None else _cost(request.project, saved_equal),
        most_tried=None if by_count is None else len(by_count) - 1,
        fitted=stored["made"] if stored else "",
    )


def _at(by_count: Any, count: int) -> float | None:
    return None if by_count is None or count >= len(by_count) else float(by_count[count])


def _cost(snapshot: ProjectSnapshot, judgments: float) -> Decimal:
    """What so many judgments cost, as their share of full pages."""
    a_page = Decimal(str(_work_on_a_page(snapshot)))
    price = snapshot.policy.pay_per_page * Decimal(str(judgments)) / a_page
    return price.quantize(_CENT)


def lacking_of(open_items: Iterable[tuple[int, int, int]], savings: Savings | None) -> int:
    """How many trusted judgments open items lack, given as (trusted, needed, how many items).

    In an adaptive project as many as they need at least, and no fewer than a closed item had on
    average.
    """
    usual = 0.0 if savings is None else savings.per_item
    lacking = sum(count * (max(needed, usual) - trusted) for trusted, needed, count in open_items)
    return int(lacking + 0.5)


def _warn(request: Request, budget: Budget | None) -> tuple[str, ...]:
    """What a requester should know: of the budget, the gold, and the rules of the panel."""
    spent = "The budget is spent, or in judges' hands: nobody is given another page."
    arms = request.project.arms
    trained = any(request.project.training_pairs(name) for name in arms)
    policies = [arm.policy for arm in arms.values()]
    return (
        *([spent] if budget is not None and budget.spent else ()),
        *warn_of_gold(request),
        *panel_warnings(request.project.policy, policies, trained=trained),
    )
