"""What a requester can do, on both databases."""

from __future__ import annotations

import dataclasses
import time
from datetime import timedelta
from decimal import Decimal

import pytest
import sqlalchemy as sa

from adjudge import MajorityVote
from adjudge.collect.office import Office
from adjudge.collect.project import GoldEntry, Project
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values import Answer
from adjudge.data.scale import Scale
from adjudge.errors import AdjudgeError, BadData, BadSetting, NotFound, Refused
from collecting import LABELS, SCALE, Bench, Clock, made_item, made_project

PASSWORD = "correct horse battery"


def refused(code: str) -> object:
    return pytest.raises(Refused, check=lambda error: error.code == code)


def test_the_first_requester_is_made_once_by_the_newest_link(database: Database) -> None:
    office = Office(database)
    assert office.setup_needed()
    old = office.setup_token()
    token = office.setup_token()
    with refused("bad-token"):
        office.set_up(old, "ada", PASSWORD)
    with refused("bad-form"):
        office.set_up(token, "ada", "short")
    ada = office.set_up(token, " ada ", PASSWORD)
    assert (ada.name, ada.admin, office.setup_needed()) == ("ada", True, False)
    for call in (office.setup_token, lambda: office.set_up(token, "eve", PASSWORD)):
        with refused("set-up-done"):
            call()
    assert office.log_in("ada", PASSWORD) == ada
    assert office.requester(ada.requester) == ada
    for name, password in (("ada", "wrong password"), ("eve", PASSWORD), ("a\0", "")):
        with refused("bad-login"):
            office.log_in(name, password)
    stored = database.engine.connect()
    with stored as on:
        kept = on.execute(sa.select(schema.requesters.c.password)).scalar_one()
    assert kept.startswith("$argon2id$")


def test_requesters_see_their_own_projects_alone(database: Database) -> None:
    office = Office(database)
    ada = office.set_up(office.setup_token(), "ada", PASSWORD)
    admin = office.acting(ada)
    bob, eve = (admin.add_requester(name, PASSWORD) for name in ("bob", "eve"))
    with refused("name-taken"):
        admin.add_requester("bob", PASSWORD)
    bobs, eves = office.acting(bob), office.acting(eve)
    with refused("admin-only"):
        bobs.add_requester("mallory", PASSWORD)
    with refused("admin-only"):
        bobs.requesters()
    with refused("admin-only"):
        bobs.change_password(eve.requester, "a new password")
    bobs.change_password(bob.requester, "a new password")
    assert office.log_in("bob", "a new password") == bob
    assert [one.name for one in admin.requesters()] == ["ada", "bob", "eve"]

    made = bobs.create_project(made_project(topics=2, golds=4))
    assert (made.owner, made.state, made.items, made.golds) == ("bob", "draft", 10, 4)
    assert [one.slug for one in bobs.projects()] == [made.slug]
    assert eves.projects() == []
    assert [one.slug for one in admin.projects()] == [made.slug]
    calls = [
        lambda: eves.project(made.slug),
        lambda: eves.progress(made.slug),
        lambda: eves.set_state(made.slug, "open"),
        lambda: eves.value(made.slug),
        lambda: eves.judges(made.slug),
        lambda: eves.golds(made.slug),
        lambda: eves.log(made.slug),
        lambda: eves.table(made.slug),
        lambda: eves.edit_gold(made.slug, "gold0", active=False),
        lambda: eves.delete_project(made.slug),
        lambda: eves.make_token("t", scope="judge", project=made.slug),
    ]
    for call in calls:
        with pytest.raises(NotFound, match="there is no project 'made'"):
            call()


