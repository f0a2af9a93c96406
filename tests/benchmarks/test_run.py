"""The benchmarks run from end to end on tiny sizes; what they measure decides nothing here."""

from __future__ import annotations

import importlib
import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from sizes import FULL

pytestmark = pytest.mark.slow

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPT = BENCHMARKS / "side_by_side.py"
Lines = list[dict[str, Any]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Lines]:
    """Run without peers, and return the output and the history."""
    folder = tmp_path_factory.mktemp("benchmarks")
    words = ["--quick", "--skip", "peers", "--skip", "samplers", "--cache", str(folder)]
    if not FULL:  # a cluster has tests of its own; the others are measured as these are
        left = ["engines", "reading", "cost", "gold", "pairs"]
        words += ["--sets", "rte", "--models", "majority-vote;dawid-skene"]
        words += [f"--skip={case}" for case in left]
    with pytest.MonkeyPatch.context() as patched:
        # In this process, which has the libraries; what is measured has processes of its own.
        patched.syspath_prepend(str(BENCHMARKS))
        patched.setattr(sys, "argv", [str(SCRIPT), *words, "--history", str(folder / "history")])
        with redirect_stdout(io.StringIO()) as printed, redirect_stderr(io.StringIO()) as output:
            code = importlib.import_module(SCRIPT.stem).main()
    assert code == 0, output.getvalue()
    files = sorted((folder / "history").glob("*.jsonl"))
    lines = [json.loads(text) for file in files for text in file.read_text().splitlines()]
    return printed.getvalue(), lines


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the benchmarks: history, tables and cases."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import cases
    import history
    import tables

    return type("Modules", (), {"history": history, "tables": tables, "cases": cases})


def of(lines: Lines, case: str) -> Lines:
    return [line for line in lines if line["case"] == case]


def test_every_case_is_measured(ran: tuple[str, Lines]) -> None:
    _, lines = ran
    fit, converged = of(lines, "dawid-skene")
    assert (fit["side"], converged["side"]) == ("adjudge", "adjudge, until converged")
    assert (fit["judgments"], fit["judges"], fit["classes"]) == (10_000, 100, 2)
    assert (fit["iterations"], fit["turns"]) == (20, 1)
    assert 0.8 < fit["accuracy"] < 0.95  # the crowd's truth is known, and hard
    for line in lines:
        if line["case"] not in ("accuracy", "gold"):
            assert line["cpu"] > 0
            assert line["calibration"] > 0


@pytest.mark.full
@pytest.mark.usefixtures("shared_data")
def test_gold_is_measured(ran: tuple[str, Lines]) -> None:
    found = {line["side"]: line for line in of(ran[1], "gold") if line["gold_labels"] == 25}
    assert found["majority-vote"]["accuracy_alone"] == pytest.approx(0.897, abs=0.02)


@pytest.mark.full
def test_engines_reading_cost_and_pairs_are_measured(ran: tuple[str, Lines]) -> None:
    printed, lines = ran
    _, converged = of(lines, "dawid-skene")
    sides = {line["side"]: line for line in of(lines, "cost")}
    assert sides["dawid-skene"]["iterations"] > 1
    assert sides["dawid-skene"]["accuracy"] == pytest.approx(converged["accuracy"], abs=0.01)
    assert [(line["asked"], line["converged"]) for line in of(lines, "pairs")] == [
        ("strengths", True),
        ("with the skill of judges", True),
    ]
    threads, dask = of(lines, "engines")
    assert (threads["side"], dask["side"]) == ("threads", "Dask, 2 processes")
    assert threads["accuracy"] == dask["accuracy"] == converged["accuracy"]
    reading = [(line["order"], line["side"], line["rows"]) for line in of(lines, "reading")]
    assert reading == [
        ("grouped", "adjudge", 20_000),
        ("grouped", "pyarrow.csv", 20_000),
        ("shuffled", "adjudge", 20_000),
        ("shuffled", "pyarrow.csv", 20_000),
    ]
    assert "### Reading a CSV file of 20,000 rows" in printed


@pytest.mark.usefixtures("shared_data")
def test_real_crowds_are_scored(ran: tuple[str, Lines]) -> None:
    rows = {line["side"]: line for line in of(ran[1], "accuracy") if line["set"] == "rte"}
    assert rows["majority-vote"]["gold"] == 800
    assert rows["majority-vote"]["accuracy"] == pytest.approx(0.897, abs=0.0005)
    assert rows["dawid-skene"]["accuracy"] >= 0.925
    assert rows["dawid-skene"]["log_loss"] > rows["vote share (+.5)"]["log_loss"]


def made_line(**more: Any) -> dict[str, Any]:
    """A measurement as in the history."""
    return {
        "run": "2026-01-01T00:00:00",
        "date": "2026-01-01T00:00:00",
        "commit": "abc",
        "machine": {"processor": "P", "cores": 2, "memory_gb": 8, "system": "S", "load_before": 0},
        "threads": 2,
        "versions": {"python": "3"},
        "calibration": 0.1,
        "case": "dawid-skene",
        "judgments": 10**8,
        "judges": 10_000,
        "classes": 2,
        "side": "adjudge, until converged",
        "iterations": 10,
        "turns": 1,
        "cpu": 4.0,
        "wall": 2.0,
        "peak": 10**8,
        "accuracy": 0.85,
        **more,
    }


def test_a_regression_is_reported_on_any_machine(modules: Any, tmp_path: Path) -> None:
    history = modules.history
    history.append(tmp_path, [made_line(cpu=9.0), made_line()])
    before = history.newest(tmp_path)
    assert [line["cpu"] for line in before.values()] == [4.0]
    twice = made_line(cpu=8.0, calibration=0.2)  # a machine half as fast
    slower = made_line(cpu=6.0)
    wrong = made_line(accuracy=0.8)
    other = made_line(classes=5)
    found = history.compared(before, [twice, slower, wrong, other])
    assert [round(change["times"], 6) for change in found] == [1.0, 1.5, 1.0]
    assert [change["worse"] for change in found] == [False, True, True]
    assert "| 60 | 1.50 **worse** |" in modules.tables.changes(found)


def test_a_peer_that_would_take_too_long_is_not_run(modules: Any) -> None:
    cases, history = modules.cases, modules.history
    line = made_line(judgments=10**7, side="crowd-kit", cpu=50.0)
    run = type("Run", (), {"before": {history.key_of(line): line}, "done": [], "cap": 300.0})()
    size = cases.size_of(10**8, 2)
    assert cases._fit_theirs(run, size, "", "numbers", "crowd-kit") == (
        "not run: more than 500 s of CPU to expect, ten times its 50 s for a tenth of the "
        "judgments; the cap is 300 s"
    )
    run.cap = 600.0
    assert callable(cases._fit_theirs(run, size, "", "numbers", "crowd-kit"))
