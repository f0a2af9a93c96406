"""The benchmarks run from end to end on tiny sizes; what they measure decides nothing here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "side_by_side.py"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """What a quick run without peers prints, and the result it writes where it is told to."""
    folder = tmp_path_factory.mktemp("benchmarks")
    done = subprocess.run(
        [sys.executable, SCRIPT, "--quick", "--no-peers", "--cache", folder, "-o", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.json")
    return done.stdout, json.loads(path.read_text())


def test_every_case_is_measured(ran: tuple[str, dict[str, Any]]) -> None:
    _, result = ran
    assert list(result["cases"]) == ["dawid-skene", "scale", "reading", "accuracy"]
    (fit,) = result["cases"]["dawid-skene"]
    assert fit["side"] == "adjudge"
    assert (fit["judgments"], fit["items"], fit["judges"]) == (10_000, 1_000, 100)
    assert fit["iterations"] == 20
    assert 0.8 < fit["accuracy"] < 0.95  # the crowd's truth is known, and hard
    assert [row["side"] for row in result["cases"]["scale"]] == ["20 iterations", "until converged"]
    reading = [(row["order"], row["side"], row["rows"]) for row in result["cases"]["reading"]]
    assert reading == [
        ("grouped", "adjudge", 20_000),
        ("grouped", "pyarrow.csv", 20_000),
        ("shuffled", "adjudge", 20_000),
        ("shuffled", "pyarrow.csv", 20_000),
    ]
    for row in (*result["cases"]["scale"], *result["cases"]["reading"], fit):
        assert row["cpu"] > 0
        assert row["wall"] > 0


def test_the_result_says_where_it_comes_from_and_names_no_machine(
    ran: tuple[str, dict[str, Any]],
) -> None:
    _, result = ran
    assert result["quick"] is True
    assert result["peers"] is None
    assert {"python", "adjudge", "numba", "numpy", "pyarrow"} <= result["versions"].keys()
    assert result["machine"]["cores"] >= 1
    assert str(SCRIPT.parent.parent) not in json.dumps(result)


def test_the_tables_are_markdown(ran: tuple[str, dict[str, Any]]) -> None:
    printed, result = ran
    assert "### Dawid-Skene, 10,000 judgments (1,000 items, 100 judges)" in printed
    assert "### Reading a CSV file of 20,000 rows" in printed
    assert result["versions"]["numba"] in printed
    for line in printed.splitlines():
        assert not line.startswith("|") or line.endswith("|")


@pytest.mark.data
@pytest.mark.usefixtures("shared_data")
def test_real_crowds_are_scored(ran: tuple[str, dict[str, Any]]) -> None:
    _, result = ran
    rows = {row["model"]: row for row in result["cases"]["accuracy"]}
    assert rows["majority-vote"]["gold"] == 800
    assert rows["majority-vote"]["accuracy"] == pytest.approx(0.897, abs=0.0005)
    assert rows["dawid-skene"]["accuracy"] >= 0.925
