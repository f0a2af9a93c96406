"""The benchmark of regrading, small: gold put right in both ways leaves an exact state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from adjudge.collect.store.database import Database

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def regrade(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import regrade

    return regrade


def test_gold_put_right_unblocks_everyone_and_is_exact(regrade: Any, tmp_path: Path) -> None:
    database = Database(tmp_path / "regrade.db")
    rows = [
        regrade.measured(database, "at once", regrade.at_once, 12),
        regrade.measured(database, "one by one", regrade.one_by_one, 12),
    ]
    database.close()
    for row in rows:
        assert row["answers"] > 50
        assert row["unblocked"] >= 4
        assert (row["left"], row["faults"]) == (0, 0)
    lines = regrade.table(rows).splitlines()
    assert len({line.count("|") for line in lines}) == 1
