"""How far a project is, at which pace, at what cost, and where its judges disagree."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from statistics import fmean
from typing import Any

from sqlalchemy import Integer, case, cast, func, select, text

from adjudge.collect.judging.views import read_budget
from adjudge.collect.rules.endings import pay_of, to_money
from adjudge.collect.services._gold_editing import warn_of_gold
from adjudge.collect.services._panels import panel_warnings
from adjudge.collect.store.database import StoredRow, to_time
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import (
    COUNTED,
    DONE,
    PENDING,
    TRUSTED_WORK,
    is_real,
    items,
    judges,
    judgments,
    log,
    of_real_in,
    pages,
)
from adjudge.collect.store.snapshot import ProjectSnapshot
from adjudge.collect.values.arms import ArmFunnel
from adjudge.collect.values.judging import accuracy_of
from adjudge.collect.values.requesting import (
    Budget,
    DisagreementRow,
    DisagreementTopic,
    Progress,
    ProjectActivity,
    ProjectPace,
    Savings,
)
from adjudge.evaluation.scores import wilson

# As the indexes have them that are made for these two.
_APART = text("judgments.gold IS NULL AND (judgments.other OR judgments.standing = 'untrusted')")
_PASSED = text("log.event = 'training-passed'")
_COUNTED_ON = (
    *("id", "stage", "arm", "earned", "pages", "worked", "last", "fresh_from"),
    *("attempt", "training_seen", "seen", "right"),
)
_CENT = Decimal("0.01")
_HOUR, _DAY = 3_600.0, 86_400.0
_BARS = 60  # at most
_SIZES = (_HOUR / 4, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY)
_STILL = 2 * _DAY  # without a judgment for so long, nobody is at work
_ENOUGH_PAGES = 3  # that say how much a page holds
_SPLIT = 1e-9  # bits: judges of an item with less agree


def measure_progress(request: Request) -> Progress:
    """How far a project is."""
    project, policy = request.project.id, request.project.policy
    groups = _group_items(request)
    kept = [group for group in groups if group.state != "withdrawn"]
    states: Counter[str] = Counter()
    by_trusted: Counter[int] = Counter()
    for group in groups:
        states[group.state] += group.many
    for group in kept:
        by_trusted[group.trusted] += group.many
    answers = _count_apart(request)
    people = _read_judges(request)
    savings, budget = _measure_savings(request), read_budget(request)
    lacking = _count_lacking(kept, savings)
    seen, right = _count_gold_before(request, people)
    seen, right = seen + sum(row.seen for row in people), right + sum(row.right for row in people)
    held = (
        select(func.count())
        .select_from(judges)
        .join(pages, pages.c.id == judges.c.page)
        .where(judges.c.project == project, is_real)
        .where(pages.c.state == "open", pages.c.kind == "work")
    )
    pay = sum(pay_of(row, request.project.policy_of(row.arm)) for row in people)
    return Progress(
        items=sum(group.many for group in kept),
        closed=sum(states[state] for state in DONE),
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
        pages=sum(row.pages for row in people),
        open_pages=int(request.on.execute(held).scalar_one()),
        judges=dict(sorted(Counter(row.stage for row in people).items())),
        funnel=count_funnel(request, people, request.project.arms),
        gold_accuracy=accuracy_of(right, seen),
        gold_seen=seen,
        gold_right=right,
        cost=to_money(pay),
        cost_to_finish=_forecast_cost(request.project, lacking, people),
        currency=policy.currency,
        warnings=_warn(request, budget),
        savings=savings,
        budget=budget,
    )


def measure_activity(request: Request) -> ProjectActivity:
    """What the list of projects says of one, as ``measure_progress`` does."""
    people = _read_judges(request)
    seen, right = _count_gold_before(request, people)
    last = max((row.last for row in people if row.last), default=None)
    return ProjectActivity(
        cost=to_money(sum(pay_of(row, request.project.policy_of(row.arm)) for row in people)),
        currency=request.project.policy.currency,
        gold_seen=seen + sum(row.seen for row in people),
        gold_right=right + sum(row.right for row in people),
        last=None if last is None else to_time(last),
    )


def _group_items(request: Request) -> Sequence[StoredRow]:
    """Work by what its counters say, in one pass over an index that has them in this order."""
    alike = (items.c.state, items.c.trusted, items.c.needed, items.c.leased, items.c.broken)
    return request.on.execute(
        select(*alike, func.count().label("many"), func.sum(items.c.surplus).label("surplus"))
        .where(items.c.project == request.project.id, items.c.gold.is_(False))
        .group_by(*alike)
    ).all()


def _count_apart(request: Request) -> StoredRow:
    """How many could not judge, and how many answers are not trusted, by their own index."""
    untrusted = ~judgments.c.other & (judgments.c.standing == "untrusted")
    return request.on.execute(
        select(
            func.count(case((judgments.c.other, 1))).label("others"),
            func.count(case((untrusted, 1))).label("untrusted"),
        ).where(
            judgments.c.project == request.project.id,
            judgments.c.kind == "work",
            _APART,
            of_real_in(request.project.id),
        )
    ).one()


def _read_judges(request: Request) -> Sequence[StoredRow]:
    """What is counted on the judges of a project: pages, golds since a fresh start, pay."""
    ours = (judges.c.project == request.project.id, is_real)
    return request.on.execute(select(*(judges.c[name] for name in _COUNTED_ON)).where(*ours)).all()


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
    waiting = _count_waiting(request)
    found["in judges' hands"] -= waiting
    found["judged by judges not yet checked on gold"] += waiting
    for unclear, count in _count_of_blocked(request) if any_untrusted else ():
        found["judges could not judge it" if unclear else "not judged yet"] -= count
        found["judged by blocked judges only"] += count
    return {why: count for why, count in sorted(found.items()) if count}


def _count_waiting(request: Request) -> int:
    """How many open items have a pending judgment."""
    statement = (
        select(func.count(judgments.c.item.distinct()))
        .select_from(judges)
        .join(judgments, judgments.c.judge == judges.c.id)
        .join(items, items.c.id == judgments.c.item)
        .where(judges.c.project == request.project.id, PENDING, judgments.c.other.is_(False))
        .where(items.c.state == "open")
    )
    return int(request.on.execute(statement).scalar_one())


def _count_of_blocked(request: Request) -> Sequence[StoredRow]:
    """Open items that only blocked judges have judged: whether others could not, and how many."""
    given = select(judgments.c.item).where(
        judgments.c.project == request.project.id,
        judgments.c.standing == "untrusted",
        judgments.c.kind == "work",
        _APART,
        of_real_in(request.project.id),
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


def _count_gold_before(request: Request, people: Sequence[StoredRow]) -> tuple[int, int]:
    """Screening answers before a fresh start, which judges no longer count: all, right."""
    if not any(row.fresh_from for row in people):
        return 0, 0
    seen, right = request.on.execute(
        select(func.count(judgments.c.right), func.count(case((judgments.c.right, 1))))
        .select_from(judges)
        .join(judgments, judgments.c.judge == judges.c.id)
        .where(
            judges.c.project == request.project.id,
            is_real,
            judges.c.fresh_from > 0,
            judgments.c.id <= judges.c.fresh_from,
            judgments.c.gold.is_not(None),
            judgments.c.kind == "work",
        )
    ).one()
    return seen, right


def count_funnel(
    request: Request, people: Sequence[StoredRow], arms: Iterable[str]
) -> tuple[ArmFunnel, ...]:
    """How judges of each arm came through."""
    of_project = select(log.c.judge).join(judges, judges.c.id == log.c.judge)
    statement = of_project.where(judges.c.project == request.project.id, _PASSED)
    passed = set(request.on.execute(statement).scalars())
    by_arm: dict[str, list[StoredRow]] = defaultdict(list)
    for row in people:
        by_arm[row.arm].append(row)
    return tuple(_count_arm(arm, by_arm[arm], passed) for arm in arms)


def _count_arm(arm: str, people: Sequence[StoredRow], passed: set[int]) -> ArmFunnel:
    trained = {row.id for row in people if row.training_seen > 0 or row.attempt > 1}
    through = sum(row.id in passed for row in people)
    stages = Counter(row.stage for row in people)
    ended = through + stages["failed"]
    low, high = wilson(through, ended) if ended else (None, None)
    stayed = sum(row.pages > 0 or row.id in passed or row.id in trained for row in people)
    return ArmFunnel(
        arm=arm,
        came=len(people),
        trained=len(trained),
        passed=through,
        left_before=len(people) - stayed,
        left_training=sum(
            row.id in trained and row.id not in passed and row.stage == "training" for row in people
        ),
        worked=sum(row.pages > 0 for row in people),
        low=low,
        high=high,
        passed_share=accuracy_of(through, ended),
        **{name: stages[name] for name in ("failed", "working", "warned", "blocked", "finished")},
    )


def _work_on_a_page(snapshot: ProjectSnapshot) -> float:
    """How many rows of work a full page has, gold left out."""
    policy = snapshot.policy
    return policy.work_per_page if snapshot.screening else float(policy.pairs_per_page)


def _measure_savings(request: Request) -> Savings | None:
    """What an adaptive project has saved so far; None for any other, and before an item closes."""
    if request.project.policy.closing != "adaptive":
        return None
    closed, given, accuracy = request.on.execute(
        select(func.count(), func.sum(items.c.trusted), func.avg(items.c.probability)).where(
            items.c.project == request.project.id,
            items.c.gold.is_(False),
            items.c.state == "closed",
        )
    ).one()
    if not closed:
        return None
    fixed, count = request.project.policy.judgments_per_item, int(given)
    saved = fixed * closed - count
    return Savings(
        closed=closed,
        judgments=count,
        per_item=count / closed,
        fixed=fixed,
        saved=saved,
        saved_share=saved / (fixed * closed),
        saved_money=_cost(request.project, saved),
        accuracy=None if accuracy is None else float(accuracy),
    )


def _forecast_cost(snapshot: ProjectSnapshot, lacking: int, people: Sequence[StoredRow]) -> Decimal:
    """What the judgments that are lacking will cost, with the gold among them.

    Pages that are paid alike cost as much as they held so far: towards the end they hold less.
    """
    if snapshot.policy.short_pages == "by-items":
        return _cost(snapshot, lacking)
    done = sum(row.pages for row in people)
    usual = _work_on_a_page(snapshot)
    each = min(usual, sum(row.worked for row in people) / done) if done >= _ENOUGH_PAGES else usual
    return snapshot.policy.pay_per_page * math.ceil(lacking / max(each, 1.0) - 1e-9)


def _cost(snapshot: ProjectSnapshot, count: float) -> Decimal:
    """What so many judgments cost, as their share of full pages."""
    a_page = Decimal(str(_work_on_a_page(snapshot)))
    return (snapshot.policy.pay_per_page * Decimal(str(count)) / a_page).quantize(_CENT)


def _count_lacking(groups: Iterable[StoredRow], savings: Savings | None) -> int:
    """How many trusted judgments open items lack.

    In an adaptive project as many as they need at least, and no fewer than a closed item had on
    average.
    """
    usual = 0.0 if savings is None else savings.per_item
    lacking = sum(g.many * (max(g.needed, usual) - g.trusted) for g in groups if g.state == "open")
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


# -- pace


def measure_pace(request: Request, lacking: int | None = None) -> ProjectPace:
    """How judgments of a project came in, and when it may be done.

    ``lacking``: the judgments that are needed still, where they were counted already.
    """
    project, now = request.project.id, request.now
    if lacking is None:
        lacking = _count_lacking(_group_items(request), _measure_savings(request))
    in_order = (  # ids are given as time goes on
        select(judgments.c.time)
        .where(
            judgments.c.project == project,
            judgments.c.kind == "work",
            judgments.c.gold.is_(None),
            of_real_in(project),
        )
        .limit(1)
    )
    first = request.on.execute(in_order.order_by(judgments.c.id)).scalar()
    last = request.on.execute(in_order.order_by(judgments.c.id.desc())).scalar()
    if first is None or last is None:
        return ProjectPace(
            since=None,
            bar_seconds=_HOUR,
            bars=(),
            per_day=None,
            lacking=lacking,
            days_left=None,
            ends=None,
        )
    size = next((one for one in _SIZES if (now - first) / one < _BARS), _SIZES[-1])
    begin = math.floor(first / size)
    span = min(_DAY, max(now - first, _HOUR))
    counts, recent = _count_bars(request, size, now - span)
    bars = tuple(counts.get(k, 0) for k in range(begin, math.floor(now / size) + 1))
    if recent == 0 and now - last < _STILL:
        span = now - first
        recent = sum(bars)
    per_day = recent / span * _DAY
    days = lacking / per_day if lacking and per_day else None
    return ProjectPace(
        since=to_time(begin * size),
        bar_seconds=size,
        bars=bars[-_BARS:],
        per_day=per_day,
        lacking=lacking,
        days_left=days,
        ends=None if days is None or days > 3_650 else to_time(now + days * _DAY),
    )


def _count_bars(request: Request, size: float, since: float) -> tuple[dict[int, int], int]:
    """Judgments of work in each bar, by its place, and how many there are since a time.

    There may be hundreds of thousands, which a database would sort to group them. Page by page
    they are in order already, and those of a page were given at one time.
    """
    project = request.project.id
    dry = select(judges.c.id).where(judges.c.project == project, ~is_real)
    sheets = (
        select(func.max(judgments.c.time).label("time"), func.count().label("many"))
        .select_from(pages)
        .join(judgments, judgments.c.page == pages.c.id)
        .where(
            pages.c.project == project,
            pages.c.kind == "work",
            pages.c.judge.not_in(dry),
            judgments.c.gold.is_(None),
        )
        .group_by(pages.c.id)
        .subquery()
    )
    place = cast(func.floor(sheets.c.time / size), Integer).label("place")
    late = func.sum(case((sheets.c.time >= since, sheets.c.many), else_=0))
    counted = request.on.execute(select(place, func.sum(sheets.c.many), late).group_by(place)).all()
    return {row[0]: int(row[1]) for row in counted}, sum(int(row[2]) for row in counted)


# -- disagreement


def list_disagreements(request: Request, search: str, limit: int) -> list[DisagreementTopic]:
    """Queries whose items split the trusted judges, the most split first."""
    statement = (
        select(judgments.c.item, items.c.topic, judgments.c.label, func.count())
        .join(items, items.c.id == judgments.c.item)
        .where(judgments.c.project == request.project.id, TRUSTED_WORK)
        .group_by(judgments.c.item, items.c.topic, judgments.c.label)
    )
    if search:
        statement = statement.where(items.c.query.icontains(search, autoescape=True))
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    topics: dict[str, set[int]] = defaultdict(set)
    for item, topic, label, count in request.on.execute(statement):
        counts[item][label] = count
        topics[topic].add(item)
    bits = {item: _entropy(given) for item, given in counts.items()}
    mean = {topic: fmean(bits[item] for item in topics[topic]) for topic in sorted(topics)}
    worst = sorted((one for one in mean if mean[one] > _SPLIT), key=lambda one: -mean[one])[:limit]
    found = []
    for topic in worst:
        split = {item: bits[item] for item in topics[topic] if bits[item] > _SPLIT}
        found.append(_describe_topic(request, topic, mean[topic], split, counts))
    return found


def _entropy(counts: dict[str, int]) -> float:
    """Entropy of the labels of an item, in bits."""
    total = sum(counts.values())
    return -sum(count / total * math.log2(count / total) for count in counts.values())


def _describe_topic(
    request: Request,
    topic: str,
    mean: float,
    bits: dict[int, float],
    counts: dict[int, dict[str, int]],
) -> DisagreementTopic:
    """One query with its split items."""
    texts = request.on.execute(select(items).where(items.c.id.in_(list(bits)))).all()
    given: dict[int, list[Any]] = defaultdict(list)
    columns = (judgments.c.item, judgments.c.label, judgments.c.comment, judges.c.public)
    for row in request.on.execute(
        select(*columns, COUNTED.label("counted"))
        .join(judges, judges.c.id == judgments.c.judge)
        .where(judgments.c.item.in_(list(bits)), judgments.c.standing != "untrusted")
        .order_by(judgments.c.id)
    ):
        given[row.item].append(row)
    rows = []
    for one in texts:
        theirs = given[one.id]
        commented = [row for row in theirs if row.comment]
        labels = [label for label in request.project.scale.labels if label in counts[one.id]]
        rows.append(
            DisagreementRow(
                item=one.name,
                title=one.title,
                url=one.url,
                counts={label: counts[one.id][label] for label in labels},
                entropy=bits[one.id],
                comments=tuple(row.comment for row in commented),
                commented=tuple(row.public for row in commented),
                who={
                    label: tuple(r.public for r in theirs if r.counted and r.label == label)
                    for label in labels
                },
            )
        )
    return DisagreementTopic(
        topic=topic,
        query=texts[0].query,
        need=texts[0].need,
        entropy=mean,
        items=tuple(sorted(rows, key=lambda row: (-row.entropy, row.item))),
    )
