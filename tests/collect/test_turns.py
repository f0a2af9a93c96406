"""Processes change one SQLite database by turns, and who only looks waits for nobody."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
import sqlalchemy as sa

from adjudge.collect.store._sqlite_file import SqliteFile
from adjudge.collect.store.database import Database
from adjudge.errors import Unavailable
from collecting import Bench
from sizes import sized

# One process with eight threads that change something without a pause, until told to end.
MANY = """
import sys, threading, time
import sqlalchemy as sa
from adjudge.collect.store.database import Database
store = Database(sys.argv[1], wait=120)
over = threading.Event()
def write(on):
    on.execute(sa.text("INSERT INTO turns (who) VALUES ('many')"))
    time.sleep(0.003)  # as long as a change takes
def work():
    while not over.is_set():
        store.write(write, durable=False)
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
print("ready", flush=True)
sys.stdin.read()
over.set()
for thread in threads: thread.join()
"""


def test_one_writer_is_not_passed_over_by_a_process_of_many(tmp_path: Path) -> None:
    path = tmp_path / "turns.db"
    store = Database(path, wait=120)
    make = "CREATE TABLE turns (id INTEGER PRIMARY KEY, who TEXT)"
    store.write(lambda on: on.execute(sa.text(make)))
    many = subprocess.Popen(
        [sys.executable, "-c", MANY, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert many.stdout is not None
        assert many.stdout.readline() == "ready\n"
        passed = []
        last = "SELECT coalesce(max(id), 0) FROM turns"
        with sqlite3.connect(path) as other:
            for _ in range(sized(60, full=400)):
                asked = other.execute(last).fetchone()[0]
                mine = store.write(_add_one, durable=False)
                passed.append(mine - asked - 1)
    finally:
        many.communicate("")
    store.close()
    # Who had the turn when we asked, and who was next; more only where this process was not let
    # run between its look and its wish. By SQLite's lock alone, some are passed over by hundreds.
    assert sorted(passed)[-2] <= 5, passed


def _add_one(on: sa.Connection) -> int:
    done = on.execute(sa.text("INSERT INTO turns (who) VALUES ('one') RETURNING id"))
    return int(done.scalar_one())


def test_two_that_ask_without_a_pause_have_every_second_turn(tmp_path: Path) -> None:
    code = """
import sys, time
from pathlib import Path
from adjudge.collect.store._sqlite_file import SqliteFile
file = SqliteFile(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    assert file.take_turn(time.monotonic() + 120)
    with open(sys.argv[3], "a") as said:
        said.write(sys.argv[4])
    time.sleep(0.003)  # as long as a change takes
    file.give_turn()
"""
    count, said = sized(100, full=1_000), tmp_path / "said"
    command = [sys.executable, "-c", code, str(tmp_path / "some.db"), str(count), str(said)]
    two = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    for one in two:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in two:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    for one in two:
        one.communicate()
    assert [one.returncode for one in two] == [0, 0]
    order = said.read_text()
    assert sorted(order) == ["a"] * count + ["b"] * count  # no turn was two's at once
    both = order[order.index("ba" if order[0] == "b" else "ab") :]
    both = both.rstrip(both[-1])  # from when both are there until one is done
    same = sum(one == other for one, other in pairwise(both))
    assert same <= len(both) // 3


def test_a_turn_that_does_not_come_is_told_in_time(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(tmp_path / "some.db")], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    store = Database(tmp_path / "some.db", wait=0.05, migrate=False)
    with pytest.raises(Unavailable, check=lambda error: error.code == "database-busy"):
        store.write(lambda _: None)
    store.close()
    holder.kill()  # who is killed gives its turn back
    holder.communicate()
    file = SqliteFile(tmp_path / "some.db")
    assert file.take_turn(time.monotonic() + 60)
    file.give_turn()
    file.close()


_HOLD = """
import sys, time
from pathlib import Path
from adjudge.collect.store._sqlite_file import SqliteFile
assert SqliteFile(Path(sys.argv[1])).take_turn(time.monotonic() + 60)
print("held", flush=True)
sys.stdin.read()
"""


def test_where_no_file_can_be_made_there_are_no_turns(tmp_path: Path) -> None:
    file = SqliteFile(tmp_path / "no" / "such" / "folder.db")
    assert file.take_turn(time.monotonic())
    file.give_turn()


def test_a_page_that_is_open_is_shown_while_another_changes_the_database(tmp_path: Path) -> None:
    path = tmp_path / "locked.db"
    store = Database(path, wait=0.2)
    bench = Bench(store)
    judge = bench.trained()
    page = bench.judging.page(judge)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert bench.judging.page(judge) == page
    bench.clock.forward(minutes=bench.services.projects.get_policy(bench.slug)[0].lease_minutes + 1)
    with pytest.raises(Unavailable):  # its time is over: it has to be ended
        bench.judging.page(judge)
    other.close()
    store.close()
