"""Statements that go straight to the driver: the same rows and errors as by the usual way."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from adjudge.collect.store.database import Database
from adjudge.collect.store.request import write_log
from adjudge.collect.store.schema import items, judges, judgments, log, pages, projects
from adjudge.collect.store.statements import BulkInsert, Statement
from adjudge.errors import Unavailable
from collecting import Bench

_IDS: Any = sa.bindparam("ids", expanding=True)


def same(database: Database, statement: Any, parameters: dict[str, Any]) -> list[Any]:
    """The rows of a select, which are the same whichever way it is sent."""
    with database.read() as on:
        usual = on.execute(statement, parameters).all()
        ours = Statement(statement).all(on, parameters)
    assert [tuple(row) for row in ours] == [tuple(row) for row in usual]
    types = [[type(value) for value in row] for row in usual]
    assert [[type(value) for value in row] for row in ours] == types
    for ours_row, row in zip(ours, usual, strict=True):
        assert ours_row._asdict() == row._asdict()
    return list(ours)


def test_rows_are_the_same_as_by_the_usual_way(database: Database) -> None:
    bench = Bench(database, topics=6, role="screening")
    bench.turn(bench.arrive().judge)
    bench.turn(bench.arrive("bert").judge, right=False)
    for table in (judges, judgments, pages, items, projects, log):
        found = same(
            database, sa.select(table).where(table.c.id > sa.bindparam("least")), {"least": 0}
        )
        assert found, table.name
    rows = same(database, sa.select(judgments.c.id, judgments.c.right).order_by(judgments.c.id), {})
    assert {row.right for row in rows} == {True, False, None}, "not 1 and 0"
    some = [row.id for row in rows[:7]]
    chosen = sa.select(judgments.c.item).where(
        judgments.c.id.in_(_IDS), judgments.c.kind.in_(("work", "training")),
        judgments.c.standing == "trusted",
    )  # fmt: skip
    assert len(same(database, chosen, {"ids": some})) == 7
    assert same(database, chosen, {"ids": []}) == []


def test_packed_rows_are_the_same_in_the_same_order(database: Database) -> None:
    bench = Bench(database, topics=6, role="screening")
    bench.turn(bench.arrive().judge)
    columns = (items.c.rank, items.c.name, items.c.gold, items.c.beside, items.c.consensus)
    wanted = sa.select(*columns).where(items.c.rank > sa.bindparam("least")).order_by(items.c.rank)
    name = 'ä "quoted" \\ and\n\u2028 \U0001f642 {[1]}'
    database.write(lambda on: on.execute(sa.update(items).values(consensus=name)))
    for least in (0, 7, 10**9):
        with database.read() as on:
            usual = on.execute(wanted, {"least": least}).all()
            packed = Statement(wanted, packed="rank").all(on, {"least": least})
        assert [tuple(row) for row in packed] == [tuple(row) for row in usual]
        assert all(row.gold in (True, False) and row.consensus == name for row in packed)
        assert {type(row.gold) for row in packed} <= {bool}
    assert bench.judging.project(bench.slug).name


def test_many_rows_go_in_as_few_steps(sqlite: Database) -> None:
    """More rows than one statement takes, and values as they are."""
    bench = Bench(sqlite, topics=2)
    made = [
        {"project": bench.project, "name": f"n{n}", "rank": 10**6 + n, "gold": False, "needed": 1,
         "state": "open", "text": "x'); --"}
        for n in range(1_234)
    ]  # fmt: skip
    sqlite.write(lambda on: BulkInsert(items).run(on, made))
    with sqlite.read() as on:
        rows = on.execute(
            sa.select(items.c.name, items.c.text)
            .where(items.c.rank >= 10**6)
            .order_by(items.c.rank)
        ).all()
    assert [tuple(row) for row in rows] == [(f"n{n}", "x'); --") for n in range(1_234)]
    with pytest.raises(IntegrityError):  # none of them where one cannot be
        sqlite.write(lambda on: BulkInsert(items).run(on, [{**made[0], "name": "new"}, made[1]]))
    with sqlite.read() as on:
        assert on.execute(sa.select(items.c.id).where(items.c.name == "new")).first() is None


def test_values_are_stored_as_by_the_usual_way(database: Database) -> None:
    bench = Bench(database, topics=2)
    told = {"told": [1, 2], "ä": None}
    line = {
        "project": bench.project, "judge": None, "time": 1.5, "event": "tried", "actor": "me",
        "policy_version": 1, "figures": told,
    }  # fmt: skip
    stored = sa.select(log.c.figures, log.c.judge, log.c.time).where(log.c.event == "tried")

    def work(on: sa.Connection) -> None:
        on.execute(sa.insert(log), [line])
        write_log(on, [line, {**line, "figures": {}}])

    database.write(work)
    with database.read() as on:
        rows = on.execute(stored.order_by(log.c.id)).all()
    assert rows[0] == rows[1] == (told, None, 1.5)
    assert rows[2].figures == {}


def test_a_parameter_that_is_missing_is_no_null(database: Database) -> None:
    wanted = Statement(sa.select(items.c.id).where(items.c.id == sa.bindparam("which")))
    with pytest.raises((KeyError, sa.exc.StatementError)), database.read() as on:
        wanted.all(on, {})


def test_one_row_is_one(database: Database) -> None:
    Bench(database, topics=2)
    some = Statement(sa.select(items.c.id).where(items.c.id <= sa.bindparam("most")))
    with database.read() as on:
        assert some.one_or_none(on, {"most": 0}) is None
        assert some.scalar(on, {"most": 0}) is None
        with pytest.raises(sa.exc.NoResultFound):
            some.one(on, {"most": 0})
        with pytest.raises(sa.exc.MultipleResultsFound):
            some.one(on, {"most": 10**9})


def test_errors_are_those_of_the_usual_way(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=2)
    judge = bench.arrive().judge
    double = Statement(
        sa.update(projects).where(projects.c.id == bench.project).values(name=sa.bindparam("new"))
    )
    with pytest.raises(IntegrityError, match="NOT NULL"):
        sqlite.write(lambda on: double.run(on, {"new": None}))
    gone = Statement(sa.select(sa.column("x")).select_from(sa.table("nowhere")))
    with pytest.raises(OperationalError, match="no such table"), sqlite.engine.begin() as on:
        gone.all(on, {})
    assert bench.judging.state(judge).stage == "training"


def test_who_listens_sees_every_statement(sqlite: Database) -> None:
    bench = Bench(sqlite, topics=2)
    judge = bench.arrive().judge
    sent: list[str] = []

    def note(_on: Any, _cursor: Any, text: str, *_more: Any) -> None:
        sent.append(text)

    sa.event.listen(sqlite.engine, "before_cursor_execute", note)
    bench.judging.state(judge)
    sa.event.remove(sqlite.engine, "before_cursor_execute", note)
    assert any("FROM judges" in text for text in sent)


def test_who_comes_again_waits_for_no_writer(sqlite: Database) -> None:
    """A judge who is known is let in while another process holds the lock."""
    impatient = Database(sqlite.url.render_as_string(), wait=0.2)
    bench = Bench(impatient, topics=2)
    came = bench.arrive()
    panel = bench.arrive("p1", channel="panel", parameters={"STUDY": "1"})
    other = sqlite3.connect(str(sqlite.url.database), isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        assert bench.arrive() == came
        again = bench.arrive("p1", channel="panel", parameters={"STUDY": "1"})
        assert again == panel
        for more in ({"key": "new"}, {"key": "p1", "channel": "panel", "parameters": {"A": "2"}}):
            with pytest.raises(Unavailable):
                bench.arrive(**more)
        other.execute("ROLLBACK")
    finally:
        other.close()
        impatient.close()
