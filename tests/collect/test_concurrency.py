"""Many at once: nothing lost, nothing twice, never more than needed; the clients keep a ledger."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Outcome
from collecting import LABELS, Bench

THREADS = 8


def together(work: Any, arguments: list[Any]) -> list[Any]:
    """The same work by several threads that start at one moment."""
    gate = threading.Barrier(len(arguments))

    def run(argument: Any) -> Any:
        gate.wait()
        return work(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def test_one_newcomer_in_many_tabs_is_one_judge_with_one_page(database: Database) -> None:
    bench = Bench(database)
    judges = together(lambda _: bench.arrive("anna").judge, list(range(THREADS)))
    assert len(set(judges)) == 1
    pages = together(lambda _: bench.judging.page(judges[0]), list(range(THREADS)))
    assert len({page.page for page in pages}) == 1
    bench.check()


def test_newcomers_at_once_have_numbers_without_gaps(database: Database) -> None:
    bench = Bench(database)
    together(lambda n: bench.arrive(f"judge {n}"), list(range(THREADS)))
    numbers = [
        entry.figures["number"]
        for entry in bench.services.projects.get_log(bench.slug, event="arrived")
    ]
    assert sorted(numbers) == list(range(THREADS))


def test_a_page_sent_many_times_at_once_is_stored_once(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
    answers = bench.answers(page, right=False)
    outcomes: list[Outcome] = together(
        lambda _: bench.judging.submit(judge, page.page, page.key, answers), list(range(THREADS))
    )
    assert Counter(outcome.again for outcome in outcomes) == {True: THREADS - 1, False: 1}
    assert len({outcome.feedback for outcome in outcomes}) == 1
    assert bench.judging.state(judge).judged == 25
    bench.check()


def test_blocking_regrading_and_importing_while_judges_submit(database: Database) -> None:
    bench = Bench(database, topics=12, results=5, golds=40, training=False)
    judges = [bench.arrive(f"judge {number}").judge for number in range(4)]
    done = threading.Event()

    def judge_on(number: int) -> None:
        for _ in range(6):
            page = bench.judging.page(judges[number])
            if page is None:
                break
            bench.judging.submit(
                judges[number], page.page, page.key, bench.answers(page, right=number > 0)
            )

    def rule() -> None:
        number = 0
        while not done.is_set():
            gold = bench.value.golds[number % 40]
            labels = LABELS if number % 2 else gold.accepted
            bench.services.gold.edit(bench.slug, gold.item, accepted=labels)
            if number % 5 == 1:
                bench.services.projects.set_policy(
                    bench.slug, {"judgments_per_item": 3 + number % 2}
                )
            number += 1

    requester = threading.Thread(target=rule)
    requester.start()
    try:
        together(judge_on, list(range(4)))
    finally:
        done.set()
        requester.join()
    for judge in judges:
        bench.services.judges.unblock(bench.slug, judge)
    bench.check()
    together(lambda judge: bench.services.judges.block(bench.slug, judge), judges)
    assert {item.trusted for item in bench.items()} == {0}
    bench.check()


def test_sweepers_at_once_give_each_page_back_once(database: Database) -> None:
    bench = Bench(database, topics=12, golds=0)
    for number in range(6):
        bench.judging.page(bench.arrive(f"judge {number}").judge)
    bench.clock.forward(hours=2)
    assert sum(together(lambda _: bench.judging.sweep(), list(range(4)))) == 6
    assert {item.leased for item in bench.items()} == {0}
    expired = sa.select(schema.log).where(schema.log.c.event == "page-expired")
    assert len(bench.rows(expired)) == 6
    bench.check()
