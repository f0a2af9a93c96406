"""The end of a judge's way: below the blocking line nobody is trusted, however few the golds."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from adjudge.collect.rules.decisions import Record, after_regrade, at_finish
from adjudge.collect.rules.policy import Policy
from adjudge.collect.store.database import Database
from adjudge.collect.store.schema import judgments
from collecting import Bench, sqlite_first


def standings(bench: Bench) -> set[str]:
    """The standings of the judgments of work."""
    query = sa.select(judgments.c.standing).where(judgments.c.kind == "work")
    return {row.standing for row in bench.rows(query)}


@sqlite_first
def test_all_gold_wrong_on_one_page_and_then_finish(database: Database) -> None:
    bench = Bench(database, code_finished="DONE", code_blocked="OUT", pay_per_page="0.20",
                  pay_blocked=False)  # fmt: skip
    judge = bench.trained()
    assert bench.turn(judge, right=False).judge.stage == "warned"
    view = bench.judging.finish(judge)
    assert (view.stage, view.completion_code, float(view.pay)) == ("blocked", "OUT", 0.0)
    assert view.reason == (
        "0 of 5 answers that we could check were right, which is below 60%, when you finished."
    )
    assert standings(bench) == {"untrusted"}
    assert {item.trusted for item in bench.items()} == {0}
    assert bench.judging.finish(judge) == view
    assert bench.judging.page(judge) is None, "nor do they come back by asking again"
    bench.check()


@sqlite_first
def test_also_where_the_end_is_not_their_own_wish(database: Database) -> None:
    bench = Bench(database, max_pages=1, least_golds=50)
    judge = bench.trained()
    bench.turn(judge, right=False)
    assert bench.judging.page(judge) is None
    assert bench.judging.state(judge).stage == "blocked"
    assert standings(bench) == {"untrusted"}
    bench.check()


def test_who_leaves_below_the_line_is_ended_when_a_page_would_be_over(database: Database) -> None:
    """Where items do not wait for gold, what was closed is open again, and nobody trusts it."""
    bench = Bench(database, topics=4, judgments_per_item=1, training=False, least_golds=5,
                  gold_before_closing=False)  # fmt: skip
    left, late = bench.arrive("left").judge, bench.arrive("late").judge
    bench.turn(left, right=False)
    page = bench.page(late)
    assert {item.state for item in bench.items() if item.trusted} == {"closed"}
    bench.clock.forward(minutes=59)
    assert bench.judging.sweep() == 0
    assert bench.judging.state(left).stage == "warned"
    bench.judging.submit(late, page.page, page.key, bench.answers(page))
    bench.clock.forward(minutes=1)
    bench.judging.sweep()
    view = bench.judging.state(left)
    assert (view.stage, bench.judging.state(late).stage) == ("blocked", "working")
    assert standings(bench) == {"untrusted", "trusted"}
    (entry,) = bench.services.projects.get_log(bench.slug, event="blocked-at-finish")
    assert (entry.judge, entry.figures["reason"]) == (left, "left")
    bench.judging.sweep()
    bench.check()


def test_who_is_above_the_line_finishes_as_before(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    bench.turn(judge)
    assert bench.judging.finish(judge).stage == "finished"
    assert standings(bench) == {"trusted"}
    bench.check()


@sqlite_first
def test_gold_put_right_gives_the_trust_back(database: Database) -> None:
    bench = Bench(database, golds=8, role="screening")
    judge = bench.trained()
    bench.turn(judge, right=False)
    assert bench.judging.finish(judge).stage == "blocked"
    rows = bench.services.gold.get_all(bench.slug)
    for row in rows[:-1]:
        every = ("Matching", "Not Matching", "Off Topic", "Spam")
        bench.services.gold.edit(bench.slug, row.item, accepted=every)
    view = bench.judging.state(judge)
    assert (view.stage, view.reason) == ("finished", "You have finished. Thank you.")
    assert standings(bench) == {"trusted"}
    bench.check()


@pytest.mark.parametrize(
    ("policy", "seen", "right", "stage"),
    [
        (Policy(), 0, 0, "finished"),
        (Policy(), 1, 0, "blocked"),
        (Policy(), 5, 3, "finished"),  # 60% is the line, and not below it
        (Policy(), 5, 2, "blocked"),
        (Policy(trust="beta"), 1, 0, "finished"),  # P(accuracy < .6) is 1 - .4^2 = .84
        (Policy(trust="beta"), 2, 0, "blocked"),  # 1 - .4^3 = .94
    ],
)
def test_the_line_at_the_finish(policy: Policy, seen: int, right: int, stage: str) -> None:
    record = Record(stage="working", seen=seen, right=right)
    assert at_finish(record, policy).stage == stage


def test_a_regrade_frees_only_whom_the_gold_bears_out() -> None:
    policy = Policy()
    ended = at_finish(Record(stage="working", seen=2, right=0), policy).record
    assert ended.stage == "blocked"
    assert after_regrade(replace(ended, right=1), policy).stage == "blocked"
    assert after_regrade(replace(ended, right=2), policy).record == Record(
        stage="finished", seen=2, right=2
    )
    by_hand = replace(ended, by_hand=True)
    assert after_regrade(replace(by_hand, right=2), policy).stage == "blocked"


def test_without_feedback_the_number_of_golds_is_hidden(database: Database) -> None:
    bench = Bench(database, feedback=False)
    judge = bench.trained()
    view = bench.turn(judge, right=False).judge
    assert (view.gold_seen, view.gold_right, view.accuracy) == (None, None, None)
    assert view.reason == (
        "Fewer than 70% of your answers that we could check were right: "
        "please read the guidelines again."
    )
    first = bench.services.gold.get_all(bench.slug)[0]
    bench.services.gold.edit(bench.slug, first.item, accepted=("Spam", "Matching"))
    assert bench.judging.state(judge).notice == ()
    ended = bench.judging.finish(judge)
    assert ended.reason == (
        "Fewer than 60% of your answers that we could check were right, when you finished."
    )
    shown = [ended.reason, *ended.notice, bench.judging.state(judge).reason]
    assert not any(text.startswith(str(number)) for text in shown for number in range(10))
