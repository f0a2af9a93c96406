"""A run that was stopped goes on where it was; what is kept is whole, and its own."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adjudge.errors import BadSetting
from adjudge.models.model import Step
from adjudge.replications._data import measure_peak
from adjudge.replications.replication import ReplicationPart, ReplicationResult, Setup
from adjudge.replications.running import Done, _file_name, forget, run

FULL = Setup()


def logged(toy) -> list[str]:
    return toy.log.read_text().split() if toy.log.exists() else []


def values(result: ReplicationResult) -> list[float]:
    return [cell.obtained for table in result.tables for cell in table.cells]


def test_parts_are_worked_once_and_kept(toy, tmp_path: Path) -> None:
    told: list[Done] = []
    first = run(toy, FULL, folder=tmp_path / "out", tell=told.append)
    again = run(toy, FULL, folder=tmp_path / "out", tell=told.append)
    assert logged(toy) == ["0", "1", "2"]
    assert [done.kept for done in told] == [False] * 3 + [True] * 3
    assert values(first) == values(again)
    assert first.seconds == pytest.approx(again.seconds)
    assert first.memory == again.memory > 1e6
    assert math.isnan(told[3].result["none"])


def test_without_a_folder_nothing_is_kept(toy, tmp_path: Path) -> None:
    run(toy, FULL)
    run(toy, FULL)
    assert logged(toy) == ["0", "1", "2"] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log"]


def test_a_part_that_is_not_whole_is_worked_again(toy, tmp_path: Path) -> None:
    run(toy, FULL, folder=tmp_path)
    kept = sorted((tmp_path / ".parts" / "toy").iterdir())
    assert [path.name[:7] for path in kept] == ["seed-0-", "seed-1-", "seed-2-"]
    kept[1].write_text(kept[1].read_text()[:40])
    result = run(toy, FULL, folder=tmp_path)
    assert logged(toy) == ["0", "1", "2", "1"]
    assert values(result)[0] == pytest.approx(0.6)
    assert json.loads(kept[1].read_text())["settings"] == {"seed": 1}


def test_other_settings_are_another_part(toy, tmp_path: Path, monkeypatch) -> None:
    def part(**settings: object) -> str:
        return _file_name(ReplicationPart(name="a", settings=settings, work=lambda _: None))

    assert part(seed=1) == part(seed=1) != part(seed=2)
    before = part(seed=1)
    monkeypatch.setattr("adjudge.__version__", "99")
    assert part(seed=1) != before


def test_what_is_forgotten_is_worked_again(toy, tmp_path: Path) -> None:
    run(toy, FULL, folder=tmp_path)
    forget("toy", tmp_path)
    run(toy, FULL, folder=tmp_path)
    assert logged(toy) == ["0", "1", "2"] * 2


def test_progress_counts_parts_and_notes_what_is_inside(toy) -> None:
    steps: list[Step] = []
    run(toy, Setup(quick=True), progress=steps.append)
    assert [(step.done, step.total, step.note) for step in steps] == [
        (0, 2, "seed-0"),
        (0, 2, "seed-0 1/2"),
        (1, 2, "seed-1"),
        (1, 2, "seed-1 1/2"),
        (2, 2, ""),
    ]


def test_seeds_may_be_asked_for(toy) -> None:
    assert len(toy.parts(Setup(quick=True, seeds=7))) == 7
    with pytest.raises(BadSetting) as error:
        Setup(seeds=1)
    assert str(error.value) == "--seeds = 1: wanted 2 or more, since sd is over seeds"


def test_parts_need_names_of_their_own(toy, monkeypatch) -> None:
    part = ReplicationPart(name="a/b", settings={}, work=lambda _: None)
    monkeypatch.setattr(toy, "parts", lambda _: [part])
    with pytest.raises(BadSetting, match="a part of toy = 'a/b': wanted a name of its own"):
        run(toy, FULL)


def test_memory_is_told() -> None:
    assert 1e7 < measure_peak() < 1e12


KILLED = """
import sys, time
from pathlib import Path
sys.path[:0] = [{here!r}, {tests!r}]
from conftest import Toy
from adjudge.replications._data import measure_peak
from adjudge.replications.replication import ReplicationPart, Setup
from adjudge.replications.running import run

class Slow(Toy):
    def parts(self, setup):
        parts = super().parts(setup)
        def hang(progress):
            Path({hung!r}).touch()
            time.sleep(60)
        return [*parts[:2], ReplicationPart(name="seed-2", settings=parts[2].settings, work=hang)]

run(Slow(Path({log!r})), Setup(), folder=Path({out!r}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_run_that_was_killed_goes_on(toy, tmp_path: Path) -> None:
    out, hung = tmp_path / "out", tmp_path / "hung"
    out.mkdir()
    here = Path(__file__).parent
    code = KILLED.format(
        here=str(here), tests=str(here.parent), log=str(toy.log), out=str(out), hung=str(hung)
    )
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        deadline = time.monotonic() + 300
        while not hung.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        assert hung.exists()
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    assert logged(toy) == ["0", "1"]
    told: list[Done] = []
    result = run(toy, FULL, folder=out, tell=told.append)
    assert logged(toy) == ["0", "1", "2"]
    assert [done.kept for done in told] == [True, True, False]
    assert values(result) == values(run(toy, FULL))
    assert not list(out.rglob("*.part"))
