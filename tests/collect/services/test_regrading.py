"""Gold edited in the services: everyone regraded, the wronged unblocked, exactly as by the log."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.errors import BadData, BadSetting, NotFound
from collecting import Bench, sqlite_first
from sizes import sized


@sqlite_first
def test_an_edit_of_gold_regrades_everyone_and_unblocks_the_wronged(database: Database) -> None:
    bench = Bench(database, topics=30, golds=30, training=False, results_per_query=5, least_golds=5)
    judge = bench.arrive("anna").judge
    other = bench.arrive("berta").judge
    bench.turn(judge, right=False)
    assert bench.turn(judge, right=False).judge.stage == "blocked"
    bench.turn(other)
    bench.check()
    wrong = [
        answer for answer in bench.services.judges.get(bench.slug, judge).golds if not answer.right
    ]
    assert len(wrong) == 10
    unblocked: list[str] = []
    for answer in wrong:
        done = bench.services.gold.edit(
            bench.slug, answer.item, accepted=[*answer.accepted, answer.label]
        )
        assert done.changed >= 1
        unblocked += done.unblocked
        bench.check()
    assert unblocked == [judge]
    view = bench.judging.state(judge)
    assert (view.stage, view.accuracy) == ("working", 1.0)
    assert view.notice[0] == "A known answer was corrected: your work counts again. We are sorry."
    assert sum(item.trusted for item in bench.items()) == 60
    rows = bench.services.gold.get_all(bench.slug)
    assert sum(row.missed for row in rows) == 0
    assert {row.version for row in rows if row.item == wrong[0].item} == {2}
    with pytest.raises(NotFound, match="there is no gold 't0d0'"):
        bench.services.gold.edit(bench.slug, "t0d0", active=False)
    with pytest.raises(BadData, match="'Great' is not on the scale"):
        bench.services.gold.edit(bench.slug, "gold0", accepted=["Great"])
    with pytest.raises(BadSetting, match="role = 'x'"):
        bench.services.gold.edit(bench.slug, "gold0", role="x")


@sqlite_first
def test_who_failed_the_training_by_wrong_gold_is_let_in(database: Database) -> None:
    bench = Bench(database, golds=6, training_pairs=2, training_pass=1.0)
    judge = bench.arrive().judge
    page = bench.page(judge)
    outcome = bench.judging.submit(judge, page.page, page.key, bench.answers(page, right=False))
    assert outcome.judge.stage == "failed"
    passed: list[str] = []
    for answer in bench.services.judges.get(bench.slug, judge).golds:
        done = bench.services.gold.edit(bench.slug, answer.item, active=False)
        passed += done.passed
    assert passed == [judge]
    assert bench.judging.state(judge).stage == "working"
    bench.check()


@pytest.mark.slow
def test_thousands_of_answers_are_regraded_exactly(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=4, golds=1, training=False)
    judge = bench.arrive().judge
    bench.turn(judge)
    (gold,) = bench.rows(sa.select(schema.golds))
    (page,) = bench.rows(sa.select(schema.pages))
    count = sized(2_000, full=10_000)
    arrived = bench.rows(sa.select(schema.log).where(schema.log.c.event == "arrived"))[0]
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
        head = {key: value for key, value in arrived._mapping.items() if key != "id"}
        lines = []
        for who in ids:
            lines.append({**head, "judge": who})
            figures = {"golds": [[gold.id, "Spam"]], "rows": 1}
            lines.append({**head, "judge": who, "event": "page-answered", "figures": figures})
        on.execute(sa.insert(schema.log), lines)
    assert bench.services.projects.audit(bench.slug) == []
    done = bench.services.gold.edit(bench.slug, "gold0", accepted=["Spam"])
    assert done.changed >= count
    assert bench.services.projects.audit(bench.slug) == []


@sqlite_first
def test_a_fresh_start_stays_one_when_old_gold_is_edited(database: Database) -> None:
    bench = Bench(database, topics=20, golds=60, training=False)
    judge = bench.arrive().judge
    bench.turn(judge, right=False)
    old = bench.services.judges.get(bench.slug, judge).golds[0]
    bench.services.judges.block(bench.slug, judge)
    bench.services.judges.unblock(bench.slug, judge)
    bench.turn(judge)
    done = bench.services.gold.edit(bench.slug, old.item, accepted=[old.label])
    assert done.changed >= 1
    view = bench.judging.state(judge)
    assert (view.gold_seen, view.gold_right) == (5, 5)
    bench.check()
