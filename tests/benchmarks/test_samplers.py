"""The comparison of samplers: what JAGS is given and gives back, and a quick run of our side."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

PARTS: dict[str, Any] = {  # three items: two votes of three for 1, one for 0, a tie
    "offsets": np.array([0, 3, 4, 6]),
    "judge": np.array([0, 1, 2, 0, 1, 2]),
    "label": np.array([1, 1, 0, 0, 0, 1], dtype=np.int8),
    "topic": np.array([0, 0, 1]),
    "judges": 3,
    "topics": 2,
}


@pytest.fixture
def jags_files(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import jags_files

    return jags_files


def test_judgments_are_written_for_r_counted_from_one(jags_files: Any) -> None:
    assert jags_files.assignments(jags_files.data(PARTS)) == (
        '"items" <- 3\n'
        '"judges" <- 3\n'
        '"topics" <- 2\n'
        '"judgments" <- 6\n'
        '"item" <- c(1, 1, 1, 2, 3, 3)\n'
        '"judge" <- c(1, 2, 3, 1, 2, 3)\n'
        '"topic" <- c(1, 1, 2)\n'
        '"y" <- c(1, 1, 0, 0, 0, 1)\n'
    )


def test_chains_start_from_votes_and_from_the_rates_that_follow(jags_files: Any) -> None:
    flips = set()
    for chain in range(20):
        start = jags_files.start(PARTS, chain)
        assert start["z"][:2].tolist() == [1, 0]
        flips.add(int(start["z"][2]))
        tie = int(start["z"][2])
        # judge 0 said 1 of item 0, truth 1, and 0 of item 1, truth 0: right both times
        assert start["theta1"][0] == pytest.approx(2 / 3)
        assert start["theta0"][0] == pytest.approx(2 / 3)
        assert start["theta1"][2] == pytest.approx(2 / 4 if tie else 1 / 3)
        assert start["pi"] == pytest.approx([2 / 4, 2 / 3 if tie else 1 / 3])
        assert start[".RNG.seed"] == chain + 1
        assert start["kappa.0"] > 1
    assert flips == {0, 1}


def test_the_script_starts_every_chain_and_monitors_after_warm_up(jags_files: Any) -> None:
    lines = jags_files.script("m.bug", 2, 10, 20).splitlines()
    assert lines[:7] == [
        'model in "m.bug"',
        'data in "data.R"',
        "compile, nchains(2)",
        'parameters in "start1.R", chain(1)',
        'parameters in "start2.R", chain(2)',
        "initialize",
        "update 10",
    ]
    assert lines[7:13] == [f"monitor {k}.{w}" for k in ("phi", "kappa") for w in ("pi", "0", "1")]
    assert lines[13:] == ["update 20", 'coda *, stem("draws")', "exit"]
    assert jags_files.script("m.bug", 1, 0, 0).splitlines()[-2:] == ["initialize", "exit"]


def test_coda_files_are_read_by_their_index(jags_files: Any, tmp_path: Path) -> None:
    names = [name.replace("_", ".") for name in reversed(jags_files.HYPER)]
    index = [f"{name} {2 * n + 1} {2 * n + 2}" for n, name in enumerate(names)]
    (tmp_path / "drawsindex.txt").write_text("\n".join(index))
    for chain in (1, 2):
        rows = [f"{11 + n % 2}  {chain}.{n:02}" for n in range(12)]
        (tmp_path / f"drawschain{chain}.txt").write_text("\n".join(rows))
    found = jags_files.read_coda(tmp_path, 2)
    assert list(found) == list(jags_files.HYPER)
    assert found["kappa_1"].tolist() == [[1.00, 1.01], [2.00, 2.01]]
    assert found["phi_pi"].tolist() == [[1.10, 1.11], [2.10, 2.11]]


@pytest.mark.full  # every run has one benchmark from end to end: test_run.py
def test_our_side_runs_from_end_to_end(tmp_path: Path) -> None:
    script = BENCHMARKS / "samplers.py"
    options = ["--quick", "--no-jags", "--no-nutpie", "-o", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, script, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "300 items, 20 judges, 5 topics" in done.stdout
    (path,) = tmp_path.glob("*.json")
    result = json.loads(path.read_text())
    (ours,) = result["sides"]
    assert ours["chains"] * (ours["warmup"] + ours["draws"]) == 180
    assert 0 < ours["cpu"] < ours["whole"]
    assert ours["hyper"]["kappa_0"]["effective"] > 0
    assert str(BENCHMARKS.parent) not in json.dumps(result)
