"""What a large project costs, by counts: how far a page looks, how often items are read."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from adjudge.collect.store.database import Database
from collecting import Bench


@contextmanager
def statements(database: Database) -> Iterator[list[tuple[str, Any]]]:
    """Every statement that is sent meanwhile, with what was put into it."""
    sent: list[tuple[str, Any]] = []

    def note(_on: Any, _cursor: Any, text: str, given: Any, *_more: Any) -> None:
        sent.append((text, given))

    sa.event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        sa.event.remove(database.engine, "before_cursor_execute", note)


def test_a_page_looks_down_a_part_of_the_queue_only(sqlite: Database) -> None:
    """Also where the front is full of leftovers, of which no full page can be made."""
    bench = Bench(sqlite, topics=400, results=10, golds=80, role="screening", judgments_per_item=2)
    judges = [bench.arrive(f"judge {number}").judge for number in range(6)]
    looked: list[int] = []
    with statements(sqlite) as sent:
        for _ in range(5):
            for judge in judges:
                bench.turn(judge)
    for text, given in sent:
        if "items.rank >" in text and "LIMIT" in text:
            looked.append(max(value for value in given if isinstance(value, int)))
    assert len(looked) >= 30
    assert max(looked) <= 8 * 6 * 25, "not through all 4,000 items"


def test_the_overview_reads_every_item_once(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=20, role="screening")
    judge = bench.arrive().judge
    bench.turn(judge)
    bench.services.projects.get_progress(bench.slug)
    bench.turn(judge)
    with statements(sqlite) as sent:
        progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.items, progress.trusted) == (100, 40)
    assert progress.by_trusted == {0: 60, 1: 40}
    assert progress.why_open == {
        "not judged yet": 60, "some trusted judgments, more needed": 40,
    }  # fmt: skip
    assert sum("FROM items" in text for text, _ in sent) == 1
    assert sum("FROM golds" in text for text, _ in sent) == 0, "nor is the gold read again"
    bench.services.judges.block(bench.slug, judge)
    blocked = bench.services.projects.get_progress(bench.slug)
    assert blocked.why_open == {"not judged yet": 60, "judged by blocked judges only": 40}


def test_connections_hold_little_memory_each(sqlite: Database) -> None:
    with sqlite.read() as on:
        kilobytes = -int(on.exec_driver_sql("PRAGMA cache_size").scalar_one())
    assert kilobytes * 40 <= 400_000, "forty connections at once stay below 400 MB"


def test_requests_leave_nothing_in_memory(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=60, golds=80, role="screening", judgments_per_item=10)
    judges = [bench.arrive(f"judge {number}").judge for number in range(10)]

    def work(rounds: int) -> None:
        for number in range(rounds):
            judge = judges[number % 10]
            bench.judging.page(judge)
            bench.judging.state(judge)
            if number % 10 == 0:
                bench.turn(judges[number // 10 % 10])
                bench.services.projects.get_progress(bench.slug)

    work(50)  # what is kept for good is kept by now
    tracemalloc.start()
    try:
        work(50)
        before = tracemalloc.get_traced_memory()[0]
        work(150)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000, "bytes, after more than 300 requests"
