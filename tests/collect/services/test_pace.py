"""Judgments over time, the pace, and the expected end, by hand."""

from __future__ import annotations

from collections import Counter

import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from collecting import Bench


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
    conditions = (given.c.kind == "work", given.c.gold.is_(None), given.c.judge.not_in(mine))
    times = [row.time for row in bench.rows(sa.select(given.c.time).where(*conditions))]
    progress = bench.services.projects.get_progress(bench.slug)
    pace = bench.services.projects.get_pace(bench.slug)
    assert pace.since is not None
    begin = pace.since.timestamp()
    expected = Counter(int((time - begin) // pace.bar_seconds) for time in times)
    assert {place: count for place, count in enumerate(pace.bars) if count} == expected
    assert len(expected) == 3
    assert pace.lacking == progress.lacking == progress.needed - progress.trusted > 0
    assert bench.services.projects.get_pace(bench.slug, progress) == pace
