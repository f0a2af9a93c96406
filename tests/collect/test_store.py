"""The database: migrations, and what happens when it is locked, full, gone or not one."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from adjudge.collect.items.counters import arm_room
from adjudge.collect.judging import pages
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database, StoreFault, upgrade
from adjudge.collect.store.schema import HEAD, metadata, requesters
from adjudge.collect.values.judging import Arrival
from adjudge.errors import BadSetting, Unavailable
from collecting import Bench, made_project


@contextmanager
def locked(path: Path | str) -> Iterator[None]:
    """The database is being changed by another process."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


def unavailable(code: str) -> object:
    return pytest.raises(Unavailable, check=lambda error: error.code == code)


def test_migrating_from_nothing_gives_the_schema(database: Database) -> None:
    with database.engine.connect() as on:
        context = MigrationContext.configure(on, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        names = set(sa.inspect(on).get_table_names())
    assert names == {*metadata.tables, "alembic_version"}


def test_partial_indexes_are_the_same_by_migration_and_by_schema(
    sqlite: Database, tmp_path: Path
) -> None:
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    other = sa.create_engine(f"sqlite:///{tmp_path / 'direct.db'}")
    metadata.create_all(other)
    with sqlite.engine.connect() as migrated, other.connect() as direct:
        expected = {tuple(row) for row in direct.execute(sa.text(query))}
        assert {tuple(row) for row in migrated.execute(sa.text(query))} == expected
    other.dispose()


def test_the_queue_and_what_an_arm_has_are_read_by_their_indexes(sqlite: Database) -> None:
    for query in (pages._CANDIDATES, pages._CANDIDATES.where(arm_room)):
        text = str(query.compile(sqlite.engine))
        with sqlite.read() as on:
            plan = on.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", (1,) * text.count("?")).all()
        steps = [row[3] for row in plan]
        assert "USING INDEX ix_items_routing (project=? AND rank>?)" in steps[0]
        assert not any(line.startswith("SCAN") or "TEMP B-TREE" in line for line in steps)
    assert any("USING INDEX ix_judgments_counted (item=?)" in line for line in steps)


def test_opening_again_keeps_everything_and_migrates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    first = Database(path)
    slug = RequesterServices(first).projects.create(made_project(topics=1, golds=0)).slug
    first.close()
    second = Database(f"sqlite:///{path}")
    assert [one.slug for one in RequesterServices(second).projects.get_all()] == [slug]
    with second.read() as on:  # what is stored outlives a power cut
        assert on.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert on.exec_driver_sql("PRAGMA synchronous").scalar() == 2  # FULL
    second.close()


@pytest.mark.parametrize(
    "url",
    ["mysql://x/y", "://", "sqlite://", "sqlite:///:memory:", "/no/such/folder/x.db"],
)
def test_urls_that_cannot_be_used(url: str) -> None:
    with pytest.raises(BadSetting, match=f"database = '{url}'"):
        Database(url)


def test_a_password_in_the_url_is_never_shown() -> None:
    database = Database("postgresql://ann:secret@localhost:1/x", migrate=False)
    assert "secret" not in repr(database)
    assert "ann" in repr(database)


def test_a_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "not.db"
    path.write_text("this is no database, but a text of some length\n" * 100)
    with unavailable("database-gone"):
        Database(path)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("ALTER TABLE items DROP COLUMN asked", r"items\.asked"),
        ("DROP TABLE outbox", "outbox"),
    ],
)
@pytest.mark.parametrize("version", ["0020", HEAD])
def test_a_database_without_what_its_version_has_says_so(
    tmp_path: Path, statement: str, what: str, version: str
) -> None:
    path = tmp_path / "odd.db"
    older = Database(path, migrate=False)
    with older.engine.begin() as on:
        upgrade(on, version)
        on.execute(sa.text(statement))
    older.close()
    with pytest.raises(BadSetting, match=what):
        Database(path)


def test_a_fault_of_the_database_shows_no_values(database: Database) -> None:
    secret = "$argon2id$secret"
    row = {"name": "ada", "password": secret, "admin": None, "made": 1.0, "public": "p"}
    with pytest.raises(StoreFault) as refused:
        database.write(lambda on: on.execute(sa.insert(requesters).values(row)))
    trace = "".join(traceback.format_exception(refused.value))
    assert secret not in trace
    assert "requesters" in str(refused.value)


def test_what_is_acknowledged_is_on_the_disk(postgresql: Database) -> None:
    with postgresql.read() as on:  # although the server of the tests is set to be quick
        assert on.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_a_locked_database_is_busy_and_nothing_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "locked.db"
    database = Database(path, wait=0.2)
    bench = Bench(database)
    judge = bench.trained()
    page = bench.page(judge)
    answers = bench.answers(page)
    with locked(path):
        with unavailable("database-busy"):
            bench.judging.submit(judge, page.page, page.key, answers)
        assert bench.judging.state(judge).judged == 0  # reading goes on
    assert bench.judging.submit(judge, page.page, page.key, answers).again is False
    bench.check()
    database.close()


