"""Pages that are sent, sent again, left half done, or never come back, on both databases."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import CANNOT_JUDGE, LONGEST_COMMENT, PAGE_BROKEN, Answer
from adjudge.errors import NotFound, Refused
from collecting import Bench, refused, sqlite_first


def test_sent_twice_is_stored_once_and_answered_the_same(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
    answers = bench.answers(page, right=False)
    first = bench.judging.submit(judge, page.page, page.key, answers)
    second = bench.judging.submit(judge, page.page, page.key, answers)
    assert (first.again, second.again) == (False, True)
    assert (second.feedback, second.stored, second.judge) == (
        first.feedback,
        first.stored,
        first.judge,
    )
    assert bench.judging.outcome(judge, page.page) == second
    given = schema.judgments
    assert len(bench.rows(sa.select(given).where(given.c.kind == "work"))) == 25
    bench.check()


@sqlite_first
def test_tampered_forms_are_refused_and_nothing_is_stored(database: Database) -> None:
    bench = Bench(database)
    judge, other = bench.trained("anna"), bench.trained("berta")
    page, hers = bench.page(judge), bench.page(other)
    answers = bench.answers(page)
    submit = bench.judging.submit
    with pytest.raises(NotFound, match="there is no page"):
        submit(judge, hers.page, hers.key, answers)  # another judge's
    with pytest.raises(NotFound, match="there is no page 'guessed'"):
        submit(judge, "guessed", page.key, answers)
    with pytest.raises(NotFound, match="there is no judge 'nobody'"):
        submit("nobody", page.page, page.key, answers)
    with refused("bad-form"):
        submit(judge, page.page, hers.key, answers)
    with pytest.raises(Refused, match="this page has no row 26"):
        submit(judge, page.page, page.key, [*answers, Answer(row=26, label="Spam")])
    with pytest.raises(Refused, match="row 1 is answered twice"):
        submit(judge, page.page, page.key, [*answers, Answer(row=1, label="Spam")])
    with pytest.raises(Refused, match="row 2: 'Great' is not one of the labels"):
        submit(judge, page.page, page.key, [answers[0], Answer(row=2, label="Great")])
    with refused("bad-form"):
        submit(
            judge,
            page.page,
            page.key,
            [Answer(row=1, label="Spam", comment="x" * (LONGEST_COMMENT + 1))],
        )
    with refused("bad-form"):
        submit(judge, page.page, page.key, [Answer(row=1, label="Spam", comment="a\0b")])
    with refused("not-training"):
        bench.judging.answer_training(judge, page.page, 1, "Spam")
    with refused("page-open"):
        bench.judging.outcome(judge, page.page)
    assert bench.rows(sa.select(schema.judgments).where(schema.judgments.c.kind == "work")) == []
    assert submit(judge, page.page, page.key, answers).stored == 25
    bench.check()


@sqlite_first
def test_a_partial_page_is_kept_and_its_gaps_are_named(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
    assert bench.judging.save(judge, page.page, [Answer(row=4, label="Spam", comment="why")]) == 1
    answers = bench.answers(page)
    with pytest.raises(Refused, match="23 of 25 rows have no answer yet") as error:
        bench.judging.submit(judge, page.page, page.key, answers[:2])
    assert error.value.evidence["rows"] == list(range(3, 26))
    reloaded = bench.page(judge)
    assert [answer.row for answer in reloaded.answers] == [1, 2, 4]
    assert reloaded.answers[2] == Answer(row=4, label="Spam", comment="why")
    assert bench.judging.submit(judge, page.page, page.key, answers).stored == 25
    with refused("page-answered"):
        bench.judging.save(judge, page.page, answers)
    bench.check()


@sqlite_first
def test_expired_pages_return_to_the_pool(database: Database) -> None:
    bench = Bench(database, topics=4, judgments_per_item=1, lease_minutes=30, screening=False)
    anna, berta = bench.trained("anna"), bench.trained("berta")
    page = bench.page(anna)
    assert bench.judging.page(berta) is None
    waiting = bench.judging.state(berta)
    assert (waiting.stage, waiting.open_items) == ("working", False)
    assert waiting.reason.startswith("Nothing is open for you at this moment")
    bench.clock.forward(minutes=31)
    bench.page(berta)
    assert bench.judging.state(anna).page is None
    bench.turn(berta)
    # Anna was given nothing else: what she answered is kept, beyond what was needed.
    unable = Answer(row=1, label="can't judge")  # which never counts as a label
    outcome = bench.judging.submit(anna, page.page, page.key, [unable, *bench.answers(page)[1:]])
    assert outcome.stored == len(page.rows)
    filled = sum(item.surplus for item in bench.items())
    assert filled >= 15
    bench.check()
    # With Berta's work gone, Anna's counts.
    bench.services.judges.block(bench.slug, berta)
    assert sum(item.surplus for item in bench.items()) == 0
    assert sum(item.trusted for item in bench.items()) >= filled
    bench.check()


def test_a_page_that_others_have_done_is_paid_once_and_the_log_says_why(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=1, golds=8, training=False, judgments_per_item=1,
                  pay_per_page="0.50", screening=False)  # fmt: skip
    late = bench.arrive("late").judge
    page = bench.page(late)
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    bench.turn(bench.arrive("other").judge)
    for _ in range(2):
        outcome = bench.judging.submit(late, page.page, page.key, bench.answers(page))
    assert str(outcome.judge.pay) == "0.10", "five items of 25"
    newest, *_ = bench.services.projects.get_log(bench.slug, judge=late, event="page-answered")
    assert (newest.figures["late"], newest.figures["paid"]) == (5, "0.10")
    bench.check()


@sqlite_first
def test_an_expired_page_comes_back_as_it_was(database: Database) -> None:
    bench = Bench(database, lease_minutes=30)
    judge = bench.trained()
    page = bench.page(judge)
    bench.judging.save(judge, page.page, [Answer(row=3, label="Spam")])
    bench.clock.forward(minutes=31)
    assert bench.judging.sweep() == 1
    assert bench.judging.sweep() == 0
    again = bench.page(judge)
    assert (again.page, again.key, again.groups) == (page.page, page.key, page.groups)
    assert again.expires > page.expires
    assert [answer.row for answer in again.answers] == [3], "what was saved is kept too"
    assert sum(item.leased for item in bench.items()) == 20
    bench.check()
    assert bench.turn(judge).stored == 25
    bench.check()


def test_a_page_comes_back_complete_while_any_of_its_work_is_needed(database: Database) -> None:
    bench = Bench(database, topics=8, role="screening", judgments_per_item=1,
                  gold_before_closing=False)  # fmt: skip
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna)
    page = bench.page(anna)
    bench.judging.finish(anna)
    taken = bench.page(berta)
    answers = bench.answers(taken)
    unable = [replace(answer, label=CANNOT_JUDGE) for answer in answers[::2]]
    bench.judging.submit(berta, taken.page, taken.key, [*unable, *answers[1::2]])
    again = bench.page(anna)
    assert again.groups == page.groups
    assert bench.judging.page(anna).groups == page.groups, "and stays"  # type: ignore[union-attr]
    assert sum(item.leased for item in bench.items()) == 0, "some is done: it is not leased"
    bench.check()
    bench.turn(anna)
    assert sum(item.surplus for item in bench.items()) > 0
    bench.check()


def _open_of(database: Database, titles: set[str]) -> list[str]:
    """Those of some items of work that are open still."""
    query = sa.select(schema.items.c.title).where(
        schema.items.c.title.in_(titles),
        schema.items.c.gold.is_(False),
        schema.items.c.state == "open",
    )
    with database.read() as on:
        return list(on.execute(query).scalars())


def test_a_page_whose_work_is_done_never_comes_back_nor_do_its_rows(database: Database) -> None:
    bench = Bench(database, topics=12, training=False, screening=False, judgments_per_item=1,
                  lease_minutes=30)  # fmt: skip
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    page = bench.page(anna)
    bench.clock.forward(minutes=31)
    theirs = {row.title for row in page.rows}
    bench.turn(berta)
    assert _open_of(database, theirs) == []
    newer = bench.page(anna)
    assert not theirs & {row.title for row in newer.rows}
    with refused("page-expired"):
        bench.judging.submit(anna, page.page, page.key, bench.answers(page))
    bench.services.judges.block(bench.slug, berta)  # and so the work of the page is open again
    bench.judging.submit(anna, newer.page, newer.key, bench.answers(newer))
    while (last := bench.judging.page(anna)) is not None:
        assert not theirs & {row.title for row in last.rows}
        bench.turn(anna)
    bench.check()


@sqlite_first
def test_items_that_cannot_be_judged_are_set_aside(database: Database) -> None:
    bench = Bench(database, topics=1, results=4, golds=0, set_aside_after=2, results_per_query=4)
    for key, other in (("anna", PAGE_BROKEN), ("berta", CANNOT_JUDGE)):
        judge = bench.arrive(key).judge
        assert bench.judging.state(judge).stage == "working"
        page = bench.page(judge)
        broken = next(row.row for row in page.rows if row.title == "title of t0d1")
        answers = [
            Answer(row=row.row, label=other if row.row == broken else "Spam") for row in page.rows
        ]
        bench.judging.submit(judge, page.page, page.key, answers)
    states = {item.name: (item.state, item.trusted, item.broken) for item in bench.items()}
    assert states == {
        "t0d0": ("open", 2, 0),
        "t0d1": ("set aside", 0, 2),
        "t0d2": ("open", 2, 0),
        "t0d3": ("open", 2, 0),
    }
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.set_aside, progress.others, progress.open) == (1, 2, 3)
    assert progress.warnings == (
        "There is no gold: judges are neither trained nor screened, and none is blocked.",
    )
    bench.check()
