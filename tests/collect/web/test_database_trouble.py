"""A database that is removed, full or locked while it is served: nothing acknowledged is lost."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import event

from adjudge.collect.services.requester import RequesterServices
from adjudge.collect.store.database import Database
from adjudge.errors import Unavailable
from collecting import made_project
from sites import Browser, Site, served
from waiting import OwnClock, wait_until

WAIT = 2.0


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Site]:
    with served(tmp_path, database_wait=WAIT) as site:
        yield site


def at_work(site: Site) -> tuple[Browser, str, dict[str, str]]:
    """A judge with a page answered but not sent: the path to send it to, and the form."""
    slug = site.open_project(queries=8)
    judge = site.browser().join(slug).train(slug)
    return judge, f"/j/{slug}/pages/{judge.page}", judge.answers()


def health(site: Site) -> dict[str, object]:
    client = site.browser().client
    readiness = client.get("/readyz")
    code = readiness.json().get("error", {}).get("code")
    up = "adjudge_database_up 1" in site.metrics()
    return {"alive": client.get("/healthz").status_code, "ready": code or "yes", "up": up}


def await_health(site: Site, expected: dict[str, object]) -> None:
    """Wait for it: on a busy machine the database may not answer a check in time."""
    wait_until(lambda: health(site) == expected, 300, f"health is {expected}")


def test_answers_to_a_removed_database_are_refused_and_readiness_fails(
    running: Site, tmp_path: Path
) -> None:
    judge, path, given = at_work(running)
    await_health(running, {"alive": 200, "ready": "yes", "up": True})
    away = tmp_path / "away"
    away.mkdir()
    for file in tmp_path.glob("site.db*"):
        if not file.name.endswith((".secret", ".lock")):
            file.rename(away / file.name)
    for _ in range(2):
        judge.post(path, **given, expect=503)
        assert "The database cannot be reached; nothing was stored" in judge.words
    await_health(running, {"alive": 200, "ready": "database-gone", "up": False})
    for file in away.iterdir():
        file.rename(tmp_path / file.name)
    await_health(running, {"alive": 200, "ready": "yes", "up": True})
    judge.post(path, **given)


def test_a_database_put_in_the_place_of_another_is_refused(running: Site, tmp_path: Path) -> None:
    judge, path, given = at_work(running)
    database = tmp_path / "site.db"
    shutil.copy(database, tmp_path / "copy.db")
    (tmp_path / "copy.db").rename(database)
    judge.post(path, **given, expect=503)
    await_health(running, {"alive": 200, "ready": "database-gone", "up": False})


def test_a_write_ahead_log_that_was_removed_is_noticed(running: Site, tmp_path: Path) -> None:
    judge, path, given = at_work(running)
    (tmp_path / "site.db-wal").unlink()
    judge.post(path, **given, expect=503)


def test_readiness_fails_on_a_full_disk_until_there_is_room(running: Site) -> None:
    engine = running.parts.database.engine

    def fill(connection: sqlite3.Connection, _record: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages}")

    event.listen(engine, "connect", fill)
    engine.dispose()
    with pytest.raises(Unavailable, match="disk of the database is full"):
        running.services.settings.keep("large", "x" * 1_000_000)
    await_health(running, {"alive": 200, "ready": "database-full", "up": True})
    event.remove(engine, "connect", fill)
    engine.dispose()
    await_health(running, {"alive": 200, "ready": "yes", "up": True})
    running.services.settings.keep("large", "x" * 1_000_000)


def test_waits_for_a_locked_database_do_not_add_up(running: Site, tmp_path: Path) -> None:
    """Sixty at once, more than there are threads: each gets an answer, and health never waits."""
    running.set_up()
    slug = running.open_project(channels=["api"])
    token = running.make_token(scope="judge", project=slug)
    headers = {"Authorization": f"Bearer {token}"}
    url = f"{running.url}/api/v1/projects/{slug}"
    with (
        OwnClock() as clock,
        httpx.Client(
            headers=headers,
            timeout=300,
            limits=httpx.Limits(max_connections=80),
            verify=False,
        ) as client,
    ):
        assert client.get(f"{url}/guidelines").status_code == 200

        def come(number: int) -> tuple[int, float]:
            begun = clock.now
            response = client.post(f"{url}/arrivals", json={"key": str(number)})
            return response.status_code, clock.now - begun

        other = sqlite3.connect(tmp_path / "site.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waits = []
        with ThreadPoolExecutor(60) as pool:
            asked = [pool.submit(come, number) for number in range(60)]
            while not all(one.done() for one in asked):
                begun = clock.now
                for path in ("/healthz", "/readyz"):
                    assert client.get(f"{running.url}{path}").status_code == 200
                waits.append(clock.now - begun)
                time.sleep(0.02)
            answers = [one.result() for one in asked]
        other.execute("ROLLBACK")
        other.close()
        assert {status for status, _ in answers} == {503}
        # One behind the other sixty would take sixty waits; a busy machine may make a few of one.
        assert max(seconds for _, seconds in answers) < 10 * WAIT, sorted(answers)[-5:]
        assert sorted(waits)[len(waits) // 2] < 1.0
        assert come(0)[0] == 200


def test_a_lock_in_postgresql_is_waited_for_once(postgres: str) -> None:
    store, holder = Database(postgres, wait=1.0), Database(postgres)
    slug = RequesterServices(store).projects.create(made_project(topics=1, golds=0)).slug
    with holder.engine.begin() as on, OwnClock() as clock:
        on.exec_driver_sql("SELECT id FROM projects FOR UPDATE")
        with pytest.raises(Unavailable, match="locked by another"):
            RequesterServices(store).projects.set_guidelines(slug, "Read.")
        assert clock.now < 10.0  # not one wait for each of several tries
    RequesterServices(store).projects.set_guidelines(slug, "Read.")
    store.close()
    holder.close()


def test_files_of_a_database_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "fresh.db"
    database = Database(path)
    RequesterServices(database).settings.keep("x", 1)
    for file in tmp_path.glob("fresh.db*"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    names = {file.name for file in tmp_path.glob("fresh.db*")}
    assert names == {"fresh.db", "fresh.db-wal", "fresh.db-shm"}
    database.close()
    path.chmod(0o644)  # as earlier versions made it
    Database(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_small_change_on_a_full_disk_does_not_make_it_ready(running: Site) -> None:
    database = running.parts.database
    database._full = True
    running.services.settings.keep("small", 1)
    assert database._full
    database.check_ready()
    assert not database._full
