"""How judgments come in over time, how fast at present, and when a project may be done."""

from __future__ import annotations

import math

from sqlalchemy import Integer, case, cast, func, select

from adjudge.collect.services._progress import lacking_of, savings_of
from adjudge.collect.store.conditions import is_real, of_real_in
from adjudge.collect.store.request import Request, to_time
from adjudge.collect.store.schema import items, judges, judgments, pages
from adjudge.collect.values.requesting import ProjectPace

_HOUR, _DAY = 3_600.0, 86_400.0
_BARS = 60  # at most
_SIZES = (_HOUR / 4, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY)
_STILL = 2 * _DAY  # without a judgment for so long, nobody is at work


def measure_pace(request: Request, lacking: int | None = None) -> ProjectPace:
    """How judgments of a project came in, and when it may be done.

    ``lacking``: the judgments that are wanted still, where they were counted already.
    """
    project, now = request.project.id, request.now
    theirs = (
        judgments.c.project == project,
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        of_real_in(project),
    )
    in_order = select(judgments.c.time).where(*theirs).limit(1)  # ids are given as time goes on
    first = request.on.execute(in_order.order_by(judgments.c.id)).scalar()
    last = request.on.execute(in_order.order_by(judgments.c.id.desc())).scalar()
    if lacking is None:
        lacking = _lacking(request)
    if first is None or last is None:
        return ProjectPace(since=None, bar_seconds=_HOUR, bars=(), per_day=None, lacking=lacking,
                    days_left=None, ends=None)  # fmt: skip
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
    ends = None if days is None or days > 3_650 else to_time(now + days * _DAY)
    return ProjectPace(
        since=to_time(begin * size),
        bar_seconds=size,
        bars=bars[-_BARS:],
        per_day=per_day,
        lacking=lacking,
        days_left=days,
        ends=ends,
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


def _lacking(request: Request) -> int:
    """Trusted judgments that open items are still without."""
    groups = request.on.execute(
        select(items.c.trusted, items.c.needed, func.count())
        .where(
            items.c.project == request.project.id, items.c.gold.is_(False), items.c.state == "open"
        )
        .group_by(items.c.trusted, items.c.needed)
    )
    return lacking_of(((row[0], row[1], row[2]) for row in groups), savings_of(request))
