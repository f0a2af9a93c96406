"""What a large project costs, by counts: how far a page looks, how often items are read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from adjudge.collect.store.database import Database
from collecting import Bench
from memory import Memory


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


def test_a_request_of_a_judge_sends_few_statements(sqlite: Database) -> None:
    """However many items and golds there are: each is a part of what a crowd waits for."""
    bench = Bench(sqlite, topics=60, results=10, golds=80, role="screening")
    judge = bench.arrive("anna").judge
    bench.turn(judge)
    counts = {}
    with statements(sqlite) as sent:
        bench.arrive("anna")
        counts["arrive"] = len(sent)
        page = bench.judging.page(judge)
        counts["page"] = len(sent) - sum(counts.values())
        assert page is not None
    answers = bench.answers(page)
    with statements(sqlite) as sent:
        bench.judging.submit(judge, page.page, page.key, answers)
        counts["submit"] = len(sent)
        bench.judging.state(judge)
        counts["state"] = len(sent) - counts["submit"]
    most = {"arrive": 4, "page": 12, "submit": 10, "state": 2}
    assert all(counts[what] <= number for what, number in most.items()), counts


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
    assert not any(text.startswith("SELECT golds.") for text, _ in sent), "gold is not read again"
    bench.services.judges.block(bench.slug, judge)
    blocked = bench.services.projects.get_progress(bench.slug)
    assert blocked.why_open == {"not judged yet": 60, "judged by blocked judges only": 40}


def test_the_overview_is_counted_from_its_indexes(sqlite: Database) -> None:
    """What it takes grows with items and judges, not with what they have judged."""
    bench = Bench(sqlite, topics=20, role="screening")
    bench.turn(bench.arrive().judge)
    bench.services.projects.get_progress(bench.slug)  # what is kept of a project is kept by now
    with statements(sqlite) as sent:
        bench.services.projects.get_progress(bench.slug)
    steps = []
    with sqlite.read() as on:
        for text, given in sent:
            plan = on.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", tuple(given)).all()
            steps += [row[3] for row in plan]
    assert not [step for step in steps if step.startswith("SCAN")]
    read = {step.split()[1]: step for step in steps if step.startswith("SEARCH")}
    found = [step for step in steps if step.startswith("SEARCH items")]
    by_counters = "COVERING INDEX ix_items_standing (project=? AND gold=?)"
    assert sum(by_counters in step for step in found) == 1
    assert all(by_counters in step or "(rowid=?)" in step for step in found), found
    assert "ix_log_passed" in read["log"]
    theirs = [step for step in steps if step.startswith("SEARCH judgments")]
    assert theirs
    few = ("ix_judgments_apart", "ix_judgments_pending", "(judge=? AND")
    assert all(any(index in step for index in few) for step in theirs), theirs


def test_a_page_that_is_open_is_a_look(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=20, role="screening")
    judge = bench.arrive().judge
    page = bench.judging.page(judge)
    with statements(sqlite) as sent:
        assert bench.judging.page(judge) == page
    assert len(sent) <= 3
    assert all(text.startswith("SELECT") for text, _ in sent)


def test_pages_of_a_requester_count_nothing_twice(sqlite: Database) -> None:
    """What every page of a project shows is not counted; nor are judgments read for no reason."""
    bench = Bench(sqlite, topics=20, role="screening")
    bench.turn(bench.arrive().judge)
    projects, judges = bench.services.projects, bench.services.judges
    projects.get_progress(bench.slug)
    listed = judges.get_all(bench.slug)
    summary = projects.get(bench.slug)
    with statements(sqlite) as sent:
        head = projects.get_head(bench.slug)
        assert judges.get_all(bench.slug) == listed
    assert {name: getattr(summary, name) for name in head.__slots__} == {
        name: getattr(head, name) for name in head.__slots__
    }
    assert not any("items" in text or "judgments" in text for text, _ in sent)
    with statements(sqlite) as sent:
        projects.get_pace(bench.slug, projects.get_progress(bench.slug))
    assert sum("FROM items" in text for text, _ in sent) == 1


def test_requests_leave_nothing_in_memory(sqlite: Database, memory: Memory) -> None:
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

    work(100)  # what is kept for good is kept by now
    before = memory.now()
    work(150)
    gc.collect()
    grown = memory.now() - before
    assert grown < 100_000, "bytes, after more than 300 requests"