def test_tokens_are_kept_as_hashes_and_can_be_revoked(database: Database) -> None:
    clock = Clock()
    office = Office(database, clock=clock)
    ada = office.acting(office.set_up(office.setup_token(), "ada", PASSWORD))
    slug = ada.create_project(made_project(topics=1, golds=0)).slug
    with refused("bad-form"):
        ada.make_token("model", scope="judge")
    with refused("bad-form"):
        office.make_token("nobody's", scope="requester")
    token, secret = ada.make_token(
        "model", scope="judge", project=slug, expires=clock() + timedelta(hours=1)
    )
    assert (token.scope, token.project, token.used) == ("judge", slug, None)
    found, requester = office.check_token(secret)
    assert (found.token, requester.name) == (token.token, "ada")
    assert ada.tokens()[0].used == clock()
    with database.read() as on:
        row = on.execute(sa.select(schema.tokens)).one()
    assert secret not in str(tuple(row))
    with refused("bad-token"):
        office.check_token(secret + "x")
    clock.forward(hours=2)
    with refused("bad-token"):
        office.check_token(secret)
    other, secret = ada.make_token("script", scope="requester")
    ada.revoke_token(other.token)
    with refused("bad-token"):
        office.check_token(secret)
    with pytest.raises(NotFound):
        ada.revoke_token("unknown")


def test_a_project_comes_out_as_it_went_in(database: Database) -> None:
    project = dataclasses.replace(
        made_project(topics=3, golds=4, pay_per_page="0.25", training_mix={"Spam": 1.0}),
        scale=Scale(labels=LABELS, relevant=("Matching",)),
        golds=(
            GoldEntry(item="gold0", accepted=("Matching", "Spam"), reasons={"Off Topic": "no"}),
            GoldEntry(item="gold1", accepted=("Spam",), role="training"),
        ),
    )
    office = Office(database)
    slug = office.create_project(project).slug
    found = office.value(slug)
    assert sorted(found.items, key=lambda i: i.name) == sorted(project.items, key=lambda i: i.name)
    assert found.golds == project.golds
    assert (found.scale, found.guidelines, found.name) == (
        project.scale,
        project.guidelines,
        project.name,
    )
    assert found.policy == project.policy
    assert office.create_project(project).slug == "made-2"


@pytest.mark.parametrize(
    ("project", "error", "message"),
    [
        (
            Project(name=" ", scale=SCALE),
            BadSetting,
            "name = ' ': wanted a name for the project",
        ),
        (
            Project(name="x", scale=Scale(labels=("a", "page broken"))),
            BadSetting,
            "labels = 'page broken': wanted labels other than can't judge and page broken",
        ),
        (
            Project(name="x", scale=SCALE, items=(made_item("a", "t"), made_item("a", "t"))),
            BadData,
            "row 2: item 'a' is there twice",
        ),
        (
            Project(name="x", scale=SCALE, items=(made_item("a", "t", text="a\0b"),)),
            BadData,
            "row 1: item 'a' holds a null character",
        ),
        (
            Project(name="x", scale=SCALE, golds=(GoldEntry(item="a", accepted=("Spam",)),)),
            BadData,
            "gold of 'a': there is no such item",
        ),
        (
            Project(
                name="x",
                scale=SCALE,
                items=(made_item("a", "t"),),
                golds=(GoldEntry(item="a", accepted=("Great",)),),
            ),
            BadData,
            "gold of 'a': 'Great' is not on the scale Matching, Not Matching, Off Topic, Spam",
        ),
        (
            Project(name="x", scale=SCALE, policy={"trust": "x"}),
            BadSetting,
            "trust = 'x': wanted share or beta",
        ),
    ],
)
def test_a_bad_project_is_refused_whole(
    sqlite: Database, project: Project, error: type[AdjudgeError], message: str
) -> None:
    office = Office(sqlite)
    with pytest.raises(error) as raised:
        office.create_project(project)
    assert str(raised.value) == message
    assert office.projects() == []


def test_states_of_a_project(database: Database) -> None:
    office = Office(database)
    empty = office.create_project(made_project(topics=0, golds=3, gold_topics="apart")).slug
    with refused("no-items"):
        office.set_state(empty, "open")
    with pytest.raises(BadSetting):
        office.set_state(empty, "draft")
    bench = Bench(database)
    bench.trained()
    with refused("not-closed"):
        office.delete_project(bench.slug)
    office.set_state(bench.slug, "closed")
    before = office.counts()
    office.delete_project(bench.slug)
    after = office.counts()
    assert (before["projects"], after["projects"]) == (2, 1)
    assert (after["judges"], after["judgments"], after["open_pages"]) == (0, 0, 0)


