"""Items are closed only by judges who have met enough gold, and honest judges close them all."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.collect.consensus import refit
from adjudge.collect.rules.decisions import Record, golds_lacking, is_checked
from adjudge.collect.rules.golds import GoldCard
from adjudge.collect.rules.policy import Policy
from adjudge.collect.rules.routing import compose, count_early_golds
from adjudge.collect.store.database import Database
from adjudge.collect.store.schema import fits, judgments
from adjudge.collect.values.judging import OTHERS, Answer
from collecting import Bench, sqlite_first
from stores import new_store

# Few results per page, so that one page does not hold the golds before a decision.
SMALL: dict[str, Any] = {
    "training": False, "queries_per_page": 2, "results_per_query": 3, "judgments_per_item": 1,
}  # fmt: skip


def standings(bench: Bench) -> dict[str, int]:
    """How many judgments of work there are of each standing."""
    ours = judgments.c.project == bench.project
    work = (ours, judgments.c.kind == "work", judgments.c.gold.is_(None))
    found = sa.select(judgments.c.standing, sa.func.count()).where(*work)
    return {row.standing: row[1] for row in bench.rows(found.group_by(judgments.c.standing))}


def count_closed(bench: Bench) -> int:
    """How many items are closed."""
    return sum(item.state == "closed" for item in bench.items())


def can_finish(bench: Bench, judge: str) -> bool:
    """Whether a judge has done a page and is still at work."""
    view = bench.judging.state(judge)
    return view.pages > 0 and view.stage in ("working", "warned")


@given(
    seen=st.integers(0, 12), missed=st.integers(0, 12), least=st.integers(1, 10),
    golds=st.integers(0, 12), over=st.booleans(),
)  # fmt: skip
def test_a_judge_is_checked_by_enough_gold_above_the_line(
    seen: int, missed: int, least: int, golds: int, over: bool
) -> None:
    policy = Policy(least_golds=least)
    record = Record(stage="working", seen=seen, right=max(0, seen - missed))
    checked = is_checked(record, policy, golds, over=over)
    lacking = golds_lacking(record, policy, golds)
    low = seen > 0 and record.right < policy.block_below * seen
    assert checked == (golds == 0 or ((over or lacking == 0) and not low))
    assert 0 <= lacking <= min(least, golds)
    off = policy.changed({"gold_before_closing": False})
    assert is_checked(record, off, golds)
    assert golds_lacking(record, off, golds) == 0
    better = Record(stage="working", seen=seen + 1, right=record.right + 1)
    assert is_checked(better, policy, golds, over=over) >= checked, "a right answer never harms"


def test_a_stored_policy_from_before_closes_as_it_did() -> None:
    stored = Policy().to_dict()
    assert stored.pop("gold_before_closing") is True
    assert Policy.from_stored(stored).gold_before_closing is False


@given(
    size=st.integers(1, 30), least=st.integers(1, 8), work=st.integers(1, 60),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_gold_comes_early_and_never_on_most_rows(
    size: int, least: int, work: int, seed: int
) -> None:
    policy = Policy(queries_per_page=size, results_per_query=1, least_golds=least)
    rng = np.random.default_rng(seed)
    golds = [GoldCard(f"g{n}", f"gold {n}", "a") for n in range(40)]
    items = [(f"i{n}", f"topic {n}") for n in range(work)]
    plan = compose(items, golds, policy, rng, lacking=min(least, 5), seed=(seed,))
    slots = [slot for group in plan for slot in group]
    count, usual = sum(slot.gold for slot in slots), policy.screening_golds
    assert count >= min(least, 5, len(slots) // 2) or work < len(slots) - count
    assert count <= max(usual, (len(slots) + 1) // 2)
    early = count_early_golds(policy, 5, (seed,))
    assert 0 <= early <= min(least, 5)
    assert Policy().pairs_per_page == 25
    assert count_early_golds(Policy(), 5, (seed,)) == 0, "a usual page has enough anyway"


def test_thirty_one_page_accounts_close_next_to_nothing(database: Database) -> None:
    """Line 7 of issue 35: guesses of accounts that leave after one page."""
    closed_by = {}
    for gold_before_closing in (False, True):
        bench = Bench(
            database, topics=40, results=5, golds=60, training=False, judgments_per_item=2,
            gold_before_closing=gold_before_closing,
        )  # fmt: skip
        for number in range(30):
            judge = bench.arrive(f"account {number}").judge
            page = bench.judging.page(judge)
            if page is None:
                break
            truths = sorted(bench.truths(page))
            known = truths[: round(0.42 * len(truths))]  # the share that was right in the trial
            wrong, right = bench.answers(page, right=False), bench.answers(page)
            answers = [
                good if good.row in known else bad for good, bad in zip(right, wrong, strict=True)
            ]
            bench.judging.submit(judge, page.page, page.key, answers)
        closed_by[gold_before_closing] = count_closed(bench)
        bench.check()
    assert closed_by == {False: 200, True: 0}
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    assert (count_closed(bench), {item.leased for item in bench.items()}) == (0, {0})
    assert "trusted" not in standings(bench)
    bench.check()


def test_answers_that_could_not_judge_wait_for_gold_too(database: Database) -> None:
    """Accounts that are never checked set no item aside; those of checked judges do."""
    aside = {}
    for gold_before_closing in (False, True):
        bench = Bench(
            database, topics=2, golds=30, **{**SMALL, "judgments_per_item": 2},
            set_aside_after=2, gold_before_closing=gold_before_closing,
        )  # fmt: skip
        judges = [bench.arrive(f"account {number}").judge for number in range(3)]
        for judge in judges:
            page = bench.judging.page(judge)
            assert page is not None
            right = bench.answers(page)
            truths = bench.truths(page)  # of gold: who cannot judge it misses it
            answers = [
                Answer(row=one.row, label=one.label if one.row in truths else OTHERS[0])
                for one in right
            ]
            bench.judging.submit(judge, page.page, page.key, answers)
            bench.check()
        states = [item.state for item in bench.items() if not item.gold]
        aside[gold_before_closing] = states.count("set aside")
    assert aside[False] > 0
    assert aside[True] == 0
    assert sum(item.leased for item in bench.items()) == 0, "others may have the items"
    bench.services.judges.block(bench.slug, judges[0])
    bench.check()
    assert not any(item.broken for item in bench.items())
    bench.services.judges.unblock(bench.slug, judges[0])
    bench.check()
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    bench.check()
    broken = sum(item.broken for item in bench.items())
    assert broken == bench.services.projects.get_progress(bench.slug).others
    assert any(item.state == "set aside" for item in bench.items())


@pytest.mark.parametrize("right", [True, False])
def test_who_was_at_work_when_a_project_closed_is_checked(sqlite: Database, right: bool) -> None:
    bench = Bench(sqlite, topics=6, golds=30, **SMALL)
    bench.turn(bench.arrive("anna").judge, right=right)
    bench.services.projects.set_state(bench.slug, "closed")
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    assert set(standings(bench)) == {"trusted" if right else "untrusted"}
    assert sum(item.leased for item in bench.items()) == 0
    bench.check()


def test_judgments_that_begin_to_count_change_no_fit(sqlite: Database) -> None:
    """Fits have them while they are pending, so none has to be made again for each judge."""
    bench = Bench(sqlite, topics=6, golds=30, **SMALL)
    anna = bench.arrive("anna").judge
    bench.turn(anna)
    refit.ask(bench.services, bench.slug, "majority-vote")
    asked = sa.select(fits.c.asked)
    (before,) = bench.rows(asked)
    bench.turn(anna)
    assert standings(bench)["trusted"] > 0
    assert bench.rows(asked) == [before]


def test_a_place_is_kept_until_the_judge_is_checked(database: Database) -> None:
    bench = Bench(database, topics=6, golds=30, **SMALL)
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna)
    bench.turn(berta, right=False)
    assert set(standings(bench)) == {"pending"}, "three golds are not five"
    assert count_closed(bench) == 0
    assert sum(item.leased for item in bench.items()) == standings(bench)["pending"]
    bench.check()
    bench.turn(anna)
    assert count_closed(bench) == standings(bench)["trusted"]
    assert standings(bench)["pending"] > 0
    bench.check()
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    assert bench.judging.state(berta).stage == "blocked"
    assert set(standings(bench)) == {"trusted", "untrusted"}
    assert sum(item.leased for item in bench.items()) == 0, "others may have the items"
    bench.check()


@pytest.mark.parametrize("leaves", ["finish", "stay away"])
@pytest.mark.parametrize("right", [True, False])
def test_who_leaves_is_checked_by_the_gold_they_met(
    sqlite: Database, leaves: str, right: bool
) -> None:
    bench = Bench(sqlite, topics=6, golds=30, **SMALL)
    anna = bench.arrive("anna").judge
    bench.turn(anna, right=right)
    if leaves == "finish":
        bench.judging.finish(anna)
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    assert set(standings(bench)) == {"trusted" if right else "untrusted"}
    bench.check()


@sqlite_first
def test_a_changed_policy_counts_what_waited(database: Database) -> None:
    bench = Bench(database, topics=6, golds=30, **SMALL)
    bench.turn(bench.arrive("anna").judge)
    assert set(standings(bench)) == {"pending"}
    bench.services.projects.set_policy(bench.slug, {"gold_before_closing": False})
    bench.judging.sweep()
    assert set(standings(bench)) == {"trusted"}
    bench.check()


@pytest.mark.parametrize(
    ("how", "pages", "leaves", "size"),
    [
        ("fixed", 1, "stays away", (5, 5)),
        ("fixed", 5, "stays away", (5, 5)),
        ("adaptive", 1, "stays away", (5, 5)),
        ("fixed", 2, "stays away", (2, 3)),
        ("fixed", 1, "stays away", (2, 3)),
        ("fixed", 1, "finishes", (2, 3)),
    ],
)
def test_every_project_with_enough_honest_judges_closes(
    sqlite: Database, how: str, pages: int, leaves: str, size: tuple[int, int]
) -> None:
    """Also the last items, whose judges come late and find little to judge: no deadlock."""
    bench = Bench(
        sqlite, topics=4, golds=40, training=False, judgments_per_item=2, closing=how,
        queries_per_page=size[0], results_per_query=size[1],
    )  # fmt: skip
    for number in range(15):  # three at a time, who hold the last items between them
        judges = [bench.arrive(f"honest {number} {one}").judge for one in range(3)]
        for _ in range(pages):
            waiting = [judge for judge in judges if bench.judging.page(judge) is not None]
            for judge in waiting:
                bench.turn(judge)
        if leaves == "finishes":
            for judge in judges:
                if can_finish(bench, judge):
                    bench.judging.finish(judge)
        bench.clock.forward(minutes=61)
        bench.judging.sweep()
        if not any(item.state == "open" and not item.gold for item in bench.items()):
            break
    assert {item.state for item in bench.items() if not item.gold} == {"closed"}
    bench.check()


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_counters_hold_whatever_judges_do(data: st.DataObject) -> None:
    """Judges of any care come, go, finish, are blocked and come back; nothing is lost."""
    with tempfile.TemporaryDirectory() as folder, closing(new_store(Path(folder) / "db")) as store:
        bench = Bench(store, topics=4, results=3, golds=12, **SMALL)
        judges = [bench.arrive(f"j{number}").judge for number in range(4)]
        for _ in range(data.draw(st.integers(1, 14))):
            judge = data.draw(st.sampled_from(judges))
            match data.draw(st.sampled_from(["page", "wrong", "other", "finish", "away", "block"])):
                case "page" | "wrong" | "other" as how:
                    page = bench.judging.page(judge)
                    if page is not None:
                        answers = bench.answers(page, right=how != "wrong")
                        if how == "other":
                            answers[0] = Answer(row=answers[0].row, label=OTHERS[0])
                        bench.judging.submit(judge, page.page, page.key, answers)
                case "finish" if can_finish(bench, judge):
                    bench.judging.finish(judge)
                case "away":
                    bench.clock.forward(minutes=61)
                    bench.judging.sweep()
                case "block":
                    blocked = bench.judging.state(judge).stage == "blocked"
                    (bench.services.judges.unblock if blocked else bench.services.judges.block)(
                        bench.slug, judge
                    )
                case _:
                    pass
            bench.check()
