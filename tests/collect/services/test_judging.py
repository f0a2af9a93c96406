"""A judge's way through, step by step, on both databases."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import CANNOT_JUDGE, PAGE_BROKEN, Answer
from adjudge.errors import NotFound, Refused
from collecting import LABELS, Bench, made_project


def refused(code: str) -> object:
    return pytest.raises(Refused, check=lambda error: error.code == code)


def test_the_whole_way_of_a_good_judge(database: Database) -> None:
    bench = Bench(
        database,
        topics=8,
        results=5,
        golds=40,
        require_consent=True,
        consent="Do you agree?",
        pay_per_page="0.20",
        code_finished="DONE",
    )
    view = bench.arrive(parameters={"study": "s1"})
    assert (view.stage, view.open_items, view.accuracy) == ("consent", True, None)
    with refused("consent-wanted"):
        bench.judging.page(view.judge)
    view = bench.judging.consent(view.judge)
    assert (view.stage, view.training_pairs, view.training_done) == ("training", 20, 0)
    assert bench.judging.consent(view.judge).stage == "training"

    page = bench.judging.page(view.judge)
    assert page is not None
    assert (page.kind, len(page.rows), page.labels) == ("training", 20, LABELS)
    assert [row.row for row in page.rows] == list(range(1, 21))
    assert bench.judging.page(view.judge) == page
    outcome = bench.judging.submit(view.judge, page.page, page.key, bench.answers(page))
    assert (outcome.judge.stage, outcome.stored, outcome.feedback) == ("working", 20, ())
    assert outcome.judge.pay == Decimal("0.00")
    assert outcome.judge.notice == ("You have passed the training. From here on your work counts.",)

    page = bench.judging.page(view.judge)
    assert page is not None
    assert (page.kind, len(page.rows), len(page.groups)) == ("work", 25, 5)
    assert len(bench.truths(page)) == 5
    outcome = bench.judging.submit(view.judge, page.page, page.key, bench.answers(page))
    assert (outcome.judge.judged, outcome.judge.gold_seen, outcome.judge.gold_right) == (25, 5, 5)
    assert (outcome.judge.pay, outcome.judge.accuracy) == (Decimal("0.20"), 1.0)
    while bench.judging.page(view.judge) is not None:
        bench.turn(view.judge)
    view = bench.judging.state(view.judge)
    assert (view.stage, view.completion_code) == ("finished", "DONE")
    # Two full pages, then what is left; short pages may be all gold, at most five times in 25 rows.
    assert view.pages <= 9
    assert {item.trusted for item in bench.items() if not item.gold} == {1}
    assert view.reason == "You have judged everything that was open for you. Thank you."
    bench.check()


def test_training_shows_each_mistake_at_once_and_counts_the_first_answer(
    database: Database,
) -> None:
    bench = Bench(database, training_pass=0.9, code_failed="OUT", pay_failed="0.10")
    judge = bench.arrive().judge
    page = bench.judging.page(judge)
    assert page is not None
    truths = bench.truths(page)
    wrong = next(label for label in LABELS if label != truths[1])
    outcome = bench.judging.answer_training(judge, page.page, 1, wrong)
    (told,) = outcome.feedback
    assert (told.row, told.given, told.accepted, told.right) == (1, wrong, (truths[1],), False)
    assert told.reason.endswith(f" is {truths[1]}")
    again = bench.judging.answer_training(judge, page.page, 1, truths[1])
    assert again.again
    assert again.feedback == (told,)
    right = bench.judging.answer_training(judge, page.page, 2, truths[2])
    assert (right.feedback[0].right, right.feedback[0].reason) == (True, "")
    assert right.judge.training_done == 2
    reloaded = bench.judging.page(judge)
    assert reloaded is not None
    assert [answer.row for answer in reloaded.answers] == [1, 2]
    assert reloaded.feedback == (told,)

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
    assert "of 20 answers in the training were right; 90% are wanted." in outcome.judge.reason
    assert bench.judging.page(judge) is None
    bench.check()


def test_a_second_try_has_other_golds(database: Database) -> None:
    bench = Bench(database, golds=30, training_pairs=10, training_tries=2)
    judge = bench.arrive().judge
    first = bench.judging.page(judge)
    assert first is not None
    outcome = bench.judging.submit(judge, first.page, first.key, bench.answers(first, right=False))
    assert (outcome.judge.stage, outcome.judge.tries_left, outcome.judge.training_done) == (
        "training",
        0,
        0,
    )
    assert outcome.judge.notice[0].startswith("Fewer than 70% of your answers were right.")
    second = bench.judging.page(judge)
    assert second is not None
    assert not {row.title for row in first.rows} & {row.title for row in second.rows}
    bench.turn(judge)
    assert bench.judging.state(judge).stage == "working"
    bench.check()


def test_missing_golds_warns_then_blocks_and_reopens_items(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, code_blocked="STOP", pay_per_page="0.20")
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    assert (outcome.judge.stage, outcome.judge.warned) == ("warned", True)
    assert len(outcome.feedback) == 5
    assert all(not told.right and told.reason for told in outcome.feedback)
    assert sum(item.trusted for item in bench.items()) == 20
    outcome = bench.turn(judge, right=False)
    assert (outcome.judge.stage, outcome.judge.completion_code) == ("blocked", "STOP")
    assert outcome.judge.pay == Decimal("0.40")
    assert sum(item.trusted for item in bench.items()) == 0
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


def test_a_warned_judge_recovers(database: Database) -> None:
    bench = Bench(database, topics=40, golds=100, block_below=0.5)
    judge = bench.trained()
    assert bench.turn(judge, right=False).judge.stage == "warned"
    assert bench.turn(judge).judge.stage == "warned"  # 5 of 10
    assert bench.turn(judge).judge.stage == "warned"  # 10 of 15
    assert bench.turn(judge).judge.stage == "working"  # 15 of 20
    bench.check()


def test_sent_twice_is_stored_once_and_answered_the_same(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
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


def test_tampered_forms_are_refused_and_nothing_is_stored(database: Database) -> None:
    bench = Bench(database)
    judge, other = bench.trained("anna"), bench.trained("berta")
    page, hers = bench.judging.page(judge), bench.judging.page(other)
    assert page is not None
    assert hers is not None
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
        submit(judge, page.page, page.key, [Answer(row=1, label="Spam", comment="x" * 5001)])
    with refused("bad-form"):
        submit(judge, page.page, page.key, [Answer(row=1, label="Spam", comment="a\0b")])
    with refused("not-training"):
        bench.judging.answer_training(judge, page.page, 1, "Spam")
    with refused("page-open"):
        bench.judging.outcome(judge, page.page)
    assert bench.rows(sa.select(schema.judgments).where(schema.judgments.c.kind == "work")) == []
    assert submit(judge, page.page, page.key, answers).stored == 25
    bench.check()


def test_a_partial_page_is_kept_and_its_gaps_are_named(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
    assert bench.judging.save(judge, page.page, [Answer(row=4, label="Spam", comment="why")]) == 1
    answers = bench.answers(page)
    with pytest.raises(Refused, match="23 of 25 rows have no answer yet") as error:
        bench.judging.submit(judge, page.page, page.key, answers[:2])
    assert error.value.evidence["rows"] == list(range(3, 26))
    reloaded = bench.judging.page(judge)
    assert reloaded is not None
    assert [answer.row for answer in reloaded.answers] == [1, 2, 4]
    assert reloaded.answers[2] == Answer(row=4, label="Spam", comment="why")
    assert bench.judging.submit(judge, page.page, page.key, answers).stored == 25
    with refused("page-answered"):
        bench.judging.save(judge, page.page, answers)
    bench.check()


def test_expired_pages_return_to_the_pool(database: Database) -> None:
    bench = Bench(database, topics=4, judgments_per_item=1, lease_minutes=30, screening=False)
    anna, berta = bench.trained("anna"), bench.trained("berta")
    page = bench.judging.page(anna)
    assert page is not None
    assert bench.judging.page(berta) is None
    waiting = bench.judging.state(berta)
    assert (waiting.stage, waiting.open_items) == ("working", False)
    assert waiting.reason.startswith("Nothing is open for you at this moment")
    bench.clock.forward(minutes=31)
    taken = bench.judging.page(berta)
    assert taken is not None
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


def test_an_expired_page_comes_back_as_it_was(database: Database) -> None:
    bench = Bench(database, lease_minutes=30)
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
    bench.judging.save(judge, page.page, [Answer(row=3, label="Spam")])
    bench.clock.forward(minutes=31)
    assert bench.judging.sweep() == 1
    assert bench.judging.sweep() == 0
    again = bench.judging.page(judge)
    assert again is not None
    assert (again.page, again.key, again.groups) == (page.page, page.key, page.groups)
    assert again.expires > page.expires
    assert [answer.row for answer in again.answers] == [3], "what was saved is kept too"
    assert sum(item.leased for item in bench.items()) == 20
    bench.check()
    assert bench.turn(judge).stored == 25
    bench.check()


def test_a_page_comes_back_whole_while_any_of_its_work_is_wanted(database: Database) -> None:
    bench = Bench(database, topics=8, role="screening", judgments_per_item=1)
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna)
    page = bench.judging.page(anna)
    assert page is not None
    bench.judging.finish(anna)
    taken = bench.judging.page(berta)
    assert taken is not None
    answers = bench.answers(taken)
    unable = [replace(answer, label=CANNOT_JUDGE) for answer in answers[::2]]
    bench.judging.submit(berta, taken.page, taken.key, [*unable, *answers[1::2]])
    again = bench.judging.page(anna)
    assert again is not None
    assert again.groups == page.groups
    assert bench.judging.page(anna).groups == page.groups, "and stays"  # type: ignore[union-attr]
    assert sum(item.leased for item in bench.items()) == 0, "some is done: it is not leased"
    bench.check()
    bench.turn(anna)
    assert sum(item.surplus for item in bench.items()) > 0
    bench.check()


def _open_of(database: Database, titles: set[str]) -> list[str]:
    """Those of some items of work that are open still."""
    wanted = sa.select(schema.items.c.title).where(
        schema.items.c.title.in_(titles),
        schema.items.c.gold.is_(False),
        schema.items.c.state == "open",
    )
    with database.read() as on:
        return list(on.execute(wanted).scalars())


def test_a_page_whose_work_is_done_never_comes_back_nor_do_its_rows(database: Database) -> None:
    bench = Bench(database, topics=12, training=False, screening=False, judgments_per_item=1,
                  lease_minutes=30)  # fmt: skip
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    page = bench.judging.page(anna)
    assert page is not None
    bench.clock.forward(minutes=31)
    theirs = {row.title for row in page.rows}
    bench.turn(berta)
    assert _open_of(database, theirs) == []
    newer = bench.judging.page(anna)
    assert newer is not None
    assert not theirs & {row.title for row in newer.rows}
    with refused("page-expired"):
        bench.judging.submit(anna, page.page, page.key, bench.answers(page))
    bench.services.judges.block(bench.slug, berta)  # and so the work of the page is open again
    bench.judging.submit(anna, newer.page, newer.key, bench.answers(newer))
    while (last := bench.judging.page(anna)) is not None:
        assert not theirs & {row.title for row in last.rows}
        bench.turn(anna)
    bench.check()


def test_items_that_nobody_can_judge_are_set_aside(database: Database) -> None:
    bench = Bench(database, topics=1, results=4, golds=0, set_aside_after=2, results_per_query=4)
    for key, other in (("anna", PAGE_BROKEN), ("berta", CANNOT_JUDGE)):
        judge = bench.arrive(key).judge
        assert bench.judging.state(judge).stage == "working"
        page = bench.judging.page(judge)
        assert page is not None
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


def test_the_same_channel_and_key_is_the_same_judge(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.judging.page(judge)
    back = bench.arrive()
    assert (back.judge, back.stage) == (judge, "working")
    assert page is not None
    assert back.page == page.page
    assert bench.arrive(channel="panel").judge != judge
    bench.services.projects.set_state(bench.slug, "closed")
    assert bench.arrive().judge == judge
    with refused("not-open"):
        bench.arrive("newcomer")
    with refused("not-open"):
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))


def test_a_paused_project_takes_open_pages_and_makes_none(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
    bench.services.projects.set_state(bench.slug, "paused")
    assert bench.judging.page(judge) == page
    assert bench.judging.submit(judge, page.page, page.key, bench.answers(page)).stored == 25
    with refused("not-open"):
        bench.judging.page(judge)


def test_ways_in_that_are_closed(database: Database) -> None:
    bench = Bench(database, channels=["invite"])
    with refused("channel-closed"):
        bench.arrive()
    with refused("invite-unknown"):
        bench.arrive("forged", channel="invite")
    with pytest.raises(NotFound, match="there is no project 'other'"):
        bench.arrive(project="other")
    with refused("bad-form"):
        bench.arrive("")
    with refused("bad-form"):
        bench.arrive("x" * 501)
    late, revoked, good = bench.services.judges.invite(bench.slug, ["late", "revoked", "good"])[
        ::-1
    ]
    assert late.note == "late"
    bench.services.judges.revoke_invite(bench.slug, revoked.invite)
    with refused("invite-unknown"):
        bench.arrive(revoked.invite, channel="invite")
    soon = bench.clock().replace(hour=4)
    (brief,) = bench.services.judges.invite(bench.slug, ["brief"], expires=soon)
    bench.clock.forward(hours=2)
    with refused("invite-expired"):
        bench.arrive(brief.invite, channel="invite")
    judge = bench.arrive(good.invite, channel="invite").judge
    assert {one.note: one.judge for one in bench.services.judges.get_invites(bench.slug)}[
        "good"
    ] == judge


def test_finishing_at_her_own_wish_and_coming_back(database: Database) -> None:
    bench = Bench(database, code_finished="DONE")
    judge = bench.trained()
    with refused("nothing-done"):
        bench.judging.finish(judge)
    bench.turn(judge)
    assert bench.judging.page(judge) is not None
    view = bench.judging.finish(judge)
    assert (view.stage, view.completion_code, view.page) == ("finished", "DONE", None)
    assert sum(item.leased for item in bench.items()) == 0
    assert bench.judging.finish(judge) == view
    assert bench.judging.page(judge) is not None
    assert bench.judging.state(judge).stage == "working"
    bench.check()


def test_no_more_than_the_most_pages(database: Database) -> None:
    bench = Bench(database, max_pages=1)
    judge = bench.trained()
    bench.turn(judge)
    assert bench.judging.page(judge) is None
    view = bench.judging.state(judge)
    assert (view.stage, view.open_items) == ("finished", False)
    assert view.reason == "You have judged as many pages as one judge may. Thank you."


def test_gold_that_runs_out_can_end_the_work(database: Database) -> None:
    bench = Bench(database, topics=20, golds=25, gold_runs_out="finish")
    judge = bench.trained()
    while bench.judging.page(judge) is not None:
        bench.turn(judge)
    view = bench.judging.state(judge)
    assert (view.stage, view.gold_seen) == ("finished", 5)
    assert view.judged < 60


def test_contests_need_a_gold_that_was_missed_and_told(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
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
    assert [told.row for told in again.feedback if told.contested] == [gold]
    assert [told.row for told in outcome.feedback if told.contested] == []
    settled = bench.services.gold.settle(
        bench.slug, contest.contest, upheld=True, answer="We have changed it."
    )
    assert (settled.settled, settled.upheld) == (True, True)
    assert bench.services.gold.get_contests(bench.slug) == []
    assert bench.judging.state(judge).notice == ("You were right to disagree. We have changed it.",)


def test_without_feedback_nothing_is_told_of_screening(database: Database) -> None:
    bench = Bench(database, feedback=False)
    judge = bench.trained()
    outcome = bench.turn(judge, right=False)
    assert (outcome.feedback, outcome.judge.stage) == ((), "warned")


def test_a_model_needs_no_consent_and_is_screened_as_people_are(database: Database) -> None:
    bench = Bench(database, require_consent=True)
    view = bench.arrive("m", channel="api", kind="model")
    assert view.stage == "training"
    bench.turn(view.judge)
    assert bench.turn(view.judge, right=False).judge.stage == "warned"


def test_training_switched_off_meanwhile_is_waived(database: Database) -> None:
    bench = Bench(database)
    judge = bench.arrive().judge
    bench.services.projects.set_policy(bench.slug, {"training": False})
    page = bench.judging.page(judge)
    assert page is not None
    assert page.kind == "work"
    assert bench.judging.state(judge).stage == "working"
    bench.check()


def test_a_page_tells_nothing_of_gold(database: Database) -> None:
    bench = Bench(database, made_project(topics=6, golds=30))
    judge = bench.trained()
    page = bench.judging.page(judge)
    assert page is not None
    names = {name for row in page.rows for name in row.__slots__}
    assert names == {"row", "title", "text", "url", "image", "asked", "beside"}
    assert {(row.asked, row.beside) for row in page.rows} == {((), None)}
    assert set(page.__slots__) == {
        "page", "kind", "key", "expires", "groups", "labels", "others", "answers", "feedback",
        "why", "questions", "colours",
    }  # fmt: skip
    assert page.why == ""
    assert {len(group.rows) for group in page.groups} == {5}
    assert len({group.query for group in page.groups}) == 5


@pytest.mark.parametrize("gold_topics", ["shared", "apart"])
def test_golds_never_repeat_while_unseen_ones_are_left(
    database: Database, gold_topics: str
) -> None:
    bench = Bench(
        database, topics=30, golds=34, gold_topics=gold_topics, role="both", training_pairs=20
    )
    judge = bench.trained()
    seen: list[int] = []
    while True:
        page = bench.judging.page(judge)
        if page is None:
            break
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
    rows = schema.page_rows
    seen = [
        row.gold
        for row in bench.rows(
            sa.select(rows.c.gold).where(rows.c.gold.is_not(None)).order_by(rows.c.page, rows.c.row)
        )
    ]
    assert len(seen) > 40
    assert len(set(seen[:34])) == 34
    bench.check()
