"""Nobody is trained for nothing, and everybody sees about how much is left."""

from __future__ import annotations

from adjudge.collect.store.database import Database
from collecting import Bench, made_item, sqlite_first


def finished_project(database: Database, **policy: object) -> Bench:
    """A project whose every item one judge has judged."""
    settings = {"judgments_per_item": 1, "training_pairs": 4, **policy}
    bench = Bench(database, topics=2, golds=12, **settings)
    judge = bench.trained("first")
    while bench.judging.page(judge) is not None:
        bench.turn(judge)
    return bench


@sqlite_first
def test_who_comes_when_all_is_judged_is_not_trained(database: Database) -> None:
    bench = finished_project(database, code_nothing_left="LATE", pay_failed="0.50")
    late = bench.arrive("late").judge
    assert bench.judging.page(late) is None
    view = bench.judging.state(late)
    assert (view.stage, view.completion_code, view.training_done) == ("finished", "LATE", 0)
    assert view.pay == 0, "no training was done that could be paid"
    assert view.reason.startswith("Everything was judged already when you came")
    bench.check()


def test_training_ends_where_others_judged_the_rest_meanwhile(database: Database) -> None:
    bench = Bench(
        database, topics=2, golds=12, judgments_per_item=1, training_pairs=6, pay_failed="0.50",
        queries_per_page=1, results_per_query=4,
    )  # fmt: skip
    slow = bench.arrive("slow").judge
    bench.turn(slow)
    assert bench.judging.state(slow).training_done == 4
    quick = bench.trained("quick")
    while bench.judging.page(quick) is not None:
        bench.turn(quick)
    assert bench.judging.page(slow) is None
    view = bench.judging.state(slow)
    assert (view.stage, float(view.pay)) == ("finished", 0.5), "their time is paid"
    assert view.reason.startswith("While you were in the training, others judged")
    bench.check()


def test_who_came_late_is_trained_when_there_is_work_again(database: Database) -> None:
    bench = finished_project(database)
    late = bench.arrive("late").judge
    assert bench.judging.page(late) is None
    assert bench.judging.page(late) is None, "asking again changes nothing"
    bench.services.projects.add_items(bench.slug, [made_item("new", "t0")])
    page = bench.page(late)
    assert page.kind == "training"
    assert bench.judging.state(late).stage == "training"
    bench.turn(late)
    page = bench.page(late)
    assert page.kind == "work"
    assert bench.services.projects.audit(bench.slug) == []
    bench.check()


def test_no_training_begins_while_the_rest_is_leased_to_others(database: Database) -> None:
    bench = Bench(database, topics=1, golds=12, judgments_per_item=1, training_pairs=4)
    bench.judging.page(bench.trained("holder"))
    waiting = bench.arrive("waiting").judge
    assert bench.judging.page(waiting) is None
    assert bench.judging.state(waiting).stage == "training", "not over: it may come back"
    assert bench.judging.finish(waiting).stage == "finished", "but they need not wait"
    again = bench.arrive("patient").judge
    assert bench.judging.page(again) is None
    bench.clock.forward(minutes=61)
    page = bench.page(again)
    assert page.kind == "training"
    assert bench.services.projects.audit(bench.slug) == []


@sqlite_first
def test_pages_left_are_those_a_judge_could_do(database: Database) -> None:
    made = {"topics": 8, "golds": 40, "queries_per_page": 1, "results_per_query": 5}
    bench = Bench(database, **made, judgments_per_item=1, training_pairs=4, screening_golds=1,
                  screening_pairs=4, gold_before_closing=False)  # fmt: skip
    judge = bench.trained()
    assert bench.judging.count_pages_left(judge) == 10, "40 items, 4 of them a page"
    bench.turn(judge)
    bench.judging.page(judge)
    left = bench.judging.count_pages_left(judge)
    assert left == 8, "what is on the page they have is not left after it"
    bench.services.projects.set_policy(bench.slug, {"max_pages": 4})
    assert bench.judging.count_pages_left(judge) == 2
    bench.services.projects.set_policy(bench.slug, {"max_pages": None, "budget_judgments": 9})
    assert bench.judging.count_pages_left(judge) == 1


@sqlite_first
def test_answers_that_come_again_say_how_far_they_differ(database: Database) -> None:
    bench = Bench(database, training=False)
    judge = bench.arrive().judge
    page = bench.page(judge)
    first = bench.answers(page)
    bench.judging.submit(judge, page.page, page.key, first)
    again = bench.judging.submit(judge, page.page, page.key, first)
    assert (again.again, again.differing) == (True, 0)
    other = bench.answers(page, label="Spam")
    outcome = bench.judging.submit(judge, page.page, page.key, other)
    differing = sum(a.label != b.label for a, b in zip(first, other, strict=True))
    assert (outcome.again, outcome.differing) == (True, differing)
    assert differing > 0
