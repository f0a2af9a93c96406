"""How far one command leads through the code: it may shrink, and must not grow unseen."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
SUBMIT_FILES, SUBMIT_LINES = 20, 3_500  # at most, of one judge's submit
# At most, of one 'adjudge consensus judgments.csv': the way in and out, and the model with it.
BORDER_FILES, BORDER_LINES = 28, 4_300
FILES, LINES = 48, 8_200


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool


def test_the_walk_of_a_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = load("walk")
    monkeypatch.setitem(sys.modules, "walk", tool)
    walk = load("walk_submit").walked()
    lengths = tool.lines_of(walk)
    assert "submit" in walk["collect/web/api_judging.py"]
    assert "submit" in walk["collect/judging/submitting.py"]
    assert "count" in walk["collect/items/counters.py"]
    assert len(lengths) <= SUBMIT_FILES, sorted(lengths)
    assert sum(lengths.values()) <= SUBMIT_LINES, lengths


def test_the_walk_of_a_consensus() -> None:
    tool = load("walk")
    walk = tool.walked()
    lengths = tool.lines_of(walk)
    assert {"cli/consensus.py", "data/formats/plain.py", "models/model.py"} <= set(walk)
    assert "read" in walk["data/formats/plain.py"]
    assert not {"data/formats/mturk.py", "data/formats/quepid.py"} & set(walk)
    border = {file: size for file, size in lengths.items() if file.startswith(("cli/", "data/"))}
    assert len(border) <= BORDER_FILES, sorted(border)
    assert sum(border.values()) <= BORDER_LINES, border
    assert len(lengths) <= FILES, sorted(lengths)
    assert sum(lengths.values()) <= LINES, lengths
    assert "| **all** |" in tool.table(walk)
