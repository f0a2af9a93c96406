"""Judgments over time, the pace, and the expected end, by hand."""

from __future__ import annotations

from collections import Counter

import pytest
import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from collecting import Bench


def test_pace_and_end_by_hand(database: Database) -> None:
    bench = Bench(database, topics=10, golds=0, judgments_per_item=2, queries_per_page=1,
                  results_per_query=5)  # fmt: skip
    empty = bench.services.projects.get_pace(bench.slug)
    assert (empty.bars, empty.per_day, empty.lacking, empty.ends) == ((), None, 100, None)
    judge = bench.arrive().judge
    bench.turn(judge)
    bench.clock.forward(hours=5)
    bench.turn(judge)
    bench.clock.forward(hours=5)
    pace = bench.services.projects.get_pace(bench.slug)
    assert pace.bar_seconds == 900
    assert sum(pace.bars) == 10
    assert [count for count in pace.bars if count] == [5, 5]
    assert pace.per_day == pytest.approx(24), "10 in 10 hours"
    assert pace.lacking == 90
    assert pace.days_left == pytest.approx(90 / 24)
    assert pace.ends is not None
    assert (pace.ends - bench.clock()).total_seconds() == pytest.approx(90 / 24 * 86_400)
    bench.clock.forward(days=30)
    still = bench.services.projects.get_pace(bench.slug)
    assert (still.per_day, still.days_left) == (0, None), "nobody is at work"
    assert still.bar_seconds == 86_400
    assert sum(still.bars) == 10


def test_bars_hold_each_judgment_of_work_and_nothing_else(database: Database) -> None:
    bench = Bench(database, topics=20, role="screening", judgments_per_item=4, closing="fixed")
    judges = [bench.arrive(f"judge {number}").judge for number in range(3)]
    dry = bench.arrive("me", kind="dry-run").judge
    for hours in range(1, 4):
        for judge in (*judges[: hours % 3 + 1], dry):
            bench.turn(judge)
        bench.clock.forward(hours=hours)
    given = schema.judgments
    mine = sa.select(schema.judges.c.id).where(schema.judges.c.public == dry)
    wanted = (given.c.kind == "work", given.c.gold.is_(None), given.c.judge.not_in(mine))
    times = [row.time for row in bench.rows(sa.select(given.c.time).where(*wanted))]
    progress = bench.services.projects.get_progress(bench.slug)
    pace = bench.services.projects.get_pace(bench.slug)
    assert pace.since is not None
    begin = pace.since.timestamp()
    expected = Counter(int((time - begin) // pace.bar_seconds) for time in times)
    assert {place: count for place, count in enumerate(pace.bars) if count} == expected
    assert len(expected) == 3
    assert pace.lacking == progress.lacking == progress.needed - progress.trusted > 0
    assert bench.services.projects.get_pace(bench.slug, progress) == pace
