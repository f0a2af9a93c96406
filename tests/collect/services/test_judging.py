"""A judge's way through, step by step, on both databases."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adjudge.collect.store.database import Database
from adjudge.errors import NotFound
from collecting import LABELS, Bench, refused, sqlite_first


@sqlite_first
def test_a_good_judge_from_arrival_to_payment(database: Database) -> None:
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

    page = bench.page(view.judge)
    assert (page.kind, len(page.rows), page.labels) == ("training", 20, LABELS)
    assert [row.row for row in page.rows] == list(range(1, 21))
    assert bench.judging.page(view.judge) == page
    outcome = bench.judging.submit(view.judge, page.page, page.key, bench.answers(page))
    assert (outcome.judge.stage, outcome.stored, outcome.feedback) == ("working", 20, ())
    assert outcome.judge.pay == Decimal("0.00")
    assert outcome.judge.notice == ("You have passed the training. From here on your work counts.",)

    page = bench.page(view.judge)
    assert (page.kind, len(page.rows), len(page.groups)) == ("work", 25, 5)
    assert len(bench.truths(page)) == 5
    outcome = bench.judging.submit(view.judge, page.page, page.key, bench.answers(page))
    assert (outcome.judge.judged, outcome.judge.gold_seen, outcome.judge.gold_right) == (25, 5, 5)
    assert (outcome.judge.pay, outcome.judge.accuracy) == (Decimal("0.20"), 1.0)
    while bench.judging.page(view.judge) is not None:
        bench.turn(view.judge)
    view = bench.judging.state(view.judge)
    assert (view.stage, view.completion_code) == ("finished", "DONE")
    # Two full pages, then what is left.
    assert view.pages <= 9
    assert {item.trusted for item in bench.items() if not item.gold} == {1}
    assert view.reason == "You have judged everything that was open for you. Thank you."
    bench.check()


@sqlite_first
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


@sqlite_first
def test_a_paused_project_takes_open_pages_and_makes_none(database: Database) -> None:
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
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


@sqlite_first
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


@sqlite_first
def test_no_more_than_the_most_pages(database: Database) -> None:
    bench = Bench(database, max_pages=1)
    judge = bench.trained()
    bench.turn(judge)
    assert bench.judging.page(judge) is None
    view = bench.judging.state(judge)
    assert (view.stage, view.open_items) == ("finished", False)
    assert view.reason == "You have judged as many pages as one judge may. Thank you."


@sqlite_first
def test_a_model_needs_no_consent_and_is_screened_as_people_are(database: Database) -> None:
    bench = Bench(database, require_consent=True)
    view = bench.arrive("m", channel="api", kind="model")
    assert view.stage == "training"
    bench.turn(view.judge)
    assert bench.turn(view.judge, right=False).judge.stage == "warned"
