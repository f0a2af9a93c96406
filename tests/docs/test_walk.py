"""How far one command leads through the code: it may shrink, and must not grow unseen."""

from __future__ import annotations

import sys

import pytest

from tools import load

# At most, of one judge's submit: what it has no business with stands in other files (settings and
# their checks, adaptive closing, finishing, contesting, opening a database, loading the secret).
SUBMIT_FILES, SUBMIT_LINES = 18, 3_300
# At most, of one 'adjudge consensus judgments.csv': the way in and out, and the model with it.
BORDER_FILES, BORDER_LINES = 18, 3_966
FILES, LINES = 31, 7_141


def test_the_walk_of_a_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = load("walk")
    monkeypatch.setitem(sys.modules, "walk", tool)
    walk = load("walk_submit").walked()
    lengths = tool.lines_of(walk)
    assert "_submit" in walk["collect/web/api_judging.py"]
    assert "submit" in walk["collect/judging/submitting.py"]
    assert "count" in walk["collect/items/counters.py"]
    assert len(lengths) <= SUBMIT_FILES, sorted(lengths)
    assert sum(lengths.values()) <= SUBMIT_LINES, lengths


def test_the_walk_of_a_consensus() -> None:
    tool = load("walk")
    walk = tool.walked()
    lengths = tool.lines_of(walk)
    assert {"cli/consensus.py", "data/formats/plain.py", "models/model.py"} <= set(walk)
    assert "_read" in walk["data/formats/plain.py"]
    assert not {"data/formats/mturk.py", "data/formats/quepid.py"} & set(walk)
    border = {file: size for file, size in lengths.items() if file.startswith(("cli/", "data/"))}
    assert len(border) <= BORDER_FILES, sorted(border)
    assert sum(border.values()) <= BORDER_LINES, border
    assert len(lengths) <= FILES, sorted(lengths)
    assert sum(lengths.values()) <= LINES, lengths
    assert "| **all** |" in tool.table(walk)
