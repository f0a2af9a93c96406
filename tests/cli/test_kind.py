"""``--kind``: which judges are people and which are LLMs."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.simulation import demo
from commands import Run


@pytest.fixture
def judgments(tmp_path: Path) -> Path:
    path = tmp_path / "judgments.csv"
    table = demo(3).judgments.to_table().select(["item", "judge", "label"])
    table.to_pandas().to_csv(path, index=False)
    return path


def test_kinds_are_declared(adjudge: Run, judgments: Path, tmp_path: Path) -> None:
    notes = {}
    for name, more in {"plain": (), "models": ("--kind", ".=model")}.items():
        found = adjudge("consensus", judgments, "-o", tmp_path / f"{name}.csv", "--json", *more)
        assert found.code == 0, found.err
        notes[name] = " ".join(found.json["notes"])
    assert "LLM" in notes["models"]
    assert "LLM" not in notes["plain"]


@pytest.mark.parametrize("rule", ["model", ".=alien", "nobody=model", "(=model"])
def test_rules_that_cannot_be(adjudge: Run, judgments: Path, rule: str) -> None:
    assert adjudge("consensus", judgments, "--kind", rule).code == 2
