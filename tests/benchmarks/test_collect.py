"""The comparison of servers: a short run of our side."""

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


@pytest.mark.full  # every run has one benchmark from end to end: test_run.py
def test_our_side_runs(collect: Any) -> None:
    found = collect.ours(1, seconds=0.5, clients=2)
    assert found["turns"] > 0
    assert found["errors"] == 0
    assert found["memory_mb"] < 200
