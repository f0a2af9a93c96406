"""Training, hidden gold and feedback on it, on both databases."""

from __future__ import annotations

from dataclasses import fields
from decimal import Decimal

from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer
from collecting import LABELS, Bench, made_project, refused, sqlite_first


def test_training_shows_each_mistake_at_once_and_counts_the_first_answer(
    database: Database,
) -> None:
    bench = Bench(database, training_pass=0.9, code_failed="OUT", pay_failed="0.10")
    judge = bench.arrive().judge
    page = bench.page(judge)
    truths = bench.truths(page)
    wrong = next(label for label in LABELS if label != truths[1])
    outcome = bench.judging.answer_training(judge, page.page, 1, wrong)
    (graded,) = outcome.feedback
    assert (graded.row, graded.given, graded.accepted, graded.right) == (
        1,
        wrong,
        (truths[1],),
        False,
    )
    assert graded.reason.endswith(f" is {truths[1]}")
    again = bench.judging.answer_training(judge, page.page, 1, truths[1])
    assert again.again
    assert again.feedback == (graded,)
    right = bench.judging.answer_training(judge, page.page, 2, truths[2])
    assert (right.feedback[0].right, right.feedback[0].reason) == (True, "")
    assert right.judge.training_done == 2
    reloaded = bench.page(judge)
    assert [answer.row for answer in reloaded.answers] == [1, 2]
    assert reloaded.feedback == (graded,)

    with refused("rows-missing"):
        bench.judging.submit(judge, page.page, page.key, [Answer(row=3, label=wrong)])
    rest = [
        Answer(row=row, label=next(label for label in LABELS if label != truths[row]))
        for row in range(3, 21)
    ]
    outcome = bench.judging.submit(judge, page.page, page.key, rest)
    assert outcome.judge.stage == "failed"
    assert len(outcome.feedback) == 18 + (wrong != truths[3])
    assert (outcome.judge.completion_code, outcome.judge.pay) == ("OUT", Decimal("0.10"))
    assert "of 20 answers in the training were right; 90% are needed." in outcome.judge.reason
    assert bench.judging.page(judge) is None
    bench.check()


@sqlite_first
def test_a_second_try_has_other_golds(database: Database) -> None:
    bench = Bench(database, golds=30, training_pairs=10, training_tries=2)
    judge = bench.arrive().judge
    first = bench.page(judge)
    outcome = bench.judging.submit(judge, first.page, first.key, bench.answers(first, right=False))
    assert (outcome.judge.stage, outcome.judge.tries_left, outcome.judge.training_done) == (
        "training",
        0,
        0,
    )
    assert outcome.judge.notice[0].startswith("Fewer than 70% of your answers were right.")
    second = bench.page(judge)
    assert not {row.title for row in first.rows} & {row.title for row in second.rows}
    bench.turn(judge)
    assert bench.judging.state(judge).stage == "working"
    bench.check()


@sqlite_first
def test_missing_golds_warns_then_blocks_and_reopens_items(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, code_blocked="STOP", pay_per_page="0.20")
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    assert (outcome.judge.stage, outcome.judge.warned) == ("warned", True)
    assert len(outcome.feedback) == 5
    assert all(not one.right and one.reason for one in outcome.feedback)
    assert {item.trusted for item in bench.items()} == {0}, "below the line nothing counts yet"
    assert sum(item.leased for item in bench.items()) == 20
    outcome = bench.turn(judge, right=False)
    assert (outcome.judge.stage, outcome.judge.completion_code) == ("blocked", "STOP")
    assert outcome.judge.pay == Decimal("0.40")
    assert {item.trusted + item.leased for item in bench.items()} == {0}
    assert bench.judging.page(judge) is None
    events = [entry.event for entry in bench.services.projects.get_log(bench.slug, judge=judge)]
    assert events == [
        "blocked",
        "page-answered",
        "warned",
        "page-answered",
        "training-passed",
        "training-answered",
        "arrived",
    ]
    bench.check()


@sqlite_first
def test_a_warned_judge_recovers(database: Database) -> None:
    bench = Bench(database, topics=40, golds=100, block_below=0.5)
    judge = bench.trained()
    assert bench.turn(judge, right=False).judge.stage == "warned"
    assert bench.turn(judge).judge.stage == "warned"  # 5 of 10
    assert bench.turn(judge).judge.stage == "warned"  # 10 of 15
    assert bench.turn(judge).judge.stage == "working"  # 15 of 20
    bench.check()


@sqlite_first
def test_gold_that_runs_out_can_end_the_work(database: Database) -> None:
    bench = Bench(database, topics=20, golds=25, gold_runs_out="finish")
    judge = bench.trained()
    while bench.judging.page(judge) is not None:
        bench.turn(judge)
    view = bench.judging.state(judge)
    assert (view.stage, view.gold_seen) == ("finished", 5)
    assert view.judged < 60


def test_contests_need_a_gold_that_was_missed_and_shown(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
    gold = min(bench.truths(page))
    with refused("not-contestable"):
        bench.judging.contest(judge, page.page, gold, "no!")
    outcome = bench.judging.submit(judge, page.page, page.key, bench.answers(page, right=False))
    work = next(row.row for row in page.rows if row.row not in bench.truths(page))
    with refused("not-contestable"):
        bench.judging.contest(judge, page.page, work, "no!")
    with refused("bad-form"):
        bench.judging.contest(judge, page.page, gold, "  ")
    bench.judging.contest(judge, page.page, gold, "first")
    bench.judging.contest(judge, page.page, gold, "it does match")
    (contest,) = bench.services.gold.get_contests(bench.slug)
    assert (contest.judge, contest.text, contest.settled) == (judge, "it does match", False)
    again = bench.judging.outcome(judge, page.page)
    assert [one.row for one in again.feedback if one.contested] == [gold]
    assert [one.row for one in outcome.feedback if one.contested] == []
    settled = bench.services.gold.settle(
        bench.slug, contest.contest, upheld=True, answer="We have changed it."
    )
    assert (settled.settled, settled.upheld) == (True, True)
    assert bench.services.gold.get_contests(bench.slug) == []
    assert bench.judging.state(judge).notice == ("You were right to disagree. We have changed it.",)


@sqlite_first
def test_without_feedback_nothing_about_screening_is_shown(database: Database) -> None:
    bench = Bench(database, feedback=False)
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    assert (outcome.feedback, outcome.judge.stage) == ((), "warned")


def test_training_switched_off_meanwhile_is_waived(database: Database) -> None:
    bench = Bench(database)
    judge = bench.arrive().judge
    bench.services.projects.set_policy(bench.slug, {"training": False})
    page = bench.page(judge)
    assert page.kind == "work"
    assert bench.judging.state(judge).stage == "working"
    bench.check()


@sqlite_first
def test_a_page_reveals_nothing_about_gold(database: Database) -> None:
    bench = Bench(database, made_project(topics=6, golds=30))
    judge = bench.trained()
    page = bench.page(judge)
    names = {entry.name for row in page.rows for entry in fields(row)}
    assert names == {"row", "title", "text", "url", "image", "asked", "beside"}
    assert {(row.asked, row.beside) for row in page.rows} == {((), None)}
    assert {entry.name for entry in fields(page)} == {
        "page", "kind", "key", "expires", "groups", "labels", "others", "answers", "feedback",
        "why", "questions", "colours",
    }  # fmt: skip
    assert page.why == ""
    assert {len(group.rows) for group in page.groups} == {5}
    assert len({group.query for group in page.groups}) == 5
