"""TREC 2011 crowdsourcing task 2: judgments and submissions."""

from __future__ import annotations

from pathlib import Path

from adjudge.data.formats import read
from adjudge.data.formats.trec_2011 import SCALE
from reading import gold_in, judgments_in

_HEADER = "TOPIC\tHIT_ID\tWORKER_ID\tDOC_ID\tTRUTH\tLABEL\n"


def _file(folder: Path, text: str, name: str = "stage2.tsv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_judgments_and_gold(tmp_path: Path) -> None:
    text = _HEADER + "7\th1\tw1\ta\t-1\t0\n7\th1\tw1\tb\t1\t1\n7\th2\tw2\ta\t-1\t1\n"
    content = read(_file(tmp_path, text))
    assert content.format == "trec-2011"
    assert judgments_in(content).scale == SCALE
    assert judgments_in(content).to_table().to_pydict() == {
        "item": ["7/a", "7/a", "7/b"],
        "topic": ["7", "7", "7"],
        "document": ["a", "a", "b"],
        "judge": ["w1", "w2", "w1"],
        "label": ["0", "1", "1"],
    }
    assert gold_in(content).to_table()["item"].to_pylist() == ["7/b"]
    assert gold_in(content).texts() == ["1"]


def test_a_submission(tmp_path: Path) -> None:
    content = read(_file(tmp_path, "7\ta\t1\t0.75\n7 b 2 0.25\n8 a na na\n8 b na 0.5\n", "run.txt"))
    assert content.format == "trec-2011-submission"
    assert content.scale == SCALE
    assert content.labels.to_pydict() == {
        "item": ["7/a", "7/b", "8/a", "8/b"],
        "topic": ["7", "7", "8", "8"],
        "document": ["a", "b", "a", "b"],
        "label": ["1", "0", None, "1"],
        "probability": [0.75, 0.75, None, 0.5],
        "p_0": [0.25, 0.75, None, 0.5],
        "p_1": [0.75, 0.25, None, 0.5],
        "rank": [1, 2, None, None],
    }