def test_progress_cost_and_why_items_are_open(database: Database) -> None:
    bench = Bench(
        database, topics=4, results=5, golds=60, judgments_per_item=2, pay_per_page="0.20",
        results_per_query=4, screening_golds=4, screening_pairs=16,
    )  # fmt: skip
    progress = bench.office.progress(bench.slug)
    assert (progress.items, progress.open, progress.closed, progress.needed) == (20, 20, 0, 40)
    assert progress.why_open == {"not judged yet": 20}
    assert progress.cost_to_finish == Decimal("0.60")  # 40 judgments, 16 a page
    anna, berta = bench.trained("anna"), bench.trained("berta")
    outcome = bench.turn(anna)
    page = bench.desk.page(berta)
    assert page is not None
    progress = bench.office.progress(bench.slug)
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
    bench.office.block(bench.slug, anna)
    progress = bench.office.progress(bench.slug)
    assert (progress.trusted, progress.untrusted) == (0, 16)
    assert progress.why_open.get("judged by blocked judges only", 0) > 0
    summary = bench.office.project(bench.slug)
    assert (summary.judges, summary.judgments) == (2, 16)


def test_judges_with_confusion_and_history(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.clock.forward(minutes=5)
    page = bench.desk.page(judge)
    assert page is not None
    truths = bench.truths(page)
    answers = [Answer(row=row.row, label="Spam", seconds=float(row.row)) for row in page.rows]
    bench.desk.submit(judge, page.page, page.key, answers)
    (row,) = bench.office.judges(bench.slug)
    assert (row.judge, row.pages, row.judged, row.seconds) == (judge, 1, 25, 13.0)
    assert (row.gold_seen, row.gold_right) == (5, sum(t == "Spam" for t in truths.values()))
    assert row.last == bench.clock()
    detail = bench.office.judge(bench.slug, judge)
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
        bench.office.judge(bench.slug, "x")


def test_block_and_unblock_by_hand(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.turn(judge, right=False)
    page = bench.desk.page(judge)
    assert page is not None
    row = bench.office.block(bench.slug, judge, "too fast")
    assert (row.stage, row.by_hand) == ("blocked", True)
    assert row.reason == "The requester has stopped your work on this project: too fast"
    assert {item.leased + item.trusted for item in bench.items()} == {0}
    with refused("blocked"):
        bench.desk.submit(judge, page.page, page.key, bench.answers(page))
    assert bench.desk.page(judge) is None
    bench.check()
    row = bench.office.unblock(bench.slug, judge, "a mistake")
    assert (row.stage, row.gold_seen, row.accuracy) == ("working", 0, None)
    assert sum(item.trusted for item in bench.items()) == 20
    assert bench.turn(judge).view.accuracy == 1.0  # a fresh start
    log = bench.office.log(bench.slug, event="unblocked-by-hand")
    assert (log[0].actor, log[0].figures["judgments"]) == ("system", 20)
    bench.check()


def test_an_edit_of_gold_regrades_everyone_and_unblocks_the_wronged(database: Database) -> None:
    bench = Bench(database, topics=30, golds=30, training=False, results_per_query=5, least_golds=5)
    judge = bench.arrive("anna").judge
    other = bench.arrive("berta").judge
    bench.turn(judge, right=False)
    assert bench.turn(judge, right=False).view.stage == "blocked"
    bench.turn(other)
    bench.check()
    wrong = [answer for answer in bench.office.judge(bench.slug, judge).golds if not answer.right]
    assert len(wrong) == 10
    unblocked: list[str] = []
    for answer in wrong:
        done = bench.office.edit_gold(
            bench.slug, answer.item, accepted=[*answer.accepted, answer.label]
        )
        assert done.changed >= 1
        unblocked += done.unblocked
        bench.check()
    assert unblocked == [judge]
    view = bench.desk.state(judge)
    assert (view.stage, view.accuracy) == ("working", 1.0)
    assert view.notice[0] == "A known answer was corrected: your work counts again. We are sorry."
    assert sum(item.trusted for item in bench.items()) == 60
    rows = bench.office.golds(bench.slug)
    assert sum(row.missed for row in rows) == 0
    assert {row.version for row in rows if row.item == wrong[0].item} == {2}
    with pytest.raises(NotFound, match="there is no gold 't0d0'"):
        bench.office.edit_gold(bench.slug, "t0d0", active=False)
    with pytest.raises(BadData, match="'Great' is not on the scale"):
        bench.office.edit_gold(bench.slug, "gold0", accepted=["Great"])
    with pytest.raises(BadSetting, match="role = 'x'"):
        bench.office.edit_gold(bench.slug, "gold0", role="x")


def test_who_failed_the_training_by_wrong_gold_is_let_in(database: Database) -> None:
    bench = Bench(database, golds=6, training_pairs=2, training_pass=1.0)
    judge = bench.arrive().judge
    page = bench.desk.page(judge)
    assert page is not None
    outcome = bench.desk.submit(judge, page.page, page.key, bench.answers(page, right=False))
    assert outcome.view.stage == "failed"
    passed: list[str] = []
    for answer in bench.office.judge(bench.slug, judge).golds:
        done = bench.office.edit_gold(bench.slug, answer.item, active=False)
        passed += done.passed
    assert passed == [judge]
    assert bench.desk.state(judge).stage == "working"
    bench.check()


def test_golds_are_listed_contested_first_then_by_misses(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    page = bench.desk.page(judge)
    assert page is not None
    outcome = bench.desk.submit(judge, page.page, page.key, bench.answers(page, right=False))
    bench.desk.contest(judge, page.page, outcome.feedback[0].row, "it matches")
    rows = bench.office.golds(bench.slug)
    (contest,) = bench.office.contests(bench.slug)
    assert (rows[0].item, rows[0].contests) == (contest.item, 1)
    assert [row.missed_share for row in rows[:5]] == [1.0] * 5
    assert {row.missed for row in rows[5:]} == {0}
    assert sum(row.shown for row in rows) == 25
    assert bench.office.contests(bench.slug, settled=None) == [contest]


def test_disagreements_by_query(database: Database) -> None:
    bench = Bench(database, topics=3, results=2, golds=0, results_per_query=2, queries_per_page=3)
    given = {
        "anna": {"t0d0": "Spam", "t1d0": "Spam", "t1d1": "Matching"},
        "berta": {"t0d0": "Spam", "t1d0": "Matching", "t1d1": "Matching"},
    }
    for key, labels in given.items():
        judge = bench.arrive(key).judge
        page = bench.desk.page(judge)
        assert page is not None
        answers = []
        for row in page.rows:
            name = row.title.removeprefix("title of ")
            comment = "odd" if (key, name) == ("anna", "t1d0") else ""
            answers.append(
                Answer(row=row.row, label=labels.get(name, "Off Topic"), comment=comment)
            )
        bench.desk.submit(judge, page.page, page.key, answers)
    (topic,) = bench.office.disagreements(bench.slug)
    assert (topic.topic, topic.query, topic.entropy) == ("t1", "query t1", 0.5)
    (row,) = topic.items
    assert (row.item, row.counts) == ("t1d0", {"Matching": 1, "Spam": 1})
    assert (row.entropy, row.comments) == (1.0, ("odd",))
    assert bench.office.disagreements(bench.slug, search="QUERY T0") == []
    assert len(bench.office.disagreements(bench.slug, search="t1")) == 1


def test_importing_while_judges_are_at_work(database: Database) -> None:
    bench = Bench(database, topics=2, golds=8)
    bench.trained()
    more = [made_item("t0d0", "t0", text="changed"), made_item("new", "t9")]
    done = bench.office.add_items(bench.slug, more, [GoldEntry(item="new", accepted=("Spam",))])
    assert (done.added, done.changed, done.golds_added, done.withdrawn) == (1, 1, 1, 0)
    assert bench.office.add_items(bench.slug, more).changed == 0
    kept = [item for item in bench.value.items if item.name in ("t0d0", "t0d1", "gold0")]
    done = bench.office.replace_items(bench.slug, kept, [bench.value.golds[0]])
    assert (done.withdrawn, done.golds_changed) == (16, 8)
    found = bench.office.value(bench.slug)
    assert {item.name for item in found.items} == {"t0d0", "t0d1", "gold0"}
    assert [entry.item for entry in found.golds] == ["gold0"]
    assert bench.office.replace_items(bench.slug, bench.value.items, bench.value.golds).changed > 0
    assert bench.office.project(bench.slug).golds == 8
    bench.check()


def test_policy_changes_are_versioned_and_logged(database: Database) -> None:
    bench = Bench(database, topics=2, golds=0)
    judge = bench.arrive().judge
    bench.turn(judge)
    policy, version = bench.office.set_policy(bench.slug, {"judgments_per_item": 1})
    assert (policy.judgments_per_item, version) == (1, 2)
    assert {item.state for item in bench.items()} == {"closed"}
    bench.office.set_policy(bench.slug, {"judgments_per_item": 3})
    assert {item.state for item in bench.items()} == {"open"}
    assert bench.office.set_policy(bench.slug, {"judgments_per_item": 3})[1] == 3
    entry = bench.office.log(bench.slug, event="policy-changed")[0]
    assert (entry.policy_version, entry.figures["changed"]) == (3, {"judgments_per_item": 3})
    with pytest.raises(BadSetting):
        bench.office.set_policy(bench.slug, {"judgments_per_item": 0})
    bench.check()


def test_judgments_and_gold_fit_the_models(database: Database) -> None:
    bench = Bench(database, topics=10, golds=40)
    assert bench.office.judgments(bench.slug) is None
    for key in ("anna", "berta", "carla"):
        bench.turn(bench.trained(key))
    judgments, gold = bench.office.judgments(bench.slug), bench.office.gold(bench.slug)
    assert judgments is not None
    assert gold is not None
    assert (len(judgments), judgments.judge_count, len(gold)) == (60, 3, 40)
    assert judgments.scale == SCALE
    assert judgments.topic_count == len(set(judgments.fields["query"].to_pylist()))
    queries = dict(zip(judgments.items.to_pylist(), judgments.fields["query"], strict=True))
    assert all(str(queries[name]) == f"query {name.split('d')[0]}" for name in queries)
    consensus = MajorityVote().fit(judgments)
    assert set(consensus.labels["label"].to_pylist()) == {"Matching"}
    with_golds = bench.office.judgments(bench.slug, golds=True)
    assert with_golds is not None
    assert len(with_golds) == 75
    assert (gold.align(with_golds) >= 0).sum() > 0
    judge = bench.arrive("anna").judge
    bench.office.block(bench.slug, judge)
    trusted = bench.office.judgments(bench.slug)
    everything = bench.office.judgments(bench.slug, trusted=False)
    assert trusted is not None
    assert everything is not None
    assert (len(trusted), len(everything)) == (40, 60)
    table = bench.office.table(bench.slug)
    assert table.num_rows == 3 * 45
    assert table["standing"].to_pylist().count("untrusted") == 45
    assert table.column_names[:4] == ["item", "topic", "document", "query"]


def test_an_empty_project_gives_an_empty_table(database: Database) -> None:
    bench = Bench(database, topics=1, golds=0)
    assert bench.office.table(bench.slug).num_rows == 0
    assert bench.office.gold(bench.slug) is None
    assert bench.office.audit(bench.slug) == []


def test_settings_and_the_log_page_on(database: Database) -> None:
    bench = Bench(database)
    assert bench.office.setting("x") is None
    bench.office.keep_setting("x", {"a": [1]})
    bench.office.keep_setting("x", {"a": [2]})
    assert bench.office.setting("x") == {"a": [2]}
    for number in range(5):
        bench.arrive(str(number))
    first = bench.office.log(bench.slug, limit=3)
    rest = bench.office.log(bench.slug, before=first[-1].entry, limit=100)
    assert [entry.event for entry in first] == ["arrived"] * 3
    assert [entry.event for entry in rest] == ["arrived"] * 2 + ["project-open", "project-created"]


def test_ten_thousand_answers_are_regraded_in_time_and_exactly(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=4, golds=1, training=False)
    judge = bench.arrive().judge
    bench.turn(judge)
    (gold,) = bench.rows(sa.select(schema.golds))
    (page,) = bench.rows(sa.select(schema.pages))
    count = 10_000
    dossier_line = bench.rows(sa.select(schema.log).where(schema.log.c.event == "arrived"))[0]
    with sqlite.engine.connect() as on, on.begin():
        given = on.execute(sa.select(schema.judges).where(schema.judges.c.public == judge)).one()
        base = {key: value for key, value in given._mapping.items() if key != "id"}
        on.execute(
            sa.insert(schema.judges),
            [
                {**base, "public": f"j{n}", "key": f"j{n}", "seen": 1, "right": 0, "page": None}
                for n in range(count)
            ],
        )
        rows = on.execute(
            sa.select(schema.judges.c.id).where(schema.judges.c.public.startswith("j"))
        )
        ids = [row[0] for row in rows if row[0] != given.id]
        on.execute(
            sa.insert(schema.judgments),
            [
                {
                    "project": bench.project, "judge": who, "item": gold.item, "page": page.id,
                    "row": 1000 + n, "kind": "work", "label": "Spam", "other": False,
                    "standing": "trusted", "gold": gold.id, "right": False, "time": 1.0,
                }
                for n, who in enumerate(ids)
            ],
        )  # fmt: skip
        head = {key: value for key, value in dossier_line._mapping.items() if key != "id"}
        lines = []
        for who in ids:
            lines.append({**head, "judge": who})
            figures = {"golds": [[gold.id, "Spam"]], "rows": 1}
            lines.append({**head, "judge": who, "event": "page-answered", "figures": figures})
        on.execute(sa.insert(schema.log), lines)
    assert bench.office.audit(bench.slug) == []
    start = time.process_time()
    done = bench.office.edit_gold(bench.slug, "gold0", accepted=["Spam"])
    took = time.process_time() - start
    assert done.changed >= count
    assert took < 5, f"{took:.1f} s of processor time"
    assert bench.office.audit(bench.slug) == []


def test_an_audit_tells_a_judge_who_was_tampered_with(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60)
    judge = bench.trained()
    bench.turn(judge, right=False)
    assert bench.office.audit(bench.slug) == []
    change = sa.update(schema.judges).where(schema.judges.c.public == judge)
    database.write(lambda on: on.execute(change.values(right=5, stage="working")))
    (fault,) = bench.office.audit(bench.slug)
    assert fault.startswith(f"judge {judge}: stored Record(stage='working', seen=5, right=5")
    assert "by the log Record(stage='warned', seen=5, right=0, warned_at=5" in fault


def test_closed_items_reopen_and_what_comes_back_is_surplus(database: Database) -> None:
    bench = Bench(database, topics=2, results=3, golds=0, judgments_per_item=1)
    anna, berta = bench.arrive("anna").judge, bench.arrive("berta").judge
    bench.turn(anna)
    assert {item.state for item in bench.items()} == {"closed"}
    bench.office.block(bench.slug, anna)
    assert {(item.state, item.trusted) for item in bench.items()} == {("open", 0)}
    bench.turn(berta)
    bench.office.unblock(bench.slug, anna)
    assert {(item.trusted, item.surplus) for item in bench.items()} == {(1, 1)}
    bench.check()
    judgments = bench.office.judgments(bench.slug)
    assert judgments is not None
    assert len(judgments) == 12  # surplus judgments are trusted
    bench.office.block(bench.slug, berta)
    assert {(item.state, item.trusted, item.surplus) for item in bench.items()} == {
        ("closed", 1, 0)
    }
    bench.check()


def test_a_fresh_start_stays_one_when_old_gold_is_edited(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, training=False)
    judge = bench.arrive().judge
    bench.turn(judge, right=False)
    old = bench.office.judge(bench.slug, judge).golds[0]
    bench.office.block(bench.slug, judge)
    bench.office.unblock(bench.slug, judge)
    bench.turn(judge)
    done = bench.office.edit_gold(bench.slug, old.item, accepted=[old.label])
    assert done.changed >= 1
    view = bench.desk.state(judge)
    assert (view.gold_seen, view.gold_right) == (5, 5)
    bench.check()