def test_a_full_disk_is_reported_and_nothing_is_stored(sqlite: Database) -> None:
    bench = Bench(sqlite)
    judge = bench.trained()
    page = bench.page(judge)
    answers = bench.answers(page)

    def limit(connection: sqlite3.Connection, *_: object) -> None:
        count = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {count}")

    sqlite.engine.dispose()
    sa.event.listen(sqlite.engine, "connect", limit)
    with unavailable("database-full"):
        for number in range(1000):
            bench.arrive(f"judge {number} {'x' * 400}")
    sa.event.remove(sqlite.engine, "connect", limit)
    sqlite.engine.dispose()
    assert bench.judging.submit(judge, page.page, page.key, answers).again is False
    bench.check()


def test_a_lost_server_is_reported_and_found_again(postgres: str) -> None:
    store = Database(postgres)
    slug = RequesterServices(store).projects.create(made_project(topics=1, golds=0)).slug
    with store.engine.connect() as on:
        mine = on.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()
    killer = sa.create_engine(store.url)
    with killer.connect() as other:
        other.execute(sa.text(f"SELECT pg_terminate_backend({mine})"))
    killer.dispose()
    assert (
        RequesterServices(store).projects.get(slug).slug == slug
    )  # a dead connection is replaced unseen
    store.close()
    gone = Database("postgresql://nobody@localhost:1/nowhere", migrate=False, wait=1)
    with unavailable("database-gone"):
        RequesterServices(gone).projects.get_all()


CHILD = """
import sys
from adjudge.collect.services.judging import JudgingService
from adjudge.collect.store.database import Database
from adjudge.collect.values.judging import Answer, Arrival
path, slug, name = sys.argv[1:]
judging = JudgingService(Database(path, wait=60))
stored = 0
for number in range(3):
    judge = judging.arrive(Arrival(project=slug, channel="open", key=f"{name}{number}")).judge
    while (page := judging.page(judge)) is not None:
        answers = [Answer(row=row.row, label="Spam") for row in page.rows]
        stored += judging.submit(judge, page.page, page.key, answers).stored
print(stored)
"""


def test_two_processes_on_one_file(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    database = Database(path, wait=60)
    bench = Bench(database, topics=8, golds=0, judgments_per_item=4)
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), bench.slug, name],
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("a", "b")
    ]
    stored = sum(int(child.communicate(timeout=300)[0]) for child in children)
    assert [child.returncode for child in children] == [0, 0]
    assert stored == len(bench.services.exports.get_table(bench.slug)) == 4 * 40
    bench.check()
    database.close()


def test_two_processes_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    path = tmp_path / "fresh.db"
    code = f"from adjudge.collect.store.database import Database; Database({str(path)!r}, wait=60)"
    children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [child.wait(timeout=300) for child in children] == [0, 0, 0]
    database = Database(path)
    assert RequesterServices(database).projects.get_all() == []
    database.close()


def test_a_desk_sees_what_another_process_changed(database: Database) -> None:
    bench = Bench(database, topics=2, golds=0)
    first, second = JudgingService(database), JudgingService(database)
    judge = first.arrive(Arrival(project=bench.slug, channel="open", key="a")).judge
    assert second.project(bench.slug).guidelines == "# Guidelines"
    bench.services.projects.set_guidelines(bench.slug, "Other words")
    bench.services.projects.set_policy(bench.slug, {"queries_per_page": 1, "results_per_query": 2})
    assert first.project(bench.slug, judge=judge).guidelines == "Other words"
    page = second.page(judge)
    assert page is not None
    assert len(page.rows) == 2


def test_a_page_that_is_open_is_shown_while_another_changes_the_database(tmp_path: Path) -> None:
    path = tmp_path / "locked.db"
    store = Database(path, wait=0.2)
    bench = Bench(store)
    judge = bench.trained()
    page = bench.judging.page(judge)
    with locked(path):
        assert bench.judging.page(judge) == page
        policy = bench.services.projects.get_policy(bench.slug)[0]
        bench.clock.forward(minutes=policy.lease_minutes + 1)
        with unavailable("database-busy"):  # its time is over: it has to be ended
            bench.judging.page(judge)
    store.close()


def test_who_comes_again_waits_for_no_writer(sqlite: Database) -> None:
    """A judge who is known is let in while another process holds the lock."""
    impatient = Database(sqlite.url.render_as_string(), wait=0.2)
    bench = Bench(impatient, topics=2)
    came = bench.arrive()
    panel = bench.arrive("p1", channel="panel", parameters={"STUDY": "1"})
    with locked(str(sqlite.url.database)):
        assert bench.arrive() == came
        assert bench.arrive("p1", channel="panel", parameters={"STUDY": "1"}) == panel
        for more in ({"key": "new"}, {"key": "p1", "channel": "panel", "parameters": {"A": "2"}}):
            with unavailable("database-busy"):
                bench.arrive(**more)
    impatient.close()
