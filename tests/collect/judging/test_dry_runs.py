"""Dry runs: the whole way of a judge, and no trace of it in anything that counts."""

from __future__ import annotations

from decimal import Decimal

import pytest

from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer
from adjudge.collect.values.project import Arm
from adjudge.errors import Refused
from collecting import Bench, made_project


def test_nothing_of_a_dry_run_counts(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, pay_per_page="0.20", least_golds=50)
    bench.services.arms.set_all(bench.slug, [Arm(name="a"), Arm(name="b", feedback=False)])
    real = {key: bench.arrive(key).judge for key in ("one", "two")}
    dry = bench.arrive("tester", kind="dry-run", parameters={"arm": "b"}).judge
    by_link = bench.arrive("pid", channel="panel", parameters={"dry_run": "1"}).judge
    real["three"] = bench.arrive("three").judge
    rows = {row.judge: row for row in bench.services.judges.get_all(bench.slug)}
    assert (rows[dry].kind, rows[dry].arm) == ("dry-run", "b")
    assert (rows[by_link].kind, rows[by_link].arm) == ("dry-run", "a")
    numbers = {
        entry.judge: entry.figures["number"]
        for entry in bench.services.projects.get_log(bench.slug, event="arrived")
    }
    assert numbers == {real["one"]: 0, real["two"]: 1, real["three"]: 2, dry: None, by_link: None}

    bench.turn(dry)
    assert bench.judging.state(dry).stage == "working"
    page = bench.page(dry)
    assert sum(item.leased for item in bench.items()) == 20
    answers = bench.answers(page)
    answers[0] = Answer(row=answers[0].row, label="can't judge")
    outcome = bench.judging.submit(dry, page.page, page.key, answers)
    assert (outcome.judge.judged, outcome.judge.pay) == (25, Decimal("0.20"))
    bench.turn(dry, right=False)
    bench.check()
    assert {(item.leased, item.trusted, item.surplus, item.broken) for item in bench.items()} == {
        (0, 0, 0, 0)
    }
    assert bench.services.exports.get_judgments(bench.slug, trusted=False, golds=True) is None
    assert len(bench.services.exports.get_table(bench.slug)) == 0
    kept = bench.services.exports.get_table(bench.slug, dry_runs=True)
    assert set(kept["standing"].to_pylist()) == {"untrusted"}
    assert len(kept) == 20 + 25 + 25
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.pages, progress.untrusted, progress.others) == (0, 0, 0)
    assert (progress.gold_accuracy, progress.cost) == (None, Decimal("0.00"))
    assert progress.judges == {"training": 3}
    assert sum(row.came for row in progress.funnel) == 3
    assert progress.why_open == {"not judged yet": 100}
    assert sum(gold.answered + gold.shown for gold in bench.services.gold.get_all(bench.slug)) == 0
    summary = bench.services.projects.get(bench.slug)
    assert (summary.judges, summary.judgments) == (3, 0)
    report = bench.services.arms.report(bench.slug, resamples=0)
    assert (sum(row.came for row in report.funnel), report.left_out) == (3, 2)
    assert len(bench.services.exports.get_panel_outcomes(bench.slug)) == 0

    bench.services.judges.block(bench.slug, dry)
    bench.services.judges.unblock(bench.slug, dry)
    bench.check()
    assert sum(item.trusted + item.surplus for item in bench.items()) == 0


def test_in_a_pause_only_a_signed_dry_run_goes_on(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=40, training=False)
    signed = bench.arrive("tester", kind="dry-run").judge
    by_link = bench.arrive("pid", channel="panel", parameters={"dry_run": "1"}).judge
    bench.services.projects.set_state(bench.slug, "paused")
    assert bench.judging.page(signed) is not None
    with pytest.raises(Refused, match="not open"):
        bench.judging.page(by_link)


def test_a_page_of_a_dry_run_that_expired_changes_nothing(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=40, training=False)
    dry = bench.arrive("tester", kind="dry-run").judge
    page = bench.page(dry)
    bench.clock.forward(minutes=61)
    assert bench.judging.sweep() == 1
    bench.judging.submit(dry, page.page, page.key, bench.answers(page))
    bench.check()


def test_a_link_that_calls_itself_a_dry_run_opens_no_door(sqlite: Database) -> None:
    bench = Bench(sqlite, channels=["open", "panel"], newcomers_per_minute=2)
    draft = bench.services.projects.create(made_project(channels=["panel"])).slug
    by_link = {"channel": "panel", "parameters": {"dry_run": "1"}}
    with pytest.raises(Refused, match="takes no new judges"):
        bench.arrive("pid", project=draft, **by_link)
    bench.arrive("one", **by_link)
    bench.arrive("two", **by_link)
    with pytest.raises(Refused, match="many people have come"):
        bench.arrive("three", **by_link)
    bench.services.projects.set_policy(bench.slug, {"channels": ["invite"]})
    bench.clock.forward(minutes=2)
    with pytest.raises(Refused, match="cannot be joined in this way"):
        bench.arrive("three", **by_link)
    assert bench.arrive("requester", kind="dry-run").kind == "dry-run"


def test_a_draft_can_be_tried_out_and_a_closed_project_cannot(sqlite: Database) -> None:
    bench = Bench(sqlite)
    slug = bench.services.projects.create(made_project(training_pairs=2)).slug
    with pytest.raises(Refused, match="takes no new judges"):
        bench.arrive("anna", project=slug)
    dry = bench.arrive("tester", project=slug, kind="dry-run").judge
    bench.turn(dry)
    assert bench.turn(dry).judge.judged == 25
    bench.services.projects.set_state(slug, "open")
    bench.services.projects.set_state(slug, "closed")
    with pytest.raises(Refused, match="not open at the moment"):
        bench.judging.page(dry)
