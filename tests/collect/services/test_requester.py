"""What a requester can do, on both databases."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa

from adjudge import MajorityVote
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer
from adjudge.collect.values.project import GoldEntry, Project
from adjudge.data.scale import Scale
from adjudge.errors import BadData, BadSetting, NotFound
from collecting import LABELS, SCALE, Bench, made_item, made_project, refused, sqlite_first


@sqlite_first
def test_a_project_comes_out_as_it_went_in(database: Database) -> None:
    project = dataclasses.replace(
        made_project(topics=3, golds=4, pay_per_page="0.25", training_mix={"Spam": 1.0}),
        scale=Scale(labels=LABELS, relevant=("Matching",)),
        golds=(
            GoldEntry(item="gold0", accepted=("Matching", "Spam"), reasons={"Off Topic": "no"}),
            GoldEntry(item="gold1", accepted=("Spam",), role="training"),
        ),
    )
    services = RequesterServices(database)
    slug = services.projects.create(project).slug
    found = services.projects.read(slug)
    assert sorted(found.items, key=lambda i: i.name) == sorted(project.items, key=lambda i: i.name)
    assert found.golds == project.golds
    assert (found.scale, found.guidelines, found.name) == (
        project.scale,
        project.guidelines,
        project.name,
    )
    assert found.policy == project.policy
    assert services.projects.create(project).slug == "made-2"


ONE = made_item("a", "t")


@pytest.mark.parametrize(
    ("own", "at"),
    [
        ({"name": " "}, "name"),
        ({"scale": Scale(labels=("a", "page broken"))}, "labels"),
        ({"policy": {"trust": "x"}}, "trust"),
        ({"items": (ONE, ONE)}, "row 2"),
        ({"items": (made_item("a", "t", text="a\0b"),)}, "row 1"),
        ({"golds": (GoldEntry(item="a", accepted=("Spam",)),)}, ""),
        ({"items": (ONE,), "golds": (GoldEntry(item="a", accepted=("Great",)),)}, ""),
    ],
)
def test_a_bad_project_is_refused_and_nothing_is_stored(
    sqlite: Database, own: dict[str, Any], at: str
) -> None:
    services = RequesterServices(sqlite)
    with pytest.raises((BadData, BadSetting)) as raised:
        services.projects.create(Project(**{"name": "x", "scale": SCALE, **own}))
    fault = raised.value
    assert (fault.place if isinstance(fault, BadData) else fault.setting) == at
    assert services.projects.get_all() == []


def test_states_of_a_project(database: Database) -> None:
    services = RequesterServices(database)
    empty = services.projects.create(made_project(topics=0, golds=3, gold_topics="apart")).slug
    with refused("no-items"):
        services.projects.set_state(empty, "open")
    with pytest.raises(BadSetting):
        services.projects.set_state(empty, "draft")
    bench = Bench(database)
    bench.trained()
    with refused("not-closed"):
        services.projects.delete(bench.slug)
    services.projects.set_state(bench.slug, "closed")
    before = services.projects.count_stored()
    services.projects.delete(bench.slug)
    after = services.projects.count_stored()
    assert (before["projects"], after["projects"]) == (2, 1)
    assert (after["judges"], after["judgments"], after["open_pages"]) == (0, 0, 0)


@sqlite_first
def test_progress_cost_and_why_items_are_open(database: Database) -> None:
    bench = Bench(
        database, topics=4, results=5, golds=60, judgments_per_item=2, pay_per_page="0.20",
        results_per_query=4, screening_golds=4, screening_pairs=16, gold_before_closing=False,
    )  # fmt: skip
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.items, progress.open, progress.closed, progress.needed) == (20, 20, 0, 40)
    assert progress.why_open == {"not judged yet": 20}
    assert progress.cost_to_finish == Decimal("0.50")  # 40 judgments, 16 on a full page
    anna, berta = bench.trained("anna"), bench.trained("berta")
    outcome = bench.turn(anna)
    page = bench.page(berta)
    progress = bench.services.projects.get_progress(bench.slug)
    assert progress.trusted == outcome.stored - 4 == 16
    assert progress.cost == Decimal("0.20")
    leased = len(page.rows) - len(bench.truths(page))
    assert progress.why_open["in judges' hands"] == leased
    assert sum(progress.why_open.values()) == 20
    assert progress.by_trusted == {0: 4, 1: 16}
    assert (progress.pages, progress.open_pages, progress.judges) == (1, 1, {"working": 2})
    (funnel,) = progress.funnel
    assert (funnel.came, funnel.trained, funnel.passed, funnel.failed) == (2, 2, 2, 0)
    assert (funnel.passed_share, progress.gold_accuracy) == (1.0, 1.0)
    bench.services.judges.block(bench.slug, anna)
    progress = bench.services.projects.get_progress(bench.slug)
    assert (progress.trusted, progress.untrusted) == (0, 16)
    both = leased + progress.why_open["judged by blocked judges only"]
    assert both + progress.why_open.get("not judged yet", 0) == 20
    bench.clock.forward(minutes=61)
    bench.judging.sweep()
    progress = bench.services.projects.get_progress(bench.slug)
    assert progress.why_open == {"judged by blocked judges only": 16, "not judged yet": 4}
    summary = bench.services.projects.get(bench.slug)
    assert (summary.judges, summary.judgments) == (2, 16)


@sqlite_first
def test_judges_with_confusion_and_history(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.clock.forward(minutes=5)
    page = bench.page(judge)
    truths = bench.truths(page)
    answers = [Answer(row=row.row, label="Spam", seconds=float(row.row)) for row in page.rows]
    bench.judging.submit(judge, page.page, page.key, answers)
    (row,) = bench.services.judges.get_all(bench.slug)
    assert (row.judge, row.pages, row.judged, row.seconds) == (judge, 1, 25, 13.0)
    assert (row.gold_seen, row.gold_right) == (5, sum(t == "Spam" for t in truths.values()))
    assert row.last == bench.clock()
    detail = bench.services.judges.get(bench.slug, judge)
    assert detail.labels == (*LABELS, "can't judge", "page broken")
    table = {
        (truth, label): count
        for truth, counts in zip(detail.truths, detail.confusion, strict=True)
        for label, count in zip(detail.labels, counts, strict=True)
    }
    assert sum(table.values()) == 25
    for truth in LABELS:
        missed = sum(t == truth for t in truths.values())
        if truth != "Spam":
            assert table.get((truth, "Spam"), 0) == missed
    assert len(detail.golds) == 25
    assert [entry.event for entry in detail.history][-1] == "arrived"
    with pytest.raises(NotFound, match="there is no judge 'x'"):
        bench.services.judges.get(bench.slug, "x")


def test_block_and_unblock_by_hand(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.turn(judge, right=False)
    page = bench.page(judge)
    row = bench.services.judges.block(bench.slug, judge, "too fast")
    assert (row.stage, row.by_hand) == ("blocked", True)
    assert row.reason == "Blocked by hand: too fast"
    shown = bench.judging.state(judge).reason
    assert shown == "The requester has stopped your work on this project: too fast"
    assert {item.leased + item.trusted for item in bench.items()} == {0}
    with refused("blocked"):
        bench.judging.submit(judge, page.page, page.key, bench.answers(page))
    assert bench.judging.page(judge) is None
    bench.check()
    row = bench.services.judges.unblock(bench.slug, judge, "a mistake")
    assert (row.stage, row.gold_seen, row.accuracy) == ("working", 0, None)
    assert sum(item.trusted for item in bench.items()) == 20
    assert bench.turn(judge).judge.accuracy == 1.0  # a fresh start
    log = bench.services.projects.get_log(bench.slug, event="unblocked-by-hand")
    assert (log[0].actor, log[0].figures["judgments"]) == ("system", 20)
    bench.check()


def test_disagreements_by_query(database: Database) -> None:
    bench = Bench(database, topics=3, results=2, golds=0, results_per_query=2, queries_per_page=3)
    given = {
        "anna": {"t0d0": "Spam", "t1d0": "Spam", "t1d1": "Matching"},
        "berta": {"t0d0": "Spam", "t1d0": "Matching", "t1d1": "Matching"},
    }
    for key, labels in given.items():
        judge = bench.arrive(key).judge
        page = bench.page(judge)
        answers = []
        for row in page.rows:
            name = row.title.removeprefix("title of ")
            comment = "odd" if (key, name) == ("anna", "t1d0") else ""
            answers.append(
                Answer(row=row.row, label=labels.get(name, "Off Topic"), comment=comment)
            )
        bench.judging.submit(judge, page.page, page.key, answers)
    (topic,) = bench.services.projects.get_disagreements(bench.slug)
    assert (topic.topic, topic.query, topic.entropy) == ("t1", "query t1", 0.5)
    (row,) = topic.items
    assert (row.item, row.counts) == ("t1d0", {"Matching": 1, "Spam": 1})
    assert (row.entropy, row.comments) == (1.0, ("odd",))
    assert row.commented == (bench.arrive("anna").judge,)
    assert bench.services.projects.get_disagreements(bench.slug, search="QUERY T0") == []
    assert len(bench.services.projects.get_disagreements(bench.slug, search="t1")) == 1


def test_importing_while_judges_are_at_work(database: Database) -> None:
    bench = Bench(database, topics=2, golds=8)
    bench.trained()
    more = [made_item("t0d0", "t0", text="changed"), made_item("new", "t9")]
    done = bench.services.projects.add_items(
        bench.slug, more, [GoldEntry(item="new", accepted=("Spam",))]
    )
    assert (done.added, done.changed, done.golds_added, done.withdrawn) == (1, 1, 1, 0)
    assert bench.services.projects.add_items(bench.slug, more).changed == 0
    kept = [item for item in bench.value.items if item.name in ("t0d0", "t0d1", "gold0")]
    done = bench.services.projects.replace_items(bench.slug, kept, [bench.value.golds[0]])
    assert (done.withdrawn, done.golds_changed) == (16, 8)
    found = bench.services.projects.read(bench.slug)
    assert {item.name for item in found.items} == {"t0d0", "t0d1", "gold0"}
    assert [entry.item for entry in found.golds] == ["gold0"]
    assert (
        bench.services.projects.replace_items(
            bench.slug, bench.value.items, bench.value.golds
        ).changed
        > 0
    )
    assert bench.services.projects.get(bench.slug).golds == 8
    bench.check()


@sqlite_first
def test_policy_changes_are_versioned_and_logged(database: Database) -> None:
    bench = Bench(database, topics=2, golds=0)
    judge = bench.arrive().judge
    bench.turn(judge)
    policy, version = bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 1})
    assert (policy.judgments_per_item, version) == (1, 2)
    assert {item.state for item in bench.items()} == {"closed"}
    bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 3})
    assert {item.state for item in bench.items()} == {"open"}
    assert bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 3})[1] == 3
    entry = bench.services.projects.get_log(bench.slug, event="policy-changed")[0]
    assert (entry.policy_version, entry.figures["changed"]) == (3, {"judgments_per_item": 3})
    with pytest.raises(BadSetting):
        bench.services.projects.set_policy(bench.slug, {"judgments_per_item": 0})
    bench.check()


def test_judgments_and_gold_fit_the_models(database: Database) -> None:
    bench = Bench(database, topics=10, golds=40)
    assert bench.services.exports.get_judgments(bench.slug) is None
    for key in ("anna", "berta", "carla"):
        bench.turn(bench.trained(key))
    judgments, gold = (
        bench.services.exports.get_judgments(bench.slug),
        bench.services.exports.get_gold(bench.slug),
    )
    assert judgments is not None
    assert gold is not None
    assert (len(judgments), judgments.judge_count, len(gold)) == (60, 3, 40)
    assert judgments.scale == SCALE
    assert judgments.topic_count == len(set(judgments.fields["query"].to_pylist()))
    queries = dict(zip(judgments.items.to_pylist(), judgments.fields["query"], strict=True))
    assert all(str(queries[name]) == f"query {name.split('d')[0]}" for name in queries)
    consensus = MajorityVote().fit(judgments)
    assert set(consensus.labels["label"].to_pylist()) == {"Matching"}
    with_golds = bench.services.exports.get_judgments(bench.slug, golds=True)
    assert with_golds is not None
    assert len(with_golds) == 75
    assert (gold.align(with_golds) >= 0).sum() > 0
    judge = bench.arrive("anna").judge
    bench.services.judges.block(bench.slug, judge)
    trusted = bench.services.exports.get_judgments(bench.slug)
    everything = bench.services.exports.get_judgments(bench.slug, trusted=False)
    assert trusted is not None
    assert everything is not None
    assert (len(trusted), len(everything)) == (40, 60)
    table = bench.services.exports.get_table(bench.slug)
    assert table.num_rows == 3 * 45
    assert table["standing"].to_pylist().count("untrusted") == 45
    assert table.column_names[:4] == ["item", "topic", "document", "query"]


def test_an_audit_names_a_judge_whose_record_was_tampered_with(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.turn(judge, right=False)
    assert bench.services.projects.audit(bench.slug) == []
    change = sa.update(schema.judges).where(schema.judges.c.public == judge)
    database.write(lambda on: on.execute(change.values(right=5, stage="working")))
    (fault,) = bench.services.projects.audit(bench.slug)
    assert fault.startswith(f"judge {judge}: stored Record(stage='working', seen=5, right=5")
    assert "by the log Record(stage='warned', seen=5, right=0, warned_at=5" in fault


@sqlite_first
def test_closed_items_reopen_and_what_comes_back_is_surplus(database: Database) -> None:
    bench = Bench(database, topics=2, results=3, golds=0, judgments_per_item=1)
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna)
    assert {item.state for item in bench.items()} == {"closed"}
    bench.services.judges.block(bench.slug, anna)
    assert {(item.state, item.trusted) for item in bench.items()} == {("open", 0)}
    bench.turn(berta)
    bench.services.judges.unblock(bench.slug, anna)
    assert {(item.trusted, item.surplus) for item in bench.items()} == {(1, 1)}
    bench.check()
    judgments = bench.services.exports.get_judgments(bench.slug)
    assert judgments is not None
    assert len(judgments) == 12  # surplus judgments are trusted
    bench.services.judges.block(bench.slug, berta)
    assert {(item.state, item.trusted, item.surplus) for item in bench.items()} == {
        ("closed", 1, 0)
    }
    bench.check()
