"""How judgments come in over time, how fast at present, and when a project may be done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Integer, cast, func, select

from adjudge.collect.managing.savings import lacking_of, savings_of
from adjudge.collect.store.conditions import of_real_in
from adjudge.collect.store.records import to_time
from adjudge.collect.store.request import Request
from adjudge.collect.store.schema import items, judgments

_HOUR, _DAY = 3_600.0, 86_400.0
_BARS = 60  # at most
_SIZES = (_HOUR / 4, _HOUR, 6 * _HOUR, _DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY)
_STILL = 2 * _DAY  # without a judgment for so long, nobody is at work


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPace:
    """Judgments of work over time."""

    since: datetime | None  # the beginning of the first bar
    bar_seconds: float
    bars: tuple[int, ...]  # judgments in each, to the present one
    per_day: float | None  # over the last day, or since the first, an hour at least
    lacking: int  # trusted judgments that are wanted still
    days_left: float | None  # at this pace; None where nothing is lacking or nobody is at work
    ends: datetime | None


def measure_pace(request: Request) -> ProjectPace:
    """How judgments of a project came in, and when it may be done."""
    project, now = request.project.id, request.now
    theirs = (
        judgments.c.project == project,
        judgments.c.kind == "work",
        judgments.c.gold.is_(None),
        of_real_in(project),
    )
    first, last = request.on.execute(
        select(func.min(judgments.c.time), func.max(judgments.c.time)).where(*theirs)
    ).one()
    lacking = _lacking(request)
    if first is None:
        return ProjectPace(since=None, bar_seconds=_HOUR, bars=(), per_day=None, lacking=lacking,
                    days_left=None, ends=None)  # fmt: skip
    size = next((one for one in _SIZES if (now - first) / one < _BARS), _SIZES[-1])
    begin = math.floor(first / size)
    place = cast(func.floor(judgments.c.time / size), Integer).label("place")
    counts: dict[int, int] = dict(
        request.on.execute(select(place, func.count()).where(*theirs).group_by(place)).all()
    )
    bars = tuple(counts.get(k, 0) for k in range(begin, math.floor(now / size) + 1))
    span = min(_DAY, max(now - first, _HOUR))
    recent = request.on.execute(
        select(func.count()).where(*theirs, judgments.c.time >= now - span)
    ).scalar_one()
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
