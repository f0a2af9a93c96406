"""Gold that can be wrong: the queue, an edit, and messages to judges."""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa

from adjudge.collect.items.closing import restore_trust
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.store.snapshot import load_snapshot
from adjudge.collect.values.judging import Answer
from collecting import Bench


def turn(bench: Bench, judge: str, missed: set[str]) -> dict[str, int]:
    """One page, all gold right but what is named; the rows of golds by their items."""
    page = bench.page(judge)
    with bench.database.read() as on:
        rows = on.execute(
            sa.select(schema.page_rows.c.row, schema.items.c.name, schema.golds.c.accepted)
            .join(schema.pages, schema.pages.c.id == schema.page_rows.c.page)
            .join(schema.items, schema.items.c.id == schema.page_rows.c.item)
            .join(schema.golds, schema.golds.c.id == schema.page_rows.c.gold)
            .where(schema.pages.c.public == page.page)
        ).all()
    label = {row.row: "Spam" if row.name in missed else row.accepted[0] for row in rows}
    answers = [Answer(row=row.row, label=label.get(row.row, "Matching")) for row in page.rows]
    bench.judging.submit(judge, page.page, page.key, answers)
    places = {row.name: row.row for row in rows}
    for name in missed & places.keys():
        bench.judging.contest(judge, page.page, places[name], f"{name} is spam, says {judge}")
    return places


def test_an_edit_that_grants_a_contest_settles_it_and_notifies_every_judge(
    database: Database,
) -> None:
    bench = Bench(
        database, topics=60, golds=6, training=False, screening_golds=5, screening_pairs=5,
        queries_per_page=2, results_per_query=5, least_golds=99, judgments_per_item=1,
    )  # fmt: skip
    for gold in range(6):
        bench.services.gold.edit(bench.slug, f"gold{gold}", accepted=["Matching"])
    judges = [bench.arrive(f"j{number}").judge for number in range(3)]
    for judge in judges:  # until each has met the gold that is wrong
        while "gold5" not in turn(bench, judge, {"gold5"}):
            pass
    careless = bench.arrive("careless").judge
    turn(bench, careless, {f"gold{gold}" for gold in range(5)})
    rows = bench.services.gold.get_all(bench.slug)
    assert (rows[0].item, rows[0].best_say, rows[0].contests) == ("gold5", "Spam", 3)
    assert rows[0].doubt > rows[1].doubt > 0
    assert [row.doubt for row in rows] == sorted((row.doubt for row in rows), reverse=True)
    done = bench.services.gold.edit(bench.slug, "gold5", accepted=["Spam", "Matching"])
    assert (done.upheld, done.changed, done.judges) == (3, 3, 3)
    left = bench.services.gold.get_contests(bench.slug)
    assert {one.judge for one in left} == {careless}
    settled = bench.services.gold.get_contests(bench.slug, settled=True)
    assert {(one.judge, one.item, one.upheld) for one in settled} == {
        (judge, "gold5", True) for judge in judges
    }
    sentence = "A known answer was corrected: {} of your {} answers to such {} right now."
    for judge in judges:
        seen = bench.judging.state(judge).gold_seen
        assert bench.judging.state(judge).notice == (
            sentence.format(seen, seen, "are"),
            "You were right to disagree. The known answer is changed.",
        )
    bench.services.gold.edit(bench.slug, "gold5", accepted=["Matching"])
    for judge in judges:  # of two tallies only the last is true
        seen, *notice = bench.judging.state(judge).gold_seen, *bench.judging.state(judge).notice
        tallies = [text for text in notice if "answers to such" in text]
        verb = "is" if seen == 2 else "are"
        assert tallies == [sentence.format(seen - 1, seen, verb)]
    assert bench.services.gold.get_all(bench.slug)[0].item == "gold5"
    bench.services.gold.edit(bench.slug, "gold5", active=False)
    row = next(row for row in bench.services.gold.get_all(bench.slug) if row.item == "gold5")
    assert (row.doubt, row.best_say) == (0.0, None)
    bench.check()


def test_many_are_trusted_again_as_one_after_the_other(sqlite: Database, tmp_path: Path) -> None:
    bench = Bench(
        sqlite, topics=6, golds=12, training=False, screening_golds=2, screening_pairs=8,
        queries_per_page=2, results_per_query=5, judgments_per_item=3, least_golds=50,
        gold_before_closing=False,
    )  # fmt: skip
    judges = [bench.arrive(f"j{number}").judge for number in range(9)]
    for judge in judges[:6]:
        bench.turn(judge)
        if bench.judging.page(judge) is not None:
            bench.turn(judge)
        bench.services.judges.block(bench.slug, judge)
    for judge in judges[6:]:  # so that some of what comes back finds its place taken
        bench.turn(judge)
    bench.judging.page(judges[8])
    sqlite.engine.dispose()
    shutil.copy(str(sqlite.url.database), tmp_path / "other.db")
    other = Database(tmp_path / "other.db")
    found = []
    for store, together in ((sqlite, True), (other, False)):
        with store.engine.connect() as on, on.begin():
            ids = list(on.execute(
                sa.select(schema.judges.c.id).where(schema.judges.c.stage == "blocked")
            ).scalars())  # fmt: skip
            snapshot = load_snapshot(on, bench.project)
            if together:
                count = restore_trust(on, ids, snapshot)
            else:
                count = sum(restore_trust(on, [judge], snapshot) for judge in ids)
            standing = on.execute(
                sa.select(schema.judgments.c.id, schema.judgments.c.standing)
            ).all()
            items = on.execute(sa.select(schema.items).order_by(schema.items.c.id)).all()
            found.append((count, standing, items))
    other.close()
    assert found[0] == found[1]
    kinds = {row.standing for row in found[0][1]}
    assert kinds == {"trusted", "surplus"}, "the case is one in which not all find room"
