"""The comparison of servers: what its table says, and a short run of our side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def collect(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import collect

    return collect


def test_the_table_compares_by_time_and_by_cpu(collect: Any) -> None:
    row = {"pairs": 1, "p50_ms": 10.0, "p95_ms": 20.0, "start_s": 1.0, "start_cpu_s": 0.5,
           "memory_mb": 100.0, "turns": 9, "errors": 1}  # fmt: skip
    ours = {**row, "what": "adjudge, 25 a page", "pairs": 25, "per_second": 60.0, "cpu_ms": 4.0}
    theirs = {**row, "what": "Label Studio, one task", "per_second": 3.0, "cpu_ms": 100.0}
    lines = collect.table([ours, theirs]).splitlines()
    assert lines[2] == (
        "| adjudge, 25 a page | 60.0 | 1500 | 10 | 20 | 4.0 | 1.0 | 0.5 | 100 | 1 of 10 "
        "| 20.0 | 25.0 |"
    )
    assert lines[3].endswith("| 1.0 | 1.0 |")
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.full  # every run has one benchmark from end to end: test_run.py
def test_our_side_runs(collect: Any) -> None:
    found = collect.ours(1, seconds=0.5, clients=2)
    assert found["turns"] > 0
    assert found["errors"] == 0
    assert found["memory_mb"] < 200
