"""How far a project is: items by state and why they are open, cost, funnel, disagreement."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from sqlalchemy import case, func, select, text
from sqlalchemy.engine import Connection

from adjudge.collect.gold.keeping import warn_of_gold
from adjudge.collect.judging.budget import budget_of
from adjudge.collect.managing.panels import panel_warnings
from adjudge.collect.managing.savings import lacking_of, savings_of, work_on_a_page
from adjudge.collect.rules.endings import pay_of, to_money
from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.database import StoredRow
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import (
    items,
    judges,
    judgments,
    log,
    pages,
)
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.accuracy import accuracy_of
from adjudge.collect.values.requesting import (
    Budget,
    DisagreementRow,
    DisagreementTopic,
    FunnelRow,
    Progress,
)

# As the indexes have them that are made for these two.
_APART = text("judgments.gold IS NULL AND (judgments.other OR judgments.standing = 'untrusted')")
_PASSED = text("log.event = 'training-passed'")
_COUNTED = (judgments.c.kind == "work") & judgments.c.gold.is_(None)


def _tally(on: Connection, column: Any, *conditions: Any) -> dict[Any, int]:
    """How many rows there are for each value of a column."""
    wanted = select(column, func.count()).where(*conditions).group_by(column).order_by(column)
    return {row[0]: row[1] for row in on.execute(wanted)}


def measure_progress(request: Request) -> Progress:
    """How far a project is."""
    project = request.project.id
    groups = _group_items(request.on, project)
    kept = [group for group in groups if group.state != "withdrawn"]
    states: Counter[str] = Counter()
    for group in groups:
        states[group.state] += group.many
    answers = _answers_apart(request.on, project)
    done = _done_by_judges(request.on, project)
    savings, budget = savings_of(request), budget_of(request)
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
        by_trusted=_by_trusted(kept),
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
        warnings=(*_spent(budget), *warn_of_gold(request), *_panel_warnings(request.project)),
        savings=savings,
        budget=budget,
    )


def _group_items(on: Connection, project: int) -> Sequence[StoredRow]:
    """Work by what its counters say, in one pass over an index that has them in this order."""
    alike = (
        items.c.state,
        items.c.trusted,
        items.c.needed,
        items.c.leased,
        items.c.broken,
    )
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


def _by_trusted(groups: Sequence[StoredRow]) -> dict[int, int]:
    """How many items have how many trusted judgments."""
    found: Counter[int] = Counter()
    for group in groups:
        found[group.trusted] += group.many
    return dict(sorted(found.items()))


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
    a_page = work_on_a_page(snapshot)
    return snapshot.policy.pay_per_page * math.ceil(lacking / a_page - 1e-9)


def _spent(budget: Budget | None) -> list[str]:
    """What a requester should know of the budget."""
    if budget is None or not budget.spent:
        return []
    return ["The budget is spent, or in judges' hands: nobody is given another page."]


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


def _panel_warnings(snapshot: ProjectSnapshot) -> list[str]:
    """Where the policy does not meet the rules of the panel it names."""
    arms = [arm.policy for arm in snapshot.arms.values()]
    trained = any(snapshot.training_pairs(name) for name in snapshot.arms)
    return panel_warnings(snapshot.policy, arms, trained=trained)


def list_disagreements(request: Request, search: str, limit: int) -> list[DisagreementTopic]:
    """Queries whose items split the trusted judges, the most split first."""
    wanted = (
        select(judgments.c.item, items.c.topic, judgments.c.label, func.count())
        .join(items, items.c.id == judgments.c.item)
        .where(
            judgments.c.project == request.project.id,
            _COUNTED,
            ~judgments.c.other,
            judgments.c.standing != "untrusted",
        )
        .group_by(judgments.c.item, items.c.topic, judgments.c.label)
    )
    if search:
        wanted = wanted.where(items.c.query.icontains(search, autoescape=True))
    rows = request.on.execute(wanted).fetchall()
    if not rows:
        return []
    ids, place = np.unique(np.array([row[0] for row in rows]), return_inverse=True)
    count = np.array([row[3] for row in rows], dtype=np.float64)
    total = np.bincount(place, weights=count)
    share = count / total[place]
    entropy = np.bincount(place, weights=-share * np.log2(share))  # (item,)
    names, topic = np.unique([row[1] for row in rows], return_inverse=True)
    topic_of = np.empty(ids.size, dtype=np.int64)  # (item,)
    topic_of[place] = topic
    mean = np.bincount(topic_of, weights=entropy) / np.bincount(topic_of)
    worst = [int(t) for t in np.argsort(-mean, kind="stable") if mean[t] > 1e-9][:limit]
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    chosen = set(worst)
    for row, code in zip(rows, topic, strict=True):
        if int(code) in chosen:
            counts[row[0]][row[2]] = row[3]
    return [
        _topic(request, str(names[t]), float(mean[t]), ids, entropy, topic_of == t, counts)
        for t in worst
    ]


def _topic(
    request: Request,
    name: str,
    mean: float,
    ids: Any,
    entropy: Any,
    mask: Any,
    counts: dict[int, dict[str, int]],
) -> DisagreementTopic:
    """One query with its split items."""
    bits = {int(i): float(e) for i, e in zip(ids[mask], entropy[mask], strict=True) if e > 1e-9}
    texts = request.on.execute(select(items).where(items.c.id.in_(list(bits)))).all()
    comments: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row in request.on.execute(
        select(judgments.c.item, judgments.c.comment, judges.c.public)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.item.in_(list(bits)),
            judgments.c.comment != "",
            judgments.c.standing != "untrusted",
        )
        .order_by(judgments.c.id)
    ):
        comments[row.item].append((row.comment, row.public))
    said: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for one in request.on.execute(
        select(judgments.c.item, judgments.c.label, judges.c.public)
        .join(judges, judges.c.id == judgments.c.judge)
        .where(
            judgments.c.item.in_(list(bits)),
            _COUNTED,
            ~judgments.c.other,
            judgments.c.standing != "untrusted",
        )
        .order_by(judgments.c.id)
    ):
        said[one.item][one.label].append(one.public)
    order = {label: place for place, label in enumerate(request.project.scale.labels)}
    rows = [
        DisagreementRow(
            item=text.name,
            title=text.title,
            url=text.url,
            counts=dict(sorted(counts[text.id].items(), key=lambda pair: order[pair[0]])),
            entropy=bits[text.id],
            comments=tuple(comment for comment, _ in comments[text.id]),
            commented=tuple(judge for _, judge in comments[text.id]),
            who={label: tuple(said[text.id][label]) for label in order if label in said[text.id]},
        )
        for text in texts
    ]
    return DisagreementTopic(
        topic=name,
        query=texts[0].query,
        need=texts[0].need,
        entropy=mean,
        items=tuple(sorted(rows, key=lambda row: (-row.entropy, row.item))),
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
