"""Dry runs: everything that a judge does, and no trace of it in anything that counts."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import update

from adjudge.collect.store.database import Database
from adjudge.collect.store.schema import judges, judgments
from adjudge.collect.values.judging import Answer
from adjudge.collect.values.project import Arm
from adjudge.errors import NotFound, Refused
from collecting import Bench, made_project, refused


def test_nothing_of_a_dry_run_counts(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, pay_per_page="0.20", least_golds=50)
    bench.services.arms.set_all(bench.slug, [Arm(name="a"), Arm(name="b", feedback=False)])
    real = {key: bench.arrive(key).judge for key in ("one", "two")}
    dry = bench.arrive("tester", kind="dry-run", parameters={"arm": "b"}).judge
    real["three"] = bench.arrive("three").judge
    rows = {row.judge: row for row in bench.services.judges.get_all(bench.slug)}
    assert (rows[dry].kind, rows[dry].arm) == ("dry-run", "b")
    numbers = {
        entry.judge: entry.figures["number"]
        for entry in bench.services.projects.get_log(bench.slug, event="arrived")
    }
    assert numbers == {real["one"]: 0, real["two"]: 1, real["three"]: 2, dry: None}

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
    kept = [row.standing for row in bench.rows(sa.select(judgments.c.standing))]
    assert kept == ["untrusted"] * (20 + 25 + 25)
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
    assert (sum(row.came for row in report.funnel), report.left_out) == (3, 1)
    assert len(bench.services.exports.get_panel_outcomes(bench.slug)) == 0

    bench.services.judges.block(bench.slug, dry)
    bench.services.judges.unblock(bench.slug, dry)
    bench.check()
    assert sum(item.trusted + item.surplus for item in bench.items()) == 0


def test_a_dry_run_continues_in_a_pause(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=40, training=False)
    dry = bench.arrive("tester", kind="dry-run").judge
    bench.services.projects.set_state(bench.slug, "paused")
    assert bench.judging.page(dry) is not None


def test_a_page_of_a_dry_run_that_expired_changes_nothing(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=3, golds=40, training=False)
    dry = bench.arrive("tester", kind="dry-run").judge
    page = bench.page(dry)
    bench.clock.forward(minutes=61)
    assert bench.judging.sweep() == 1
    bench.judging.submit(dry, page.page, page.key, bench.answers(page))
    bench.check()


def test_a_link_that_anybody_can_write_starts_no_dry_run(sqlite: Database) -> None:
    bench = Bench(sqlite, channels=["open", "panel", "api"], training=False)
    for channel in ("panel", "api"):
        with refused("link-forged"):
            bench.arrive("pid", channel=channel, parameters={"dry_run": "1"})
    anna = bench.arrive("anna", channel="panel").judge
    with refused("link-forged"):
        bench.arrive("anna", channel="panel", parameters={"dry_run": "1"})
    assert bench.judging.state(anna).kind == "person"
    with sqlite.engine.begin() as on:  # as links made them before they were signed
        on.execute(update(judges).where(judges.c.public == anna).values(kind="dry-run"))
    with refused("link-forged"):
        bench.judging.page(anna)


@pytest.mark.parametrize("role", ["viewer", None])
def test_a_dry_run_ends_when_its_member_may_make_none(sqlite: Database, role: Any) -> None:
    bench = Bench(sqlite, topics=3, training=False)
    later = bench.clock() + timedelta(days=1)
    link = bench.services.members.invite(bench.slug, "reviewer", expires=later).link
    mia = bench.services.members.join_new(link, "mia", "correct horse battery").requester
    dry = bench.arrive("tester", kind="dry-run", parameters={"member": mia}).judge
    assert bench.judging.page(dry) is not None
    if role:
        bench.services.members.set_role(bench.slug, mia, role)
    else:
        bench.services.members.remove(bench.slug, mia)
    with pytest.raises(Refused if role else NotFound):
        bench.judging.page(dry)


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
