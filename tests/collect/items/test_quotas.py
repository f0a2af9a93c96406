"""The quota by arm: each arm has its own number of judgments on every item."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from adjudge.collect.items.counters import taken_by_arm
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import Arm
from adjudge.errors import Refused
from collecting import Bench, check_quotas, made_project

ARMS = (Arm(name="even", training_mix="uniform"), Arm(name="plain"))


class Halves(Bench):
    """A project of two arms with so many judgments in each, and who is in which."""

    def __init__(self, database: Database, **policy: Any) -> None:
        settings = {
            "topics": 3, "results": 4, "training": False, "judgments_per_item": 1,
            "judgments_by_arm": True, "queries_per_page": 3, "results_per_query": 2,
        }  # fmt: skip
        made = made_project(**{**settings, **policy})
        super().__init__(database, replace(made, arms=ARMS, seed=7))
        self.there: dict[str, list[str]] = {"even": [], "plain": []}

    def of(self, arm: str, place: int = 0) -> str:
        """The so-manieth judge of an arm, who comes if she has not."""
        while len(self.there[arm]) <= place:
            self.arrive(f"judge {sum(map(len, self.there.values()))}")
            self.there = {"even": [], "plain": []}
            for row in reversed(self.services.judges.get_all(self.slug)):
                self.there[row.arm].append(row.judge)
        return self.there[arm][place]

    def work_off(self, judge: str) -> int:
        """Every page that a judge is given; how many of her judgments were work."""
        pages = 0
        while self.judging.page(judge) is not None:
            self.turn(judge)
            pages += 1
        return pages

    def taken(self) -> dict[tuple[str, str], int]:
        """Open and trusted judgments by item and arm."""
        named = {item.id: item.name for item in self.items()}
        with self.database.read() as on:
            found = taken_by_arm(on, named)
        return {(named[item], arm): count for (item, arm), count in found.items()}

    def work(self) -> list[Any]:
        return [item for item in self.items() if not item.gold]


def test_an_arm_that_is_done_lets_its_judges_finish_while_another_works_on(
    database: Database,
) -> None:
    bench = Halves(database)
    assert {item.needed for item in bench.work()} == {2}
    first, second, other = bench.of("even"), bench.of("even", 1), bench.of("plain")
    bench.work_off(first)
    assert bench.taken() == {(item.name, "even"): 1 for item in bench.work()}
    assert {item.state for item in bench.work()} == {"open"}
    assert bench.judging.state(first).stage == "finished"
    assert bench.judging.page(second) is None
    done = bench.judging.state(second)
    assert (done.stage, done.open_items) == ("finished", False)
    assert bench.judging.state(other).open_items
    bench.work_off(other)
    assert {item.state for item in bench.work()} == {"closed"}
    assert bench.taken() == {(item.name, arm.name): 1 for item in bench.work() for arm in ARMS}
    bench.check()


def test_who_waits_for_others_of_her_arm_is_not_finished(sqlite: Database) -> None:
    bench = Halves(sqlite, topics=1, results=2, screening=False)
    bench.judging.page(bench.of("even"))  # all of it in her hands
    second = bench.of("even", 1)
    assert bench.judging.page(second) is None
    view = bench.judging.state(second)
    assert (view.stage, view.open_items) == ("working", False)
    assert bench.judging.page(bench.of("plain")) is not None


def test_a_late_page_counts_only_where_its_arm_has_room(database: Database) -> None:
    bench = Halves(database, topics=1, results=2, screening=False)
    slow, quick = bench.of("even"), bench.of("even", 1)
    page = bench.page(slow)
    bench.clock.forward(minutes=61)
    bench.work_off(quick)
    bench.judging.submit(slow, page.page, page.key, bench.answers(page))
    assert {(item.trusted, item.surplus, item.state) for item in bench.work()} == {(1, 1, "open")}
    assert bench.judging.page(bench.of("plain")) is not None  # the other arm's place was not taken
    bench.services.judges.block(bench.slug, quick)  # hers counts now
    assert {(item.trusted, item.surplus) for item in bench.work()} == {(1, 0)}
    assert set(bench.taken().values()) == {1}
    bench.services.judges.unblock(bench.slug, quick)
    assert {(item.trusted, item.surplus) for item in bench.work()} == {(1, 1)}
    check_quotas(bench)


def test_what_a_blocked_judge_had_reopens_for_her_arm_alone(database: Database) -> None:
    bench = Halves(database, topics=1, results=3)
    gone, next_one, other = bench.of("even"), bench.of("even", 1), bench.of("plain")
    for judge in (gone, other):
        bench.work_off(judge)
    assert {item.state for item in bench.work()} == {"closed"}
    bench.services.judges.block(bench.slug, gone)
    assert {item.state for item in bench.work()} == {"open"}
    assert not bench.judging.state(bench.of("plain", 1)).open_items
    bench.work_off(next_one)
    assert {item.state for item in bench.work()} == {"closed"}
    check_quotas(bench)


def test_numbers_that_an_arm_has_passed_are_refused(sqlite: Database) -> None:
    bench = Halves(sqlite, topics=1, results=2, judgments_per_item=2)
    for place in (0, 1):
        bench.work_off(bench.of("even", place))
    with pytest.raises(Refused, check=lambda error: error.code == "quota-passed"):
        bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 1})
    bench.services.projects.set_policy(bench.slug, {"judgments_by_arm": False})
    assert {(item.needed, item.state) for item in bench.work()} == {(2, "closed")}
    bench.services.projects.set_policy(bench.slug, {"judgments_by_arm": True})
    assert {(item.needed, item.state) for item in bench.work()} == {(4, "open")}
    bench.check()


def test_an_arm_that_is_added_has_its_own_number(sqlite: Database) -> None:
    bench = Halves(sqlite)
    bench.work_off(bench.of("even"))
    bench.work_off(bench.of("plain"))
    assert {item.state for item in bench.work()} == {"closed"}
    bench.services.arms.set_all(bench.slug, (*ARMS, Arm(name="third", feedback=False)))
    assert {(item.needed, item.state) for item in bench.work()} == {(3, "open")}
    assert not bench.judging.state(bench.of("even")).open_items
    assert bench.services.arms.get_warnings(bench.slug) == []
    bench.check()
    # Three arms with one each are as many judgments as one arm with three.
    by_arm = bench.services.gold.forecast(bench.slug, judges=6)
    changes = {"judgments_by_arm": False, "judgments_per_item": 3}
    bench.services.projects.set_policy(bench.slug, changes)
    assert bench.services.gold.forecast(bench.slug, judges=6) == by_arm


def test_arms_keep_to_their_numbers_while_many_work_and_are_blocked(database: Database) -> None:
    bench = Halves(database, topics=6, results=4, judgments_per_item=2)
    judges = [bench.arrive(f"judge {number}").judge for number in range(8)]
    for judge in judges[:2] * 2:
        bench.turn(judge)
    over: list[int] = []

    def work(judge: str) -> None:
        for _ in range(10):
            page = bench.judging.page(judge)
            if page is None:
                return
            bench.judging.submit(judge, page.page, page.key, bench.answers(page))

    def rule(judge: str) -> None:
        for _ in range(4):
            bench.services.judges.block(bench.slug, judge)
            over.append(check_quotas(bench))
            bench.services.judges.unblock(bench.slug, judge)

    with ThreadPoolExecutor(8) as pool:
        ended = [pool.submit(work, judge) for judge in judges[2:]]
        ended += [pool.submit(rule, judge) for judge in judges[:2]]
        for one in ended:
            one.result()
    for judge in judges:
        bench.work_off(judge)
    assert max(over) <= 2
    assert {item.state for item in bench.work()} == {"closed"}
    assert set(bench.taken().values()) == {2}
    bench.check()
