"""Many judges at once at the real server process, on both databases, also while it is killed.

A small crowd with one kill; under the full profile 200 judges and ten kills.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store import schema
from adjudge.collect.store.database import Database
from adjudge.collect.values.project import Project
from collecting import Bench, check_counters, check_standing, made_project
from crowds import Crowded, ServerProcess, acknowledged, crowd_at, join, prepare, stored_judgments
from sizes import sized

pytestmark = pytest.mark.slow

JUDGES = sized(20, full=200)
KILLS = sized(1, full=10)  # with all judges in the middle of something
LEASE = sized(6.0, full=12.0)  # seconds: those of judges who vanish run out during the run
TENTH = JUDGES // 10
RELIEF = 8  # judges who come last: more than an item needs
_ROLES = ("ethical", "spammer", "random", "dropout")
_ETHICAL = "ethical(1)"  # who finishes after few golds is blocked by a single one they miss
# Who vanishes comes first: the last to come may find nothing to vanish from.
POPULATION = f"dropout(30):{TENTH},{_ETHICAL}:{JUDGES - 3 * TENTH},spammer:{TENTH},random:{TENTH}"


def project() -> Project:
    """Work for everyone, and a training that lets some through whom the screening stops."""
    return made_project(
        topics=sized(12, full=3 * JUDGES), results=6, golds=60, judgments_per_item=5,
        training_pairs=8, training_pass=0.25, lease_minutes=LEASE / 60, require_consent=True,
    )  # fmt: skip


@pytest.fixture
def server(database: Database, tmp_path: Path) -> Iterator[ServerProcess]:
    """The server process at an empty database."""
    url = database.url.render_as_string(hide_password=False)
    running = ServerProcess(url.replace("+psycopg", ""), tmp_path)
    yield running
    running.stop()


def block_one(database: Database, slug: str) -> None:
    """Block a judge who has finished, as a requester may at any time: their items open again."""
    services = RequesterServices(database)
    done = [row for row in services.judges.get_all(slug) if row.stage == "finished"]
    busy = max(done, key=lambda row: row.judged)
    services.judges.block(slug, busy.judge, "to see their items judged again")
    progress = services.projects.get_progress(slug)
    assert progress.closed < progress.items


def relieve(
    database: Database, server: ServerProcess, slug: str, token: str, came: Crowded
) -> None:
    """Let a few more judges come where items are open again.

    Who is blocked late, or vanishes late, when the others have finished, leaves items that nobody
    is there for. Each has lost what it lacks by judgments that are trusted no more, or by pages
    that were never answered.
    """
    items, given, pages, rows = schema.items, schema.judgments, schema.pages, schema.page_rows
    counted = sa.select(sa.func.count())
    untrusted = counted.where(given.c.item == items.c.id, given.c.standing == "untrusted")
    unanswered = counted.select_from(rows.join(pages, pages.c.id == rows.c.page)).where(
        rows.c.item == items.c.id, pages.c.state != "answered"
    )
    lost = untrusted.scalar_subquery() + unanswered.scalar_subquery()
    query = sa.select(items.c.name, items.c.needed - items.c.trusted, lost)
    with database.read() as on:
        left = on.execute(query.where(items.c.state == "open", ~items.c.gold)).all()
    print(f"\n{len(left)} items left to the relief")
    assert [item for item in left if item[1] > item[2]] == [], "open, and nothing was lost"
    if left:
        population = f"{_ETHICAL}:{RELIEF}"
        last = crowd_at(
            server, database, slug, token, population, wait=LEASE + 3, seed=1, name="relief"
        )
        assert {one.stage for one in last.ended} == {"finished"}
        join(came, last)


def check(database: Database, server: ServerProcess, slug: str, came: Crowded) -> None:
    """Whatever happened: nothing lost, nothing doubled, no item over its number, no fault."""
    server.stop()  # or a lease could run out between two looks at the store
    assert [one.problem for one in came.ended if one.problem] == []
    assert came.over == []
    assert came.looks > 5
    assert '"fault"' not in server.log()
    assert "Traceback" not in server.log()
    stored, confirmed = stored_judgments(database), acknowledged(came.record)
    assert max(stored.values()) == 1
    assert confirmed - stored == {}, "acknowledged and lost"
    assert stored - confirmed == {}, "stored and never acknowledged"
    bench = _Looked(database, slug)
    check_counters(bench)
    check_standing(bench)
    assert bench.services.projects.audit(slug) == []
    check_ends(bench, came)


def check_ends(bench: Bench, came: Crowded) -> None:
    """Everyone came to an end that fits them, and all items are done."""
    assert set(came.record.refused) <= {"page-expired"}  # of those slower than their lease
    ended = {role: {one.stage for one in came.ended if one.kind == role} for role in _ROLES}
    assert ended["ethical"] == {"finished"}
    assert (ended["spammer"] | ended["random"]) & {"failed", "blocked"}
    assert any(one.gone for one in came.ended if one.kind == "dropout")
    progress = bench.services.projects.get_progress(bench.slug)
    assert progress.closed == progress.items


class _Looked(Bench):
    """The bench's checks on a project that is there already."""

    def __init__(self, database: Database, slug: str) -> None:
        self.database, self.slug, self.services = database, slug, RequesterServices(database)
        with database.read() as on:
            query = sa.select(schema.projects.c.id).where(schema.projects.c.slug == slug)
            self.project = on.execute(query).scalar_one()


ALL = ("sqlite", "postgresql")


def only(usual: str) -> pytest.MarkDecorator:
    """On this database in every run, and on the other in the full one."""
    params = [one if one == usual else pytest.param(one, marks=pytest.mark.full) for one in ALL]
    return pytest.mark.parametrize("database", params, indirect=True)


@only("postgresql")  # where many change rows at once
def test_crowd(database: Database, server: ServerProcess) -> None:
    slug, token = prepare(database, project())
    server.start()
    came = crowd_at(server, database, slug, token, POPULATION, wait=LEASE + 3)
    print(f"\n{database.url.get_backend_name()}: {came.figures()}")
    block_one(database, slug)
    relieve(database, server, slug, token, came)
    check(database, server, slug, came)
    assert set(came.record.again) <= {"database-busy"}  # 503 on a busy machine, and sent again


@only("sqlite")  # whose changes go by turns, and a turn by a file
def test_crowd_while_the_server_is_killed(database: Database, server: ServerProcess) -> None:
    slug, token = prepare(database, project())
    server.start()
    came = crowd_at(server, database, slug, token, POPULATION, wait=LEASE + 3, kills=KILLS)
    print(f"\n{database.url.get_backend_name()}: {came.figures()}; starts {server.starts}")
    relieve(database, server, slug, token, came)
    check(database, server, slug, came)
    assert came.kills == KILLS
    assert "connection-lost" in came.record.again
    assert set(came.record.again) <= {"connection-lost", "database-busy"}  # as above
