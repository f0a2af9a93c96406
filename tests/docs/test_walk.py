"""How far one command leads through the code: it may shrink, and must not grow unseen."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES, LINES = 40, 6_200  # at most, of one 'adjudge consensus judgments.csv'


def test_the_walk_of_a_consensus() -> None:
    spec = importlib.util.spec_from_file_location("walk", ROOT / "docs" / "tools" / "walk.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    walk = tool.walked()
    lengths = tool.lines_of(walk)
    assert {"cli/consensus.py", "data/formats/plain.py", "models/hybrid_confusion.py"} <= set(walk)
    assert "read" in walk["data/formats/plain.py"]
    assert not {"data/formats/mturk.py", "data/formats/quepid.py"} & set(walk)
    assert len(lengths) <= FILES, sorted(lengths)
    assert sum(lengths.values()) <= LINES, lengths
    assert "| **all** |" in tool.table(walk)
